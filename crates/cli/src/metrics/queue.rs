//! Deliveries and the queue in metrics: families that a run and a drain have both, each with its own `command`.

use std::collections::BTreeMap;

use runtime::{Drained, DrainedTarget, PushReport, RunSummary, Status};
use state::{StateError, TargetOverview};
use types::Target;

use super::page::{Page, number, truth};
use crate::ui::Ui;

/// What became of each target of a drain.
pub(super) fn targets(page: &mut Page, drained: &[DrainedTarget]) {
    let count = |status| drained.iter().filter(|target| target.status() == status).count() as u64;
    page.own(
        "targets",
        "Targets of the last drain by how they ended.",
        [("ok", Status::Ok), ("skipped", Status::Skip), ("failed", Status::Failed)]
            .map(|(word, status)| ([("status", word)], number(count(status)))),
    );
    let named: Vec<(String, &DrainedTarget)> =
        drained.iter().map(|target| (target.target.to_string(), target)).collect();
    let mut of_each = |name: &str, help: &str, value: &dyn Fn(&DrainedTarget) -> f64| {
        let samples = named.iter().map(|(name, target)| ([("target", name.as_str())], value(target)));
        page.own(name, help, samples);
    };
    of_each("target_duration_seconds", "How long the turn of a target took.", &|target| target.duration.as_secs_f64());
    of_each("target_failed", "Whether a target failed.", &|target| truth(target.status() == Status::Failed));
}

/// The deliveries of a run, and the queue after it.
pub(super) fn of_run(page: &mut Page, summary: &RunSummary, ui: &Ui) {
    let pushed = summary.outcomes.iter().filter_map(|outcome| Some((&outcome.target, outcome.push.as_ref()?)));
    deliveries(page, pushed);
    queue(page, summary.queue.as_ref(), summary.outcomes.iter().map(|outcome| &outcome.target), ui);
}

/// The deliveries of a drain, and the queue after it.
pub(super) fn of_drain(page: &mut Page, drained: &Drained, ui: &Ui) {
    let pushed = drained.targets.iter().filter_map(|target| Some((&target.target, target.report.as_ref()?)));
    deliveries(page, pushed);
    queue(page, drained.queue.as_ref(), drained.targets.iter().map(|target| &target.target), ui);
}

fn deliveries<'a>(page: &mut Page, pushed: impl Iterator<Item = (&'a Target, &'a PushReport)>) {
    let counts =
        |push: &PushReport| [("delivered", push.delivered), ("rejected", push.rejected), ("to_retry", push.to_retry)];
    let pushed: Vec<_> = pushed.map(|(target, push)| (target.to_string(), counts(push))).collect();
    let command = page.measured.word();
    let samples = pushed.iter().flat_map(|(target, counts)| {
        counts.map(|(result, count)| {
            ([("command", command), ("target", target.as_str()), ("result", result)], number(count))
        })
    });
    let help = "Events that the last run or drain had to deliver, by what became of them.";
    page.metrics.gauge("ondatrasql_push_events", help, samples);
}

fn queue<'a>(
    page: &mut Page,
    looked: Option<&Result<Vec<TargetOverview>, StateError>>,
    targets: impl Iterator<Item = &'a Target>,
    ui: &Ui,
) {
    let queue = match looked {
        None => return,
        Some(Err(error)) => {
            return ui.warn(&format!("no metrics of the queue: {}", ui.message(&error.to_string())));
        }
        Some(Ok(queue)) => queue,
    };
    // The queue knows targets in lower case; models are called as their files are.
    let names: BTreeMap<String, String> = targets.map(|target| (target.key(), target.to_string())).collect();
    let name = |target: &TargetOverview| names.get(&target.target).unwrap_or(&target.target).clone();
    let targets: Vec<(String, &TargetOverview)> = queue.iter().map(|target| (name(target), target)).collect();
    let command = page.measured.word();
    let depths = targets.iter().flat_map(|(name, target)| {
        let in_flight = target.in_flight.iter().map(|worker| worker.events).sum();
        let states =
            [("pending", target.pending), ("in_flight", in_flight), ("waiting", target.waiting), ("dead", target.dead)];
        states.map(|(state, events)| {
            ([("command", command), ("target", name.as_str()), ("state", state)], number(events))
        })
    });
    let help = "Events in the queue by their state, after the last run or drain.";
    page.metrics.gauge("ondatrasql_queue_events", help, depths);
    let ages = targets.iter().map(|(name, target)| {
        ([("command", command), ("target", name.as_str())], number(target.oldest_s.unwrap_or_default()))
    });
    let help =
        "Age of the oldest event that is still to be delivered, 0 if there is none, after the last run or drain.";
    page.metrics.gauge("ondatrasql_queue_oldest_event_age_seconds", help, ages);
}
