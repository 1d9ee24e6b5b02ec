//! axum and reqwest: JSON over connections that are kept alive.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use raddle_sim::Sim;
use serde::{Deserialize, Serialize};
use simulated::{ATTEMPT, disturb, retry};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tower_http::timeout::TimeoutLayer;

const CLIENTS: [&str; 2] = ["alice", "bob"];
const TASKS: u64 = 3;
const ORDERS: u64 = 40;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Order {
    id: String,
    item: String,
    count: u64,
}

/// What the server has stored. It outlives the server's process, as a disk does.
type Disk = Arc<Mutex<BTreeMap<String, Order>>>;

async fn serve(disk: Disk) {
    let store = async |State(disk): State<Disk>, Json(order): Json<Order>| {
        sleep(Duration::from_millis(5)).await;
        disk.lock().unwrap().insert(order.id.clone(), order.clone());
        Json(order)
    };
    let load = async |State(disk): State<Disk>, Path(id): Path<String>| {
        let order = disk.lock().unwrap().get(&id).cloned();
        order.map(Json).ok_or(StatusCode::NOT_FOUND)
    };
    let routes = Router::new()
        .route("/orders", post(store))
        .route("/orders/{id}", get(load))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::SERVICE_UNAVAILABLE,
            ATTEMPT,
        ))
        .with_state(disk);
    let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
    axum::serve(listener, routes).await.unwrap();
}

async fn order(client: &reqwest::Client, order: &Order) -> reqwest::Result<Order> {
    let request = client.post("http://server/orders").json(order);
    request.send().await?.error_for_status()?.json().await
}

async fn look_up(client: &reqwest::Client, id: &str) -> reqwest::Result<Order> {
    let request = client.get(format!("http://server/orders/{id}"));
    request.send().await?.error_for_status()?.json().await
}

async fn run_client(name: &str) {
    let client = reqwest::Client::new();
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (client, name) = (client.clone(), name.to_owned());
        tasks.spawn(async move {
            let mut orders = Vec::new();
            for count in 0..ORDERS {
                let new = Order {
                    id: format!("{name}-{task}-{count}"),
                    item: "item ".repeat(count as usize * 10),
                    count,
                };
                let stored = retry(|| order(&client, &new)).await;
                assert_eq!(stored, new);
                orders.push(new);
                sleep(Duration::from_millis(50)).await;
            }
            for order in orders {
                let found = retry(|| look_up(&client, &order.id)).await;
                assert_eq!(found, order);
            }
        });
    }
    tasks.join_all().await;
}

fn scenario(sim: &mut Sim) {
    let disk = Disk::default();
    sim.host("server", move || serve(disk.clone()));
    for name in CLIENTS {
        sim.client(name, run_client(name));
    }
    disturb(sim, &CLIENTS);
}

#[raddle_sim::test(seeds = 4)]
fn acknowledged_orders_are_stored(sim: &mut Sim) {
    scenario(sim);
    sim.run();
}

#[test]
fn a_seed_repeats() {
    crate::run_twice(scenario);
}
