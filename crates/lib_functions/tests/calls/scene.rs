//! A project with one lib file, run once: what it printed, the rows it gave, how it ended.

use std::fs;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use http_client::{Client, ClientOptions, Stop};
use lib_functions::{
    AccessTokens, CallError, Direction, Host, HostOptions, HostValue, Lib, LibError, LibErrorKind, Limits, Lookup,
    Page, PageError, Registry, Running, with_lib,
};
use project::{Environment, Redactor};

/// What a project is made of.
pub struct Scene {
    files: Vec<(String, String)>,
    process: Vec<(String, String)>,
    lookup: Option<Arc<dyn Lookup>>,
    tokens: Option<Arc<dyn AccessTokens>>,
    limits: Limits,
    stopped_after: Option<Duration>,
}

/// A project on disk with a host.
pub struct Stage {
    pub dir: tempfile::TempDir,
    pub host: Host,
    registry: Registry,
    lines: Arc<Mutex<Vec<String>>>,
    /// When the first line was printed.
    pub first_line: Arc<OnceLock<Instant>>,
}

/// How a fetch of one page went.
#[derive(Debug)]
pub struct Got {
    pub page: Result<Page, String>,
    pub kind: Option<LibErrorKind>,
    pub rows: Vec<String>,
    pub lines: Vec<String>,
}

/// A lib file whose API has these pairs, and whose `fetch` has this body, not indented.
pub fn text(api: &str, body: &str) -> String {
    let fetch = if api.contains("\"fetch\"") { "" } else { "\"fetch\": {\"page_size\": 100}, " };
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    format!("API = {{{fetch}{api}}}\n\ndef fetch(page):\n{body}    return {{\"rows\": []}}\n")
}

impl Scene {
    /// A project with the lib `x`, see [`text`].
    pub fn new(api: &str, body: &str) -> Self {
        Self::of(&text(api, body))
    }

    /// A project with the lib `x` of this text.
    pub fn of(text: &str) -> Self {
        let files = vec![("lib/x.star".to_owned(), text.to_owned())];
        let limits = Limits { time: Duration::from_mins(1), ..Limits::default() };
        Self { files, process: Vec::new(), lookup: None, tokens: None, limits, stopped_after: None }
    }

    pub fn file(mut self, name: &str, text: impl Into<String>) -> Self {
        self.files.push((name.to_owned(), text.into()));
        self
    }

    /// A variable of the process.
    pub fn variable(mut self, name: &str, value: &str) -> Self {
        self.process.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn lookup(mut self, lookup: impl Lookup + 'static) -> Self {
        self.lookup = Some(Arc::new(lookup));
        self
    }

    /// Where tokens come from.
    pub fn tokens(mut self, tokens: Arc<dyn AccessTokens>) -> Self {
        self.tokens = Some(tokens);
        self
    }

    /// What a call may use up.
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// The run is stopped this time after the first line was printed.
    pub fn stopped_after(mut self, time: Duration) -> Self {
        self.stopped_after = Some(time);
        self
    }

    pub fn stage(self) -> Stage {
        self.stage_in(tempfile::tempdir().unwrap())
    }

    pub fn stage_in(self, dir: tempfile::TempDir) -> Stage {
        let root = dir.path();
        for (name, text) in &self.files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let environment = Environment::load(root, self.process).unwrap();
        let lines: Arc<Mutex<Vec<String>>> = Arc::default();
        let first_line: Arc<OnceLock<Instant>> = Arc::default();
        let (printed, first) = (Arc::clone(&lines), Arc::clone(&first_line));
        let (time, seen) = (self.stopped_after, Arc::clone(&first_line));
        let is_over = move || time.zip(seen.get()).is_some_and(|(time, first)| first.elapsed() > time);
        let host = Host::new(HostOptions {
            root: root.to_owned(),
            redactor: Redactor::new(root, &environment),
            environment,
            client: Client::new(ClientOptions { user_agent: "OndatraSQL/1.0".into(), ..ClientOptions::default() }),
            stop: Stop::new(is_over),
            output: Arc::new(move |line| {
                first.get_or_init(Instant::now);
                printed.lock().unwrap().push(line.to_owned());
            }),
            lookup: self.lookup,
            tokens: self.tokens,
            limits: self.limits,
        });
        let registry = Registry::read(root, |_| false).unwrap();
        Stage { dir, host, registry, lines, first_line }
    }

    /// Fetches the first page.
    pub fn run(self) -> Got {
        self.stage().run()
    }

    /// The lines that a fetch printed, which must succeed.
    pub fn lines(self) -> Vec<String> {
        let got = self.run();
        assert!(got.page.is_ok(), "{got:?}");
        got.lines
    }

    /// What a fetch failed with.
    pub fn error(self) -> String {
        self.run().page.unwrap_err()
    }
}

impl Stage {
    pub fn lib(&self, name: &str) -> &Lib {
        let broken = || self.registry.broken(name).map(|broken| broken.error.to_string());
        self.registry.get(name).unwrap_or_else(|| panic!("{name}: {:?}", broken()))
    }

    /// Does something with the running lib `x`.
    pub fn with<R: Send>(&self, work: impl FnOnce(&mut Running<'_>) -> R + Send) -> Result<R, LibError> {
        with_lib(self.lib("x"), &self.host, Direction::Fetch, work)
    }

    /// The same, to push.
    pub fn pushing<R: Send>(&self, work: impl FnOnce(&mut Running<'_>) -> R + Send) -> Result<R, LibError> {
        with_lib(self.lib("x"), &self.host, Direction::Push, work)
    }

    pub fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    pub fn run(&self) -> Got {
        let mut rows = Vec::new();
        let fetched = self.with(|running| fetch(running, &[], &HostValue::None, &mut rows));
        let (page, kind) = match fetched {
            Ok(Ok(page)) => (Ok(page), None),
            Err(error) | Ok(Err(CallError::Failed(error))) => (Err(error.to_string()), Some(error.kind)),
            Ok(Err(CallError::Aborted)) => (Err("aborted".into()), None),
        };
        Got { page, kind, rows, lines: self.lines() }
    }
}

/// Fetches a page; its rows become `name=JSON,…`.
pub fn fetch(
    running: &Running<'_>,
    arguments: &[(&str, HostValue)],
    cursor: &HostValue,
    rows: &mut Vec<String>,
) -> Result<Page, CallError> {
    running.fetch(arguments, cursor, 1, |_, row, _| keep(&row, rows)).map_err(call_error)
}

/// Keeps a row as `name=JSON,…`. Refuses none, as the callback may.
#[allow(clippy::unnecessary_wraps)]
pub fn keep(row: &lib_functions::Row<'_>, rows: &mut Vec<String>) -> Result<(), ()> {
    let cells = row.cells().into_iter().map(|(name, cell)| format!("{name}={}", cell.json().unwrap()));
    rows.push(cells.collect::<Vec<_>>().join(","));
    Ok(())
}

pub fn call_error(error: PageError<()>) -> CallError {
    match error {
        PageError::Call(error) => error,
        PageError::Row(()) => unreachable!("no row is refused"),
    }
}
