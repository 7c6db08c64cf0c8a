//! A service that rows are pushed to: it keeps all that it ever took, and fails on command.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};
use testkit::http::{Answer, Seen, Server};

/// What the service does with a call.
#[derive(Debug, Clone, Copy)]
pub enum Say {
    /// Takes all rows.
    Ok,
    /// The same, after a while.
    Slow(Duration),
    /// Gives each row a status, and takes those that are `ok` or `warn: …`.
    Each(fn(&Row) -> &'static str),
    /// Takes no row, and answers with a status of HTTP.
    Status(u16),
    /// Asks for a pause of so many seconds.
    TooMany(Option<u64>),
    /// Takes all rows, and does not answer in time.
    TimeOut,
    /// Takes all rows, and closes the connection without a word.
    HangUp,
    /// Takes the first half of the rows, and says that it failed for the others.
    Half,
    /// Takes all rows, and says nothing of the second half.
    Missing,
    /// Takes all rows, and the process that pushes is killed before it hears of it.
    Kill,
    /// Says that the job goes on.
    Wait,
}

/// A row as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub rowid: i64,
    pub change: String,
    pub event: String,
    /// The table's columns.
    pub values: Map<String, Value>,
}

impl Row {
    fn of(json: &Value) -> Self {
        let mut values = json.as_object().unwrap().clone();
        let mut text = |name: &str| values.remove(name).unwrap().as_str().unwrap().to_owned();
        let (change, event) = (text("__ondatra_change_type"), text("__ondatra_event_id"));
        let rowid = values.remove("__ondatra_rowid").unwrap().as_i64().unwrap();
        Self { rowid, change, event, values }
    }

    /// A column's number.
    pub fn number(&self, column: &str) -> i64 {
        self.values[column].as_i64().unwrap()
    }

    fn key(&self) -> String {
        format!("{}:{}", self.rowid, self.change)
    }
}

/// A call of `push` as it came.
#[derive(Debug, Clone)]
pub struct Call {
    /// Its `batch_number`.
    pub batch: i64,
    /// Its header `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// All rows of the call.
    pub sent: Vec<Row>,
    /// Those that the service took.
    pub taken: Vec<Row>,
    /// What the function was passed besides.
    pub passed: Value,
}

type Script = dyn FnMut(&Asked) -> Say + Send;

/// What a script decides on.
pub struct Asked {
    /// Calls of `push` before this one; with a poll, polls before this one.
    pub number: usize,
    pub is_poll: bool,
}

struct Inside {
    script: Box<Script>,
    calls: Vec<Call>,
    polls: usize,
    finalized: Vec<(i64, i64)>,
    victim: Option<u32>,
}

/// The service.
#[derive(Clone)]
pub struct Sink {
    pub server: Server,
    inside: Arc<Mutex<Inside>>,
}

impl Sink {
    /// A service that takes everything.
    pub fn start() -> Self {
        let inside =
            Inside { script: Box::new(|_| Say::Ok), calls: Vec::new(), polls: 0, finalized: Vec::new(), victim: None };
        let inside = Arc::new(Mutex::new(inside));
        let answering = Arc::clone(&inside);
        Self { server: Server::new(move |_, request| answer(&answering, request)), inside }
    }

    /// What it does from now on.
    pub fn script(&self, script: impl FnMut(&Asked) -> Say + Send + 'static) {
        self.lock().script = Box::new(script);
    }

    /// The same for every call.
    pub fn always(&self, say: Say) {
        self.script(move |_| say);
    }

    /// The process that [`Say::Kill`] kills.
    pub fn aim_at(&self, process: Option<u32>) {
        self.lock().victim = process;
    }

    /// All calls so far.
    pub fn calls(&self) -> Vec<Call> {
        self.lock().calls.clone()
    }

    /// The rows that it took, in order.
    pub fn taken(&self) -> Vec<Row> {
        self.lock().calls.iter().flat_map(|call| call.taken.clone()).collect()
    }

    /// How many rows of each change it was sent since the call with this number.
    pub fn changes_since(&self, call: usize) -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for row in self.lock().calls[call..].iter().flat_map(|call| &call.sent) {
            *counts.entry(row.change.clone()).or_default() += 1;
        }
        counts
    }

    /// How often it was asked for jobs.
    pub fn polls(&self) -> usize {
        self.lock().polls
    }

    /// What `finalize` told it.
    pub fn finalized(&self) -> Vec<(i64, i64)> {
        self.lock().finalized.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap()
    }
}

fn answer(inside: &Mutex<Inside>, request: &Seen) -> Answer {
    let json = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
    match (request.method(), request.path()) {
        ("POST", "/finalize") => {
            let told = json(&request.body);
            let number = |name: &str| told[name].as_i64().unwrap();
            inside.lock().unwrap().finalized.push((number("succeeded"), number("failed")));
            Answer::ok("{}")
        }
        ("POST", path) => pushed(inside, request, &json(&request.body), path == "/jobs"),
        (_, path) => polled(inside, path.trim_start_matches("/jobs/").parse().unwrap()),
    }
}

fn pushed(inside: &Mutex<Inside>, request: &Seen, body: &Value, is_job: bool) -> Answer {
    let sent: Vec<Row> = body["rows"].as_array().unwrap().iter().map(Row::of).collect();
    let (say, job) = {
        let mut inside = inside.lock().unwrap();
        let number = inside.calls.len();
        let say = (inside.script)(&Asked { number, is_poll: false });
        inside.calls.push(Call {
            batch: body["batch"].as_i64().unwrap(),
            idempotency_key: request.all("Idempotency-Key").first().map(|key| (*key).to_owned()),
            taken: taken(say, &sent),
            sent: sent.clone(),
            passed: body.get("passed").cloned().unwrap_or_default(),
        });
        (say, number)
    };
    said(inside, say, &if is_job { json!({"id": job}) } else { statuses(say, &sent) })
}

fn polled(inside: &Mutex<Inside>, job: usize) -> Answer {
    let (say, rows) = {
        let mut inside = inside.lock().unwrap();
        let (number, rows) = (inside.polls, inside.calls[job].sent.clone());
        inside.polls += 1;
        (((inside.script)(&Asked { number, is_poll: true })), rows)
    };
    let done = json!({"done": true, "per_row": statuses(say, &rows)});
    said(inside, say, &if matches!(say, Say::Wait) { json!({"done": false}) } else { done })
}

fn taken(say: Say, rows: &[Row]) -> Vec<Row> {
    let is_taken = |at: usize, row: &Row| match say {
        Say::Ok | Say::Slow(_) | Say::TimeOut | Say::HangUp | Say::Missing | Say::Kill | Say::Wait => true,
        Say::Each(status) => status(row) == "ok" || status(row).starts_with("warn"),
        Say::Half => at < rows.len().div_ceil(2),
        Say::Status(_) | Say::TooMany(_) => false,
    };
    rows.iter().enumerate().filter(|(at, row)| is_taken(*at, row)).map(|(_, row)| row.clone()).collect()
}

fn statuses(say: Say, rows: &[Row]) -> Value {
    let half = rows.len().div_ceil(2);
    let status = |(at, row): (usize, &Row)| match say {
        Say::Each(status) => Some((row.key(), status(row).into())),
        Say::Half if at >= half => Some((row.key(), "error: the second half".into())),
        Say::Missing if at >= half => None,
        _ => Some((row.key(), "ok".into())),
    };
    Value::Object(rows.iter().enumerate().filter_map(status).collect())
}

fn said(inside: &Mutex<Inside>, say: Say, body: &Value) -> Answer {
    let answer = Answer::ok(body.to_string());
    match say {
        Say::Slow(pause) => answer.after(pause),
        Say::Status(status) => Answer::new(status, &[], "no"),
        Say::TooMany(None) => Answer::new(429, &[], "no"),
        Say::TooMany(Some(seconds)) => Answer::new(429, &[("Retry-After", &seconds.to_string())], "no"),
        Say::TimeOut => answer.after(Duration::from_secs(5)),
        Say::HangUp => Answer::default().close(),
        Say::Kill => {
            kill(inside);
            Answer::default().close()
        }
        _ => answer,
    }
}

/// Kills the process that pushes: no word of the answer reaches it.
fn kill(inside: &Mutex<Inside>) {
    let started = Instant::now();
    let victim = loop {
        match inside.lock().unwrap().victim {
            Some(victim) => break victim,
            None => assert!(started.elapsed() < Duration::from_mins(1), "nobody is aimed at"),
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    assert!(Command::new("kill").args(["-KILL", &victim.to_string()]).status().unwrap().success());
}
