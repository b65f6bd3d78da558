//! Faults: not one admission above the bound in any, and admissions go on afterwards.

use crate::process::{FILL, LEASE, Process, QUOTA, excess, gather};
use crate::proxy;
use crate::server::Server;
use rustix::process::Signal;
use std::thread::sleep;
use std::time::Duration;
use tollgate_redis::DistributedTokenBucket;

const RUN: Duration = Duration::from_millis(1_800);

fn three(server: &Server) -> Vec<Process> {
    (0..3).map(|_| Process::start(&server.url(), RUN)).collect()
}

/// Nothing above the bound, and at least `least` admissions.
fn judge(traces: &[Vec<(u64, u64)>], least: usize) {
    let total = traces.iter().map(Vec::len).sum::<usize>();
    let excess = excess(traces, QUOTA);
    let each: Vec<_> = traces.iter().map(Vec::len).collect();
    assert!(excess <= 0, "{excess} above the bound: {each:?}");
    assert!(total >= least, "{total} of at least {least}: {each:?}");
}

#[test]
fn steady_demand_is_admitted_and_fair() {
    let Some(server) = Server::start(&[]) else { return };
    let traces = gather(three(&server));
    judge(&traces, 1_000);
    let total = traces.iter().map(Vec::len).sum::<usize>();
    assert!(traces.iter().all(|trace| trace.len() * 6 >= total), "less than half of an equal share");
}

#[test]
fn exact_mode_is_strict() {
    let Some(server) = Server::start(&[]) else { return };
    let exact = [("CLIENT_EXACT", "1")];
    judge(&gather((0..3).map(|_| Process::with(&server.url(), RUN, &exact)).collect()), 1_000);
}

#[test]
fn a_killed_client_takes_its_lease_along_at_most() {
    let Some(server) = Server::start(&[]) else { return };
    let clients = three(&server);
    sleep(FILL + RUN / 2);
    clients[0].signal(Signal::KILL);
    judge(&gather(clients), 1_000);
}

#[test]
fn clients_that_slept_longer_than_their_leases_spend_nothing_of_them() {
    let Some(server) = Server::start(&[]) else { return };
    let slow = [("CLIENT_SLOW", "600")];
    let clients: Vec<_> = (0..3).map(|_| Process::with(&server.url(), RUN, &slow)).collect();
    sleep(FILL + Duration::from_millis(350));
    for client in &clients {
        client.signal(Signal::STOP);
    }
    sleep(FILL); // the store is full again
    for client in &clients {
        client.signal(Signal::CONT);
    }
    judge(&gather(clients), 1_000);
}

#[test]
fn a_server_killed_without_persistence_starts_empty() {
    let Some(mut server) = Server::start(&[]) else { return };
    let clients = three(&server);
    sleep(FILL + RUN / 2);
    server.kill();
    server.start_again();
    judge(&gather(clients), 1_000);
}

#[test]
fn a_server_killed_with_persistence_starts_empty_too() {
    let Some(mut server) = Server::start(&["--appendonly", "yes", "--appendfsync", "everysec"]) else { return };
    let clients = three(&server);
    sleep(FILL + RUN / 2);
    server.kill();
    server.start_again();
    judge(&gather(clients), 1_000);
}

#[test]
fn all_keys_flushed() {
    let Some(server) = Server::start(&[]) else { return };
    let clients = three(&server);
    sleep(FILL);
    for _ in 0..3 {
        sleep(RUN / 4);
        server.command(&["FLUSHALL"]);
    }
    judge(&gather(clients), 500);
}

#[test]
fn a_replica_is_promoted() {
    let Some(mut first) = Server::start(&[]) else { return };
    let replica_of = format!("127.0.0.1 {}", first.port);
    let Some(second) = Server::start(&["--replicaof", &replica_of]) else { return };
    // Clients find the first, then its replica, at one address.
    let port = proxy::switch(first.port, second.port);
    let clients = (0..3).map(|_| Process::start(&format!("redis://127.0.0.1:{port}/"), RUN)).collect();
    sleep(FILL + RUN / 2);
    first.kill();
    second.command(&["REPLICAOF", "NO", "ONE"]);
    judge(&gather(clients), 1_000);
}

/// The first server takes over again from its replica, whose older state it has copied, marker and all. Nobody has drawn from
/// the replica, so its marker is the first one's own.
#[tokio::test]
async fn a_primary_that_comes_back_with_its_replicas_state_starts_empty() {
    let Some(first) = Server::start(&["--repl-diskless-sync-delay", "0"]) else { return };
    let replica_of = format!("127.0.0.1 {}", first.port);
    let Some(second) = Server::start(&["--replicaof", &replica_of, "--repl-diskless-sync-delay", "0"]) else { return };
    let bucket = || {
        let store = first.store(2_000);
        DistributedTokenBucket::new(store, "test", "limit", QUOTA, Duration::ZERO).unwrap()
    };
    bucket().acquire_within(1, Duration::from_secs(5)).await.unwrap();
    let get = |server: &Server, key, field| server.command(&["HGET", key, field]);
    let position = |server| get(server, "{test}:limit:limit", "position");
    while position(&second) != position(&first) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    second.command(&["REPLICAOF", "NO", "ONE"]);
    bucket().acquire_within(9, Duration::from_secs(5)).await.unwrap();
    first.command(&["REPLICAOF", "127.0.0.1", &second.port.to_string()]);
    while position(&second) != position(&first) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    first.command(&["REPLICAOF", "NO", "ONE"]);
    // What was drawn meanwhile is forgotten, so the epoch must be another.
    let _ = bucket().try_acquire().await;
    let epoch = |server| get(server, "{test}:marker", "epoch");
    assert_ne!(epoch(&first), epoch(&second));
}

#[test]
fn replies_are_dropped_delayed_and_repeated() {
    let Some(server) = Server::start(&[]) else { return };
    let clients = (1..4)
        .map(|seed| Process::start(&format!("redis://127.0.0.1:{}/", proxy::start(server.port, seed)), RUN))
        .collect();
    judge(&gather(clients), 300);
}

#[test]
fn replies_are_dropped_delayed_and_repeated_in_exact_mode() {
    let Some(server) = Server::start(&[]) else { return };
    let exact = [("CLIENT_EXACT", "1")];
    let start = |seed| Process::with(&format!("redis://127.0.0.1:{}/", proxy::start(server.port, seed)), RUN, &exact);
    judge(&gather((1..4).map(start).collect()), 100);
}

#[test]
fn a_server_sleeps_longer_than_the_leases_and_then_executes_what_was_sent() {
    let Some(server) = Server::start(&[]) else { return };
    let clients = three(&server);
    sleep(FILL + RUN / 3);
    server.signal(Signal::STOP);
    sleep(3 * LEASE);
    server.signal(Signal::CONT);
    judge(&gather(clients), 1_000);
}
