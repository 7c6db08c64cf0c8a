//! What a run would deliver, counted and not sent (chapter 05 §4.2).

use feed::table_at;
use lib_functions::Registry;
use state::StateLook;

use super::checks::PushPlans;
use super::feeding::{changes, known};
use crate::event::PushForecast;
use crate::masking::refuse_clear;
use crate::planning::PlannedModel;
use crate::{RunError, Session};

/// Counts what a run would deliver: the state is as it was when it was looked at.
pub(crate) struct Forecasts<'a> {
    pub plans: &'a PushPlans,
    pub registry: &'a Registry,
    pub look: &'a StateLook,
}

impl Forecasts<'_> {
    /// What a model's turn would add to the queue; `None` if it does not push.
    pub(crate) fn after(&self, session: &Session, planned: &PlannedModel) -> Result<Option<PushForecast>, RunError> {
        let key = planned.target().key();
        let Some(plan) = self.plans.get(&key) else { return Ok(None) };
        refuse_clear(session, &planned.model)?;
        let queued = self.look.queued.get(&key).copied().unwrap_or(0);
        let forecast = |events| Some(PushForecast { lib: plan.lib.clone(), events, queued });
        let Some(now) = table_at(&session.connection, &session.lake, &session.metadata, planned.target())? else {
            return Ok(forecast(0));
        };
        let known = known(self.look.positions.get(&key), &now);
        if known >= Some(now.newest_snapshot) {
            return Ok(forecast(0));
        }
        let api = self.registry.get(&plan.lib).and_then(|lib| lib.api.push.as_ref());
        let is_net = queued == 0 && api.is_some_and(|api| api.is_net);
        let sql = changes(session, &planned.model, is_net, (known, now.newest_snapshot))?.sql;
        let count = session.connection.query_value(&format!("SELECT count(*) FROM ({sql})"))?;
        Ok(forecast(count.as_i64().and_then(|count| u64::try_from(count).ok()).unwrap_or(0)))
    }
}
