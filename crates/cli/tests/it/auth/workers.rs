//! Sixteen workers with refresh tokens that rotate: one refresh each time, and nothing is revoked.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use http_client::{Client, ClientOptions, Stop};
use lib_functions::{AccessTokens, ProviderName, TokenError};
use oauth::{ManagedTokens, TokenSources};
use project::{Environment, Redactor};
use state::{BackendKind, LeaseAnswer, Leases, SharedStore, StateConfig};
use testkit::{AuthorizationServer, StateFixture};

use super::{Scene, shared, token};
use crate::BINARY;

const WORKERS: usize = 16;

/// The tokens of a worker that has just begun.
fn worker(fixture: &StateFixture, store: &SharedStore, number: usize) -> ManagedTokens {
    let root = fixture.project.root();
    let environment = Environment::load(&root, []).unwrap();
    ManagedTokens::new(TokenSources {
        redactor: Redactor::new(&root, &environment),
        root,
        environment,
        client: Client::new(ClientOptions::default()),
        store: store.clone().into(),
        run_id: format!("run {number}"),
    })
}

/// What each worker gets at once; it must be one token for all.
fn all_get(workers: &[Arc<ManagedTokens>], rejected: Option<&str>) -> String {
    let threads: Vec<_> = workers
        .iter()
        .map(|tokens| {
            let (tokens, rejected) = (Arc::clone(tokens), rejected.map(str::to_owned));
            let name = ProviderName::parse("crm").unwrap();
            thread::spawn(move || tokens.provider(&name, rejected.as_deref(), &Stop::never()).unwrap())
        })
        .collect();
    let got: BTreeSet<String> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(got.len(), 1, "{got:?}");
    got.into_iter().next().unwrap()
}

fn exercise(fixture: &StateFixture, stores: &[SharedStore]) {
    let server: AuthorizationServer = Scene::on(fixture);
    assert!(stores[0].lock().put_token(&token(&server.authorized()), None).unwrap());
    let begin = || -> Vec<Arc<ManagedTokens>> {
        (0..WORKERS).map(|at| Arc::new(worker(fixture, &stores[at % stores.len()], at))).collect()
    };
    // Nobody has one yet; then those that began before, and new ones, whose token has expired.
    let mut last = all_get(&begin(), None);
    assert_eq!(server.refreshes(), 1);
    for round in 2..=4 {
        let old = stores[0].lock().token("crm").unwrap().unwrap();
        let replaces = old.refresh_token.clone();
        let due = state::Token { expires_in_ms: Some(-1_000), ..old };
        assert!(stores[0].lock().put_token(&due, Some(&replaces)).unwrap());
        let got = all_get(&begin(), None);
        assert_ne!(got, last);
        assert_eq!((server.refreshes(), server.is_revoked()), (round, false));
        last = got;
    }
    // A server rejects it before its time.
    for round in 5..=7 {
        let workers = begin();
        server.expire_access();
        let got = all_get(&workers, Some(&last));
        assert_ne!(got, last);
        assert_eq!((server.refreshes(), server.is_revoked()), (round, false));
        // Who comes late with the old one asks nothing.
        assert_eq!(all_get(&workers, Some(&last)), got);
        // Where the new one is rejected as well, no other would help.
        assert_eq!(all_get(&workers, Some(&got)), got);
        assert_eq!(server.refreshes(), round);
        last = got;
    }
}

#[test]
fn lanes_of_one_process_share_a_refresh() {
    let fixture = StateFixture::new(BINARY, BackendKind::File);
    let store = shared(fixture.open("w"));
    exercise(&fixture, &[store]);
}

#[test]
fn workers_on_postgresql_share_a_refresh() {
    let fixture = StateFixture::new(BINARY, BackendKind::Postgres);
    let stores: Vec<SharedStore> = (0..WORKERS).map(|at| shared(fixture.open(&format!("w{at}")))).collect();
    exercise(&fixture, &stores);
    // A token that comes too late is fended off without an error, which the server would log with it; so is a wait.
    let late = stores[0].lock().put_token(&token("l4te-refresh"), Some("moved-on")).unwrap();
    let log = std::fs::read_to_string(fixture.postgres.as_ref().unwrap().folder().join("log")).unwrap();
    assert!(!late && !log.contains("l4te-refresh") && !log.contains("refresh_token = '"), "{log}");
    let errors = log.matches("fence:lease_held").count();
    assert!(errors < WORKERS * 8, "{errors} refusals of the lease: those who wait ask otherwise");
}

#[test]
fn workers_on_a_quack_server_share_a_refresh() {
    let fixture = StateFixture::new(BINARY, BackendKind::Quack);
    let stores: Vec<SharedStore> = (0..WORKERS).map(|at| shared(fixture.open(&format!("w{at}")))).collect();
    exercise(&fixture, &stores);
}

/// A worker that died while it refreshed is in the way for no longer than its lease.
#[test]
fn the_lease_of_a_dead_worker_runs_out() {
    for kind in [BackendKind::Postgres, BackendKind::Quack] {
        let fixture = StateFixture::new(BINARY, kind);
        let server = Scene::on(&fixture);
        let config = StateConfig { lease: Duration::from_secs(2), ..fixture.config() };
        let mut dead = state::open(config, "dead".to_owned().into()).unwrap();
        assert!(matches!(dead.take_lease("oauth:crm", "run").unwrap(), LeaseAnswer::Taken(_)));
        let store = shared(fixture.open("alive"));
        assert!(store.lock().put_token(&token(&server.authorized()), None).unwrap());
        let name = ProviderName::parse("crm").unwrap();
        let tokens = worker(&fixture, &store, 1);
        // Who waits for it can be stopped, and has asked nobody.
        let stopped = tokens.provider(&name, None, &Stop::new(|| true));
        assert!(matches!(stopped, Err(TokenError::Stopped)) && server.refreshes() == 0);
        tokens.provider(&name, None, &Stop::never()).unwrap();
        assert_eq!((server.refreshes(), server.is_revoked()), (1, false));
        drop(dead);
    }
}
