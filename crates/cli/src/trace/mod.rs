//! A run, a sandbox or a delivery as a trace: one span for it, one for each model, one for each step of a model and each
//! batch that is delivered.

mod turn;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use http_client::ClientOptions;
use project::Environment;
use runtime::{Drained, DrainedTarget, ModelOutcome, RunError, RunStep, RunSummary, Status, StepSink, StepTime};
use telemetry::{Exporter, Outcome, PATIENCE, Span, SpanEvent, SpanId, TraceId, Tracing, Value};
use types::Diagnose;

use self::turn::Turn;
use crate::commands::one_line;
use crate::ui::Ui;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a span is told of beside its times.
type Attributes = Vec<(&'static str, Value)>;

/// The trace of a command.
pub(crate) struct Trace {
    exporter: Exporter,
    /// The words of the command: the name of its span, and an attribute of its models.
    command: &'static str,
    trace: TraceId,
    /// The span of the command.
    root: SpanId,
    /// What caused it, in another process.
    parent: Option<SpanId>,
    started: SystemTime,
    /// Steps whose model has not had its turn yet.
    steps: Arc<Mutex<Vec<StepTime>>>,
}

impl Trace {
    /// Begins a trace, if the variables of OpenTelemetry ask for it. What is wrong with them is a warning.
    pub(crate) fn start(command: &'static str, environment: &Environment, ui: &Ui) -> Option<Self> {
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
                command,
                trace,
                root: SpanId::random(),
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
        self.add_turn(&Turn::of_model(outcome, ui), ui);
    }

    /// Adds a target that had its delivery, and its batches.
    pub(crate) fn target_drained(&self, drained: &DrainedTarget, ui: &Ui) {
        self.add_turn(&Turn::of_target(drained), ui);
    }

    fn add_turn(&self, turn: &Turn<'_>, ui: &Ui) {
        let steps = self.take_steps(Some(&turn.target));
        let id = SpanId::random();
        // Fetches and queries are done before the model's turn, which may have to wait for that of another one.
        let ended = steps.iter().map(end).fold(turn.ended, SystemTime::max);
        let started = steps.iter().map(|step| step.started).fold(turn.ended - turn.duration, SystemTime::min);
        for span in turn.spans(self, id, steps, ui) {
            self.exporter.add(span);
        }
        let mut span = self.span(id, &format!("model {}", turn.target), (started, ended));
        span.parent = Some(self.root);
        span.attributes.push(("ondatra.command", self.command.into()));
        span.attributes.extend(turn.attributes.iter().cloned());
        if let Some(error) = turn.error {
            fail(&mut span, error, ui);
        }
        self.exporter.add(span);
    }

    /// Adds the command itself and sends what is left, for a moment at most. `operand` is the model or target that was
    /// named.
    pub(crate) fn finish(self, run_id: &str, operand: Option<&str>, ended: Result<Ended, &RunError>, ui: &Ui) {
        // Steps of models that had no turn.
        for step in self.take_steps(None) {
            let mut span = self.step(&step, self.root);
            span.attributes.push(("ondatra.target", step.target.into()));
            self.exporter.add(span);
        }
        let mut span = self.span(self.root, self.command, (self.started, SystemTime::now()));
        span.parent = self.parent;
        span.is_parent_remote = self.parent.is_some();
        span.attributes.extend([("ondatra.command", self.command.into()), ("ondatra.run_id", run_id.into())]);
        span.attributes.extend(operand.map(|model| ("ondatra.model", ui.message(model).into())));
        match ended {
            Ok(Ended { attributes, outcome }) => {
                span.attributes.extend(attributes);
                span.outcome = outcome;
            }
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

    fn step(&self, step: &StepTime, parent: SpanId) -> Span {
        let mut span = self.span(SpanId::random(), step.step.name(), (step.started, end(step)));
        span.parent = Some(parent);
        if let RunStep::Checks(stage) = step.step {
            span.attributes.push(("ondatra.checks", format!("{stage}s").into()));
        }
        if step.step == RunStep::Ahead {
            span.attributes.push(("ondatra.ahead", true.into()));
        }
        if step.has_failed {
            span.outcome = Outcome::Error(String::new());
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

/// What a command came to.
pub(crate) struct Ended {
    attributes: Attributes,
    outcome: Outcome,
}

impl From<&RunSummary> for Ended {
    fn from(summary: &RunSummary) -> Self {
        let failed = summary.count(Status::Failed);
        let attributes = vec![
            ("ondatra.models.ok", summary.count(Status::Ok).into()),
            ("ondatra.models.skipped", summary.count(Status::Skip).into()),
            ("ondatra.models.failed", failed.into()),
            ("ondatra.rows", summary.rows().into()),
            ("ondatra.interrupted", summary.interrupted.into()),
        ];
        Self { attributes, outcome: outcome(summary.interrupted, failed, "model(s)") }
    }
}

impl From<&Drained> for Ended {
    fn from(drained: &Drained) -> Self {
        let count = |status| drained.targets.iter().filter(|target| target.status() == status).count();
        let failed = count(Status::Failed);
        let attributes = vec![
            ("ondatra.targets.ok", count(Status::Ok).into()),
            ("ondatra.targets.skipped", count(Status::Skip).into()),
            ("ondatra.targets.failed", failed.into()),
            ("ondatra.interrupted", drained.interrupted.into()),
        ];
        Self { attributes, outcome: outcome(drained.interrupted, failed, "target(s)") }
    }
}

fn outcome(interrupted: bool, failed: usize, what: &str) -> Outcome {
    match (interrupted, failed) {
        (true, _) => Outcome::Error("interrupted".into()),
        (false, 0) => Outcome::Ok,
        (false, failed) => Outcome::Error(format!("{failed} {what} failed")),
    }
}

fn end(step: &StepTime) -> SystemTime {
    step.started + step.duration
}

/// Records an error, without secrets.
fn fail(span: &mut Span, error: &RunError, ui: &Ui) {
    let message = ui.message(&error.to_string());
    span.outcome = Outcome::Error(message.clone());
    let attributes = vec![("exception.type", error.code().as_str().into()), ("exception.message", message.into())];
    span.events.push(SpanEvent { at: span.ended, name: "exception", attributes });
}
