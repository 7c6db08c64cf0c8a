//! What a run tells other systems of itself: the log as JSON, traces, metrics (docs/observability.md).

mod commands;
mod log;
mod metrics;
mod page;
mod traces;

use testkit::Project;
use testkit::http::{Answer, Seen, Server};

use crate::project;

/// What must not be seen anywhere; the service and the models have it.
const SECRET: &str = "hunter2-Secret-9";

/// A project that fetches, checks, pushes and fails.
struct Scene {
    project: Project,
}

impl Scene {
    /// `raw.items` fetches two rows, `mart.checked` has checks of all stages, `sync.out` pushes.
    fn new() -> Self {
        Self::with_sink(|_| Answer::ok("{}"))
    }

    /// The same; `sink` answers to what is pushed.
    fn with_sink(sink: impl Fn(&Seen) -> Answer + Send + Sync + 'static) -> Self {
        let api = Server::new(move |_, request| match request.path() {
            "/items" => Answer::ok(r#"[{"a": 1}, {"a": 2}]"#),
            _ => sink(request),
        });
        let project = project();
        let env = std::fs::read_to_string(project.root().join(".env")).unwrap();
        project.write(".env", &format!("{env}API_TOKEN={SECRET}\n"));
        let url = api.url("");
        let lib = format!(
            r#"
API = {{"base_url": "{url}", "retry": 0, "fetch": {{}}, "push": {{"batch_mode": "atomic", "retry_backoff": 60}}}}

def fetch():
    print("asking with", env.get("API_TOKEN"))
    return {{"rows": http.get("/items").json}}

def push(rows, batch_number):
    resp = http.post("/rows", json = {{"rows": rows}})
    if not resp.ok:
        fail("status", resp.status_code, "for", env.get("API_TOKEN"))
"#
        );
        project.write("lib/api.star", &lib);
        project.model("raw/items", "-- @kind: table\n-- @fetch\nSELECT a::INTEGER AS a FROM api()");
        project.model(
            "mart/checked",
            "-- @constraint: not_null(a)\n-- @audit: row_count(>=, 1)\n-- @warning: row_count(>=, 3)\n\
             SELECT a FROM raw.items",
        );
        project.model(
            "sync/out",
            "-- @kind: merge\n-- @unique_key: a\n-- @push: api\nSELECT a::INTEGER AS a FROM raw.items",
        );
        Self { project }
    }

    /// Adds `mart.broken`, whose error holds the secret.
    fn break_a_model(&self) {
        self.project.model("mart/broken", &format!("SELECT a,\n  error('no {SECRET}') AS b FROM raw.items"));
    }
}
