//! What functions have around them: the project, the environment, requests, and the run that they are part of.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_client::{Client, RateLimiter, Stop};
use project::{Environment, ProjectError, Redactor};
use types::printable;

use crate::AccessTokens;
use crate::api::RateLimit;
use crate::host_value::HostValue;
use crate::running::Direction;
use crate::throttle::Throttle;

/// What a call may use up.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Calls of functions and rounds of loops.
    pub steps: u64,
    /// Bytes of the script's heap.
    pub heap_bytes: usize,
    /// Time.
    pub time: Duration,
    /// Calls inside of calls.
    pub depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { steps: 1_000_000_000, heap_bytes: 2 << 30, time: Duration::from_hours(6), depth: 2_000 }
    }
}

/// Rows of the lake, for `lookup()`.
pub trait Lookup: Send + Sync {
    /// The values of `value` in the newest rows of `table` whose `key` is one of `keys` (texts or integers), by the
    /// place of the key in `keys`. Empty if there is no such table.
    ///
    /// # Errors
    /// A missing column, or whatever else keeps it from being read.
    fn lookup(
        &self,
        table: &str,
        key: &str,
        value: &str,
        keys: &[HostValue],
    ) -> Result<Vec<(usize, HostValue)>, String>;
}

/// What a host is made of.
pub struct HostOptions {
    /// The project's folder.
    pub root: PathBuf,
    /// Variables of the process and of `.env`.
    pub environment: Environment,
    /// Keeps secrets out of what is printed; learns those that are used.
    pub redactor: Redactor,
    /// Makes the requests.
    pub client: Client,
    /// Whether the run was stopped.
    pub stop: Stop,
    /// Where lines of `print` go.
    pub output: Arc<dyn Fn(&str) + Send + Sync>,
    /// Rows of the lake.
    pub lookup: Option<Arc<dyn Lookup>>,
    /// Access tokens of providers and of service accounts.
    pub tokens: Option<Arc<dyn AccessTokens>>,
    /// What a call may use up.
    pub limits: Limits,
}

/// What functions have around them; clones share it.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

struct Inner {
    options: HostOptions,
    /// What `env.set` set.
    overlay: Mutex<BTreeMap<String, String>>,
    /// One for each lib and direction, whatever model and thread uses it.
    limiters: Mutex<BTreeMap<(String, Direction), Arc<RateLimiter>>>,
}

impl Host {
    /// A host.
    pub fn new(options: HostOptions) -> Self {
        Self(Arc::new(Inner { options, overlay: Mutex::default(), limiters: Mutex::default() }))
    }

    pub(crate) fn options(&self) -> &HostOptions {
        &self.0.options
    }

    pub(crate) fn stop(&self) -> &Stop {
        &self.0.options.stop
    }

    /// A variable: what was set by scripts goes first.
    ///
    /// # Errors
    /// It stands for a file that cannot be read.
    pub(crate) fn variable(&self, name: &str) -> Result<Option<String>, ProjectError> {
        let overlay = self.0.overlay.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = overlay.get(name) {
            return Ok(Some(value.clone()));
        }
        let HostOptions { environment, redactor, .. } = &self.0.options;
        environment.check(name)?;
        let value = environment.get(name);
        if let Some(secret) = value.filter(|_| environment.is_file(name)) {
            redactor.add_secret(secret);
        }
        Ok(value.map(str::to_owned))
    }

    /// Sets a variable for scripts; what it holds is kept secret like a variable of `.env`.
    pub(crate) fn set_variable(&self, name: &str, value: &str) {
        self.0.options.redactor.add_variable(name, value);
        self.0.overlay.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), value.to_owned());
    }

    /// What bounds a lib in one direction.
    pub(crate) fn throttle(&self, lib: &str, direction: Direction, limit: Option<RateLimit>) -> Throttle {
        let limiter = || match limit {
            Some(limit) => Arc::new(RateLimiter::new(limit.requests, limit.per)),
            None => Arc::new(RateLimiter::unlimited()),
        };
        let mut limiters = self.0.limiters.lock().unwrap_or_else(PoisonError::into_inner);
        let limiter = Arc::clone(limiters.entry((lib.to_owned(), direction)).or_insert_with(limiter));
        Throttle { limiter, direction }
    }

    /// A text without secrets.
    pub fn redact(&self, text: &str) -> String {
        self.0.options.redactor.redact(text)
    }

    /// Writes one line, without secrets and without what would steer a terminal.
    pub(crate) fn print(&self, line: &str) {
        let one_line = self.redact(line).replace('\n', "\\n").replace('\r', "\\r");
        (self.0.options.output)(&printable(&one_line));
    }
}
