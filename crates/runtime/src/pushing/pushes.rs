//! The deliveries of a run: each after its model's turn.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fetch::described_columns;
use http_client::Stop;
use lib_functions::{Host, HostValue, Lib, PushApi, Registry};
use project::Environment;
use push::{Delivery, DeliveryError, Report, Sink};
use query::DeclaredType;
use state::{Recovery, SharedStore};
use types::{Kind, quote};

use super::checks::PushPlans;
use super::feeding::{FedTarget, feed_target, key_columns};
use super::images::{LakeImages, is_sent, masked};
use crate::lib_host::HostContext;
use crate::masking::refuse_clear;
use crate::planning::PlannedModel;
use crate::step::{RunStep, StepSink};
use crate::{Cancellation, RunError, Session, StateSession};

/// How long calls of `push` may go on after the run was asked to stop (chapter 04 §6.4).
const GRACE: Duration = Duration::from_secs(30);
/// Most events of a claim, unless the environment says otherwise.
const CHUNK: usize = 10_000;
/// The variable that says otherwise.
const CHUNK_VARIABLE: &str = "ONDATRA_CLAIM_CHUNK";

/// The deliveries of a run.
pub(crate) struct Pushes<'a> {
    plans: &'a PushPlans,
    registry: &'a Registry,
    store: SharedStore,
    run_id: &'a str,
    host: Host,
    stop: Stop,
    /// Whether the worker could not renew in time what it holds.
    is_late: Arc<AtomicBool>,
    chunk: usize,
    steps: StepSink,
    /// Jobs of dead workers, by target.
    left: BTreeMap<String, Recovery>,
}

impl<'a> Pushes<'a> {
    /// Begins with what dead workers left, which is recovered before anything is claimed.
    pub(crate) fn start(
        context: &HostContext<'_>,
        state: &StateSession,
        cancellation: &Cancellation,
        (registry, plans): (&'a Registry, &'a PushPlans),
        run_id: &'a str,
        recovery: Recovery,
    ) -> Result<Self, RunError> {
        let chunk = claim_chunk(context.environment)?;
        let mut left: BTreeMap<String, Recovery> = BTreeMap::new();
        for adopted in recovery.adopted {
            left.entry(adopted.claim.lease.target.clone()).or_default().adopted.push(adopted);
        }
        let is_late = Arc::new(AtomicBool::new(false));
        let (begin, end) = stops(cancellation, state, &is_late);
        let (host, steps) = (context.host(end)?, context.steps.clone());
        Ok(Self { plans, registry, store: state.store.clone(), run_id, host, stop: begin, is_late, chunk, steps, left })
    }

    /// Feeds and delivers what a model changed, and what is left from before. `None` if it does not push, or has no
    /// table yet.
    pub(crate) fn after(&mut self, session: &Session, planned: &PlannedModel) -> Result<Option<Report>, RunError> {
        let Some(plan) = self.plans.get(&planned.target().key()) else { return Ok(None) };
        let Some(to) = self.registry.get(&plan.lib).and_then(|lib| Some((lib, lib.api.push.as_ref()?))) else {
            return Ok(None);
        };
        let steps = self.steps.clone();
        steps.timed(&planned.target().to_string(), RunStep::Push, || self.deliver(session, planned, to))
    }

    fn deliver(
        &mut self,
        session: &Session,
        planned: &PlannedModel,
        (lib, api): (&Lib, &PushApi),
    ) -> Result<Option<Report>, RunError> {
        let arguments = self.plans.get(&planned.target().key()).map_or(&[][..], |plan| &plan.arguments[..]);
        // Before anything is fed: with "changes": "net" the masked rows are then the only change.
        refuse_clear(session, &planned.model)?;
        let (target, named) = (planned.target().key(), planned.target().to_string());
        let Some(fed) = feed_target(session, &self.store, &planned.model, &planned.hash, api.is_net)? else {
            return Ok(None);
        };
        let delivery = Delivery {
            lib,
            host: &self.host,
            store: &self.store,
            target: &target,
            table_uuid: &fed.table_uuid,
            run_id: self.run_id,
            sink: sink(session, planned, arguments)?,
            stop: &self.stop,
            // A batch is never larger than what is claimed at once.
            chunk: self.chunk.max(usize::try_from(api.batch_size).unwrap_or(usize::MAX)),
            told: &|batch| self.steps.batch(&named, batch),
        };
        let mut images =
            LakeImages { session, target: planned.target(), kind: planned.model.kind, masked: masked(&planned.model) };
        let delivered = delivery.run(self.left.remove(&target).unwrap_or_default(), &mut images);
        let mut report = delivered.map_err(|error| match error {
            DeliveryError::Images(error) => RunError::from(error),
            DeliveryError::State(error) => error.into(),
            DeliveryError::Lib(error) => error.into(),
        })?;
        let FedTarget { warnings, .. } = fed;
        report.warnings.splice(0..0, warnings);
        if report.pending > 0 && self.is_late.load(Ordering::Relaxed) {
            let told = "the state did not answer in time, so this run delivers nothing more; the next one goes on";
            report.warnings.push(told.into());
        }
        Ok(Some(report))
    }
}

/// Where a model's events go, and as what.
pub(crate) fn sink(
    session: &Session,
    planned: &PlannedModel,
    arguments: &[(String, HostValue)],
) -> Result<Sink, RunError> {
    let target = planned.target();
    let table = format!("{}.{}.{}", quote(&session.lake), quote(&target.schema), quote(&target.name));
    let sql = format!("SELECT column_name, column_type FROM (DESCRIBE {table})");
    let columns = session.connection.query(&sql)?.into_values().filter_map(|row| {
        let mut texts = row.into_iter().filter_map(engine::Value::into_text);
        texts.next().zip(texts.next()).filter(|(name, _)| is_sent(planned.model.kind, name))
    });
    let columns: Vec<(String, String)> = columns.collect();
    let declared: Vec<(&str, DeclaredType)> =
        columns.iter().map(|(name, type_name)| (name.as_str(), DeclaredType::parse(type_name))).collect();
    Ok(Sink {
        kind: planned.model.kind,
        key_columns: key_columns(&planned.model),
        keys_are_unique: planned.model.kind == Kind::Merge,
        columns_argument: described_columns(declared.iter().map(|(name, declared)| (*name, declared))),
        arguments: arguments.to_vec(),
    })
}

/// When no call is to begin any more, and when one that runs is to end.
fn stops(cancellation: &Cancellation, state: &StateSession, is_late: &Arc<AtomicBool>) -> (Stop, Stop) {
    let (begin, end) = (cancellation.clone(), cancellation.clone());
    let (heartbeat, is_late) = (state.heartbeat.clone(), Arc::clone(is_late));
    let since = Mutex::new(None);
    (
        // Who cannot renew what it holds begins nothing with it.
        Stop::new(move || {
            let is_dead = !heartbeat.is_alive();
            is_late.fetch_or(is_dead, Ordering::Relaxed);
            is_dead || begin.check().is_err()
        }),
        Stop::new(move || {
            if end.check().is_ok() {
                return false;
            }
            let mut since = since.lock().unwrap_or_else(PoisonError::into_inner);
            since.get_or_insert_with(Instant::now).elapsed() >= GRACE
        }),
    )
}

/// Most events of a claim.
pub(crate) fn claim_chunk(environment: &Environment) -> Result<usize, RunError> {
    chunk(environment.get(CHUNK_VARIABLE))
}

fn chunk(text: Option<&str>) -> Result<usize, RunError> {
    let Some(text) = text else { return Ok(CHUNK) };
    let chunk = text.trim().parse().ok().filter(|chunk| *chunk > 0);
    chunk.ok_or_else(|| RunError::ClaimChunk { text: text.to_owned() })
}
