//! What a builtin finds in the evaluation that it is called in.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use http_client::Stop;
use starlark::any::ProvidesStaticType;
use starlark::eval::Evaluator;

use crate::authorization::Authorization;
use crate::explain::Stopped;
use crate::host::Host;
use crate::throttle::Throttle;
use crate::{Lib, Transport};

/// What a builtin finds in the evaluation that it is called in.
#[derive(ProvidesStaticType)]
pub(crate) struct Surroundings {
    pub host: Host,
    pub base_url: Option<String>,
    pub transport: Transport,
    pub max_response_bytes: u64,
    pub authorization: Authorization,
    pub throttle: Throttle,
    /// A header of each request that writes: its name and value.
    pub idempotency: Option<(String, String)>,
    /// When the call's time is over.
    pub stop: Stop,
    pub no_json: NoJson,
}

/// Why the body of the last answer is no JSON, if it is none: scripts see `None`, and people ask why.
#[derive(Clone, Default)]
pub(crate) struct NoJson(Arc<Mutex<Option<String>>>);

impl NoJson {
    pub(crate) fn set(&self, reason: Option<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = reason;
    }

    pub(crate) fn get(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Surroundings {
    pub(crate) fn new(
        lib: &Lib,
        host: &Host,
        transport: &Transport,
        authorization: &Authorization,
        throttle: &Throttle,
        no_json: &NoJson,
    ) -> Self {
        let (started, time, run) = (Instant::now(), host.options().limits.time, host.stop().clone());
        Self {
            host: host.clone(),
            base_url: lib.api.base_url.clone(),
            transport: transport.clone(),
            max_response_bytes: lib.api.max_response_bytes,
            authorization: authorization.clone(),
            throttle: throttle.clone(),
            idempotency: None,
            stop: Stop::new(move || run.is_requested() || started.elapsed() >= time),
            no_json: no_json.clone(),
        }
    }

    /// An error if the call is to end. The language asks every thousand steps only, and a step may be long.
    pub(crate) fn pace(eval: &Evaluator<'_, '_, '_>) -> starlark::Result<()> {
        let surroundings = eval.extra.and_then(|extra| extra.downcast_ref::<Self>());
        if surroundings.is_some_and(|around| around.stop.is_requested()) { Err(Stopped.into()) } else { Ok(()) }
    }

    /// What the evaluation that calls a builtin was given.
    pub(crate) fn of<'e>(eval: &Evaluator<'_, 'e, '_>) -> starlark::Result<&'e Self> {
        let extra = eval.extra.and_then(|extra| extra.downcast_ref::<Self>());
        extra.ok_or_else(|| starlark::Error::new_other(std::io::Error::other("called outside of a run")))
    }
}
