//! `auth`, `auth status`, `auth remove`, and wrong invocations.

use serde_json::{Value, json};
use testkit::Project;

use super::Scene;
use crate::{BINARY, project};

#[test]
fn the_providers_that_variables_describe_are_listed() {
    let scene = Scene::new();
    assert_eq!(scene.project.run(&["auth"]).success().stdout, "crm\n");
    let env = format!("{}{}", scene.server.variables("MY_CRM"), scene.server.variables("ACME"));
    scene.project.write(".env", &format!("{env}OTHER_CLIENT_ID=x\n"));
    assert_eq!(scene.project.run(&["auth"]).success().stdout, "acme\nmy-crm\n");
    let output = scene.project.run(&["auth", "--json"]).success();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), ("", "acme\nmy-crm\n"));
}

#[test]
fn without_any_an_example_is_shown_in_a_project_or_outside_of_one() {
    for project in [project(), Project::empty(BINARY)] {
        let output = project.run(&["auth"]).success();
        assert!(output.stdout.starts_with("No providers configured.\n"), "{}", output.stdout);
        assert!(output.stdout.contains("MY_CRM_CLIENT_ID=") && output.stdout.contains("`ondatrasql auth my-crm`"));
    }
}

#[test]
fn wrong_invocations_are_exit_code_2() {
    let scene = Scene::new();
    for (args, told) in [
        (&["auth", "My_Crm"][..], "invalid provider name: My_Crm"),
        (&["auth", "c"], "invalid provider name: c"),
        (&["auth", "-"], "invalid provider name: -"),
        (&["auth", "a\u{1b}[2Jb"], "invalid provider name: a\\u{1b}[2Jb"),
        (&["auth", "crm", "more"], "extra args: more"),
        (&["auth", "crm", "status"], "extra args: crm"),
        (&["auth", "crm", "--port", "0"], "invalid --port value: 0"),
        (&["auth", "crm", "--port"], "--port requires a value"),
        (&["auth", "crm", "--what"], "unknown flag: --what"),
        (&["auth", "--no-browser"], "usage: ondatrasql auth"),
        (&["auth", "remove"], "usage: ondatrasql auth remove"),
        (&["auth", "remove", "Crm!"], "invalid provider name: Crm!"),
        (&["auth", "status", "crm"], "extra args: crm"),
    ] {
        let output = scene.project.run(args).failure(2);
        assert!(output.stderr.starts_with(&format!("error: {told}")), "{args:?}: {}", output.stderr);
    }
}

#[test]
fn what_is_missing_is_named() {
    let scene = Scene::new();
    let output = scene.project.run(&["auth", "my-crm"]).failure(1);
    let names = "MY_CRM_CLIENT_ID, MY_CRM_CLIENT_SECRET, MY_CRM_AUTH_URL, MY_CRM_TOKEN_URL, MY_CRM_SCOPE";
    assert!(
        output.stderr.starts_with(&format!("error: missing .env variables for my-crm: {names} [AUTH-001]\n")),
        "{}",
        output.stderr
    );
    let output = Project::empty(BINARY).run(&["auth", "my-crm"]).failure(1);
    assert!(output.stderr.contains("not in an ondatrasql project"), "{}", output.stderr);
}

fn statuses(scene: &Scene) -> Vec<Value> {
    let output = scene.project.run(&["auth", "status", "--json"]).success();
    let document: Value = serde_json::from_str(&output.stdout).unwrap();
    assert_eq!((&document["schema_version"], &document["warnings"]), (&json!(1), &json!([])));
    document["providers"].as_array().unwrap().clone()
}

#[test]
fn status_tells_each_source_with_scopes_expiry_and_last_refresh() {
    let scene = Scene::new();
    let none = |name: &str, source: &str, scope: Value| {
        let (expires, refreshed) = (Value::Null, Value::Null);
        json!({
            "provider": name, "source": source, "scope": scope, "refused": false,
            "expires_in_s": expires, "refreshed_s_ago": refreshed,
        })
    };
    assert_eq!(statuses(&scene), [none("crm", "none", Value::Null)]);
    scene.authorize();
    scene.fetches("{\"provider\": \"crm\"}", 1);
    scene.project.run(&["run"]).success();
    scene.project.write(
        "lib/robot.star",
        "API = {\"fetch\": {}, \"auth\": {\"service_account\": \"k.json\", \"scope\": \"s\"}}\ndef fetch(): pass\n",
    );
    scene
        .project
        .write("lib/other.star", "API = {\"fetch\": {}, \"auth\": {\"provider\": \"other\"}}\ndef fetch(): pass\n");
    let all = statuses(&scene);
    assert_eq!(all.len(), 3);
    let crm = &all[0];
    assert_eq!(
        (&crm["provider"], &crm["source"], &crm["scope"]),
        (&json!("crm"), &json!("stored"), &json!("contacts.read"))
    );
    assert!((1..=3600).contains(&crm["expires_in_s"].as_i64().unwrap()), "{crm}");
    assert!((0..600).contains(&crm["refreshed_s_ago"].as_i64().unwrap()), "{crm}");
    assert_eq!(all[1..], [none("other", "none", Value::Null), none("k.json", "service account", json!("s"))]);
    let output = scene.project.run(&["auth", "status"]).success();
    assert!(
        output.stdout.contains("expires in 59 min") || output.stdout.contains("expires in 60 min"),
        "{}",
        output.stdout
    );
    let output =
        scene.project.command(&["auth", "status", "--json"]).env("ONDATRA_OAUTH_TOKEN_CRM", "t0ken-injected").output();
    let output = String::from_utf8(output.unwrap().stdout).unwrap();
    assert!(
        output.contains(r#"{"provider":"crm","source":"injected","scope":null"#) && !output.contains("t0ken"),
        "{output}"
    );
}

#[test]
fn a_lib_that_is_broken_keeps_nothing_from_being_told() {
    let scene = Scene::new();
    scene.project.write("lib/broken.star", "API = 5\n");
    let output = scene.project.run(&["auth", "status"]).success();
    assert!(
        output.stdout.contains("crm") && output.stderr.contains("warning: lib/broken.star is not read"),
        "{}",
        output.stderr
    );
}

#[test]
fn removed_tokens_are_gone() {
    let scene = Scene::new();
    let output = scene.project.run(&["auth", "remove", "crm"]).failure(1);
    assert!(output.stderr.starts_with("error: there are no tokens of crm"), "{}", output.stderr);
    scene.authorize();
    let output = scene.project.run(&["auth", "remove", "crm"]).failure(2);
    assert!(output.stderr.contains("auth remove needs --yes without a terminal"), "{}", output.stderr);
    assert!(scene.stored().is_some());
    let output = scene.project.run(&["auth", "remove", "crm", "--yes"]).success();
    assert!(output.stdout.contains("Removed the tokens of crm"), "{}", output.stdout);
    assert_eq!(scene.stored(), None);
}
