//! `ondatrasql check`: a model's checks on its present table, without running the model.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use checks::Stage;
use engine::{EngineError, EngineOptions, LakeFacts};
use model::Model;
use plan::LastCommit;
use project::{ConfigFile, Environment, read_config};
use types::{Code, Kind, Target, quote};

use crate::checking::directives::ModelChecks;
use crate::checking::stage_run::Checked;
use crate::checking::stages::{in_context, run_through, table_text, temp_text};
use crate::checking::store::Failures;
use crate::checking::{CheckFinding, StageReport};
use crate::masking::in_clear;
use crate::requirements::load_extensions;
use crate::{Cancellation, ProjectLock, RunError, Session, load_models, select_model};

/// What to check, and with what.
pub struct CheckOptions {
    /// The project's root; the process must be in it.
    pub root: PathBuf,
    /// The folder the command was started in.
    pub cwd: PathBuf,
    /// Variables for the configuration.
    pub environment: Environment,
    /// The models as given; all that have checks without any.
    pub models: Vec<String>,
    /// Whether the rows at fault are written to the lake.
    pub store_failures: bool,
    /// How long to wait for a run to end, before they are.
    pub state_wait: Duration,
    /// For the session.
    pub session: EngineOptions,
    /// To stop it.
    pub cancellation: Cancellation,
}

/// What the checks of a model say of its table.
#[derive(Debug)]
pub struct CheckedModel {
    /// The model.
    pub target: Target,
    /// Whether there is a table to check.
    pub has_table: bool,
    /// The stages that have checks.
    pub reports: Vec<StageReport>,
    /// Why its table cannot be looked at, where others are checked all the same.
    pub refused: Option<String>,
    /// Texts beside what the checks say.
    pub notes: Vec<String>,
    /// Where the rows at fault were written, and how many.
    pub stored: Option<(Target, i64)>,
    /// Time spent.
    pub duration: Duration,
}

impl CheckedModel {
    /// Whether a constraint or an audit found something or could not be run.
    pub fn has_failed(&self) -> bool {
        let is_bad = |report: &StageReport| report.stage != Stage::Warning && !report.is_clean();
        self.refused.is_some() || self.reports.iter().any(is_bad)
    }

    /// All findings.
    pub fn findings(&self) -> impl Iterator<Item = &CheckFinding> {
        self.reports.iter().flat_map(|report| &report.findings)
    }
}

/// Checks the models; `told` hears of each when it is done.
pub fn check(options: &CheckOptions, told: &mut dyn FnMut(&CheckedModel)) -> Result<Vec<CheckedModel>, RunError> {
    let config = read_config(&options.root, &options.environment)?;
    let local = config.local.clone();
    let models = models(options)?;
    let _lock = if options.store_failures {
        Some(ProjectLock::take(&options.root, options.state_wait, &options.cancellation)?)
    } else {
        None
    };
    let open = if options.store_failures {
        Session::open(&config, &options.session)
    } else {
        Session::look(config, &options.session)
    };
    let session = open?;
    let facts = LakeFacts::read(&session.connection, &session.lake, &session.metadata)?;
    let local = local.as_ref().map(|file| file.with_catalog(&session.lake));
    let mut checked = Vec::new();
    for model in &models {
        options.cancellation.check()?;
        let has_table = facts.tables.contains_key(&model.target.key());
        if !has_table && !options.models.is_empty() {
            return Err(RunError::Refused {
                code: Code::CheckTable,
                message: format!("{} has no table yet, so there is nothing to check", model.target),
                help: format!("run it first: `ondatrasql run {}`", model.target),
                place: Box::new(model.place(0..0)),
            });
        }
        let present = Present { session: &session, facts: &facts, model, local: local.as_ref() };
        let handle = session.connection.interrupt_handle();
        let is_one_of_all = options.models.is_empty();
        let check = || present.check(has_table, options.store_failures, is_one_of_all);
        let done = options.cancellation.interruptible(handle, check)?;
        told(&done);
        checked.push(done);
    }
    Ok(checked)
}

fn models(options: &CheckOptions) -> Result<Vec<Model>, RunError> {
    if options.models.is_empty() {
        let has_checks =
            |model: &Model| !(model.constraints.is_empty() && model.audits.is_empty() && model.warnings.is_empty());
        return Ok(load_models(&options.root)?.into_iter().filter(has_checks).collect());
    }
    options.models.iter().map(|operand| select_model(&options.root, &options.cwd, operand)).collect()
}

/// A model and its present table.
struct Present<'a> {
    session: &'a Session,
    facts: &'a LakeFacts,
    model: &'a Model,
    local: Option<&'a ConfigFile>,
}

impl Present<'_> {
    fn check(&self, has_table: bool, store: bool, is_one_of_all: bool) -> Result<CheckedModel, RunError> {
        let clock = Instant::now();
        let mut done = CheckedModel {
            target: self.model.target.clone(),
            has_table,
            reports: Vec::new(),
            refused: None,
            notes: Vec::new(),
            stored: None,
            duration: Duration::ZERO,
        };
        if has_table {
            match self.check_masked() {
                Err(error) if is_one_of_all => {
                    done.refused = Some(error.to_string());
                    return Ok(done);
                }
                masked => masked?,
            }
            load_extensions(self.session, self.model)?;
            let checks = ModelChecks::read(self.session, self.model);
            self.session.make_checks(&checks.shipped())?;
            let failures = if store { Some(Failures::begin(self.session, self.facts, self.model)?) } else { None };
            self.stages(&checks, failures.as_ref(), &mut done)?;
            done.stored = failures.map(Failures::write).transpose()?;
        }
        done.duration = clock.elapsed();
        Ok(done)
    }

    /// A column that the model masks only from now on is still in clear, and findings show values.
    fn check_masked(&self) -> Result<(), RunError> {
        let target = &self.model.target;
        let last = self.facts.commits.get(&target.key());
        let last = last.map(|row| LastCommit::read(&row.target, &row.commit_info)).transpose()?;
        let Some(mask) = in_clear(&self.model.masks(), last.as_ref()).into_iter().next() else { return Ok(()) };
        Err(RunError::Refused {
            code: Code::CheckTable,
            message: format!("the table of {target} holds `{}` in clear, which the model masks", mask.column),
            help: format!("run it first: `ondatrasql run {target}`"),
            place: Box::new(self.model.place(mask.span)),
        })
    }

    fn stages(
        &self,
        checks: &ModelChecks,
        failures: Option<&Failures<'_>>,
        done: &mut CheckedModel,
    ) -> Result<(), RunError> {
        let connection = &self.session.connection;
        let mut tell = |checked: &Checked<'_>, stage| {
            let report = run_through(checked, stage)?;
            if let Some(failures) = failures {
                failures.add(checked, stage, &report)?;
            }
            done.reports.push(report);
            Ok(())
        };
        if !checks.constraints.is_empty() {
            self.as_result()?;
            let table = temp_text(self.model);
            tell(&Checked { connection, model: self.model, table: &table }, &checks.constraints)?;
        }
        if !checks.audits.is_empty() {
            let table = table_text(self.session, self.model)?;
            tell(&Checked { connection, model: self.model, table: &table }, &checks.audits)?;
        }
        if !checks.warnings.is_empty() {
            in_context(self.session, (self.model, &checks.warnings), self.local, &mut done.notes, |checked| {
                tell(checked, &checks.warnings)
            })?;
        }
        Ok(())
    }

    /// A view of the table as a run's result would be: without what the runtime adds, and without the past.
    fn as_result(&self) -> Result<(), EngineError> {
        let table = self.model.target.qualified(&self.session.lake);
        let connection = &self.session.connection;
        let columns = connection.query(&format!("SELECT column_name FROM (DESCRIBE {table})"))?;
        let columns: Vec<String> = columns.into_values().filter_map(|mut row| row.pop()?.into_text()).collect();
        let own = self.model.kind.own_columns();
        let is_own = |column: &&String| own.iter().any(|own| own.eq_ignore_ascii_case(column));
        let hidden: Vec<String> = columns.iter().filter(is_own).map(|column| quote(column)).collect();
        let exclude = if hidden.is_empty() { String::new() } else { format!(" EXCLUDE ({})", hidden.join(", ")) };
        let is_versioned = self.model.kind == Kind::Scd2 && columns.iter().any(|name| name == "is_current");
        let current = if is_versioned { " WHERE is_current" } else { "" };
        let name = quote(&self.model.target.temp_name());
        connection.execute(&format!("CREATE OR REPLACE TEMP VIEW {name} AS SELECT *{exclude} FROM {table}{current}"))
    }
}
