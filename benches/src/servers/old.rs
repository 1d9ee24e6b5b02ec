//! The old version: hyper 0.12 on the runtime of Tokio 0.1, with futures 0.1.

use std::io::Result;
use std::net::TcpListener;

use hyper012::server::conn::Http;
use hyper012::service::service_fn_ok;
use hyper012::{Body, Request, Response};
use tokio01::net::TcpListener as Listener;
use tokio01::prelude::{Future, Stream};
use tokio01::reactor::Handle;
use tokio01::runtime::Builder;

use super::HELLO;

/// Answers over HTTP/1.1, forever, with `workers` workers.
pub(super) fn serve(socket: TcpListener, workers: usize) -> Result<()> {
    let mut runtime = Builder::new().core_threads(workers).build()?;
    let listener = Listener::from_std(socket, &Handle::default())?;
    let connections = listener.incoming().for_each(|stream| {
        stream.set_nodelay(true)?;
        let connection = Http::new()
            .http1_only(true)
            .serve_connection(stream, service_fn_ok(hello));
        // A client that disconnects is no failure.
        tokio01::spawn(connection.map_err(drop));
        Ok(())
    });
    let failed = connections.map_err(|error| panic!("the server failed: {error}"));
    runtime.spawn(failed);
    // The result only says that the runtime has shut down, which does not happen.
    let _ = runtime.shutdown_on_idle().wait();
    Ok(())
}

fn hello(_: Request<Body>) -> Response<Body> {
    Response::new(Body::from(HELLO))
}
