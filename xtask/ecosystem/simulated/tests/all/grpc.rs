//! tonic at both ends: unary calls, and streams in both directions. The service is written by hand
//! in the form of tonic's generator, so no protoc is needed.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _};
use raddle_sim::Sim;
use simulated::{ATTEMPT, disturb, retry};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tonic::body::Body;
use tonic::client;
use tonic::codegen::http;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::server::{Grpc, NamedService};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::{Service, service_fn};

const CLIENTS: [&str; 2] = ["alice", "bob"];
const CALLERS: u64 = 4;
const CALLS: u64 = 60;
const STREAMED: u64 = 150;

/// The message of all calls and replies.
#[derive(Clone, PartialEq, prost::Message)]
struct Number {
    #[prost(uint64, tag = "1")]
    value: u64,
    #[prost(string, tag = "2")]
    text: String,
}

fn number(value: u64) -> Number {
    Number {
        value,
        text: value.to_string().repeat(20),
    }
}

type Numbers = Pin<Box<dyn Stream<Item = Result<Number, Status>> + Send>>;

/// The server's side.
#[derive(Clone)]
struct Calculator;

impl Calculator {
    async fn double(request: Request<Number>) -> Result<Response<Number>, Status> {
        let value = request.into_inner().value;
        sleep(Duration::from_millis(value % 20)).await;
        Ok(Response::new(number(2 * value)))
    }

    /// Replies to each number with its double, as it arrives.
    async fn doubles(request: Request<Streaming<Number>>) -> Result<Response<Numbers>, Status> {
        let doubles = request.into_inner().map(|received| {
            let Number { value, text } = received?;
            if text != number(value).text {
                return Err(Status::data_loss("the text belongs to another number"));
            }
            Ok(number(2 * value))
        });
        Ok(Response::new(Box::pin(doubles)))
    }
}

impl NamedService for Calculator {
    const NAME: &'static str = "raddle.Calculator";
}

impl Service<http::Request<Body>> for Calculator {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move {
            let mut grpc = Grpc::new(ProstCodec::<Number, Number>::default());
            let path = request.uri().path().to_owned();
            Ok(match path.rsplit('/').next() {
                Some("Double") => grpc.unary(service_fn(Self::double), request).await,
                Some("Doubles") => grpc.streaming(service_fn(Self::doubles), request).await,
                _ => Status::unimplemented(path).into_http(),
            })
        })
    }
}

/// The client's side.
#[derive(Clone)]
struct Client(client::Grpc<Channel>);

impl Client {
    fn new() -> Self {
        let endpoint = Endpoint::from_static("http://server:50051")
            .connect_timeout(ATTEMPT)
            .http2_keep_alive_interval(Duration::from_secs(1))
            .keep_alive_timeout(ATTEMPT);
        Self(client::Grpc::new(endpoint.connect_lazy()))
    }

    /// Waits until a call may begin, and returns its path.
    async fn ready(&mut self, method: &str) -> Result<PathAndQuery, Status> {
        let ready = self.0.ready().await;
        ready.map_err(|error| Status::unavailable(error.to_string()))?;
        Ok(format!("/{}/{method}", Calculator::NAME).parse().unwrap())
    }

    async fn double(mut self, value: u64) -> Result<Number, Status> {
        let path = self.ready("Double").await?;
        let codec = ProstCodec::<Number, Number>::default();
        let reply = self.0.unary(Request::new(number(value)), path, codec);
        Ok(reply.await?.into_inner())
    }

    async fn doubles(
        mut self,
        numbers: ReceiverStream<Number>,
    ) -> Result<Streaming<Number>, Status> {
        let path = self.ready("Doubles").await?;
        let codec = ProstCodec::<Number, Number>::default();
        let reply = self.0.streaming(Request::new(numbers), path, codec).await?;
        Ok(reply.into_inner())
    }
}

/// Streams the numbers from `*next` on, and moves `*next` past each whose double has arrived.
async fn stream(client: Client, next: &mut u64) -> Result<(), Status> {
    let (sender, receiver) = mpsc::channel(8);
    let first = *next;
    let sending = tokio::spawn(async move {
        for value in first..STREAMED {
            if sender.send(number(value)).await.is_err() {
                break;
            }
            sleep(Duration::from_millis(25)).await;
        }
    });
    let mut doubles = client.doubles(ReceiverStream::new(receiver)).await?;
    loop {
        let double = timeout(ATTEMPT, doubles.message()).await;
        match double.map_err(|_| Status::deadline_exceeded("no number"))?? {
            Some(double) => assert_eq!(double, number(2 * *next)),
            None => break,
        }
        *next += 1;
    }
    sending.await.unwrap();
    Ok(())
}

async fn run_client() {
    let client = Client::new();
    let mut tasks = JoinSet::new();
    for caller in 0..CALLERS {
        let client = client.clone();
        tasks.spawn(async move {
            for value in (0..CALLS).map(|call| caller * CALLS + call) {
                let double = retry(|| client.clone().double(value)).await;
                assert_eq!(double, number(2 * value));
                sleep(Duration::from_millis(50)).await;
            }
        });
    }
    tasks.spawn(async move {
        let mut next = 0;
        while stream(client.clone(), &mut next).await.is_err() {
            sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(next, STREAMED);
    });
    tasks.join_all().await;
}

fn scenario(sim: &mut Sim) {
    sim.host("server", || async {
        let router = Server::builder().add_service(Calculator);
        router.serve("0.0.0.0:50051".parse().unwrap()).await
    });
    for name in CLIENTS {
        sim.client(name, run_client());
    }
    disturb(sim, &CLIENTS);
}

#[raddle_sim::test(seeds = 4)]
fn replies_belong_to_their_calls(sim: &mut Sim) {
    scenario(sim);
    sim.run();
}

#[test]
fn a_seed_repeats() {
    crate::run_twice(scenario);
}
