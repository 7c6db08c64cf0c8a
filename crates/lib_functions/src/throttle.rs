//! What bounds a lib in one direction (chapter 03 §3.3 `rate_limit`, chapter 04 §6.4).

use std::sync::Arc;

use http_client::{HttpError, RateLimiter, Request, Stop};

use crate::running::Direction;

/// Bounds the requests of a lib that fetches, and the calls of one that pushes. Shared by all who use the lib.
#[derive(Clone)]
pub(crate) struct Throttle {
    pub limiter: Arc<RateLimiter>,
    pub direction: Direction,
}

impl Throttle {
    /// Waits until a call of `push` may begin.
    pub(crate) fn wait(&self, stop: &Stop) -> Result<(), HttpError> {
        self.limiter.wait(stop)
    }

    /// Binds a request: one that fetches waits itself; one that pushes only tells the calls to come of a 429.
    pub(crate) fn bind(&self, request: &mut Request) {
        let limiter = Some(Arc::clone(&self.limiter));
        match self.direction {
            Direction::Fetch => request.limiter = limiter,
            Direction::Push => request.pauses = limiter,
        }
    }
}
