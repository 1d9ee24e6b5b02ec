//! The sizes of a type from each crate of the ecosystem. They prove that the crate is compiled
//! against the stand-in. `cargo xtask ecosystem` checks it.
#![forbid(unsafe_code)]

use std::net::TcpStream;

/// Lists each type with its size.
macro_rules! sizes {
    ($($of:ty),* $(,)?) => {
        [$((stringify!($of), size_of::<$of>())),*].as_slice()
    };
}

/// A type from each crate, in alphabetical order, and its size.
pub const SIZES: &[(&str, usize)] = sizes![
    actix_rt::Runtime,
    async_nats::Client,
    aws_smithy_async::rt::sleep::TokioSleep,
    axum::Router,
    axum::extract::ws::WebSocket,
    bb8::State,
    console_subscriber::ConsoleLayer,
    deadpool_postgres::Pool,
    h2::RecvStream,
    hickory_resolver::TokioResolver,
    hyper::body::Incoming,
    hyper_util::rt::TokioExecutor,
    kube::Client,
    lapin::Connection,
    moka::future::Cache<u64, u64>,
    mongodb::Client,
    notify::RecommendedWatcher,
    quinn::Endpoint,
    redis::aio::ConnectionManager,
    reqwest::Client,
    rumqttc::AsyncClient,
    russh::client::Config,
    sqlx::PgPool,
    sqlx::SqlitePool,
    tarpc::context::Context,
    tokio_cron_scheduler::JobScheduler,
    tokio_metrics::TaskMonitor,
    tokio_native_tls::TlsConnector,
    tokio_postgres::Client,
    tokio_retry::strategy::ExponentialBackoff,
    tokio_rustls::TlsAcceptor,
    tokio_stream::StreamMap<u8, tokio_stream::Empty<u8>>,
    tokio_tungstenite::WebSocketStream<TcpStream>,
    tokio_util::sync::CancellationToken,
    tonic::transport::Server,
    tower::ServiceBuilder<()>,
    tower_http::services::ServeDir,
    warp::Rejection,
];
