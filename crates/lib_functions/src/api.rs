//! The dict `API` of a lib file (chapter 03 §3.1): what the file declares, known without running it.

use std::collections::BTreeSet;
use std::time::Duration;

use starlark_syntax::codemap::Span;
use types::{Kind, Rule, is_identifier};

use crate::auth::Auth;
use crate::fields::{Fields, UnknownKey};
use crate::literal::{Literal, Problem};

/// Names that the runtime passes to a function by itself (chapter 03 §3.4).
pub(crate) const INJECTED: [&str; 8] =
    ["page", "columns", "target", "is_backfill", "cursor", "initial_value", "last_value", "last_run"];
/// Names that the runtime passes to `push` (chapter 04 §6.1).
pub(crate) const PUSH_INJECTED: [&str; 5] = ["rows", "batch_number", "kind", "key_columns", "columns"];
/// Most bytes of a response, unless the file says otherwise.
const RESPONSE_BYTES: u64 = 256 << 20;

/// What a lib file declares.
#[derive(Debug, Clone)]
pub struct Api {
    /// What relative URLs are joined to.
    pub base_url: Option<String>,
    /// How requests are authorized.
    pub auth: Option<Auth>,
    /// Most bytes of a response, decompressed.
    pub max_response_bytes: u64,
    /// What holds for both directions.
    common: Transport,
    /// What holds for fetching; `None` if the file cannot fetch.
    pub fetch: Option<FetchApi>,
    /// What holds for pushing; `None` if the file cannot push.
    pub push: Option<PushApi>,
}

/// How requests are made.
#[derive(Debug, Clone, Default)]
pub struct Transport {
    /// Headers of every request.
    pub headers: Vec<(String, String)>,
    /// Longest time of an attempt.
    pub timeout: Option<Duration>,
    /// Attempts after the first.
    pub retry: Option<u32>,
    /// Wait before the first retry.
    pub backoff: Option<Duration>,
    /// Most requests within a time.
    pub rate_limit: Option<RateLimit>,
}

/// Most requests that start within any `per`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimit {
    /// How many.
    pub requests: u32,
    /// Within how long.
    pub per: Duration,
}

/// The section `fetch`.
#[derive(Debug, Clone)]
pub struct FetchApi {
    /// Arguments that SQL passes, in order.
    pub args: Vec<String>,
    /// What `page.size` says; 0 without.
    pub page_size: u64,
    /// The columns that there are, if the file names them.
    pub supported_columns: Option<Vec<String>>,
    /// The kinds of models that may fetch from here, if the file names them.
    pub supported_kinds: Option<Vec<Kind>>,
    /// Whether it fetches by `submit`, `check` and `fetch_result`.
    pub is_async: bool,
    /// First wait between two checks.
    pub poll_interval: Duration,
    /// Longest time from submit to the result.
    pub poll_timeout: Duration,
    /// Factor by which the wait grows.
    pub poll_backoff: u32,
    /// Most pages.
    pub max_pages: u64,
    /// The word `fetch`.
    pub(crate) span: Span,
    transport: Transport,
}

/// The section `push`.
#[derive(Debug, Clone)]
pub struct PushApi {
    /// Arguments that the directive passes, in order.
    pub args: Vec<String>,
    /// The kinds of models that may push here, if the file names them.
    pub supported_kinds: Option<Vec<Kind>>,
    /// Rows of a call.
    pub batch_size: u64,
    /// Calls at a time.
    pub max_concurrent: u64,
    /// How a call answers.
    pub batch_mode: BatchMode,
    /// Wait between two polls of a job.
    pub poll_interval: Duration,
    /// Longest time of a job.
    pub poll_timeout: Duration,
    /// Wait before an event is tried a second time (chapter 04 §6).
    pub retry_backoff: Duration,
    /// Failures after which an event is given up; 0 for never.
    pub max_attempts: u64,
    /// Whether only the difference of a rebuild is delivered, not all that happened (chapter 04 §4).
    pub is_net: bool,
    /// The header that carries a hash of the events.
    pub idempotency_header: Option<String>,
    /// The word `push`.
    pub(crate) span: Span,
    transport: Transport,
}

/// How a call of `push` answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchMode {
    /// A status for each row.
    Sync,
    /// One for all of them.
    Atomic,
    /// A job that is polled.
    Async,
}

impl Api {
    /// Reads the literal that the word at `span` is bound to. Unknown keys are no error.
    pub(crate) fn read(literal: Literal, span: Span) -> Result<(Self, Vec<UnknownKey>), Problem> {
        let mut fields = Fields::of(literal, "API", span)?;
        let mut unknown = Vec::new();
        let base_url = base_url(&mut fields)?;
        let auth = fields.fields("auth")?.map(|fields| Auth::read(fields, &mut unknown)).transpose()?;
        let max_response_bytes = fields.whole("max_response_bytes", 1..=u64::MAX)?.unwrap_or(RESPONSE_BYTES);
        let common = Transport::read(&mut fields, Rule::InvalidApiDict, &mut unknown)?;
        let fetch = fields.section("fetch")?.map(|fields| FetchApi::read(fields, &mut unknown)).transpose()?;
        let push = fields.section("push")?.map(|fields| PushApi::read(fields, &mut unknown)).transpose()?;
        fields.note_unknown(&mut unknown);
        if fetch.is_none() && push.is_none() {
            return Err(Problem::new("API must have at least one of \"fetch\" and \"push\"", span));
        }
        Ok((Self { base_url, auth, max_response_bytes, common, fetch, push }, unknown))
    }

    /// How requests are made, unless a direction says otherwise.
    pub fn transport(&self) -> &Transport {
        &self.common
    }

    /// How functions that fetch make their requests.
    pub fn fetch_transport(&self) -> Transport {
        self.common.overridden(self.fetch.as_ref().map(|fetch| &fetch.transport))
    }

    /// How functions that push make their requests.
    pub fn push_transport(&self) -> Transport {
        self.common.overridden(self.push.as_ref().map(|push| &push.transport))
    }
}

impl Transport {
    /// `pace` is the rule that a bad `rate_limit` breaks.
    fn read(fields: &mut Fields, pace: Rule, unknown: &mut Vec<UnknownKey>) -> Result<Self, Problem> {
        Ok(Self {
            headers: headers(fields)?,
            timeout: fields.seconds("timeout", false)?,
            retry: fields.whole("retry", 0..=u32::MAX)?,
            backoff: fields.seconds("backoff", true)?,
            rate_limit: rate_limit(fields, unknown).map_err(|problem| problem.under(pace))?,
        })
    }

    /// What a direction says goes before what holds for both; headers are merged by name.
    fn overridden(&self, direction: Option<&Self>) -> Self {
        let Some(over) = direction else { return self.clone() };
        let is_replaced = |name: &str| over.headers.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
        let kept = self.headers.iter().filter(|(name, _)| !is_replaced(name)).cloned();
        Self {
            headers: kept.chain(over.headers.iter().cloned()).collect(),
            timeout: over.timeout.or(self.timeout),
            retry: over.retry.or(self.retry),
            backoff: over.backoff.or(self.backoff),
            rate_limit: over.rate_limit.or(self.rate_limit),
        }
    }
}

impl RateLimit {
    fn read(mut fields: Fields, unknown: &mut Vec<UnknownKey>) -> Result<Self, Problem> {
        let (requests, per) = (fields.whole("requests", 1..=u32::MAX)?, fields.duration("per")?);
        fields.note_unknown(unknown);
        match (requests, per) {
            (Some(requests), Some(per)) => Ok(Self { requests, per }),
            _ => Err(Problem::new(format!("{} needs both \"requests\" and \"per\"", fields.path()), fields.span())),
        }
    }
}

impl FetchApi {
    fn read(mut fields: Fields, unknown: &mut Vec<UnknownKey>) -> Result<Self, Problem> {
        for removed in ["columns", "dynamic_columns"] {
            fields.refuse(removed, "was removed: the model's SQL names the columns")?;
        }
        let fetch = Self {
            span: fields.span(),
            args: args(&mut fields, &INJECTED)?,
            page_size: fields.whole("page_size", 0..=u64::MAX)?.unwrap_or(0),
            supported_columns: fields.optional_texts("supported_columns")?.map(names),
            supported_kinds: kinds(&mut fields)?,
            is_async: is_async(&mut fields)?,
            poll_interval: fields.duration("poll_interval")?.unwrap_or(Duration::from_secs(5)),
            poll_timeout: fields.duration("poll_timeout")?.unwrap_or(Duration::from_mins(5)),
            poll_backoff: fields.whole("poll_backoff", 1..=u32::MAX)?.unwrap_or(1),
            max_pages: fields.whole("max_pages", 1..=u64::MAX)?.unwrap_or(100_000),
            transport: Transport::read(&mut fields, Rule::InvalidApiDict, unknown)?,
        };
        fields.note_unknown(unknown);
        Ok(fetch)
    }
}

impl PushApi {
    fn read(mut fields: Fields, unknown: &mut Vec<UnknownKey>) -> Result<Self, Problem> {
        let modes = [("sync", BatchMode::Sync), ("atomic", BatchMode::Atomic), ("async", BatchMode::Async)];
        let injected = [&INJECTED[..], &PUSH_INJECTED].concat();
        let batch_mode = fields.choice("batch_mode", &modes)?.map_or(BatchMode::Sync, |(mode, _)| mode);
        if batch_mode != BatchMode::Async {
            for (key, rule) in [("poll_interval", Rule::PushPollInterval), ("poll_timeout", Rule::PushPollTimeout)] {
                let refused = fields.refuse(key, "needs \"batch_mode\": \"async\": only jobs are polled");
                refused.map_err(|problem| problem.under(rule))?;
            }
        }
        let args = args(&mut fields, &injected)?;
        let mut duration = |name, rule| fields.duration(name).map_err(|problem| problem.under(rule));
        let poll_interval = duration("poll_interval", Rule::PushPollInterval)?;
        let poll_timeout = duration("poll_timeout", Rule::PushPollTimeout)?;
        let push = Self {
            span: fields.span(),
            args,
            supported_kinds: kinds(&mut fields)?,
            batch_size: fields.whole("batch_size", 1..=u64::MAX)?.unwrap_or(1),
            max_concurrent: max_concurrent(&mut fields, batch_mode).map_err(|problem| problem.under(Rule::PushPace))?,
            batch_mode,
            poll_interval: poll_interval.unwrap_or(Duration::from_secs(30)),
            poll_timeout: poll_timeout.unwrap_or(Duration::from_hours(1)),
            retry_backoff: fields.seconds("retry_backoff", true)?.unwrap_or(Duration::from_secs(1)),
            max_attempts: fields.whole("max_attempts", 0..=u64::MAX)?.unwrap_or(0),
            is_net: fields.choice("changes", &[("raw", false), ("net", true)])?.is_some_and(|(is_net, _)| is_net),
            idempotency_header: idempotency_header(&mut fields)?,
            transport: Transport::read(&mut fields, Rule::PushPace, unknown)?,
        };
        fields.note_unknown(unknown);
        Ok(push)
    }
}

/// Most calls at the same time: each has a thread.
const CONCURRENT_MAX: u64 = 256;

/// Only calls that answer for each row may overlap (chapter 04 §5).
fn max_concurrent(fields: &mut Fields, mode: BatchMode) -> Result<u64, Problem> {
    let span = fields.span_of("max_concurrent");
    let calls = fields.whole("max_concurrent", 1..=CONCURRENT_MAX)?.unwrap_or(1);
    if mode == BatchMode::Sync || calls == 1 {
        return Ok(calls);
    }
    let mode = if mode == BatchMode::Atomic { "atomic" } else { "async" };
    let message = format!("must be 1 with \"batch_mode\": \"{mode}\": its batches follow one another");
    Err(fields.problem("max_concurrent", &message, span))
}

fn rate_limit(fields: &mut Fields, unknown: &mut Vec<UnknownKey>) -> Result<Option<RateLimit>, Problem> {
    fields.fields("rate_limit")?.map(|fields| RateLimit::read(fields, unknown)).transpose()
}

/// Headers that a request has for other reasons.
const TAKEN_HEADERS: [&str; 10] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "host",
    "proxy-authorization",
    "transfer-encoding",
];

fn idempotency_header(fields: &mut Fields) -> Result<Option<String>, Problem> {
    match fields.optional_text("idempotency_header")? {
        Some((name, span)) if http_client::check_header(&name, "").is_err() => {
            Err(fields.problem("idempotency_header", "must be the name of a header, like \"Idempotency-Key\"", span))
        }
        Some((name, span)) if TAKEN_HEADERS.contains(&name.to_lowercase().as_str()) => {
            let why = "must be a header of its own, like \"Idempotency-Key\": this one says something else";
            Err(fields.problem("idempotency_header", why, span))
        }
        header => Ok(header.map(|(name, _)| name)),
    }
}

fn base_url(fields: &mut Fields) -> Result<Option<String>, Problem> {
    match fields.optional_text("base_url")? {
        Some((url, span)) if http_client::Origin::of(&url).is_err() => {
            Err(fields.problem("base_url", "must be an http or https URL", span))
        }
        url => Ok(url.map(|(url, _)| url)),
    }
}

/// Headers by name: one that differs from another in its case only would be the same one.
fn headers(fields: &mut Fields) -> Result<Vec<(String, String)>, Problem> {
    let pairs = fields.pairs("headers")?;
    let mut names = BTreeSet::new();
    let header = |(name, value, span): (String, String, Span)| {
        if let Err(error) = http_client::check_header(&name, &value) {
            return Err(Problem::new(format!("{}: {error}", fields.path_of("headers")), span));
        }
        if names.insert(name.to_lowercase()) {
            return Ok((name, value));
        }
        Err(Problem::new(format!("{} has the header \"{name}\" twice", fields.path_of("headers")), span))
    };
    pairs.into_iter().map(header).collect()
}

fn is_async(fields: &mut Fields) -> Result<bool, Problem> {
    let flag = fields.flag("async")?;
    let mode = fields.choice("mode", &[("sync", false), ("async", true)])?;
    match (flag, mode) {
        (Some(flag), Some((mode, span))) if flag != mode => {
            Err(fields.problem("mode", "says something else than \"async\": write one of them", span))
        }
        _ => Ok(flag.or(mode.map(|(mode, _)| mode)).unwrap_or(false)),
    }
}

fn args(fields: &mut Fields, injected: &[&str]) -> Result<Vec<String>, Problem> {
    let texts = fields.texts("args")?.unwrap_or_default();
    let mut seen = BTreeSet::new();
    let arg = |(name, span): (String, Span)| {
        let wrong = match () {
            () if !is_identifier(&name) => "is no identifier: write letters, digits and `_`",
            () if injected.contains(&name.as_str()) => "collides with what the runtime itself passes by this name",
            () if !seen.insert(name.clone()) => "stands twice",
            () => return Ok(name),
        };
        Err(Problem::new(format!("{}: \"{name}\" {wrong}", fields.path_of("args")), span))
    };
    texts.into_iter().map(arg).collect()
}

fn kinds(fields: &mut Fields) -> Result<Option<Vec<Kind>>, Problem> {
    let Some(names) = fields.optional_texts("supported_kinds")? else { return Ok(None) };
    let kind = |(name, span): (String, Span)| {
        let all = Kind::ALL.map(Kind::as_str).join(", ");
        let wrong = || format!("{}: \"{name}\" is no kind: there are {all}", fields.path_of("supported_kinds"));
        Kind::parse(&name).ok_or_else(|| Problem::new(wrong(), span))
    };
    names.into_iter().map(kind).collect::<Result<_, _>>().map(Some)
}

fn names(texts: Vec<(String, Span)>) -> Vec<String> {
    texts.into_iter().map(|(text, _)| text).collect()
}
