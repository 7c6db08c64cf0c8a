//! Sends spans from a thread of its own. Whatever the other side does, nobody waits for it but for a moment at the end.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use http_client::{Body, Cause, Client, ClientOptions, ClientTls, HttpError, Method, Request, Secrets, Stop};

use crate::otlp::{Source, encode};
use crate::{Span, TraceSettings};

/// How long [`Exporter::finish`] should wait for what is left to be sent.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Time between two requests while a run goes on.
const INTERVAL: Duration = Duration::from_secs(5);
/// Most spans of a request.
const BATCH: usize = 2_048;
/// Most spans that wait; those that come then are lost.
const WAITING_MAX: usize = 50_000;
/// Nobody reads more of an answer.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;

/// Takes spans, and sends them.
pub struct Exporter {
    queue: Arc<Queue>,
    worker: JoinHandle<Option<String>>,
}

impl Exporter {
    /// Starts the thread. `client` says how requests go, but for the roots that the settings name.
    ///
    /// # Errors
    /// The client's certificate cannot be read, or there is no thread.
    pub fn start(settings: &TraceSettings, version: &str, client: ClientOptions) -> io::Result<Self> {
        let root_file = settings.root_file.clone().or(client.root_file);
        let client = Client::new(ClientOptions { root_file, ..client });
        let sender = Sender {
            client,
            tls: certificates(settings)?,
            settings: settings.clone(),
            source: Source { resource: settings.resource.clone(), version: version.to_owned() },
        };
        let queue = Arc::new(Queue::default());
        let work = Arc::clone(&queue);
        let worker = thread::Builder::new().name("traces".into()).spawn(move || run(&work, &sender))?;
        Ok(Self { queue, worker })
    }

    /// Hands in a span; never waits.
    pub fn add(&self, span: Span) {
        let mut waiting = self.queue.lock();
        if waiting.spans.len() < WAITING_MAX {
            waiting.spans.push_back(span);
        } else {
            waiting.lost += 1;
        }
        if waiting.spans.len() == BATCH {
            self.queue.wake.notify_one();
        }
    }

    /// Sends what is left, for as long as `patience`. Gives what became of spans that were not sent.
    pub fn finish(self, patience: Duration) -> Option<String> {
        self.queue.lock().deadline = Some(Instant::now() + patience);
        self.queue.wake.notify_one();
        let trouble = self.worker.join().unwrap_or_else(|_| Some("the thread that sends them panicked".to_owned()));
        let waiting = self.queue.lock();
        match waiting.lost + waiting.spans.len() as u64 {
            0 => None,
            lost => Some(format!(
                "{lost} span(s) were not exported: {}",
                trouble.unwrap_or_else(|| "there were too many".into())
            )),
        }
    }
}

/// The client's certificate, if it has one.
fn certificates(settings: &TraceSettings) -> io::Result<Option<Arc<ClientTls>>> {
    let Some((cert, key)) = &settings.client_files else { return Ok(None) };
    let read = |path: &std::path::Path| {
        fs::read(path).map_err(|error| io::Error::new(error.kind(), format!("read {}: {error}", path.display())))
    };
    let ca = settings.root_file.as_deref().map(read).transpose()?;
    Ok(Some(Arc::new(ClientTls { cert: read(cert)?, key: read(key)?, ca })))
}

/// Spans that wait to be sent.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    wake: Condvar,
}

#[derive(Default)]
struct Waiting {
    spans: VecDeque<Span>,
    lost: u64,
    /// When nothing more is sent; known when nothing more comes.
    deadline: Option<Instant>,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next spans to send, not before `due` unless they are many or the last ones; none once nothing more is sent.
    fn next(&self, due: Instant, pauses: bool) -> Option<Vec<Span>> {
        let mut waiting = self.lock();
        loop {
            let now = Instant::now();
            let is_last = waiting.deadline.is_some();
            if waiting.deadline.is_some_and(|deadline| now >= deadline || waiting.spans.is_empty()) {
                return None;
            }
            let is_due = now >= due && !waiting.spans.is_empty();
            if is_last || is_due || waiting.spans.len() >= BATCH && !pauses {
                let count = waiting.spans.len().min(BATCH);
                return Some(waiting.spans.drain(..count).collect());
            }
            let wait = due.saturating_duration_since(now).max(Duration::from_millis(10));
            let wait = if waiting.spans.is_empty() { INTERVAL } else { wait };
            waiting = self.wake.wait_timeout(waiting, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// Whether more may come.
    fn is_open(&self) -> bool {
        self.lock().deadline.is_none()
    }

    fn is_over(&self) -> bool {
        self.lock().deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    fn put_back(&self, spans: Vec<Span>) {
        let mut waiting = self.lock();
        for span in spans.into_iter().rev() {
            waiting.spans.push_front(span);
        }
    }
}

/// Sends until nothing more is to be sent; gives why the last attempt that failed did so.
fn run(queue: &Arc<Queue>, sender: &Sender) -> Option<String> {
    let mut trouble = None;
    let mut pauses = false;
    let mut due = Instant::now() + INTERVAL;
    let over = Arc::clone(queue);
    let stop = Stop::new(move || over.is_over());
    while let Some(spans) = queue.next(due, pauses) {
        let was_open = queue.is_open();
        let sent = sender.send(&spans, &stop);
        due = Instant::now() + INTERVAL;
        pauses = sent.is_err();
        match sent {
            Ok(()) => {}
            Err(failure) => {
                trouble = Some(failure.text);
                if failure.may_pass && was_open {
                    // There will be another attempt, be it the last one.
                    queue.put_back(spans);
                } else {
                    queue.lock().lost += spans.len() as u64;
                }
                if !was_open {
                    // The rest would fare no better, and the run is not to wait.
                    break;
                }
            }
        }
    }
    trouble
}

struct Sender {
    client: Client,
    tls: Option<Arc<ClientTls>>,
    settings: TraceSettings,
    source: Source,
}

struct SendFailure {
    text: String,
    /// Whether the same request may be sent once more.
    may_pass: bool,
}

impl Sender {
    fn send(&self, spans: &[Span], stop: &Stop) -> Result<(), SendFailure> {
        let (body, content_type) = encode(self.settings.encoding, &self.source, spans);
        let request = Request {
            secrets: Secrets { headers: self.settings.headers.clone(), ..Secrets::default() },
            body: Body::Bytes(body.into(), content_type.to_owned()),
            timeout: self.settings.timeout,
            // What is posted once more elsewhere would take the headers along.
            follows_redirects: false,
            tls: self.tls.clone(),
            max_response_bytes: ANSWER_BYTES_MAX,
            ..Request::new(Method::Post, &self.settings.url)
        };
        match self.client.send(&request, stop) {
            Ok(answer) if (200..300).contains(&answer.status) => Ok(()),
            Ok(answer) => {
                let text = format!("{} answered with status {}", self.settings.shown_url(), answer.status);
                Err(SendFailure { text, may_pass: false })
            }
            Err(HttpError::Stopped) => {
                let text = format!("{} did not answer in time", self.settings.shown_url());
                Err(SendFailure { text, may_pass: false })
            }
            Err(error) => Err(SendFailure { may_pass: may_pass(&error), text: error.to_string() }),
        }
    }
}

/// Whether the specification of OTLP has a request repeated.
fn may_pass(error: &HttpError) -> bool {
    match error {
        HttpError::Failed { cause: Cause::Status { status, .. }, .. } => matches!(status, 429 | 502 | 503 | 504),
        HttpError::Failed { .. } => true,
        _ => false,
    }
}
