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
#[derive(Debug, Clone)]
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
        let mut staging = Staging { fetch: self, lease: None, staged: 0, last: Vec::new() };
        match self.fetch_into(&mut staging) {
            Ok(Ended::Complete { rows, empty_result, warnings }) => {
                let lease = staging.complete(rows, empty_result.as_deref())?;
                Ok(Fetched::Rows(Staged { lease, rows, empty_result, warnings }))
            }
            Ok(Ended::Aborted { warnings }) => {
                staging.undo()?;
                Ok(Fetched::Aborted { warnings })
            }
            Err(error) => {
                // The first error is the one that tells; what stays is deleted by the next run.
                let _ = staging.undo();
                Err(error)
            }
        }
    }

    /// Fetches on one thread and stages on another: a page is asked for while the one before is written.
    fn fetch_into(&self, staging: &mut Staging<'_>) -> Result<Ended, FetchError> {
        std::thread::scope(|scope| {
            let (sender, receiver) = sync_channel(1);
            let stager = scope.spawn(move || staging.take_all(&receiver));
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

    fn unstaged(&self) -> FetchError {
        StateError::Write { message: format!("rows of {} could not be staged", self.target) }.into()
    }
}

/// The rows of a fetch on their way into the state.
struct Staging<'a> {
    fetch: &'a Fetch<'a>,
    /// The right to what is staged; `None` while nothing is.
    lease: Option<FetchLease>,
    staged: u64,
    /// The last part: kept back, since all rows of a small fetch are staged in one transaction.
    last: Vec<String>,
}

impl Staging<'_> {
    /// Stages rows as they come, but for the last part. Ends at the first error, or when the run is stopped: then nobody
    /// takes more.
    fn take_all(&mut self, rows: &Receiver<Vec<String>>) -> Result<(), FetchError> {
        for mut rows in rows {
            while !rows.is_empty() {
                if self.fetch.stop.is_requested() {
                    return Err(LibError::stopped(&self.fetch.lib.name).into());
                }
                self.stage_last()?;
                let rest = rows.split_off(part(&rows));
                self.last = std::mem::replace(&mut rows, rest);
            }
        }
        Ok(())
    }

    fn stage_last(&mut self) -> Result<(), FetchError> {
        let part = self.masked()?;
        if part.is_empty() {
            return Ok(());
        }
        let Fetch { store, target, run_id, fingerprint, .. } = self.fetch;
        let mut store = store.lock();
        let lease = match self.lease.take() {
            Some(lease) => lease,
            None => store.begin_fetch(target, run_id, fingerprint)?,
        };
        let lease = self.lease.insert(lease);
        store.stage_rows(lease, self.staged, &part)?;
        self.staged += part.len() as u64;
        Ok(())
    }

    /// The last part, as it may be stored: what is masked is never there in clear.
    fn masked(&mut self) -> Result<Vec<String>, FetchError> {
        let part = std::mem::take(&mut self.last);
        let Fetch { masker, host, .. } = self.fetch;
        Ok(match masker {
            Some(masker) if !part.is_empty() => masker.mask(&part, |text| host.redact(text))?,
            _ => part,
        })
    }

    /// All rows are there.
    fn complete(mut self, rows: u64, empty_result: Option<&str>) -> Result<FetchLease, FetchError> {
        let Fetch { store, target, run_id, fingerprint, .. } = self.fetch;
        if self.lease.is_none() {
            let whole = self.masked()?;
            return Ok(store.lock().stage_whole(target, run_id, fingerprint, &whole, empty_result)?);
        }
        let staged = self.stage_last();
        let completed = staged.and_then(|()| match self.lease.clone() {
            Some(lease) => store.lock().complete_fetch(&lease, rows, empty_result).map(|()| lease).map_err(Into::into),
            None => Err(self.fetch.unstaged()),
        });
        completed.inspect_err(|_| drop(self.undo()))
    }

    /// Deletes what is staged.
    fn undo(&mut self) -> Result<(), StateError> {
        self.lease.take().map_or(Ok(()), |lease| self.fetch.store.lock().drop_fetch(&lease))
    }
}

/// How many of these rows are staged at once.
fn part(rows: &[String]) -> usize {
    let mut bytes = 0;
    let fits = |row: &&String| {
        bytes += row.len();
        bytes < STAGE_BYTES
    };
    rows.iter().take(STAGE_ROWS).take_while(fits).count().max(1)
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
