//! Pages: when they end, and that they do.

use std::sync::atomic::{AtomicI64, Ordering};

use serde_json::json;
use testkit::http::{Answer, Server};

use super::{PAGES, model, page, run, staged, with_lib};

#[test]
fn pages_end_only_with_a_missing_none_or_empty_next() {
    for last in [json!(null), json!("")] {
        let answers = [json!(0), json!(false), json!({}), json!([]), json!("a"), last];
        let asked = AtomicI64::new(0);
        let api = Server::new(move |_, _| {
            let at = asked.fetch_add(1, Ordering::SeqCst);
            let next = usize::try_from(at).ok().and_then(|at| answers.get(at)).cloned();
            page(&json!([{"n": at}]), next.unwrap_or_default())
        });
        let lib = PAGES.replace("page.cursor}", "repr(page.cursor)}");
        let project = with_lib(&api, "", &lib);
        model(&project, "raw/x", "table", "n::INTEGER AS n", "api()");
        run(&project);
        assert_eq!(project.rows("SELECT count(*), max(n) FROM raw.x"), "6,5\n");
        let cursors: Vec<String> = api.seen().iter().map(|request| request.parameter("cursor").unwrap()).collect();
        assert_eq!(cursors, ["None", "0", "False", "{}", "[]", "\"a\""]);
    }
}

/// Runs a model against an API that would never end; gives the error and how often it was asked.
fn endless(keys: &str, answer: impl Fn(i64) -> Answer + Send + Sync + 'static) -> (String, usize) {
    let asked = AtomicI64::new(0);
    let api = Server::new(move |_, _| answer(asked.fetch_add(1, Ordering::SeqCst)));
    let project = with_lib(&api, keys, PAGES);
    model(&project, "raw/x", "table", "n::INTEGER AS n", "api()");
    let text = project.run(&["run"]).failure(1).stderr;
    assert!(text.contains("raw.x") && text.contains("FETCH-003"), "{text}");
    assert_eq!(staged(&project, "raw.x"), []);
    (text, api.seen().len())
}

#[test]
fn pages_that_do_not_get_on_are_an_error() {
    let (text, asked) = endless("", |_| page(&json!([]), "same"));
    assert!(text.contains("pagination does not advance") && asked <= 12, "{asked}: {text}");
    let (text, asked) = endless("", |_| page(&json!([{"n": 1}, {"n": 2}]), "same"));
    assert!(text.contains("pagination does not advance") && asked <= 4, "{asked}: {text}");
    let (text, asked) = endless("", |at| page(&json!([]), at % 2));
    assert!(text.contains("pagination does not advance") && asked <= 13, "{asked}: {text}");
}

#[test]
fn more_pages_than_allowed_are_an_error() {
    let (text, asked) = endless("\"max_pages\": 3", |at| page(&json!([{"n": at}]), at + 1));
    assert!(text.contains("max_pages") && asked == 3, "{asked}: {text}");
    let api = Server::new(|_, request| {
        let number = super::page_number(request);
        page(&json!([{"n": number}]), (number < 3).then_some(number + 1))
    });
    let project = with_lib(&api, "\"max_pages\": 3", PAGES);
    model(&project, "raw/x", "table", "n::INTEGER AS n", "api()");
    run(&project);
    assert_eq!(project.rows("SELECT count(*) FROM raw.x"), "3\n", "just as many are fine");
}

/// A cursor that stands for the session: pages differ, if only in what the model does not ask for.
#[test]
fn the_same_cursor_with_new_rows_gets_on() {
    let asked = AtomicI64::new(0);
    let api = Server::new(move |_, _| {
        let at = asked.fetch_add(1, Ordering::SeqCst);
        page(&json!([{"id": at, "status": "ok"}]), (at < 30).then_some("session"))
    });
    let project = with_lib(&api, "", PAGES);
    model(&project, "raw/x", "table", "status::VARCHAR AS status", "api()");
    run(&project);
    assert_eq!(project.rows("SELECT count(*) FROM raw.x"), "31\n");
}

#[test]
fn rows_keep_their_order_over_pages_and_batches() {
    let api = Server::new(|_, request| {
        let number = super::page_number(request);
        let rows: Vec<_> = (0..3000).map(|at| json!({"n": (number - 1) * 3000 + at})).collect();
        page(&json!(rows), (number < 5).then_some(number + 1))
    });
    let project = with_lib(&api, "", PAGES);
    model(&project, "raw/x", "table", "n::INTEGER AS n", "api()");
    run(&project);
    let ordered = "SELECT count(*), bool_and(n = nr - 1) FROM (SELECT n, row_number() OVER () AS nr FROM raw.x)";
    assert_eq!(project.rows(ordered), "15000,true\n");
}
