//! Models that fetch, end to end: the binary against a real HTTP server (chapter 03 §3.4).

mod arguments;
mod before_fetching;
mod concurrent;
mod crash;
mod declared;
mod hostile;
mod interrupt;
mod jobs;
mod kinds;
mod libs;
mod lookups;
mod output;
mod pages;
mod parts;
mod states;
mod tutorial;
mod values;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use state::{StagedFetch, Staging};
use testkit::http::{Answer, Seen, Server};
use testkit::{Project, StateFixture, state_config};

use crate::project;

/// Asks `/items` page by page, for what is newer than the cursor of the model.
const ITEMS: &str = r#"
def fetch(page, last_value):
    resp = http.get("/items", params = {"cursor": page.cursor, "limit": page.size, "since": last_value})
    if not resp.ok:
        fail("status", resp.status_code)
    return resp.json
"#;

/// The columns of an item.
const COLUMNS: &str = "id::BIGINT AS id, k::INTEGER AS k, v::VARCHAR AS v";

/// A service with items `{"id", "k", "v"}` that changes between runs.
struct Items {
    api: Server,
    shared: Arc<Shared>,
}

struct Shared {
    rows: Mutex<Vec<Value>>,
    /// What each page says besides its rows.
    said: Mutex<Option<&'static str>>,
    pause: Duration,
}

impl Items {
    fn start(rows: &[(i64, i64, &str)]) -> Self {
        Self::slow(rows, Duration::ZERO)
    }

    /// The same; each page takes a while.
    fn slow(rows: &[(i64, i64, &str)], pause: Duration) -> Self {
        let shared = Arc::new(Shared { rows: Mutex::default(), said: Mutex::default(), pause });
        let answering = Arc::clone(&shared);
        let items = Self { api: Server::new(move |_, request| answering.answer(request)), shared };
        items.set(rows);
        items
    }

    fn set(&self, rows: &[(i64, i64, &str)]) {
        let row = |(id, k, v): &(i64, i64, &str)| json!({"id": id, "k": k, "v": v});
        *self.shared.rows.lock().unwrap() = rows.iter().map(row).collect();
    }

    /// What pages say of an empty fetch.
    fn say(&self, empty_result: Option<&'static str>) {
        *self.shared.said.lock().unwrap() = empty_result;
    }

    /// Writes `lib/items.star`.
    fn lib(&self, project: &Project, page_size: usize) {
        project.write("lib/items.star", &lib(&self.api, &format!("\"page_size\": {page_size}"), ITEMS));
    }
}

impl Shared {
    fn answer(&self, request: &Seen) -> Answer {
        let number = |name: &str| request.parameter(name).and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
        let (since, from) = (number("since"), usize::try_from(number("cursor")).unwrap());
        let limit = usize::try_from(number("limit")).unwrap();
        let rows = self.rows.lock().unwrap();
        let wanted: Vec<&Value> = rows.iter().filter(|row| row["id"].as_i64().unwrap() > since).collect();
        let end = wanted.len().min(from + limit);
        let next = (end < wanted.len()).then_some(end);
        let mut page = json!({"rows": wanted[from.min(end)..end], "next": next});
        if let Some(said) = *self.said.lock().unwrap() {
            page["empty_result"] = said.into();
        }
        Answer::ok(page.to_string()).after(self.pause)
    }
}

/// A lib file with the keys of its `fetch` section, and its functions.
fn lib(api: &Server, keys: &str, functions: &str) -> String {
    format!("API = {{\"base_url\": \"{}\", \"fetch\": {{{keys}}}}}\n{functions}", api.url(""))
}

/// A project with `lib/api.star`.
fn with_lib(api: &Server, keys: &str, functions: &str) -> Project {
    let project = project();
    project.write("lib/api.star", &lib(api, keys, functions));
    project
}

/// A function that returns these rows (JSON, which is Starlark here), without a request.
fn returning(rows: &str) -> String {
    format!("def fetch():\n    return {{\"rows\": {rows}}}\n")
}

/// A server that nobody asks.
fn silent() -> Server {
    Server::new(|_, _| Answer::new(500, &[], "nobody should ask"))
}

/// Writes a model that fetches.
fn model(project: &Project, path: &str, header: &str, columns: &str, call: &str) {
    project.model(path, &format!("-- @kind: {header}\n-- @fetch\nSELECT {columns}\nFROM {call}\n"));
}

/// Runs all models, and gives what was printed.
#[track_caller]
fn run(project: &Project) -> String {
    project.run(&["run"]).success().stdout
}

/// What is left of fetches of a target.
fn staged(project: &Project, target: &str) -> Vec<StagedFetch> {
    let temp = tempfile_below(project);
    let mut store = state::open(state_config(&project.root(), &temp), "test".to_owned().into()).unwrap();
    store.fetches(target).unwrap()
}

fn tempfile_below(project: &Project) -> std::path::PathBuf {
    project.temp_root()
}

/// The same of a state on a server.
fn staged_in(fixture: &StateFixture, target: &str) -> Vec<StagedFetch> {
    fixture.open("test").fetches(target).unwrap()
}

/// A page of an API as JSON.
fn page(rows: &Value, next: impl Into<Value>) -> Answer {
    Answer::ok(json!({"rows": rows, "next": next.into()}).to_string())
}

/// Asks `/page` with the cursor and returns what comes.
const PAGES: &str = r#"
def fetch(page):
    resp = http.get("/page", params = {"cursor": page.cursor})
    if not resp.ok:
        fail("status", resp.status_code)
    return resp.json
"#;

/// The number of the page that a request of [`PAGES`] asks for, from 1, where cursors are numbers of pages.
fn page_number(request: &Seen) -> i64 {
    request.parameter("cursor").map_or(1, |cursor| cursor.parse().unwrap())
}
