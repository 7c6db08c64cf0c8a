//! Requests with their retries.

use crate::attempt::{Failure, Plan};
use crate::retry::{LONGEST_RETRY_AFTER, backoff, chance, is_retried, retry_after};
use crate::transport::Agents;
use crate::{Cause, ClientOptions, HttpError, Request, Response, Stop};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Sends requests. Cheap to clone; clones share connections, and may be used by several threads.
#[derive(Debug, Clone)]
pub struct Client(Arc<Agents>);

impl Client {
    /// A client without connections.
    pub fn new(options: ClientOptions) -> Self {
        Self(Arc::new(Agents::new(options)))
    }

    /// Sends a request, and again after failures that may pass (chapter 03 §3.3 *Transport*).
    ///
    /// Every status is a response but for 429 and 5xx, which are errors when there is no retry left. Cookies are not
    /// kept.
    ///
    /// # Errors
    /// [`HttpError::Stopped`] within a moment after `stop` says so, whatever goes on. A request that is under way then
    /// is left behind and ends by its timeout.
    pub fn send(&self, request: &Request, stop: &Stop) -> Result<Response, HttpError> {
        let plan = Plan::of(request)?;
        let mut attempts = 0;
        loop {
            stop.check()?;
            attempts += 1;
            let (mut cause, asked) = match plan.attempt(&self.0, stop) {
                Ok(response) if !is_retried(response.status) => return Ok(response),
                Ok(response) => {
                    let (cause, asked) = judged(&plan, &response);
                    pause_others(request, response.status, asked);
                    (cause, asked)
                }
                Err(Failure::Passing(cause)) => (cause, None),
                Err(Failure::Final(error)) => return Err(error),
            };
            let is_patient = asked.is_none_or(|wait| wait <= LONGEST_RETRY_AFTER);
            let is_uncertain = matches!(cause, Cause::Timeout(_)) && !request.retries_timeouts;
            if attempts > request.retry || !is_patient || is_uncertain {
                if let Cause::Status { retry_after, .. } = &mut cause {
                    *retry_after = asked.filter(|_| !is_patient);
                }
                let method = request.method.as_str();
                return Err(HttpError::Failed { attempts, method, url: plan.url(), cause });
            }
            stop.sleep(asked.unwrap_or_else(|| backoff(request.backoff, attempts, chance())))?;
        }
    }
}

/// A response that is an error, and the wait that it asks for.
fn judged(plan: &Plan, response: &Response) -> (Cause, Option<Duration>) {
    let body = plan.redactor.body(&response.body);
    let asked = response.header("Retry-After").and_then(|value| retry_after(value, SystemTime::now()));
    (Cause::Status { status: response.status, body, retry_after: None }, asked)
}

/// What the server asks of one is asked of all, and at once: also while the request waits for its own retry.
fn pause_others(request: &Request, status: u16, asked: Option<Duration>) {
    if let (429, Some(others), Some(wait)) = (status, &request.pauses, asked) {
        others.pause(wait.min(LONGEST_RETRY_AFTER));
    }
}
