//! The turn of a model as spans: its steps, and the batches of its delivery.

use std::time::{Duration, SystemTime};

use runtime::{BatchReport, DrainedTarget, ModelOutcome, PushReport, RunError, RunStep, StepTime};
use telemetry::{Outcome, Span, SpanId};

use super::{Attributes, Trace};
use crate::commands::status_word;
use crate::ui::Ui;

/// What there is to tell of a model's turn.
pub(super) struct Turn<'a> {
    pub target: String,
    pub error: Option<&'a RunError>,
    push: Option<&'a PushReport>,
    pub ended: SystemTime,
    pub duration: Duration,
    pub attributes: Attributes,
}

impl<'a> Turn<'a> {
    pub fn of_model(outcome: &'a ModelOutcome, ui: &Ui) -> Self {
        let mut attributes: Attributes = vec![
            ("ondatra.target", outcome.target.to_string().into()),
            ("ondatra.kind", outcome.kind.as_str().into()),
            ("ondatra.status", status_word(outcome.status()).into()),
            ("ondatra.rows", outcome.rows.into()),
            ("ondatra.warnings", outcome.warnings.len().into()),
        ];
        attributes.extend(outcome.run_type.map(|run_type| ("ondatra.run_type", run_type.as_str().into())));
        if !outcome.reason.is_empty() {
            attributes.push(("ondatra.reason", ui.message(&outcome.reason).into()));
        }
        Self {
            target: outcome.target.to_string(),
            error: outcome.error.as_ref(),
            push: outcome.push.as_ref(),
            ended: outcome.ended,
            duration: outcome.duration,
            attributes,
        }
    }

    pub fn of_target(drained: &'a DrainedTarget) -> Self {
        Self {
            target: drained.target.to_string(),
            error: drained.error.as_ref(),
            push: drained.report.as_ref(),
            ended: drained.ended,
            duration: drained.duration,
            attributes: vec![
                ("ondatra.target", drained.target.to_string().into()),
                ("ondatra.status", status_word(drained.status()).into()),
            ],
        }
    }

    /// The spans of its steps, below that of the model.
    pub fn spans(&self, trace: &Trace, model: SpanId, steps: Vec<StepTime>, ui: &Ui) -> Vec<Span> {
        let (batches, steps): (Vec<StepTime>, Vec<StepTime>) =
            steps.into_iter().partition(|step| step.step == RunStep::Batch);
        let message = self.error.map(|error| ui.message(&error.to_string())).unwrap_or_default();
        let about = failed_at(&steps);
        let mut push = model;
        let mut spans = Vec::with_capacity(steps.len() + batches.len());
        for (at, step) in steps.iter().enumerate() {
            let mut span = trace.step(step, model);
            let pushed = self.push.filter(|_| step.step == RunStep::Push);
            if about.contains(&at) || pushed.is_some_and(PushReport::has_failures) {
                span.outcome = Outcome::Error(message.clone());
            }
            span.attributes.extend(pushed.into_iter().flat_map(push_attributes));
            if step.step == RunStep::Push {
                push = span.id;
            }
            spans.push(span);
        }
        let batch = |step: &StepTime| {
            let mut span = trace.step(step, push);
            if let Some(batch) = &step.batch {
                close_batch(&mut span, batch, ui);
            }
            span
        };
        spans.extend(batches.iter().map(batch));
        spans
    }
}

fn push_attributes(push: &PushReport) -> Attributes {
    vec![
        ("ondatra.push.delivered", push.delivered.into()),
        ("ondatra.push.rejected", push.rejected.into()),
        ("ondatra.push.to_retry", push.to_retry.into()),
        ("ondatra.push.pending", push.pending.into()),
    ]
}

fn close_batch(span: &mut Span, batch: &BatchReport, ui: &Ui) {
    let BatchReport { number, events, counts, is_open, .. } = batch;
    span.attributes.extend([
        ("ondatra.batch.number", (*number).into()),
        ("ondatra.batch.events", (*events).into()),
        ("ondatra.push.delivered", counts.delivered.into()),
        ("ondatra.push.rejected", counts.rejected.into()),
        ("ondatra.push.to_retry", counts.to_retry.into()),
    ]);
    if *is_open {
        span.attributes.push(("ondatra.batch.open", true.into()));
    }
    if let Some(why) = &counts.first_error {
        span.outcome = Outcome::Error(ui.message(why));
    }
}

/// The steps that a model's error is about: of a transaction that was begun again those of the last attempt, and a
/// query that ran before, whose error the transaction takes over.
fn failed_at(steps: &[StepTime]) -> Vec<usize> {
    let Some(last) = steps.iter().rposition(|step| step.has_failed) else { return Vec::new() };
    let is_ahead = |at: &usize| steps[*at].step == RunStep::Ahead && steps[*at].has_failed;
    let before = last.checked_sub(1).filter(|at| steps[last].step == RunStep::Query && is_ahead(at));
    before.into_iter().chain([last]).collect()
}
