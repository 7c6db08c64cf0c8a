//! The module `http` (chapter 03 §3.3): requests and their answers.

use std::path::Path;
use std::sync::Arc;

use http_client::{Body, HttpError, Method, Origin, Request, Response};
use starlark::collections::SmallMap;
use starlark::environment::GlobalsBuilder;
use starlark::eval::Evaluator;
use starlark::values::dict::AllocDict;
use starlark::values::structs::AllocStruct;
use starlark::values::{Heap, Value};

use super::http_arguments::{CallAuth, CallHeader, Keywords};
use super::{arguments, failure, failure_with_help, file_paths, json};
use crate::TokenError;
use crate::authorization::{Authorized, basic};
use crate::explain::Stopped;
use crate::surroundings::Surroundings;

const AUTHORIZATION: &str = "Authorization";
const USER_AGENT: &str = "User-Agent";

/// Adds the module.
pub(super) fn register(builder: &mut GlobalsBuilder) {
    builder.namespace("http", |builder| {
        requests(builder);
        functions(builder);
    });
}

type Options<'v> = SmallMap<String, Value<'v>>;

macro_rules! requests {
    ($($name:ident: $method:ident),*) => {
        #[starlark::starlark_module]
        fn requests(builder: &mut GlobalsBuilder) {
            $(fn $name<'v>(
                url: Value<'v>,
                #[starlark(kwargs)] options: Options<'v>,
                eval: &mut Evaluator<'v, '_, '_>,
            ) -> starlark::Result<Value<'v>> {
                request(concat!("http.", stringify!($name)), Method::$method, url, options, eval)
            })*
        }
    };
}

requests!(get: Get, post: Post, put: Put, patch: Patch, delete: Delete);

#[starlark::starlark_module]
fn functions(builder: &mut GlobalsBuilder) {
    fn upload<'v>(
        url: Value<'v>,
        file: Value<'v>,
        #[starlark(kwargs)] options: Options<'v>,
        eval: &mut Evaluator<'v, '_, '_>,
    ) -> starlark::Result<Value<'v>> {
        let function = "http.upload";
        let surroundings = Surroundings::of(eval)?;
        let mut keywords = Keywords::new(function, options, eval.heap());
        let path = arguments::text(function, "file", file)?;
        // Of a link its own name: the other one may be of no meaning to the user.
        let own_name = Path::new(path).file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let file = file_paths::existing(function, surroundings, path)?;
        let body = Body::Multipart {
            fields: keywords.pairs("fields")?.unwrap_or_default(),
            field: keywords.text("field")?.unwrap_or("file").to_owned(),
            filename: keywords.text("filename")?.map_or(own_name, str::to_owned),
            file,
        };
        send(function, Method::Post, url, keywords, Some(body), eval)
    }
}

fn request<'v>(
    function: &'static str,
    method: Method,
    url: Value<'v>,
    options: Options<'v>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    send(function, method, url, Keywords::new(function, options, eval.heap()), None, eval)
}

fn send<'v>(
    function: &'static str,
    method: Method,
    url: Value<'v>,
    mut keywords: Keywords<'v>,
    body: Option<Body>,
    eval: &mut Evaluator<'v, '_, '_>,
) -> starlark::Result<Value<'v>> {
    let surroundings = Surroundings::of(eval)?;
    let transport = &surroundings.transport;
    let url = absolute(function, surroundings, arguments::text(function, "url", url)?)?;
    let mut request = Request::new(method, url);
    request.query = keywords.pairs("params")?.unwrap_or_default();
    let (mut own_headers, own_auth) = (keywords.headers()?, keywords.auth()?);
    own_headers.extend(idempotency(surroundings, method, &own_headers));
    request.headers = headers(&transport.headers, &own_headers, own_auth.is_some());
    request.body = match body {
        Some(body) => body,
        None => untyped(keywords.body()?, &own_headers),
    };
    request.timeout = keywords.seconds("timeout", false)?.or(transport.timeout).unwrap_or(request.timeout);
    request.retry = keywords.retry()?.or(transport.retry).unwrap_or(request.retry);
    request.backoff = keywords.seconds("backoff", true)?.or(transport.backoff).unwrap_or(request.backoff);
    request.max_response_bytes = surroundings.max_response_bytes;
    surroundings.throttle.bind(&mut request);
    let has_own_auth = own_auth.is_some();
    if let Some(auth) = own_auth {
        authorize(&mut request, auth, surroundings);
    }
    request.tls = keywords.tls(surroundings)?.map(Arc::new);
    keywords.finish()?;
    let answer = if has_own_auth {
        perform(function, &request, surroundings)?
    } else {
        perform_authorized(function, &mut request, &own_headers, surroundings)?
    };
    response(function, &answer, eval.heap(), surroundings)
}

fn perform(function: &str, request: &Request, surroundings: &Surroundings) -> starlark::Result<Response> {
    surroundings.host.options().client.send(request, &surroundings.stop).map_err(|error| match error {
        HttpError::Stopped => Stopped.into(),
        error => failure(function, error),
    })
}

/// Sends what the API's `auth` authorizes. A token that is managed and not accepted is renewed, and the request is
/// repeated once (chapter 03 §3.5).
fn perform_authorized(
    function: &str,
    request: &mut Request,
    own_headers: &[CallHeader],
    surroundings: &Surroundings,
) -> starlark::Result<Response> {
    let is_own = |name: &str| own_headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let authorization = &surroundings.authorization;
    // Nobody is asked for a token in whose place the call says something else.
    if authorization.is_managed() && is_own(AUTHORIZATION) {
        return perform(function, request, surroundings);
    }
    let authorized = |url: &str, rejected: Option<&str>| {
        let authorized = authorization.for_request(&surroundings.host, url, rejected, &surroundings.stop);
        let mut authorized = authorized.map_err(|error| match error {
            TokenError::Stopped => Stopped.into(),
            TokenError::Failed { message, help } => failure_with_help(function, message, help),
        })?;
        authorized.secrets.headers.retain(|(name, _)| !is_dropped(own_headers, name));
        Ok::<_, starlark::Error>(authorized)
    };
    let Authorized { secrets, renewable } = authorized(&request.url, None)?;
    request.secrets = secrets;
    let answer = perform(function, request, surroundings)?;
    // Whoever a redirect led to elsewhere has not seen the token.
    let has_seen = || Origin::of(&answer.url).ok() == Origin::of(&request.url).ok();
    let Some(rejected) = renewable.filter(|_| answer.status == 401 && has_seen()) else { return Ok(answer) };
    let Authorized { secrets, renewable } = authorized(&request.url, Some(&rejected))?;
    if renewable.is_none_or(|token| token == rejected) {
        // There is no better one.
        return Ok(answer);
    }
    request.secrets = secrets;
    perform(function, request, surroundings)
}

/// Authorizes a request as its call says.
fn authorize(request: &mut Request, auth: CallAuth, surroundings: &Surroundings) {
    match auth {
        CallAuth::Basic(credentials) => {
            let value = basic(&surroundings.host, &credentials.user, &credentials.password);
            request.secrets.headers = vec![(AUTHORIZATION.into(), value)];
        }
        CallAuth::Digest(credentials) => {
            surroundings.host.options().redactor.add_secret(&credentials.password);
            request.digest = Some(credentials);
        }
    }
}

fn absolute(function: &str, surroundings: &Surroundings, url: &str) -> starlark::Result<String> {
    http_client::join(surroundings.base_url.as_deref(), url)
        .ok_or_else(|| failure(function, format_args!("\"{url}\" is relative, and API has no \"base_url\"")))
}

/// Headers of the API, then those of the call; a call's `None` takes one away. What authorizes the call replaces what
/// the API says.
fn headers(api: &[(String, String)], call: &[CallHeader], is_authorized: bool) -> Vec<(String, String)> {
    let is_replaced = |name: &str| {
        (is_authorized && name.eq_ignore_ascii_case(AUTHORIZATION))
            || call.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
    };
    let mut all: Vec<(String, String)> = api.iter().filter(|(name, _)| !is_replaced(name)).cloned().collect();
    // An empty one of this name is not sent.
    all.extend(is_dropped(call, USER_AGENT).then(|| (USER_AGENT.to_owned(), String::new())));
    all.extend(call.iter().filter_map(|(name, value)| Some((name.clone(), value.clone()?))));
    all
}

/// The header by which a service knows a batch that comes again, for requests that write, unless the call itself has one
/// of this name.
fn idempotency(surroundings: &Surroundings, method: Method, call: &[CallHeader]) -> Option<CallHeader> {
    let (name, key) = surroundings.idempotency.as_ref()?;
    let writes = matches!(method, Method::Post | Method::Put | Method::Patch);
    let is_own = call.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    (writes && !is_own).then(|| (name.clone(), Some(key.clone())))
}

/// Whether a call wants to send no header of this name.
fn is_dropped(call: &[CallHeader], name: &str) -> bool {
    call.iter().any(|(own, value)| own.eq_ignore_ascii_case(name) && value.is_none())
}

/// A body without its content type if the call drops that.
fn untyped(body: Body, call: &[CallHeader]) -> Body {
    match body {
        Body::Bytes(bytes, _) if is_dropped(call, "Content-Type") => Body::Bytes(bytes, String::new()),
        body => body,
    }
}

/// The answer as scripts see it.
fn response<'v>(
    function: &str,
    answer: &Response,
    heap: Heap<'v>,
    around: &Surroundings,
) -> starlark::Result<Value<'v>> {
    let text = String::from_utf8_lossy(&answer.body);
    let parsed = json::parse(&text, heap);
    if let Some(error) = parsed.as_ref().err().filter(|error| error.is_beyond) {
        return Err(failure(function, format_args!("the JSON of the answer cannot be read: {error}")));
    }
    around.no_json.set(parsed.as_ref().err().map(|error| around.host.redact(&error.to_string())));
    let json = parsed.unwrap_or_else(|_| Value::new_none());
    let fields = [
        ("status_code", heap.alloc(i32::from(answer.status))),
        ("ok", Value::new_bool((200..300).contains(&answer.status))),
        ("text", heap.alloc(text.as_ref())),
        ("json", json),
        ("headers", response_headers(function, answer, heap)?),
    ];
    Ok(heap.alloc(AllocStruct(fields)))
}

/// A dict; several values of a name are a list, and `_links` has those of `Link`.
fn response_headers<'v>(function: &str, answer: &Response, heap: Heap<'v>) -> starlark::Result<Value<'v>> {
    let mut names: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, value) in &answer.headers {
        match names.iter_mut().find(|(known, _)| known == name) {
            Some((_, values)) => values.push(value),
            None => names.push((name, vec![value])),
        }
    }
    let mut pairs: Vec<(&str, Value<'v>)> = names
        .into_iter()
        .map(|(name, values)| match values[..] {
            [value] => (name, heap.alloc(value)),
            _ => (name, heap.alloc(values)),
        })
        .collect();
    if answer.header("Link").is_some() {
        let links = http_client::links(&answer.headers, &answer.url).map_err(|error| failure(function, error))?;
        pairs.push(("_links", heap.alloc(AllocDict(links))));
    }
    Ok(heap.alloc(AllocDict(pairs)))
}
