//! tonic at both ends, with the four kinds of calls. The service is written by hand in the form of
//! tonic's generator, so no protoc is needed.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::{Stream, StreamExt as _, stream};
use scenarios::load::Load;
use scenarios::on_each_policy;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio_stream::wrappers::{ReceiverStream, TcpListenerStream};
use tonic::body::Body;
use tonic::client;
use tonic::codegen::http;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::server::{Grpc, NamedService};
use tonic::transport::{Channel, Endpoint, Server};
use tonic::{Code, Request, Response, Status, Streaming};
use tonic_prost::ProstCodec;
use tower::{Service, service_fn};

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
        text: "text ".repeat(10),
    }
}

type Numbers = Pin<Box<dyn Stream<Item = Result<Number, Status>> + Send>>;

/// The server's side.
#[derive(Clone)]
struct Calculator {
    load: Load,
    /// Receives a value when a call that never completes is dropped.
    dropped: mpsc::Sender<()>,
}

struct SendOnDrop(mpsc::Sender<()>);

impl Drop for SendOnDrop {
    fn drop(&mut self) {
        let _ = self.0.try_send(());
    }
}

impl Calculator {
    async fn double(self, request: Request<Number>) -> Result<Response<Number>, Status> {
        self.load.begin();
        tokio::task::yield_now().await;
        match request.into_inner().value.checked_mul(2) {
            Some(double) => Ok(Response::new(number(double))),
            None => Err(Status::out_of_range("too large")),
        }
    }

    async fn never(self, _: Request<Number>) -> Result<Response<Number>, Status> {
        self.load.begin();
        let _guard = SendOnDrop(self.dropped);
        std::future::pending().await
    }

    /// Streams the numbers below the given one.
    async fn below(self, request: Request<Number>) -> Result<Response<Numbers>, Status> {
        let guard = SendOnDrop(self.dropped);
        let numbers = stream::iter(0..request.into_inner().value).map(move |value| {
            let _ = &guard;
            Ok(number(value))
        });
        Ok(Response::new(Box::pin(numbers)))
    }

    async fn sum(self, request: Request<Streaming<Number>>) -> Result<Response<Number>, Status> {
        let mut numbers = request.into_inner();
        let mut sum = 0;
        while let Some(number) = numbers.message().await? {
            sum += number.value;
        }
        Ok(Response::new(number(sum)))
    }

    /// Replies to each number with its double, as it arrives.
    async fn doubles(
        self,
        request: Request<Streaming<Number>>,
    ) -> Result<Response<Numbers>, Status> {
        let mut numbers = request.into_inner();
        let (sender, receiver) = mpsc::channel(4);
        tokio::spawn(async move {
            while let Ok(Some(Number { value, .. })) = numbers.message().await {
                if sender.send(Ok(number(2 * value))).await.is_err() {
                    break;
                }
            }
        });
        Ok(Response::new(Box::pin(ReceiverStream::new(receiver))))
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
        let this = self.clone();
        Box::pin(async move {
            let mut grpc = Grpc::new(ProstCodec::<Number, Number>::default());
            let path = request.uri().path().to_owned();
            Ok(match path.rsplit('/').next() {
                Some("Double") => {
                    let method = service_fn(move |request| this.clone().double(request));
                    grpc.unary(method, request).await
                }
                Some("Never") => {
                    let method = service_fn(move |request| this.clone().never(request));
                    grpc.unary(method, request).await
                }
                Some("Below") => {
                    let method = service_fn(move |request| this.clone().below(request));
                    grpc.server_streaming(method, request).await
                }
                Some("Sum") => {
                    let method = service_fn(move |request| this.clone().sum(request));
                    grpc.client_streaming(method, request).await
                }
                Some("Doubles") => {
                    let method = service_fn(move |request| this.clone().doubles(request));
                    grpc.streaming(method, request).await
                }
                _ => Status::unimplemented(path).into_http(),
            })
        })
    }
}

/// The client's side.
#[derive(Clone)]
struct Client(client::Grpc<Channel>);

impl Client {
    async fn connect(address: SocketAddr) -> Self {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        Self(client::Grpc::new(endpoint.connect().await.unwrap()))
    }

    /// Waits until a call may begin, and returns its path.
    async fn ready(&mut self, method: &str) -> Result<PathAndQuery, Status> {
        let ready = self.0.ready().await;
        ready.map_err(|error| Status::unavailable(error.to_string()))?;
        Ok(format!("/{}/{method}", Calculator::NAME).parse().unwrap())
    }

    async fn unary(&mut self, method: &str, request: Request<Number>) -> Result<u64, Status> {
        let path = self.ready(method).await?;
        let codec = ProstCodec::<Number, Number>::default();
        let reply = self.0.unary(request, path, codec).await?;
        Ok(reply.into_inner().value)
    }

    async fn below(&mut self, limit: u64) -> Result<Streaming<Number>, Status> {
        let path = self.ready("Below").await?;
        let codec = ProstCodec::<Number, Number>::default();
        let request = Request::new(number(limit));
        let reply = self.0.server_streaming(request, path, codec).await?;
        Ok(reply.into_inner())
    }

    async fn sum(
        &mut self,
        numbers: impl Stream<Item = Number> + Send + 'static,
    ) -> Result<u64, Status> {
        let path = self.ready("Sum").await?;
        let codec = ProstCodec::<Number, Number>::default();
        let request = Request::new(numbers);
        let reply = self.0.client_streaming(request, path, codec).await?;
        Ok(reply.into_inner().value)
    }

    async fn doubles(
        &mut self,
        numbers: impl Stream<Item = Number> + Send + 'static,
    ) -> Result<Streaming<Number>, Status> {
        let path = self.ready("Doubles").await?;
        let codec = ProstCodec::<Number, Number>::default();
        let reply = self.0.streaming(Request::new(numbers), path, codec).await?;
        Ok(reply.into_inner())
    }
}

/// A server in its own task.
struct Running {
    address: SocketAddr,
    load: Load,
    dropped: mpsc::Receiver<()>,
    stop: oneshot::Sender<()>,
    server: JoinHandle<()>,
}

impl Running {
    async fn start() -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let (sender, dropped) = mpsc::channel(1);
        let load = Load::default();
        let calculator = Calculator {
            load: load.clone(),
            dropped: sender,
        };
        let server = tokio::spawn(async move {
            let router = Server::builder().add_service(calculator);
            let incoming = TcpListenerStream::new(listener);
            let stopped = async {
                let _ = stopped.await;
            };
            let served = router.serve_with_incoming_shutdown(incoming, stopped).await;
            served.unwrap();
        });
        Self {
            address,
            load,
            dropped,
            stop,
            server,
        }
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.server.await.unwrap();
    }
}

#[test]
fn tonic_answers_unary_calls_from_many_tasks() {
    on_each_policy(|| async {
        let running = Running::start().await;
        let client = Client::connect(running.address).await;
        let mut callers = JoinSet::new();
        for caller in 0..32 {
            let mut client = client.clone();
            callers.spawn(async move {
                for call in 0..20 {
                    let value = 100 * caller + call;
                    let double = client.unary("Double", Request::new(number(value))).await;
                    assert_eq!(double.unwrap(), 2 * value);
                }
                let error = client.unary("Double", Request::new(number(u64::MAX))).await;
                assert_eq!(error.unwrap_err().code(), Code::OutOfRange);
                let error = client.unary("Unknown", Request::new(number(1))).await;
                assert_eq!(error.unwrap_err().code(), Code::Unimplemented);
            });
        }
        callers.join_all().await;
        drop(client);
        running.stop().await;
    });
}

#[test]
fn tonic_streams_in_both_directions() {
    on_each_policy(|| async {
        let running = Running::start().await;
        let client = Client::connect(running.address).await;
        let mut callers = JoinSet::new();
        for _ in 0..8 {
            let mut client = client.clone();
            callers.spawn(async move {
                let below = client.below(1_000).await.unwrap();
                let below: Vec<_> = below.map(|number| number.unwrap().value).collect().await;
                assert_eq!(below, (0..1_000).collect::<Vec<_>>());

                let sum = client.sum(stream::iter(0..1_000).map(number)).await;
                assert_eq!(sum.unwrap(), 499_500);

                // Each number is sent after the double of the previous number has arrived.
                let (sender, receiver) = mpsc::channel(1);
                let numbers = ReceiverStream::new(receiver).map(number);
                let mut doubles = client.doubles(numbers).await.unwrap();
                for value in 0..100 {
                    sender.send(value).await.unwrap();
                    let double = doubles.message().await.unwrap().unwrap();
                    assert_eq!(double.value, 2 * value);
                }
                drop(sender);
                assert!(doubles.message().await.unwrap().is_none());
            });
        }
        callers.join_all().await;
        drop(client);
        running.stop().await;
    });
}

#[test]
fn a_deadline_ends_the_call_at_both_ends() {
    on_each_policy(|| async {
        let mut running = Running::start().await;
        let mut client = Client::connect(running.address).await;
        let mut request = Request::new(number(1));
        request.set_timeout(Duration::from_millis(100));
        let error = client.unary("Never", request).await.unwrap_err();
        assert!(
            matches!(error.code(), Code::DeadlineExceeded | Code::Cancelled),
            "{error}"
        );
        running.dropped.recv().await.unwrap();
        // The connection is still usable.
        let double = client.unary("Double", Request::new(number(1))).await;
        assert_eq!(double.unwrap(), 2);
        drop(client);
        running.stop().await;
    });
}

#[test]
fn a_dropped_call_is_dropped_by_the_server() {
    on_each_policy(|| async {
        let mut running = Running::start().await;
        let mut client = Client::connect(running.address).await;

        let call = tokio::spawn({
            let mut client = client.clone();
            async move { client.unary("Never", Request::new(number(1))).await }
        });
        running.load.begun(1).await;
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        running.dropped.recv().await.unwrap();

        let mut below = client.below(u64::MAX).await.unwrap();
        assert_eq!(below.message().await.unwrap().unwrap().value, 0);
        drop(below);
        running.dropped.recv().await.unwrap();

        drop(client);
        running.stop().await;
    });
}

#[test]
fn a_graceful_shutdown_under_load_answers_each_call_that_began() {
    on_each_policy(|| async {
        let running = Running::start().await;
        let load = running.load.clone();
        let mut callers = JoinSet::new();
        for _ in 0..4 {
            let client = Client::connect(running.address).await;
            for _ in 0..4 {
                let (mut client, load) = (client.clone(), load.clone());
                callers.spawn(async move {
                    while client
                        .unary("Double", Request::new(number(1)))
                        .await
                        .is_ok()
                    {
                        load.answer();
                    }
                });
            }
        }
        load.answered(1_000).await;
        running.stop().await;
        callers.join_all().await;
        load.assert_no_request_lost();
    });
}
