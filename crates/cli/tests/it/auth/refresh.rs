//! Tokens of a provider while models run: refreshed when due, rotated, revoked, injected.

use std::process::{Command, Stdio};
use std::time::Duration;

use state::{Token, Tokens};
use testkit::http::Answer;

use super::Scene;

const CRM: &str = "{\"provider\": \"crm\"}";

fn asked(scene: &Scene, path: &str) -> usize {
    scene.server.server.seen().iter().filter(|seen| seen.path() == path).count()
}

/// Trap 30 of chapter 03 §3.6.
#[test]
fn ten_requests_need_one_token_and_the_next_run_none() {
    let scene = Scene::new();
    let first = scene.authorize();
    scene.fetches(CRM, 10);
    scene.project.run(&["run"]).success();
    assert_eq!((asked(&scene, "/api/rows"), scene.server.refreshes()), (10, 1));
    let stored = scene.stored().unwrap();
    assert!(stored.refresh_token != first && stored.access_token.is_some(), "the rotated token is kept");
    assert_eq!(stored.scope.as_deref(), Some("contacts.read"), "no scope in an answer means the same one");
    scene.project.run(&["run"]).success();
    assert_eq!((asked(&scene, "/api/rows"), scene.server.refreshes()), (20, 1));
}

/// Chapter 05 §4.2: a sandbox changes nothing of the state but a token that would be lost otherwise.
#[test]
fn a_sandbox_uses_the_token_that_is_there_and_stores_one_that_it_had_to_ask_for() {
    let scene = Scene::new();
    scene.authorize();
    scene.fetches(CRM, 2);
    scene.project.run(&["run"]).success();
    let file = scene.project.root().join("state.duckdb");
    let (stored, bytes) = (scene.stored(), std::fs::read(&file).unwrap());
    scene.project.run(&["sandbox"]).success();
    assert_eq!((scene.server.refreshes(), std::fs::read(&file).unwrap() == bytes), (1, true));
    scene.server.expire_access();
    scene.project.run(&["sandbox"]).success();
    assert_eq!(scene.server.refreshes(), 2);
    let now = scene.stored();
    assert!(now.as_ref().unwrap().refresh_token != stored.unwrap().refresh_token, "the rotated token is kept");
    scene.project.run(&["run"]).success();
    assert_eq!((scene.server.refreshes(), scene.server.is_revoked()), (2, false), "the next run goes on with it");
}

#[test]
fn a_provider_that_does_not_rotate_keeps_its_refresh_token() {
    let scene = Scene::new();
    scene.server.behave(|it| (it.rotates, it.expires_in) = (false, "\"3600\""));
    let first = scene.authorize();
    scene.fetches(CRM, 1);
    scene.project.run(&["run"]).success();
    let stored = scene.stored().unwrap();
    assert_eq!(stored.refresh_token, first);
    assert!(stored.expires_in_ms.unwrap() > 3_000_000);
}

/// A worker's clock is never asked: what is left is told by the state.
#[test]
fn a_token_is_refreshed_a_minute_before_it_expires() {
    for (left_ms, refreshes) in [(59_000, 1), (-3_600_000, 1), (600_000, 0)] {
        let scene = Scene::new();
        scene.fetches(CRM, 1);
        // A token that the server gave, of which only the state says how long it is good.
        scene.authorize();
        scene.project.run(&["run"]).success();
        scene.state(|store| {
            let stored = store.token("crm").unwrap().unwrap();
            let replaces = stored.refresh_token.clone();
            let changed = Token { expires_in_ms: Some(left_ms), ..stored };
            assert!(store.put_token(&changed, Some(&replaces)).unwrap());
            // It is an hour old: a young one with so little left lives for no longer.
            store.run_sql("UPDATE tokens SET updated_at = now() - INTERVAL '1 hour'").unwrap();
        });
        scene.project.run(&["run"]).success();
        assert_eq!(scene.server.refreshes(), 1 + refreshes, "{left_ms}");
    }
}

#[test]
fn a_401_in_the_middle_is_one_refresh_and_one_repeat() {
    let scene = Scene::new();
    scene.authorize();
    scene.fetches(CRM, 3);
    scene.project.run(&["run"]).success();
    scene.server.expire_access();
    scene.server.server.take_seen();
    scene.project.run(&["run"]).success();
    assert_eq!((asked(&scene, "/api/rows"), asked(&scene, "/token"), scene.server.refreshes()), (4, 1, 2));
    assert!(!scene.server.is_revoked());
}

#[test]
fn without_an_authorization_nothing_is_asked_and_the_help_says_what_to_do() {
    let scene = Scene::new();
    scene.fetches(CRM, 1);
    let output = scene.project.run(&["run", "raw.rows"]).failure(1);
    let told = format!("{}{}", output.stdout, output.stderr);
    assert!(told.contains("no auth token for crm") && told.contains("help: run `ondatrasql auth crm`"), "{told}");
    assert!(scene.server.server.seen().is_empty());
}

#[test]
fn a_grant_that_was_taken_back_is_to_be_given_again() {
    let scene = Scene::new();
    let refresh = scene.authorize();
    scene.server.revoke();
    scene.fetches(CRM, 1);
    let output = scene.project.run(&["run", "raw.rows"]).failure(1);
    let told = format!("{}{}", output.stdout, output.stderr);
    assert!(told.contains("crm does not accept the stored authorization any more"), "{told}");
    assert!(told.contains("help: run `ondatrasql auth crm`") && !told.contains(&refresh), "{told}");
    let stored = scene.stored().unwrap();
    assert_eq!((stored.refresh_token, stored.access_token), (refresh.clone(), None));
    let status = scene.project.run(&["auth", "status"]).success().stdout;
    assert!(status.contains("refused: authorize again"), "{status}");
}

#[test]
fn a_provider_that_refuses_for_a_while_is_asked_again() {
    let scene = Scene::new();
    scene.authorize();
    scene.fetches(CRM, 1);
    scene.project.run(&["run", "raw.rows"]).success();
    // The access token is good for an hour yet, but not there.
    scene.server.expire_access();
    scene.server.fail_with([Answer::new(400, &[], r#"{"error": "invalid_grant"}"#)]);
    scene.project.run(&["run", "raw.rows"]).failure(1);
    let status = || scene.project.run(&["auth", "status"]).success().stdout;
    assert!(status().contains("refused: authorize again"), "{}", status());
    scene.project.run(&["run", "raw.rows"]).success();
    assert!(status().contains("expires in"), "{}", status());
}

#[test]
fn a_token_endpoint_that_fails_fails_the_model_and_keeps_the_authorization() {
    let scene = Scene::new();
    let refresh = scene.authorize();
    scene.fetches(CRM, 1);
    let fails = |answers: Vec<Answer>, told: &str| {
        scene.server.fail_with(answers);
        let output = scene.project.run(&["run", "raw.rows"]).failure(1);
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(all.contains(told) && all.contains("CRM_TOKEN_URL"), "{told}: {all}");
        assert_eq!((scene.stored().unwrap().refresh_token, asked(&scene, "/api/rows")), (refresh.clone(), 0));
    };
    fails(vec![Answer::new(500, &[], "oh no"); 3], "status 500");
    fails(vec![Answer::ok("[]")], "without an access_token");
    fails(vec![Answer::new(401, &[], r#"{"error": "invalid_client"}"#)], "invalid_client");
    // A slow one is waited for, and one that stumbles asked again.
    scene.server.fail_with([Answer::new(502, &[], "").after(Duration::from_millis(300))]);
    scene.project.run(&["run"]).success();
    assert_eq!(scene.server.refreshes(), 1);
}

#[test]
fn ctrl_c_during_a_refresh_loses_no_rotated_token() {
    let scene = Scene::new();
    let first = scene.authorize();
    scene.fetches(CRM, 1);
    scene.server.behave(|it| it.pause = Duration::from_millis(1500));
    let mut command = scene.project.command(&["run"]);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    scene.server.server.wait_for(|seen| seen.path() == "/token");
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(1) && stderr.contains("interrupted"), "{stderr}");
    assert_ne!(scene.stored().unwrap().refresh_token, first);
    assert_eq!(asked(&scene, "/api/rows"), 0);
    scene.server.behave(|it| it.pause = Duration::ZERO);
    scene.project.run(&["run"]).success();
    assert_eq!((scene.server.refreshes(), scene.server.is_revoked()), (1, false));
}

#[test]
fn an_injected_token_needs_no_authorization_and_is_never_refreshed() {
    let scene = Scene::new();
    scene.fetches(CRM, 1);
    let refresh = scene.server.authorized();
    // A token that was got elsewhere.
    let elsewhere = Scene { project: crate::project(), server: scene.server.clone() };
    elsewhere.state(|store| assert!(store.put_token(&super::token(&refresh), None).unwrap()));
    let env = std::fs::read_to_string(scene.project.root().join(".env")).unwrap();
    elsewhere.project.write(".env", &env);
    elsewhere.fetches(CRM, 1);
    elsewhere.project.run(&["run"]).success();
    let access = elsewhere.stored().unwrap().access_token.unwrap();
    let run =
        || scene.project.command(&["run"]).env("ONDATRA_OAUTH_TOKEN_CRM", format!(" {access}\n")).output().unwrap();
    assert!(run().status.success());
    assert_eq!(scene.stored(), None);
    scene.server.expire_access();
    let output = run();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(told.contains("status 401") && !told.contains(&access), "{told}");
    assert_eq!(scene.server.refreshes(), 1);
}

#[test]
fn deliveries_are_authorized_like_fetches() {
    let scene = Scene::new();
    scene.authorize();
    let lib = format!(
        "API = {{\"base_url\": \"{}\", \"auth\": {CRM}, \"push\": {{\"batch_size\": 1, \"max_concurrent\": 4}}}}\n\n\
         def push(rows):\n    resp = http.post(\"/rows\", json = {{\"id\": rows[0][\"id\"]}})\n    \
         return {{str(row[\"__ondatra_rowid\"]) + \":\" + row[\"__ondatra_change_type\"]: \
         \"ok\" if resp.ok else \"error: \" + str(resp.status_code) for row in rows}}\n",
        scene.server.server.url("/api")
    );
    scene.project.write("lib/sink.star", &lib);
    scene.project.model("sync/rows", "-- @kind: append\n-- @push: sink\nSELECT i::BIGINT AS id FROM range(20) r(i)");
    scene.project.run(&["run"]).success();
    assert_eq!((asked(&scene, "/api/rows"), scene.server.refreshes()), (20, 1), "four lanes, one refresh");
    scene.server.expire_access();
    scene.project.run(&["queue", "reset", "sync.rows", "--resend"]).success();
    scene.project.run(&["queue", "drain"]).success();
    assert_eq!(scene.server.refreshes(), 2);
    assert!(!scene.server.is_revoked());
}
