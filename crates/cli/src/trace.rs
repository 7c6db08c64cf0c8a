//! A run as a trace: one span for it, one for each model, one for each step of a model.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use http_client::ClientOptions;
use project::Environment;
use runtime::{ModelOutcome, RunError, RunOptions, RunStep, RunSummary, Status, StepSink, StepTime};
use telemetry::{Exporter, Outcome, PATIENCE, Span, SpanEvent, SpanId, TraceId, Tracing, Value};
use types::Diagnose;

use crate::commands::{one_line, status_word};
use crate::ui::Ui;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The trace of a run.
pub(crate) struct Trace {
    exporter: Exporter,
    trace: TraceId,
    /// The span of the run.
    run: SpanId,
    /// What caused the run, in another process.
    parent: Option<SpanId>,
    started: SystemTime,
    /// Steps whose model has not had its turn yet.
    steps: Arc<Mutex<Vec<StepTime>>>,
}

impl Trace {
    /// Begins a trace, if the variables of OpenTelemetry ask for it. What is wrong with them is a warning.
    pub(crate) fn start(environment: &Environment, ui: &Ui) -> Option<Self> {
        let variable = |name: &str| environment.get(name).map(str::to_owned);
        let Tracing { settings, warnings } = Tracing::from_variables(&variable, VERSION);
        for warning in warnings {
            ui.warn(&format!("traces: {}", ui.message(&warning)));
        }
        let settings = settings?;
        let redactor = ui.redactor();
        for (name, value) in &settings.headers {
            redactor.add_variable(name, value);
        }
        redactor.add_variable("OTEL_EXPORTER_OTLP_ENDPOINT", &settings.url);
        let parent = settings.parent;
        let trace = parent.map_or_else(TraceId::random, |parent| parent.trace);
        if !settings.sampler.records(trace, parent.as_ref()) {
            return None;
        }
        let client = ClientOptions::from_environment(concat!("OndatraSQL/", env!("CARGO_PKG_VERSION")), variable);
        match Exporter::start(&settings, VERSION, client) {
            Ok(exporter) => Some(Self {
                exporter,
                trace,
                run: SpanId::random(),
                parent: parent.map(|parent| parent.span),
                started: SystemTime::now(),
                steps: Arc::default(),
            }),
            Err(error) => {
                ui.warn(&format!("traces: none are sent: {}", ui.message(&error.to_string())));
                None
            }
        }
    }

    /// What listens to steps for this trace.
    pub(crate) fn sink(&self) -> StepSink {
        let steps = Arc::clone(&self.steps);
        StepSink::new(move |step| steps.lock().unwrap_or_else(PoisonError::into_inner).push(step))
    }

    /// Adds a model and its steps.
    pub(crate) fn model_finished(&self, outcome: &ModelOutcome, ui: &Ui) {
        let steps = self.take_steps(Some(&outcome.target.to_string()));
        let id = SpanId::random();
        let error = outcome.error.as_ref();
        let message = error.map(|error| ui.message(&error.to_string()));
        let about = failed_at(&steps);
        for (at, step) in steps.iter().enumerate() {
            let why = message.as_deref().filter(|_| about.contains(&at));
            let pushed = outcome.push.as_ref().filter(|_| step.step == RunStep::Push);
            let failed_rows = pushed.is_some_and(runtime::PushReport::has_failures);
            let mut span = self.step(step, id, why.or(message.as_deref().filter(|_| failed_rows)), failed_rows);
            if let Some(push) = pushed {
                span.attributes.extend([
                    ("ondatra.push.delivered", push.delivered.into()),
                    ("ondatra.push.rejected", push.rejected.into()),
                    ("ondatra.push.to_retry", push.to_retry.into()),
                    ("ondatra.push.pending", push.pending.into()),
                ]);
            }
            self.exporter.add(span);
        }
        // Fetches and queries are done before the model's turn, which may have to wait for that of another one.
        let ended = steps.iter().map(end).fold(outcome.ended, SystemTime::max);
        let started = steps.iter().map(|step| step.started).fold(outcome.ended - outcome.duration, SystemTime::min);
        let mut span = self.span(id, &format!("model {}", outcome.target), (started, ended));
        span.parent = Some(self.run);
        span.attributes = model_attributes(outcome, ui);
        if let Some(error) = error {
            fail(&mut span, error, ui);
        }
        self.exporter.add(span);
    }

    /// Adds the run itself and sends what is left, for a moment at most.
    pub(crate) fn finish(self, options: &RunOptions, ran: Result<&RunSummary, &RunError>, ui: &Ui) {
        // Steps of models that had no turn.
        for step in self.take_steps(None) {
            let mut span = self.step(&step, self.run, None, false);
            span.attributes.push(("ondatra.target", step.target.into()));
            self.exporter.add(span);
        }
        let mut span = self.span(self.run, "run", (self.started, SystemTime::now()));
        span.parent = self.parent;
        span.is_parent_remote = self.parent.is_some();
        span.attributes.push(("ondatra.run_id", options.run_id.as_str().into()));
        if let Some(model) = &options.model {
            span.attributes.push(("ondatra.model", ui.message(model).into()));
        }
        match ran {
            Ok(summary) => close_run(&mut span, summary),
            Err(error) => fail(&mut span, error, ui),
        }
        self.exporter.add(span);
        if let Some(trouble) = self.exporter.finish(PATIENCE) {
            ui.warn(&format!("traces: {}", one_line(&ui.message(&trouble))));
        }
    }

    /// The steps of a model, or all that are left.
    fn take_steps(&self, target: Option<&str>) -> Vec<StepTime> {
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        steps.extract_if(.., |step| target.is_none_or(|target| step.target == target)).collect()
    }

    fn step(&self, step: &StepTime, parent: SpanId, why: Option<&str>, failed_rows: bool) -> Span {
        let mut span = self.span(SpanId::random(), step.step.name(), (step.started, end(step)));
        span.parent = Some(parent);
        if let RunStep::Checks(stage) = step.step {
            span.attributes.push(("ondatra.checks", format!("{stage}s").into()));
        }
        if step.step == RunStep::Ahead {
            span.attributes.push(("ondatra.ahead", true.into()));
        }
        if step.has_failed || failed_rows {
            span.outcome = Outcome::Error(why.unwrap_or_default().to_owned());
        }
        span
    }

    fn span(&self, id: SpanId, name: &str, (started, ended): (SystemTime, SystemTime)) -> Span {
        Span {
            trace: self.trace,
            id,
            parent: None,
            is_parent_remote: false,
            name: name.to_owned(),
            started,
            ended,
            attributes: Vec::new(),
            events: Vec::new(),
            outcome: Outcome::Ok,
        }
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

fn end(step: &StepTime) -> SystemTime {
    step.started + step.duration
}

fn model_attributes(outcome: &ModelOutcome, ui: &Ui) -> Vec<(&'static str, Value)> {
    let mut attributes: Vec<(&'static str, Value)> = vec![
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
    attributes
}

/// What a run came to.
fn close_run(span: &mut Span, summary: &RunSummary) {
    let failed = summary.count(Status::Failed);
    span.attributes.extend([
        ("ondatra.models.ok", summary.count(Status::Ok).into()),
        ("ondatra.models.skipped", summary.count(Status::Skip).into()),
        ("ondatra.models.failed", failed.into()),
        ("ondatra.rows", summary.rows().into()),
        ("ondatra.interrupted", summary.interrupted.into()),
    ]);
    span.outcome = match (summary.interrupted, failed) {
        (true, _) => Outcome::Error("interrupted".into()),
        (false, 0) => Outcome::Ok,
        (false, failed) => Outcome::Error(format!("{failed} model(s) failed")),
    };
}

/// Records an error, without secrets.
fn fail(span: &mut Span, error: &RunError, ui: &Ui) {
    let message = ui.message(&error.to_string());
    span.outcome = Outcome::Error(message.clone());
    let attributes = vec![("exception.type", error.code().as_str().into()), ("exception.message", message.into())];
    span.events.push(SpanEvent { at: span.ended, name: "exception", attributes });
}
