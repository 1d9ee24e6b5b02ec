//! The programs of `cargo xtask bench ecosystem`: a server with axum (`web`) or tonic (`rpc`), a
//! database, or tasks that query one. The program prints the address of the server, and exits when
//! its standard input ends.
#![forbid(unsafe_code)]

mod queries;

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
use daemon::{Postgres, Redis};
use serde::Serialize;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio_stream::wrappers::TcpListenerStream;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::server::{Grpc, NamedService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;
use tower::{Service, service_fn};

/// The number of tasks that a request to `/fan-out` spawns.
const TASKS: u64 = 32;

/// The requests to the task behind `/task`: a number, and the sender of the reply.
type Jobs = mpsc::Sender<(u64, oneshot::Sender<u64>)>;

#[derive(Serialize)]
struct Order {
    item: &'static str,
    counts: [u64; 8],
}

fn main() {
    let args: Vec<_> = std::env::args().skip(1).collect();
    let args: Vec<_> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["postgres"] => wait_beside(Postgres::get().address()),
        ["redis-server"] => wait_beside(Redis::get().address()),
        ["web" | "rpc", workers] => on_workers(workers, serve(args[0] == "web")),
        [client, workers, address, connections, query] => {
            let connections = connections.parse().expect("it is a number");
            let query = String::from(query).leak();
            on_workers(workers, queries::run(client, address, connections, query));
        }
        _ => panic!(
            "usage: served postgres|redis-server | web|rpc WORKERS | \
             sqlx|tokio-postgres|redis WORKERS ADDRESS CONNECTIONS QUERY"
        ),
    }
}

fn on_workers(workers: &str, future: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers.parse().expect("it is a number"))
        .enable_all()
        .build()
        .expect("the runtime is built");
    runtime.block_on(future);
}

async fn serve(web: bool) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
    let listener = listener.expect("a port is free");
    println!("{}", listener.local_addr().expect("it is bound"));
    if web {
        tokio::spawn(async { axum::serve(listener, routes()).await });
    } else {
        let mut server = tonic::transport::Server::builder();
        let incoming = TcpListenerStream::new(listener);
        tokio::spawn(server.add_service(Doubler).serve_with_incoming(incoming));
    }
    end_of_input().await;
}

async fn end_of_input() {
    let wait = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
    let _ = tokio::task::spawn_blocking(wait).await;
}

/// Prints the address of a server, and waits until the standard input ends.
fn wait_beside(address: SocketAddr) {
    println!("{address}");
    let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
}

fn routes() -> Router {
    let (jobs, mut queue) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(64);
    tokio::spawn(async move {
        while let Some((number, reply)) = queue.recv().await {
            let _ = reply.send(number + 1);
        }
    });
    let json = async || {
        Json(Order {
            item: "an item of the order",
            counts: [1, 2, 3, 4, 5, 6, 7, 8],
        })
    };
    let task = async |State(jobs): State<Jobs>| {
        let (reply, next) = oneshot::channel();
        jobs.send((1, reply)).await.expect("the task runs");
        next.await.expect("the task replies").to_string()
    };
    let fan_out = async || {
        let tasks: Vec<_> = (0..TASKS).map(|n| tokio::spawn(async move { n })).collect();
        let mut sum = 0;
        for task in tasks {
            // A task is cancelled if the server shuts down under load.
            sum += task.await.unwrap_or_default();
        }
        sum.to_string()
    };
    Router::new()
        .route("/text", get(async || "Hello, world!"))
        .route("/json", get(json))
        .route("/task", get(task))
        .route("/fan-out", get(fan_out))
        .with_state(jobs)
}

#[derive(Clone, PartialEq, prost::Message)]
struct Number {
    #[prost(uint64, tag = "1")]
    value: u64,
}

/// A service with one unary method.
#[derive(Clone)]
struct Doubler;

impl NamedService for Doubler {
    const NAME: &'static str = "raddle.Doubler";
}

impl Service<http::Request<Body>> for Doubler {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async {
            let double = service_fn(async |request: Request<Number>| {
                let value = 2 * request.into_inner().value;
                Ok::<_, Status>(Response::new(Number { value }))
            });
            let mut grpc = Grpc::new(ProstCodec::<Number, Number>::default());
            Ok(grpc.unary(double, request).await)
        })
    }
}
