//! `ondatrasql describe blueprint`: what the functions of `lib/` declare (chapter 05 §3.10).

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};
use testkit::Project;

use crate::schema::document;
use crate::terminal::on_terminal;
use crate::{BINARY, project};

const SHOP: &str = r#"API = {
    "base_url": "https://user:topsecret1@shop.example.com/v2",
    "auth": {"user": {"env": "SHOP_USER"}, "pass": "hunter2hunter2"},
    "headers": {"Accept": "application/json", "X-Auth-Token": "abcdefghij0123456789", "X-Api-Key": "abc123DEF456", "Cookie": "session=deadbeef"},
    "timeout": 2.5, "retry": 3, "backoff": 0, "rate_limit": {"requests": 10, "per": "1m"},
    "fetch": {"args": ["what"], "async": True, "supported_kinds": ["append", "merge"], "page_size": 100},
    "push": {"batch_size": 50, "batch_mode": "async"},
}

def submit(what):
    return http.post("/jobs", json = {"what": what}).json["id"]

def check(job_ref):
    answer = http.get("/jobs/" + job_ref)
    return answer.json if answer.ok else None

def fetch_result(result_ref, page):
    return {"rows": http.get("/rows").json, "next": None}

def push(rows, **rest):
    return {"job": http.post("/jobs", json = rows).json["job"]}

def poll(job_ref):
    return http.get("/poll").json
"#;
const SINK: &str = "API = {\"push\": {}}\n\ndef push(rows):\n    return {}\n";
const SOURCE: &str = "API = {\"fetch\": {}}\n\ndef fetch(page):\n    return {\"rows\": [], \"next\": None}\n";

fn libs() -> Project {
    let project = project();
    project.write("lib/shop.star", SHOP);
    project.write("lib/Sink.star", SINK);
    project.write("lib/api.star", SOURCE);
    project.write("lib/shared.star", "def f():\n    return 1\n");
    project
}

#[track_caller]
fn told(project: &Project, args: &[&str]) -> Value {
    let output = project.run(&[&["--json", "describe", "blueprint"], args].concat()).success();
    assert_eq!(output.stderr, "");
    document("describe-blueprint", &output.stdout)
}

#[test]
fn all_functions_are_listed_by_name_with_their_directions() {
    let project = libs();
    let output = project.run(&["describe", "blueprint"]).success();
    let expected = "Sink  push        lib/Sink.star\napi   fetch       lib/api.star\nshop  fetch+push  lib/shop.star\n";
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (expected, ""));
    assert_eq!(
        told(&project, &[])["blueprints"],
        json!([
            {"name": "Sink", "path": "lib/Sink.star", "is_sink": true},
            {"name": "api", "path": "lib/api.star", "is_sink": false},
            {"name": "shop", "path": "lib/shop.star", "is_sink": false},
        ])
    );
    assert!(!project.files().iter().any(|file| file.starts_with("ducklake")), "no catalog was opened");
}

#[test]
fn broken_files_are_warnings_in_the_list() {
    let project = libs();
    project.write("lib/bad.star", "API = {");
    let output = project.run(&["describe", "blueprint", "--json"]).success();
    let list = document("describe-blueprint", &output.stdout);
    assert_eq!(
        (list["blueprints"].as_array().unwrap().len(), &list["parse_errors"][0]["file"]),
        (3, &json!("lib/bad.star"))
    );
    assert!(output.stderr.starts_with("warning: lib/bad.star: "), "{}", output.stderr);
    let human = project.run(&["describe", "blueprint"]).success();
    assert!(human.stderr.starts_with("warning: lib/bad.star: ") && human.stdout.lines().count() == 3);
}

#[test]
fn an_empty_and_an_unreadable_folder_are_told() {
    let project = project();
    assert_eq!(project.run(&["describe", "blueprint"]).success().stdout, "no blueprints found in lib/\n");
    assert_eq!(told(&project, &[]), json!({"schema_version": 1, "kind": "list", "blueprints": [], "parse_errors": []}));
    let other = tempfile::tempdir().unwrap();
    symlink(other.path(), project.root().join("lib")).unwrap();
    let output = project.run(&["describe", "blueprint", "--json"]).success();
    let list = document("describe-blueprint", &output.stdout);
    assert_eq!(list["parse_errors"][0]["file"], "lib/");
    assert!(output.stderr.starts_with("warning: "), "{}", output.stderr);
    assert!(project.run(&["describe", "blueprint", "api"]).failure(1).stderr.contains("LIB-001"));
}

#[test]
fn a_function_is_told_with_defaults_and_without_secrets() {
    let project = libs();
    let shop = told(&project, &["SHOP"]);
    assert_eq!(
        (&shop["kind"], &shop["name"], &shop["path"]),
        (&json!("detail"), &json!("shop"), &json!("lib/shop.star"))
    );
    assert_eq!(
        shop["fetch"],
        json!({"args": ["what"], "page_size": 100, "supported_kinds": ["append", "merge"], "mode": "async",
               "functions": {"submit": ["what"], "check": ["job_ref"], "fetch_result": ["result_ref", "page"]},
               "poll_interval": "5s", "poll_timeout": "5m", "poll_backoff": 1})
    );
    assert_eq!(
        shop["push"],
        json!({"args": [], "batch_size": 50, "batch_mode": "async", "max_concurrent": 1, "poll_interval": "30s",
               "poll_timeout": "1h", "functions": {"push": ["rows", "**"], "poll": ["job_ref"]}})
    );
    assert_eq!(shop["auth"], json!({"user": {"env": "SHOP_USER"}, "pass": "[REDACTED]"}));
    assert_eq!((&shop["timeout"], &shop["retry"], shop.get("backoff")), (&json!(2.5), &json!(3), None));
    for header in ["X-Auth-Token", "X-Api-Key", "Cookie"] {
        assert_eq!(shop["headers"][header], "[REDACTED]", "{header}");
    }
    assert_eq!(shop["rate_limit"], json!({"requests": 10, "per": "1m"}));
    let endpoint =
        |method: &str, path: &str, function: &str| json!({"method": method, "path": path, "function": function});
    assert_eq!(
        shop["endpoints"],
        json!([
            endpoint("GET", "/poll", "poll"),
            endpoint("GET", "/rows", "fetch_result"),
            endpoint("GET", "<computed>", "check"),
            endpoint("POST", "/jobs", "push"),
            endpoint("POST", "/jobs", "submit"),
        ])
    );
    let human = project.run(&["describe", "blueprint", "shop"]).success().stdout;
    for text in [shop.to_string(), human] {
        for secret in ["topsecret1", "hunter2hunter2", "abcdefghij0123456789"] {
            assert!(!text.contains(secret), "{text}");
        }
        assert!(text.contains("shop.example.com/v2") && text.contains("SHOP_USER"), "{text}");
    }
    let sink = told(&project, &["sink"]);
    assert_eq!((&sink["is_sink"], &sink["timeout"], &sink["backoff"]), (&json!(true), &json!(30), &json!(1)));
    assert!(sink.get("fetch").is_none() && sink.get("endpoints").is_none() && sink.get("retry").is_none(), "{sink:#}");
    assert_eq!(
        told(&project, &["api"])["fetch"],
        json!({"args": [], "mode": "sync", "functions": {"fetch": ["page"]}})
    );
}

#[test]
fn fields_choose_keys() {
    let project = libs();
    let chosen = |fields: &str| {
        let flag = format!("--fields={fields}");
        project.run(&["describe", "blueprint", "shop", &flag, "--json"]).success().stdout
    };
    let head = r#"{"schema_version":1,"kind":"detail","#;
    assert_eq!(chosen("timeout, name"), format!("{head}\"name\":\"shop\",\"timeout\":2.5}}\n"));
    assert_eq!(
        chosen("rate_limit.per,is_sink,fetch.mode,fetch.args,headers.Accept,auth.scope"),
        format!(
            "{head}\"fetch\":{{\"args\":[\"what\"],\"mode\":\"async\"}},\"auth\":{{\"scope\":null}},\
             \"headers\":{{\"Accept\":\"application/json\"}},\"is_sink\":null,\"rate_limit\":{{\"per\":\"1m\"}}}}\n"
        )
    );
}

/// Every key that may be asked for, as the help lists them.
fn every_field() -> Vec<String> {
    let output = libs().run(&["describe", "blueprint", "shop", "--json", "--fields=nope"]).failure(2);
    let list = output.stderr.split("write a list of: ").nth(1).unwrap().trim();
    let mut fields = Vec::new();
    for word in list.split(", ") {
        match word.split_once(".{") {
            Some((key, inner)) => {
                fields.extend(inner.trim_end_matches('}').split(',').map(|inner| format!("{key}.{inner}")));
            }
            None => fields.push(word.replace("<key>", "X-Any")),
        }
    }
    fields
}

#[test]
fn what_fields_choose_is_as_its_schema_says() {
    let project = libs();
    let fields = every_field();
    assert!(fields.len() > 30, "{fields:?}");
    let chosen = |name: &str, fields: &str| {
        let output = project.run(&["describe", "blueprint", name, &format!("--fields={fields}"), "--json"]);
        document("describe-blueprint-fields", &output.success().stdout)
    };
    for name in ["shop", "Sink", "api"] {
        // All keys whole, all keys below them, and each of these alone.
        let (inner, whole): (Vec<String>, Vec<String>) = fields.iter().cloned().partition(|field| field.contains('.'));
        assert_eq!(chosen(name, &whole.join(",")).as_object().unwrap().len(), 2 + whole.len());
        chosen(name, &inner.join(","));
        for one in &inner {
            chosen(name, one);
        }
    }
    let api = chosen("api", "rate_limit,fetch.page_size,push.args,is_sink");
    assert_eq!(
        api.to_string(),
        "{\"schema_version\":1,\"kind\":\"detail\",\"fetch\":{\"page_size\":null},\"push\":{\"args\":null},\
         \"is_sink\":null,\"rate_limit\":null}"
    );
}

#[test]
fn mistakes_exit_with_2_and_a_broken_file_with_1() {
    let project = libs();
    project.write("lib/bad.star", "API = {");
    for (args, code, expected) in [
        (&["nope"][..], 2, "unknown blueprint: nope (available: api, shop, Sink)"),
        (&["shared"], 2, "unknown blueprint: shared"),
        (&["../shop"], 2, "invalid blueprint name"),
        (&[""], 2, "invalid blueprint name"),
        (&["bad"], 1, "bad failed to parse: lib/bad.star: "),
        (&["shop", "--fields=name"], 2, "it needs a name and --json"),
        (&["--fields=name", "--json"], 2, "it needs a name and --json"),
        (&["shop", "--json", "--fields="], 2, "--fields is empty"),
        (&["shop", "--json", "--fields=nme"], 2, "unknown field: \"nme\""),
        (&["shop", "--json", "--fields=name,"], 2, "unknown field: \"\""),
        (&["shop", "--json", "--fields"], 2, "--fields requires a value"),
        (&["shop", "x"], 2, "extra args: x"),
        (&["--all"], 2, "unknown flag: --all"),
    ] {
        let output = project.run(&[&["describe", "blueprint"], args].concat()).failure(code);
        assert!(output.stderr.contains(expected) && output.stdout.is_empty(), "{args:?}: {}", output.stderr);
    }
    assert!(project.run(&["describe", "a.b", "blueprint"]).failure(2).stderr.contains("extra args"));
    let nowhere = Project::empty(BINARY);
    assert!(nowhere.run(&["describe", "blueprint"]).failure(1).stderr.contains("not in an ondatrasql project"));
}

#[test]
fn a_broken_configuration_is_not_looked_at_and_the_box_fits_the_terminal() {
    let project = libs();
    fs::write(project.root().join("config/catalog.sql"), "ATTACH 'nothing").unwrap();
    assert_eq!(told(&project, &["api"])["name"], "api");
    for columns in [40, 80] {
        let (shown, code) = on_terminal(&project, columns, &["describe", "blueprint", "shop"]);
        assert!(code == 0 && shown.contains("Endpoints"), "{shown}");
        assert!(shown.lines().all(|line| line.chars().count() <= columns), "{columns}:\n{shown}");
    }
}
