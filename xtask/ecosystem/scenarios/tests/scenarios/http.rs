//! axum serves reqwest and a WebSocket client.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::routing::{any, get, post};
use axum::{Json, Router};
use futures_util::{SinkExt as _, StreamExt as _};
use scenarios::load::Load;
use scenarios::on_each_policy;
use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::{JoinHandle, JoinSet};
use tokio_tungstenite::tungstenite;

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Order {
    item: String,
    count: u64,
}

/// The jobs that another task of the server performs: it doubles numbers.
type Jobs = mpsc::Sender<(u64, oneshot::Sender<u64>)>;

/// Serves `routes` until the sender is used or dropped.
async fn serve(routes: Router) -> (SocketAddr, oneshot::Sender<()>, JoinHandle<()>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let server = tokio::spawn(async move {
        let served = axum::serve(listener, routes).with_graceful_shutdown(async {
            let _ = stopped.await;
        });
        served.await.unwrap();
    });
    (address, stop, server)
}

#[test]
fn axum_answers_texts_json_and_work_of_another_task() {
    on_each_policy(|| async {
        let (jobs, mut queue) = mpsc::channel::<(u64, oneshot::Sender<u64>)>(16);
        let worker = tokio::spawn(async move {
            while let Some((number, reply)) = queue.recv().await {
                let _ = reply.send(2 * number);
            }
        });
        let double = async |State(jobs): State<Jobs>, body: String| {
            let (reply, doubled) = oneshot::channel();
            jobs.send((body.parse().unwrap(), reply)).await.unwrap();
            doubled.await.unwrap().to_string()
        };
        let more = async |Json(order): Json<Order>| {
            Json(Order {
                count: order.count + 1,
                ..order
            })
        };
        let routes = Router::new()
            .route("/text", get(async || "text"))
            .route("/more", post(more))
            .route("/double", post(double))
            .with_state(jobs);
        let (address, stop, server) = serve(routes).await;

        let client = reqwest::Client::new();
        let mut clients = JoinSet::new();
        for number in 0..64 {
            let client = client.clone();
            clients.spawn(async move {
                let url = |path: &str| format!("http://{address}{path}");
                let text = client.get(url("/text")).send().await.unwrap();
                assert_eq!(text.text().await.unwrap(), "text");

                let order = Order {
                    item: "x".repeat(10_000),
                    count: number,
                };
                let more = client.post(url("/more")).json(&order).send().await.unwrap();
                let more: Order = more.json().await.unwrap();
                assert_eq!(
                    more,
                    Order {
                        count: number + 1,
                        ..order
                    }
                );

                let double = client.post(url("/double")).body(number.to_string());
                let double = double.send().await.unwrap().text().await.unwrap();
                assert_eq!(double, (2 * number).to_string());
            });
        }
        clients.join_all().await;
        drop(client);
        stop.send(()).unwrap();
        server.await.unwrap();
        worker.await.unwrap();
    });
}

#[test]
fn a_client_times_out_and_the_server_drops_the_handler() {
    struct SendOnDrop(mpsc::Sender<()>);
    impl Drop for SendOnDrop {
        fn drop(&mut self) {
            let _ = self.0.try_send(());
        }
    }
    on_each_policy(|| async {
        let (sender, mut dropped) = mpsc::channel(1);
        let never = async |State(sender): State<mpsc::Sender<()>>| {
            let _guard = SendOnDrop(sender);
            std::future::pending::<()>().await
        };
        let routes = Router::new().route("/", get(never)).with_state(sender);
        let (address, stop, server) = serve(routes).await;
        let client = reqwest::Client::builder()
            .timeout(Duration::from_millis(100))
            .build()
            .unwrap();
        let error = client.get(format!("http://{address}/")).send().await;
        assert!(error.unwrap_err().is_timeout());
        dropped.recv().await.unwrap();
        stop.send(()).unwrap();
        server.await.unwrap();
    });
}

#[test]
fn a_websocket_echoes_and_closes() {
    async fn echo(mut socket: WebSocket) {
        while let Some(Ok(message)) = socket.recv().await {
            if matches!(message, Message::Text(_) | Message::Binary(_)) {
                socket.send(message).await.unwrap();
            }
        }
    }
    on_each_policy(|| async {
        let upgrade = async |upgrade: WebSocketUpgrade| upgrade.on_upgrade(echo);
        let (address, stop, server) = serve(Router::new().route("/", any(upgrade))).await;
        let mut clients = JoinSet::new();
        for client in 0..8 {
            clients.spawn(async move {
                let url = format!("ws://{address}/");
                let (socket, _) = tokio_tungstenite::connect_async(url).await.unwrap();
                let (mut sink, mut stream) = socket.split();
                let sent: Vec<_> = (0..100)
                    .map(|number| match number % 10 {
                        0 => tungstenite::Message::binary(vec![client; 100_000]),
                        _ => tungstenite::Message::text(format!("{client} {number}")),
                    })
                    .collect();
                let writer = tokio::spawn({
                    let sent = sent.clone();
                    async move {
                        for message in sent {
                            sink.send(message).await.unwrap();
                        }
                        sink
                    }
                });
                for message in sent {
                    assert_eq!(stream.next().await.unwrap().unwrap(), message);
                }
                writer.await.unwrap().close().await.unwrap();
                while let Some(message) = stream.next().await {
                    assert!(message.unwrap().is_close());
                }
            });
        }
        clients.join_all().await;
        stop.send(()).unwrap();
        server.await.unwrap();
    });
}

#[test]
fn a_graceful_shutdown_under_load_answers_each_request_that_began() {
    on_each_policy(|| async {
        let load = Load::default();
        let handler = async |State(load): State<Load>| {
            load.begin();
            tokio::time::sleep(Duration::from_millis(2)).await;
            "x".repeat(20_000)
        };
        let routes = Router::new()
            .route("/", get(handler))
            .with_state(load.clone());
        let (address, stop, server) = serve(routes).await;
        let mut clients = JoinSet::new();
        for _ in 0..16 {
            let load = load.clone();
            clients.spawn(async move {
                let client = reqwest::Client::new();
                let url = format!("http://{address}/");
                // The first error means that the server accepts no more requests.
                while let Ok(reply) = client.get(&url).send().await {
                    let body = reply.bytes().await.expect("the whole reply");
                    assert_eq!(body.len(), 20_000);
                    load.answer();
                }
            });
        }
        load.answered(500).await;
        stop.send(()).unwrap();
        server.await.unwrap();
        clients.join_all().await;
        load.assert_no_request_lost();
    });
}
