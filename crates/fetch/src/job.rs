//! One fetch: calls the lib function page by page and stages what it returns.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use http_client::Stop;
use lib_functions::{
    CallError, Direction, FetchApi, Host, HostValue, JobState, Lib, LibError, Page, PageError, Row, Running, with_lib,
};
use state::{FetchLease, SharedStore, StateError};

use crate::bad_value::shortened;
use crate::guard::{Guard, PageSum};
use crate::row_text;
use crate::{BadValue, Carriers, Column, Converter, FetchError, PageMasker};

/// Rows that are staged at once …
const STAGE_ROWS: usize = 10_000;
/// … and their bytes, whichever is reached first.
const STAGE_BYTES: usize = 8 << 20;
/// Longest list in a message.
const LIST_CHARS: usize = 500;
/// Longest wait between two checks of a job, unless `poll_interval` is longer.
const POLL_MAX: Duration = Duration::from_secs(30);

/// What is to be fetched.
pub struct Fetch<'a> {
    /// The function.
    pub lib: &'a Lib,
    /// What it has around it.
    pub host: &'a Host,
    /// All arguments by name: those of SQL and those of the runtime.
    pub arguments: Vec<(&'a str, HostValue)>,
    /// The columns.
    pub columns: Vec<Column>,
    /// Masks some of them, before anything is staged.
    pub masker: Option<&'a PageMasker>,
    /// The target, as the state names it.
    pub target: &'a str,
    /// The run.
    pub run_id: &'a str,
    /// What the rows depend on.
    pub fingerprint: &'a str,
    /// Where rows are staged.
    pub store: &'a SharedStore,
    /// Whether the run was stopped.
    pub stop: &'a Stop,
}

/// What was fetched.
#[derive(Debug)]
pub enum Fetched {
    /// Rows are staged and complete.
    Rows(Staged),
    /// The function gave up on purpose: nothing is to be written.
    Aborted {
        /// Texts for the user.
        warnings: Vec<String>,
    },
}

/// Staged rows.
#[derive(Debug)]
pub struct Staged {
    /// The right to them.
    pub lease: FetchLease,
    /// How many.
    pub rows: u64,
    /// What an empty fetch means, as the last page said.
    pub empty_result: Option<String>,
    /// Texts for the user.
    pub warnings: Vec<String>,
}

impl Fetch<'_> {
    /// Fetches all pages. After an error nothing is staged.
    pub fn run(&self) -> Result<Fetched, FetchError> {
        let lease = self.store.lock().begin_fetch(self.target, self.run_id, self.fingerprint)?;
        match self.fetch_into(&lease) {
            Ok(Ended::Complete { rows, empty_result, warnings }) => {
                self.store.lock().complete_fetch(&lease, rows, empty_result.as_deref())?;
                Ok(Fetched::Rows(Staged { lease, rows, empty_result, warnings }))
            }
            Ok(Ended::Aborted { warnings }) => {
                self.store.lock().drop_fetch(&lease)?;
                Ok(Fetched::Aborted { warnings })
            }
            Err(error) => {
                // The first error is the one that tells; what stays is deleted by the next run.
                let _ = self.store.lock().drop_fetch(&lease);
                Err(error)
            }
        }
    }

    /// Fetches on one thread and stages on another: a page is asked for while the one before is written.
    fn fetch_into(&self, lease: &FetchLease) -> Result<Ended, FetchError> {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(1);
            let stager = scope.spawn(move || self.stage_all(lease, &receiver));
            let fetched =
                with_lib(self.lib, self.host, Direction::Fetch, |running| Fetching::new(self, running, &sender).all());
            drop(sender);
            let outcome = stager.join().unwrap_or_else(|_| {
                Err(StateError::Write { message: "the thread that stages rows ended".into() }.into())
            });
            match fetched? {
                Err(Some(error)) => Err(error),
                // Whatever the fetch came to, rows that are not staged are not there.
                fetched => {
                    outcome?;
                    fetched.map_err(|_| self.unstaged())
                }
            }
        })
    }

    /// Stages rows as they come. Ends at the first error, or when the run is stopped: then nobody takes more.
    fn stage_all(&self, lease: &FetchLease, rows: &Receiver<Vec<String>>) -> Result<(), FetchError> {
        let mut staged = 0;
        for rows in rows {
            let mut rest = &rows[..];
            while !rest.is_empty() {
                if self.stop.is_requested() {
                    return Err(LibError::stopped(&self.lib.name).into());
                }
                let mut bytes = 0;
                let fits = |row: &&String| {
                    bytes += row.len();
                    bytes < STAGE_BYTES
                };
                let part;
                (part, rest) = rest.split_at(rest.iter().take(STAGE_ROWS).take_while(fits).count().max(1));
                self.stage(lease, staged, part)?;
                staged += part.len() as u64;
            }
        }
        Ok(())
    }

    /// Stages a part; what is masked is never there in clear.
    fn stage(&self, lease: &FetchLease, from: u64, part: &[String]) -> Result<(), FetchError> {
        let masked = self.masker.map(|masker| masker.mask(part, |text| self.host.redact(text))).transpose()?;
        Ok(self.store.lock().stage_rows(lease, from, masked.as_deref().unwrap_or(part))?)
    }

    fn unstaged(&self) -> FetchError {
        StateError::Write { message: format!("rows of {} could not be staged", self.target) }.into()
    }
}

enum Ended {
    Complete { rows: u64, empty_result: Option<String>, warnings: Vec<String> },
    Aborted { warnings: Vec<String> },
}

/// Why the pages ended early.
enum Early {
    Aborted,
    Failed(FetchError),
    /// Rows cannot be staged.
    Stager,
}

impl<E: Into<FetchError>> From<E> for Early {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

fn early(error: CallError) -> Early {
    match error {
        CallError::Aborted => Early::Aborted,
        CallError::Failed(error) => error.into(),
    }
}

struct Fetching<'a> {
    fetch: &'a Fetch<'a>,
    api: FetchApi,
    running: &'a Running<'a>,
    converter: Converter,
    /// Rows that are not handed over yet, as text, and their bytes.
    waiting: Vec<String>,
    waiting_bytes: usize,
    /// Where they are handed to be staged, while the next page is fetched.
    stager: &'a SyncSender<Vec<String>>,
    rows: u64,
    guard: Guard,
    unknown_keys: Vec<String>,
}

impl<'a> Fetching<'a> {
    fn new(fetch: &'a Fetch<'a>, running: &'a Running<'a>, stager: &'a SyncSender<Vec<String>>) -> Self {
        Self {
            fetch,
            api: fetch.lib.api.fetch.clone().expect("only libs that fetch are fetched from"),
            running,
            converter: Converter::new(fetch.columns.clone()),
            waiting: Vec::new(),
            waiting_bytes: 0,
            stager,
            rows: 0,
            guard: Guard::default(),
            unknown_keys: Vec::new(),
        }
    }

    /// Fetches everything; an error of the stager is told by itself.
    fn all(mut self) -> Result<Ended, Option<FetchError>> {
        let ended = if self.api.is_async { self.job() } else { self.pages(None) };
        match ended {
            Ok(empty_result) => {
                let warnings = self.warnings(empty_result.as_deref());
                Ok(Ended::Complete { rows: self.rows, empty_result, warnings })
            }
            Err(Early::Aborted) => Ok(Ended::Aborted { warnings: self.warnings(None) }),
            Err(Early::Failed(error)) => Err(Some(error)),
            Err(Early::Stager) => Err(None),
        }
    }

    /// A job: submitted, waited for, and its result fetched.
    fn job(&mut self) -> Result<Option<String>, Early> {
        let Some(job_ref) = self.running.submit(&self.fetch.arguments).map_err(early)? else {
            return Err(Early::Aborted);
        };
        let started = Instant::now();
        let mut wait = self.api.poll_interval;
        let longest = POLL_MAX.max(self.api.poll_interval);
        loop {
            if let JobState::Done(result) = self.running.check(&job_ref).map_err(early)? {
                return self.pages(Some(&result));
            }
            let left = self.api.poll_timeout.saturating_sub(started.elapsed());
            if left.is_zero() {
                let (lib, after) = (self.fetch.lib.name.clone(), self.api.poll_timeout);
                return Err(FetchError::TimedOut { lib, after }.into());
            }
            self.fetch.stop.sleep(wait.min(left)).map_err(|_| self.stopped())?;
            wait = wait.saturating_mul(self.api.poll_backoff).min(longest);
        }
    }

    /// All pages, of `fetch` or of a job's result; gives what the last one said of an empty fetch.
    fn pages(&mut self, result_ref: Option<&HostValue>) -> Result<Option<String>, Early> {
        let mut cursor = HostValue::None;
        for number in 1..=self.api.max_pages {
            let mut sum = self.guard.begin(&cursor);
            let page = self.page(result_ref, &cursor, number, &mut sum)?;
            for key in page.unknown_keys {
                if !self.unknown_keys.contains(&key) {
                    self.unknown_keys.push(key);
                }
            }
            let is_enough = self.waiting.len() >= STAGE_ROWS || self.waiting_bytes >= STAGE_BYTES;
            if is_enough || page.next.is_none() {
                self.stage()?;
            }
            let Some(next) = page.next else { return Ok(page.empty_result) };
            if !self.guard.advances(&next, page.rows, sum) {
                let message =
                    format!("pagination does not advance: page {number} gave the same cursor and nothing new");
                return Err(self.endless(message).into());
            }
            cursor = next;
        }
        let message = format!("there are more than {} pages (max_pages)", self.api.max_pages);
        Err(self.endless(message).into())
    }

    fn page(
        &mut self,
        result_ref: Option<&HostValue>,
        cursor: &HostValue,
        number: u64,
        sum: &mut PageSum,
    ) -> Result<Page, Early> {
        let (converter, waiting, bytes) = (&mut self.converter, &mut self.waiting, &mut self.waiting_bytes);
        let mut carriers = Carriers::new();
        let take = |row_number: u64, row: Row<'_>, next: Option<&HostValue>| -> Result<(), (u64, BadValue)> {
            converter.row(row, &mut carriers).map_err(|bad| (row_number, bad))?;
            let text = row_text::row(number, row_number, &carriers);
            *bytes += text.len();
            waiting.push(text);
            sum.add(row, next == Some(cursor));
            Ok(())
        };
        let page = match result_ref {
            None => self.running.fetch(&self.fetch.arguments, cursor, number, take),
            Some(result) => self.running.fetch_result(result, cursor, number, take),
        };
        match page {
            Ok(page) => Ok(page),
            Err(PageError::Call(error)) => Err(early(error)),
            Err(PageError::Row((row, bad))) => {
                Err(FetchError::Value { page: number, row, message: bad.message(|text| self.fetch.host.redact(text)) }
                    .into())
            }
        }
    }

    /// Hands the rows that wait to the stager.
    fn stage(&mut self) -> Result<(), Early> {
        self.rows += self.waiting.len() as u64;
        let rows = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        if rows.is_empty() || self.stager.send(rows).is_ok() { Ok(()) } else { Err(Early::Stager) }
    }

    fn stopped(&self) -> LibError {
        LibError::stopped(&self.fetch.lib.name)
    }

    fn endless(&self, message: String) -> FetchError {
        FetchError::Pages { lib: self.fetch.lib.name.clone(), message }
    }

    fn warnings(&self, empty_result: Option<&str>) -> Vec<String> {
        let name = &self.fetch.lib.name;
        let mut warnings = Vec::new();
        if !self.unknown_keys.is_empty() {
            let keys = shortened(&self.unknown_keys.join(", "), LIST_CHARS);
            warnings.push(format!("{name}: unknown keys in what it returned: {keys}"));
        }
        if self.rows > 0 {
            let unseen: Vec<&str> = self.converter.columns_never_seen().map(|column| column.source.as_str()).collect();
            if !unseen.is_empty() {
                warnings.push(format!("{name}: no row has the column {}: it is NULL", unseen.join(", ")));
            }
        }
        if let Some(other) = empty_result.filter(|word| !["no_change", "delete_missing"].contains(word)) {
            warnings.push(format!("{name}: empty_result \"{other}\" is unknown, \"no_change\" is used"));
        }
        let unchecked = self.fetch.lib.unchecked_status.iter();
        warnings.extend(
            unchecked.map(|found| format!("{name}.{}() makes requests without checking resp.ok", found.function)),
        );
        warnings
    }
}
