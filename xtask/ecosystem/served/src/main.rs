//! A server that `cargo xtask bench ecosystem` loads, of axum (`web`) or of tonic
//! (`rpc`). It prints its address, and ends with its standard input.
#![forbid(unsafe_code)]

use std::convert::Infallible;
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::extract::State;
use axum::routing::get;
use axum::{Json, Router};
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

/// How many tasks a request to `/fan-out` spawns.
const TASKS: u64 = 32;

/// Where the task behind `/task` receives a number and the way back for the next.
type Jobs = mpsc::Sender<(u64, oneshot::Sender<u64>)>;

#[derive(Serialize)]
struct Order {
    item: &'static str,
    counts: [u64; 8],
}

fn main() {
    let mut args = std::env::args().skip(1);
    let (service, workers) = (args.next(), args.next());
    let workers = workers.and_then(|text| text.parse().ok());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(workers.expect("usage: served web|rpc WORKERS"))
        .enable_all()
        .build()
        .expect("the runtime is built");
    runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await;
        let listener = listener.expect("a port is free");
        println!("{}", listener.local_addr().expect("it is bound"));
        if service.as_deref() == Some("web") {
            tokio::spawn(async { axum::serve(listener, routes()).await });
        } else {
            let mut server = tonic::transport::Server::builder();
            let incoming = TcpListenerStream::new(listener);
            tokio::spawn(server.add_service(Doubler).serve_with_incoming(incoming));
        }
        let wait = || std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        let _ = tokio::task::spawn_blocking(wait).await;
    });
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
            // A task is cancelled when the server ends under load.
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
