//! Models that fetch side by side.

use std::time::{Duration, Instant};

use serde_json::json;
use testkit::Project;
use testkit::http::{Answer, Server};

use super::{COLUMNS, Items, model, page, run, with_lib};
use crate::project;

#[test]
fn two_models_of_one_lib_have_their_own_rows_and_failures() {
    let asking = r#"
def fetch(page, which):
    resp = http.get("/" + which, params = {"cursor": page.cursor})
    if not resp.ok:
        fail(which, resp.status_code)
    return resp.json
"#;
    let api = Server::new(|_, request| {
        let number = super::page_number(request);
        match request.path() {
            "/bad" if number == 3 => Answer::new(404, &[], ""),
            path => page(&json!([{"from": path, "n": number}]), (number < 4).then_some(number + 1)),
        }
    });
    let project = with_lib(&api, "\"args\": [\"which\"]", asking);
    for which in ["bad", "good", "more"] {
        let call = format!("api('{which}')");
        model(&project, &format!("raw/{which}"), "append", "\"from\"::VARCHAR AS src, n::INTEGER AS n", &call);
    }
    let output = project.run(&["run"]).failure(1);
    assert!(output.stdout.contains("Done: 2 ran, 0 skipped, 1 failed"), "{}", output.stdout);
    assert!(output.stderr.contains("raw.bad: "), "{}", output.stderr);
    for which in ["good", "more"] {
        let found = project.rows(&format!("SELECT count(*), min(src), max(src) FROM raw.{which}"));
        assert_eq!(found, format!("4,/{which},/{which}\n"));
    }
}

#[test]
fn a_reader_of_a_failed_fetch_is_not_run_and_others_are() {
    let project = with_lib(&super::silent(), "", "def fetch():\n    fail(\"no\")\n");
    model(&project, "raw/x", "table", "a::INTEGER AS a", "api()");
    project.model("staging/y", "SELECT a FROM raw.x");
    project.model("staging/z", "SELECT 1 AS a");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stdout.contains("skipped: upstream model failed"), "{}", output.stdout);
    assert!(output.stdout.contains("[OK] staging.z"), "{}", output.stdout);
}

/// The time between the first and the last request of a run of all models.
fn fetching_time(project: &Project, api: &Server, jobs: &str) -> Duration {
    api.take_seen();
    project.run(&["run", "--jobs", jobs]).success();
    let at: Vec<Instant> = api.seen().iter().map(|request| request.at).collect();
    assert_eq!(at.len(), 200);
    *at.iter().max().unwrap() - *at.iter().min().unwrap()
}

#[test]
fn eight_at_a_time_are_faster_than_one() {
    let rows: Vec<(i64, i64, &str)> = (1..=10).map(|id| (id, 1, "a")).collect();
    let (project, items) = (project(), Items::slow(&rows, Duration::from_millis(50)));
    items.lib(&project, 1);
    for at in 0..20 {
        model(&project, &format!("raw/x{at}"), "table", COLUMNS, "items()");
    }
    let (one, eight) = (fetching_time(&project, &items.api, "1"), fetching_time(&project, &items.api, "8"));
    assert!(one >= Duration::from_millis(9_900), "one after the other: {one:?}");
    assert!(eight < one / 2, "{eight:?} of {one:?}");
}

#[test]
fn a_rate_limit_is_shared_by_all_models_of_a_lib() {
    let (project, items) = (project(), Items::start(&[(1, 1, "a"), (2, 1, "b"), (3, 1, "c")]));
    let lib =
        super::lib(&items.api, "\"page_size\": 1, \"rate_limit\": {\"requests\": 3, \"per\": \"1s\"}", super::ITEMS);
    project.write("lib/items.star", &lib);
    for at in 0..4 {
        model(&project, &format!("raw/x{at}"), "table", COLUMNS, "items()");
    }
    run(&project);
    let mut at: Vec<Instant> = items.api.seen().iter().map(|request| request.at).collect();
    at.sort_unstable();
    assert_eq!(at.len(), 12);
    // Requests start in time; how long they travel on a busy machine is not known.
    for window in at.windows(4) {
        let span = window[3] - window[0];
        assert!(span >= Duration::from_millis(700), "four requests within {span:?}");
    }
    assert!(at[11] - at[0] >= Duration::from_millis(2_700));
}

#[test]
fn an_api_that_is_not_there_or_breaks_off_is_a_failure_after_the_retries() {
    let asked = std::sync::atomic::AtomicUsize::new(0);
    let api = Server::new(move |_, request| {
        match (request.path(), asked.fetch_add(1, std::sync::atomic::Ordering::SeqCst)) {
            ("/page", 0) => Answer::default().close(),
            ("/page", 1) => Answer::head(200, &[("Content-Length", "20")]).bytes("{\"rows\": [").close(),
            ("/page", 2) => Answer::new(503, &[("Retry-After", "0")], ""),
            _ => Answer::ok("{\"rows\": [{\"a\": 1}]}"),
        }
    });
    let project = with_lib(&api, "\"retry\": 3, \"backoff\": 0.01", super::PAGES);
    model(&project, "raw/x", "table", "a::INTEGER AS a", "api()");
    run(&project);
    assert_eq!((api.seen().len(), project.rows("FROM raw.x").as_str()), (4, "1\n"));
    let gone = lib_of_nobody();
    project.write("lib/api.star", &gone);
    let text = project.run(&["run"]).failure(1).stderr;
    assert!(text.contains("request failed after 2 attempts"), "{text}");
}

fn lib_of_nobody() -> String {
    format!(
        "API = {{\"base_url\": \"http://127.0.0.1:{}\", \"fetch\": {{\"retry\": 1, \"backoff\": 0.01}}}}\n{}",
        testkit::free_port(),
        super::PAGES
    )
}
