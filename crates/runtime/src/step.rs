//! The steps of a model's run, timed where they happen: they may be on several threads at once.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use checks::Stage;
use push::BatchReport;
use types::{Step, StepStatus};

/// What a run does for a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStep {
    /// A lib function gives rows, before the model's turn or while it is waited for.
    Fetch,
    /// The query runs before the model's transaction, beside others.
    Ahead,
    /// The query runs in the model's transaction; if it ran before, its rows are taken from where they are.
    Query,
    /// The checks of a stage.
    Checks(Stage),
    /// The rows are written into the table.
    Write,
    /// The commit is recorded and made.
    Commit,
    /// Changes are fed into the queue and delivered.
    Push,
    /// A batch is sent to the sink, as a part of the push; several may be on their way at once.
    Batch,
}

impl RunStep {
    /// The word for it; one for the checks of all stages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Ahead | Self::Query => "query",
            Self::Checks(_) => "checks",
            Self::Write => "write",
            Self::Commit => "commit",
            Self::Push => "push",
            Self::Batch => "batch",
        }
    }
}

impl fmt::Display for RunStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Checks(stage) => write!(f, "{stage}s"),
            other => f.write_str(other.name()),
        }
    }
}

/// A step that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepTime {
    /// The model's target, as text.
    pub target: String,
    /// What was done.
    pub step: RunStep,
    /// When it began.
    pub started: SystemTime,
    /// How long it took.
    pub duration: Duration,
    /// Whether it was given up. A transaction that is begun again has its steps again.
    pub has_failed: bool,
    /// Of a batch, what became of it.
    pub batch: Option<BatchReport>,
}

/// Is told of each step when it has ended, by the thread that did it. The default one listens to none.
#[derive(Clone, Default)]
pub struct StepSink(Option<Arc<dyn Fn(StepTime) + Send + Sync>>);

impl StepSink {
    /// Calls `listen`, which must not take long: the run waits for it.
    pub fn new(listen: impl Fn(StepTime) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(listen)))
    }

    /// Tells of a batch.
    pub(crate) fn batch(&self, target: &str, batch: BatchReport) {
        let Some(listen) = &self.0 else { return };
        let BatchReport { started, duration, .. } = batch;
        let (target, has_failed) = (target.to_owned(), batch.counts.has_failures());
        listen(StepTime { target, step: RunStep::Batch, started, duration, has_failed, batch: Some(batch) });
    }

    /// Times `work` as one step, which fails if its result does.
    pub(crate) fn timed<T, E>(&self, target: &str, step: RunStep, work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
        let mut timer = StepTimer::start(self, target, step);
        let done = work();
        timer.end(done.is_err());
        done
    }
}

/// Times steps that follow each other: one begins where another ends. The one that is open when the timer goes has
/// failed.
pub(crate) struct StepTimer<'a> {
    sink: &'a StepSink,
    target: &'a str,
    open: Option<(RunStep, SystemTime, Instant)>,
    /// What was done for the open step before it began.
    credit: Duration,
    /// Those that have ended, as a commit tells of them.
    pub ended: Vec<Step>,
}

impl<'a> StepTimer<'a> {
    /// Begins with a step.
    pub fn start(sink: &'a StepSink, target: &'a str, step: RunStep) -> Self {
        let mut timer = Self { sink, target, open: None, credit: Duration::ZERO, ended: Vec::new() };
        timer.enter(step);
        timer
    }

    /// Ends the open step, which went well, and begins another one.
    pub fn enter(&mut self, step: RunStep) {
        self.end(false);
        self.open = Some((step, SystemTime::now(), Instant::now()));
    }

    /// Adds what was done for the open step before, for the commit: whoever did it has told of it.
    pub fn credit(&mut self, before: Duration) {
        self.credit = before;
    }

    /// Ends the open step, if there is one.
    pub fn end(&mut self, has_failed: bool) {
        let Some((step, started, clock)) = self.open.take() else { return };
        let duration = clock.elapsed();
        if !has_failed {
            let whole = duration + std::mem::take(&mut self.credit);
            let duration_ms = i64::try_from(whole.as_millis()).unwrap_or(i64::MAX);
            self.ended.push(Step { name: step.to_string(), duration_ms, status: StepStatus::Ok });
        }
        if let Some(listen) = &self.sink.0 {
            listen(StepTime { target: self.target.to_owned(), step, started, duration, has_failed, batch: None });
        }
    }
}

impl Drop for StepTimer<'_> {
    fn drop(&mut self) {
        self.end(true);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::time::Duration;

    use checks::Stage;

    use super::{RunStep, StepSink, StepTimer};

    #[test]
    fn steps_follow_each_other_and_the_one_left_open_has_failed() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let listening = Arc::clone(&told);
        let sink = StepSink::new(move |step| listening.lock().unwrap().push(step));
        let mut timer = StepTimer::start(&sink, "raw.a", RunStep::Query);
        timer.credit(Duration::from_hours(1));
        timer.enter(RunStep::Checks(Stage::Constraint));
        timer.enter(RunStep::Write);
        assert_eq!(timer.ended.iter().map(|step| step.name.as_str()).collect::<Vec<_>>(), ["query", "constraints"]);
        let is_credited = |at: usize| timer.ended[at].duration_ms >= 3_600_000;
        assert!(is_credited(0) && !is_credited(1), "{:?}", timer.ended);
        drop(timer);
        assert_eq!(sink.timed("raw.a", RunStep::Push, || Err::<(), _>("no")), Err("no"));
        let told = told.lock().unwrap();
        let steps: Vec<(String, bool)> = told.iter().map(|step| (step.step.to_string(), step.has_failed)).collect();
        let expected = [("query", false), ("constraints", false), ("write", true), ("push", true)];
        assert_eq!(steps, expected.map(|(name, failed)| (name.to_owned(), failed)));
        assert!(told.windows(2).all(|pair| pair[0].started + pair[0].duration <= pair[1].started + pair[1].duration));
    }
}
