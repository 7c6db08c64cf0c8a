//! `docs/push.md`: its five patterns and its beginning, run as they are written.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;

use serde_json::Value;
use testkit::Project;
use testkit::http::{Answer, Seen, Server};

use crate::docs::blocks;
use crate::project;

/// A project whose `lib/sink.star` is the code below a heading, sent to `api`.
fn with_pattern(api: &Server, heading: &str) -> Project {
    let code = &blocks("push.md", heading)[0].text;
    let start = code.find("https://").unwrap();
    let end = start + code[start..].find('"').unwrap();
    let project = project();
    project.write("lib/sink.star", &code.replace(&code[start..end], &api.url("")));
    project
}

/// Writes rows into the file that the model reads, and runs.
fn run(project: &Project, csv: &str) -> String {
    project.write("data/rows.csv", csv);
    project.run(&["run"]).success().stdout
}

fn body(request: &Seen) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

/// A server that holds what is put to its paths.
fn holding() -> Server {
    Server::new(|_, _| Answer::ok("{}"))
}

/// What such a server holds after these requests, by path.
fn held(requests: &[Seen]) -> BTreeMap<String, Value> {
    let mut held = BTreeMap::new();
    for request in requests {
        match request.method() {
            "DELETE" => drop(held.remove(request.path())),
            _ => drop(held.insert(request.path().to_owned(), body(request))),
        }
    }
    held
}

const CONTACTS: &str = "SELECT id::BIGINT AS id, name::VARCHAR AS name FROM read_csv('data/rows.csv')";

#[test]
fn an_upsert_sends_what_came_or_changed() {
    let api = holding();
    let project = with_pattern(&api, "### Upsert");
    project.model("sync/contacts", &format!("-- @kind: merge\n-- @unique_key: id\n-- @push: sink\n{CONTACTS}"));
    run(&project, "id,name\n1,a\n2,b\n");
    run(&project, "id,name\n1,a\n2,c\n");
    let names = |request: &Seen| -> Vec<String> {
        body(request)["rows"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let sent: Vec<Vec<String>> = api.seen().iter().map(names).collect();
    assert_eq!(sent, [vec!["a", "b"], vec!["c"]]);
}

#[test]
fn a_mirror_holds_the_rows_of_the_table() {
    let api = holding();
    let project = with_pattern(&api, "### Mirror with deletes");
    project.model("sync/contacts", &format!("-- @kind: tracked\n-- @group_key: id\n-- @push: sink\n{CONTACTS}"));
    run(&project, "id,name\n1,a\n2,b\n3,c\n");
    run(&project, "id,name\n1,a\n3,d\n4,e\n");
    let held: BTreeMap<String, String> =
        held(&api.seen()).into_iter().map(|(path, row)| (path, row["name"].as_str().unwrap().to_owned())).collect();
    let expected = [("/rows/1", "a"), ("/rows/3", "d"), ("/rows/4", "e")];
    assert_eq!(held, expected.map(|(path, name)| (path.to_owned(), name.to_owned())).into());
    let of_1 = api.seen().iter().filter(|request| request.path() == "/rows/1").count();
    assert_eq!(of_1, 1, "what did not change is not sent again");
}

#[test]
fn messages_are_sent_once_with_an_id_of_their_own() {
    let api = holding();
    let project = with_pattern(&api, "### Append-only messages");
    let sql = "SELECT message::VARCHAR AS message FROM read_csv('data/rows.csv')";
    project.model("sync/messages", &format!("-- @kind: append\n-- @push: sink\n{sql}"));
    run(&project, "message\nhello\nworld\n");
    run(&project, "message\nagain\n");
    let messages: Vec<Value> =
        api.seen().iter().flat_map(|request| body(request)["messages"].as_array().unwrap().clone()).collect();
    let bodies: Vec<&str> = messages.iter().map(|message| message["body"].as_str().unwrap()).collect();
    assert_eq!(bodies, ["hello", "world", "again"]);
    let mut ids: Vec<&str> = messages.iter().map(|message| message["id"].as_str().unwrap()).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[test]
fn a_full_replace_sends_the_whole_table_when_anything_changed() {
    let api = holding();
    let project = with_pattern(&api, "### Full replace");
    let sql = "SELECT id::VARCHAR AS id, name::VARCHAR AS name FROM read_csv('data/rows.csv') ORDER BY id";
    project.model("sync/contacts", &format!("-- @kind: table\n-- @push: sink\n{sql}"));
    run(&project, "id,name\n1,a\n2,b\n");
    run(&project, "id,name\n1,a\n2,b\n");
    run(&project, "id,name\n1,a\n2,c\n");
    let files: Vec<String> =
        api.seen().iter().map(|request| String::from_utf8(request.body.clone()).unwrap()).collect();
    assert_eq!(files, ["1;a\n2;b", "1;a\n2;c"]);
}

#[test]
fn what_is_left_of_a_replace_that_failed_replaces_nothing() {
    let is_down = Arc::new(AtomicBool::new(false));
    let switch = Arc::clone(&is_down);
    let api = Server::new(move |_, _| Answer::new(if switch.load(Relaxed) { 400 } else { 200 }, &[], "{}"));
    let project = with_pattern(&api, "### Full replace");
    let sql = "SELECT id::VARCHAR AS id, id::VARCHAR AS name FROM read_csv('data/rows.csv') ORDER BY id";
    project.model("sync/contacts", &format!("-- @kind: table\n-- @push: sink\n{sql}"));
    run(&project, "id\n1\n2\n");
    is_down.store(true, Relaxed);
    project.write("data/rows.csv", "id\n1\n3\n");
    project.run(&["run"]).failure(1);
    is_down.store(false, Relaxed);
    run(&project, "id\n1\n4\n");
    project.run(&["queue", "retry", "sync.contacts"]).success();
    project.run(&["queue", "drain"]).success();
    let files: Vec<String> =
        api.seen().iter().map(|request| String::from_utf8(request.body.clone()).unwrap()).collect();
    assert_eq!(files, ["1;1\n2;2", "1;1\n3;3", "1;1\n4;4"]);
}

#[test]
fn a_changed_group_becomes_one_document() {
    let api = holding();
    let project = with_pattern(&api, "### Grouped documents");
    let sql = "SELECT order_id::BIGINT AS order_id, item::VARCHAR AS item, amount::DECIMAL(10,2) AS amount \
               FROM read_csv('data/rows.csv')";
    project.model("sync/orders", &format!("-- @kind: tracked\n-- @group_key: order_id\n-- @push: sink\n{sql}"));
    run(&project, "order_id,item,amount\n1,pen,1.50\n2,cup,3.00\n1,ink,2.00\n");
    run(&project, "order_id,item,amount\n1,pen,1.50\n1,ink,2.50\n2,cup,3.00\n");
    let of = |path: &str| -> Vec<usize> {
        let requests = api.seen().into_iter().filter(|request| request.path() == path);
        requests.map(|request| body(&request)["lines"].as_array().unwrap().len()).collect()
    };
    assert_eq!(
        (of("/orders/1"), of("/orders/2")),
        (vec![2, 2], vec![1]),
        "a group is one document, whenever it changed"
    );
    run(&project, "order_id,item,amount\n1,pen,1.50\n1,ink,2.50\n");
    assert_eq!(held(&api.seen()).into_keys().collect::<Vec<_>>(), ["/orders/1"], "an order that is gone is deleted");
}

#[test]
fn the_beginning_delivers_as_the_page_says() {
    let api = holding();
    let project = with_pattern(&api, "## In five minutes");
    let lib = std::fs::read_to_string(project.root().join("lib/sink.star")).unwrap();
    project.write("lib/crm.star", &lib);
    project.remove("lib/sink.star");
    project.write(
        ".env",
        &format!("{}CRM_TOKEN=token-of-the-page\n", std::fs::read_to_string(project.root().join(".env")).unwrap()),
    );
    project.model("mart/customers", "SELECT id, name, email FROM read_csv('data/rows.csv')");
    project.write("models/sync/contacts.sql", &blocks("push.md", "## In five minutes")[1].text);
    let said = run(&project, "id,name,email\n1,a,a@example.com\n2,b,b@example.com\n3,c,\n");
    assert!(said.contains("\n  PUSH: 3 delivered, 0 rejected, 0 to retry, 0 pending\n"), "{said}");
    let request = api.only();
    assert_eq!(request.header("Authorization"), "Bearer token-of-the-page");
    assert_eq!(request.header("Idempotency-Key").len(), 32);
    assert_eq!(body(&request)["contacts"].as_array().unwrap().len(), 3);
}
