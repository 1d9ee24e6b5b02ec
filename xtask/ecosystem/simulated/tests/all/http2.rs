//! hyper at both ends of HTTP/2: many streams at the same time on one connection.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http2::SendRequest;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use raddle_sim::Sim;
use simulated::{disturb, retry};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

const CLIENTS: [&str; 2] = ["alice", "bob"];
const ROUNDS: u8 = 10;
const STREAMS: u8 = 30;

type Error = Box<dyn std::error::Error + Send + Sync>;

/// Replies with the bytes of the request in reverse.
async fn reverse(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Error> {
    let mut bytes = request.into_body().collect().await?.to_bytes().to_vec();
    bytes.reverse();
    sleep(Duration::from_millis(bytes.len() as u64 % 50)).await;
    Ok(Response::new(Full::new(bytes.into())))
}

async fn serve() -> std::io::Result<Infallible> {
    let listener = TcpListener::bind("0.0.0.0:80").await?;
    loop {
        let (tcp, _) = listener.accept().await?;
        tokio::spawn(
            hyper::server::conn::http2::Builder::new(TokioExecutor::new())
                .timer(TokioTimer::new())
                .serve_connection(TokioIo::new(tcp), service_fn(reverse)),
        );
    }
}

type Sender = SendRequest<Full<Bytes>>;

async fn connect() -> Result<Sender, Error> {
    let tcp = TcpStream::connect("server:80").await?;
    let (sender, connection) = hyper::client::conn::http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .handshake(TokioIo::new(tcp))
        .await?;
    tokio::spawn(connection);
    Ok(sender)
}

/// The bytes of a request: neither their length nor the bytes are those of another.
fn body(round: u8, stream: u8) -> Vec<u8> {
    let length = 10 + 97 * usize::from(stream) + usize::from(round);
    let byte = |at: usize| at as u8 ^ stream ^ round;
    (0..length).map(byte).collect()
}

async fn ask(mut sender: Sender, body: Vec<u8>) -> Result<Bytes, Error> {
    let request = Request::post("http://server/").body(Full::new(body.into()))?;
    sender.ready().await?;
    let response = sender.send_request(request).await?;
    Ok(response.into_body().collect().await?.to_bytes())
}

/// Sends a request on a stream of its own for each of `missing`. Returns those without a reply.
async fn ask_all(sender: &Sender, round: u8, missing: &[u8]) -> Vec<u8> {
    let mut streams = JoinSet::new();
    for &stream in missing {
        let sender = sender.clone();
        streams.spawn(async move {
            let mut sent = body(round, stream);
            let asked = timeout(simulated::ATTEMPT, ask(sender, sent.clone())).await;
            let Ok(Ok(reply)) = asked else {
                return Some(stream);
            };
            sent.reverse();
            assert_eq!(reply, sent, "stream {stream} of round {round}");
            None
        });
    }
    streams.join_all().await.into_iter().flatten().collect()
}

async fn run_client() {
    let mut sender = retry(connect).await;
    for round in 0..ROUNDS {
        let mut missing: Vec<_> = (0..STREAMS).collect();
        loop {
            missing = ask_all(&sender, round, &missing).await;
            if missing.is_empty() {
                break;
            }
            sender = retry(connect).await;
        }
        sleep(Duration::from_millis(400)).await;
    }
}

fn scenario(sim: &mut Sim) {
    sim.workers(3).host("server", serve);
    for name in CLIENTS {
        sim.client(name, run_client());
    }
    disturb(sim, &CLIENTS);
}

#[raddle_sim::test(seeds = 4)]
fn each_stream_gets_its_own_reply(sim: &mut Sim) {
    scenario(sim);
    sim.run();
}

#[test]
fn a_seed_repeats() {
    crate::run_twice(scenario);
}
