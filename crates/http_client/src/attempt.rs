//! One attempt: a request with its redirects and its digest answer.

use crate::exchange::{self, Answer, Broken, Exchange};
use crate::headers::{Headers, Place, without_body};
use crate::payload::{Payload, random_hex};
use crate::redact::Redactor;
use crate::transport::Agents;
use crate::url::with_params;
use crate::url::{Target, resolve};
use crate::{Cause, HttpError, Method, Request, Response, Stop, digest};
use std::time::{Duration, Instant};

const MOST_REDIRECTS: u32 = 10;

/// Why an attempt gave no response.
pub(crate) enum Failure {
    /// Another attempt would fail, too.
    Final(HttpError),
    /// It may be tried again.
    Passing(Cause),
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self::Final(error)
    }
}

/// A request, checked, from which attempts begin.
pub(crate) struct Plan<'a> {
    request: &'a Request,
    target: Target,
    payload: Payload,
    pub redactor: Redactor,
}

impl<'a> Plan<'a> {
    /// # Errors
    /// What is wrong with the request, before anything is sent.
    pub(crate) fn of(request: &'a Request) -> Result<Self, HttpError> {
        if request.timeout.is_zero() {
            return Err(HttpError::InvalidTimeout);
        }
        Headers::of(request)?;
        let target = Target::parse(&with_params(&request.url, &request.query))?;
        Ok(Self { request, target, payload: Payload::of(&request.body)?, redactor: Redactor::of(request) })
    }

    /// The URL as errors show it.
    pub(crate) fn url(&self) -> String {
        self.redactor.url(&self.target.url())
    }

    /// Sends the request and follows where it leads.
    pub(crate) fn attempt(&self, agents: &Agents, stop: &Stop) -> Result<Response, Failure> {
        let receivers = self.request.secrets.receivers.as_ref();
        let origin = &self.target.origin;
        let mut hop = Hop {
            plan: self,
            headers: Headers::of(self.request)?,
            method: self.request.method,
            target: self.target.clone(),
            payload: self.payload.clone(),
            userinfo: self.target.userinfo.clone(),
            gets_secrets: receivers.is_none_or(|all| all.iter().any(|one| one.covers(origin))),
            is_trusted: true,
            digest: None,
        };
        let (mut left, mut redirects) = (self.request.timeout, 0);
        loop {
            let answer = hop.send(agents, stop, &mut left)?;
            if answer.status == 401
                && hop.may_answer_digest()
                && let Some(challenge) = digest::find(&answer.headers)
            {
                hop.digest = Some(hop.digest_answer(challenge)?);
                continue;
            }
            let Some(location) = answer.location() else { return Ok(hop.response(answer)) };
            if !self.request.follows_redirects {
                let place = self.redactor.url(location);
                return Err(hop.redirect_error(&format!("redirected to {place}, where it is not sent")).into());
            }
            redirects += 1;
            if redirects > MOST_REDIRECTS {
                return Err(hop.redirect_error(&format!("stopped after {MOST_REDIRECTS} redirects")).into());
            }
            hop.follow(answer.status, location)?;
        }
    }
}

/// Where an attempt is.
struct Hop<'a> {
    plan: &'a Plan<'a>,
    headers: Headers,
    method: Method,
    /// Without secret parameters.
    target: Target,
    payload: Payload,
    userinfo: Option<(String, String)>,
    /// The first URL leads to one who may get secrets.
    gets_secrets: bool,
    /// No redirect led to another origin.
    is_trusted: bool,
    digest: Option<String>,
}

impl Hop<'_> {
    /// Waits for the limiter, sends, and takes the time that it took off what is left.
    fn send(&self, agents: &Agents, stop: &Stop, left: &mut Duration) -> Result<Answer, Failure> {
        let request = self.plan.request;
        let target = self.sent_target()?;
        let (route, agent) = agents.to(&target.origin, request.tls.as_ref())?;
        let headers = self.headers.at(&Place {
            method: self.method,
            payload: &self.payload,
            is_trusted: self.is_trusted,
            gets_secrets: self.is_trusted && self.gets_secrets,
            userinfo: self.userinfo.as_ref(),
            digest: self.digest.as_deref(),
            route: &route,
            user_agent: agents.user_agent(),
        })?;
        match &request.limiter {
            Some(limiter) => limiter.wait(stop)?,
            None => stop.check()?,
        }
        let exchange = Exchange {
            agent,
            method: self.method,
            uri: target.uri,
            headers,
            payload: self.payload.clone(),
            timeout: *left,
            max_response_bytes: request.max_response_bytes,
            answers_digest: self.may_answer_digest(),
        };
        let started = Instant::now();
        let result = exchange::run(exchange, stop);
        *left = left.saturating_sub(started.elapsed());
        result
            .map_err(|broken| self.failure(broken))
            .and_then(|answer| if left.is_zero() { Err(self.failure(Broken::Timeout)) } else { Ok(answer) })
    }

    fn sent_target(&self) -> Result<Target, HttpError> {
        let params = &self.plan.request.secrets.params;
        if params.is_empty() || !self.is_trusted || !self.gets_secrets {
            return Ok(self.target.clone());
        }
        Target::parse(&with_params(&self.target.url(), params))
    }

    fn failure(&self, broken: Broken) -> Failure {
        let request = self.plan.request;
        Failure::Passing(match broken {
            Broken::Stopped => return HttpError::Stopped.into(),
            Broken::TooLarge => {
                let limit = request.max_response_bytes;
                return HttpError::BodyTooLarge { method: self.method.as_str(), url: self.plan.url(), limit }.into();
            }
            Broken::File(source) => {
                return HttpError::File { path: self.payload.path().to_owned(), source }.into();
            }
            Broken::Timeout => Cause::Timeout(request.timeout),
            Broken::Transport(reason) => Cause::Transport(self.plan.redactor.text(&reason)),
        })
    }

    /// One challenge is answered at each place that may see the credentials.
    fn may_answer_digest(&self) -> bool {
        self.plan.request.digest.is_some() && self.is_trusted && self.digest.is_none()
    }

    fn digest_answer(&self, challenge: Result<digest::Challenge, String>) -> Result<String, HttpError> {
        let error = |reason| HttpError::Digest { method: self.method.as_str(), url: self.plan.url(), reason };
        let challenge = challenge.map_err(error)?;
        let Some(credentials) = &self.plan.request.digest else { return Err(HttpError::Stopped) };
        let sent = self.sent_target()?;
        let cnonce = random_hex();
        let question = digest::Question { credentials, method: self.method.as_str(), uri: &sent.path, cnonce: &cnonce };
        digest::answer(&challenge, &question, || self.payload.open())
            .map_err(|source| HttpError::File { path: self.payload.path().to_owned(), source })
    }

    /// Goes where a redirect leads (RFC 9110 §15.4).
    fn follow(&mut self, status: u16, location: &str) -> Result<(), HttpError> {
        let url = resolve(&self.target, location);
        let target = Target::parse(&url).map_err(|error| self.redirect_error(&format!("redirected to an {error}")))?;
        if [301, 302, 303].contains(&status) {
            self.method = Method::Get;
            self.payload = Payload::default();
            without_body(&mut self.headers);
        }
        let same_origin = target.origin == self.target.origin;
        self.is_trusted &= same_origin;
        if !same_origin || target.userinfo.is_some() {
            self.userinfo.clone_from(&target.userinfo);
        }
        self.digest = None;
        self.target = target;
        Ok(())
    }

    fn redirect_error(&self, reason: &str) -> HttpError {
        let reason = self.plan.redactor.text(reason);
        HttpError::Redirect { method: self.plan.request.method.as_str(), url: self.plan.url(), reason }
    }

    fn response(&self, answer: Answer) -> Response {
        Response { status: answer.status, headers: answer.headers, body: answer.body, url: self.target.url() }
    }
}
