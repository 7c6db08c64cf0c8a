//! The dict `API` of a lib file (chapter 03 §3.1): what the file declares, known without running it.

use std::time::Duration;

use types::{Kind, is_identifier};

use crate::auth::Auth;
use crate::fields::Fields;
use crate::literal::{Literal, LiteralValue, Problem};

/// Names that the runtime passes to a function by itself (chapter 03 §3.4).
pub const INJECTED: [&str; 8] =
    ["page", "columns", "target", "is_backfill", "cursor", "initial_value", "last_value", "last_run"];
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

/// A key that nobody knows, with the closest that is known.
#[derive(Debug, Clone)]
pub(crate) struct UnknownKey {
    pub path: String,
    pub closest: Option<&'static str>,
    pub literal: Literal,
}

impl Api {
    /// Reads the literal. Unknown keys are no error.
    pub(crate) fn read(literal: Literal) -> Result<(Self, Vec<UnknownKey>), Problem> {
        let span = literal.span;
        let mut fields = Fields::of(literal, "API")?;
        let mut unknown = Vec::new();
        let base_url = fields.take("base_url");
        let base_url = base_url.map(|literal| base_url_of(&fields, literal)).transpose()?;
        let auth = fields.fields("auth")?.map(|fields| Auth::read(fields, &mut unknown)).transpose()?;
        let max_response_bytes = fields.whole("max_response_bytes", 1)?.unwrap_or(RESPONSE_BYTES);
        let common = Transport::read(&mut fields, &mut unknown)?;
        let fetch = fields.fields("fetch")?.map(|fields| FetchApi::read(fields, &mut unknown)).transpose()?;
        let push = fields.fields("push")?.map(|fields| PushApi::read(fields, &mut unknown)).transpose()?;
        note_unknown(&fields, &mut unknown);
        if fetch.is_none() && push.is_none() {
            return Err(Problem::new("API must have at least one of \"fetch\" and \"push\"", span));
        }
        Ok((Self { base_url, auth, max_response_bytes, common, fetch, push }, unknown))
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
    fn read(fields: &mut Fields, unknown: &mut Vec<UnknownKey>) -> Result<Self, Problem> {
        let headers = fields.pairs("headers")?.unwrap_or_default();
        let timeout = fields.seconds("timeout", false)?;
        let retry = fields.whole("retry", 0)?.map(|retry| u32::try_from(retry).unwrap_or(u32::MAX));
        let backoff = fields.seconds("backoff", true)?;
        let rate_limit = match fields.take("rate_limit") {
            None => None,
            Some(literal) => Some(RateLimit::read(fields, literal, unknown)?),
        };
        Ok(Self { headers, timeout, retry, backoff, rate_limit })
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
    fn read(fields: &Fields, literal: Literal, unknown: &mut Vec<UnknownKey>) -> Result<Self, Problem> {
        let (path, whole) = (format!("{}[\"rate_limit\"]", fields.path()), literal.clone());
        let mut fields = Fields::of(literal, &path)?;
        let requests = fields.whole("requests", 1)?;
        let per = fields.duration("per")?;
        note_unknown(&fields, unknown);
        match (requests, per) {
            (Some(requests), Some(per)) => Ok(Self { requests: u32::try_from(requests).unwrap_or(u32::MAX), per }),
            _ => Err(Problem::new(format!("{path} needs both \"requests\" and \"per\""), whole.span)),
        }
    }
}

impl FetchApi {
    fn read(mut fields: Fields, unknown: &mut Vec<UnknownKey>) -> Result<Self, Problem> {
        for removed in ["columns", "dynamic_columns"] {
            if let Some(literal) = fields.take(removed) {
                return Err(fields.problem(removed, "was removed: the model's SQL names the columns", &literal));
            }
        }
        let fetch = Self {
            args: args(&mut fields)?,
            page_size: fields.whole("page_size", 0)?.unwrap_or(0),
            supported_columns: fields.texts("supported_columns")?.map(names),
            supported_kinds: kinds(&mut fields)?,
            is_async: is_async(&mut fields)?,
            poll_interval: fields.duration("poll_interval")?.unwrap_or(Duration::from_secs(5)),
            poll_timeout: fields.duration("poll_timeout")?.unwrap_or(Duration::from_mins(5)),
            poll_backoff: u32::try_from(fields.whole("poll_backoff", 1)?.unwrap_or(1)).unwrap_or(u32::MAX),
            max_pages: fields.whole("max_pages", 1)?.unwrap_or(100_000),
            transport: Transport::read(&mut fields, unknown)?,
        };
        note_unknown(&fields, unknown);
        Ok(fetch)
    }
}

impl PushApi {
    fn read(mut fields: Fields, unknown: &mut Vec<UnknownKey>) -> Result<Self, Problem> {
        let batch_mode = match fields.take("batch_mode") {
            None => BatchMode::Sync,
            Some(literal) => match &literal.value {
                LiteralValue::Text(mode) if mode == "sync" => BatchMode::Sync,
                LiteralValue::Text(mode) if mode == "atomic" => BatchMode::Atomic,
                LiteralValue::Text(mode) if mode == "async" => BatchMode::Async,
                _ => return Err(fields.problem("batch_mode", "must be \"sync\", \"atomic\" or \"async\"", &literal)),
            },
        };
        let push = Self {
            args: args(&mut fields)?,
            supported_kinds: kinds(&mut fields)?,
            batch_size: fields.whole("batch_size", 1)?.unwrap_or(1),
            max_concurrent: fields.whole("max_concurrent", 1)?.unwrap_or(1),
            batch_mode,
            poll_interval: fields.duration("poll_interval")?.unwrap_or(Duration::from_secs(30)),
            poll_timeout: fields.duration("poll_timeout")?.unwrap_or(Duration::from_hours(1)),
            transport: Transport::read(&mut fields, unknown)?,
        };
        // Of the push chapter: known here so that they are no misspellings.
        for later in ["retry_backoff", "max_attempts", "changes", "columns", "row_image", "dead_after", "idempotency"] {
            fields.take(later);
        }
        note_unknown(&fields, unknown);
        Ok(push)
    }
}

fn base_url_of(fields: &Fields, literal: Literal) -> Result<String, Problem> {
    match &literal.value {
        LiteralValue::Text(url) if http_client::Origin::of(url).is_ok() => Ok(url.clone()),
        _ => Err(fields.problem("base_url", "must be an http or https URL", &literal)),
    }
}

fn is_async(fields: &mut Fields) -> Result<bool, Problem> {
    let flag = fields.flag("async")?;
    let mode = match fields.take("mode") {
        None => None,
        Some(literal) => match &literal.value {
            LiteralValue::Text(mode) if mode == "async" => Some(true),
            LiteralValue::Text(mode) if mode == "sync" => Some(false),
            _ => return Err(fields.problem("mode", "must be \"sync\" or \"async\"", &literal)),
        },
    };
    Ok(flag.or(mode).unwrap_or(false))
}

fn args(fields: &mut Fields) -> Result<Vec<String>, Problem> {
    let mut seen: Vec<String> = Vec::new();
    for (name, literal) in fields.texts("args")?.unwrap_or_default() {
        let wrong = match () {
            () if !is_identifier(&name) => "is no name",
            () if INJECTED.contains(&name.as_str()) => "is passed by the runtime itself: choose another name",
            () if seen.contains(&name) => "stands twice",
            () => {
                seen.push(name);
                continue;
            }
        };
        return Err(fields.problem("args", &format!("\"{name}\" {wrong}"), &literal));
    }
    Ok(seen)
}

fn kinds(fields: &mut Fields) -> Result<Option<Vec<Kind>>, Problem> {
    let Some(names) = fields.texts("supported_kinds")? else { return Ok(None) };
    let kind = |(name, literal): (String, Literal)| {
        Kind::parse(&name).ok_or_else(|| fields.problem("supported_kinds", &format!("\"{name}\" is no kind"), &literal))
    };
    names.into_iter().map(kind).collect::<Result<_, _>>().map(Some)
}

fn names(texts: Vec<(String, Literal)>) -> Vec<String> {
    texts.into_iter().map(|(text, _)| text).collect()
}

/// Notes the keys that were not taken.
pub(crate) fn note_unknown(fields: &Fields, unknown: &mut Vec<UnknownKey>) {
    let path = fields.path();
    unknown.extend(fields.unknown().into_iter().map(|(name, literal, closest)| UnknownKey {
        path: format!("{path}[\"{name}\"]"),
        closest,
        literal,
    }));
}
