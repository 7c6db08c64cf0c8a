//! `ondatrasql state …`: a file per command.

mod copy;
mod rekey;
mod serve;
mod status;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use engine::EngineOptions;
use project::{ConfigFile, Environment, check_state_key};
use state::{LEASE, SqlStore, StateConfig, StateError, WorkerId, finish_rekey};

use crate::args::StateCommand;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::ui::Ui;

/// Shortest lease that can be kept alive, in seconds.
const LEASE_SECONDS_MIN: u64 = 2;

pub(crate) fn state(command: StateCommand, ui: &Ui) -> Result<ExitCode, CliError> {
    match command {
        StateCommand::Status(args) => status::status(&args, ui),
        StateCommand::Rekey(args) => rekey::rekey(&args, ui),
        StateCommand::Copy(args) => copy::copy(&args, ui),
        StateCommand::Serve(args) => serve::serve(&args, ui),
    }
}

/// A project's state, not opened yet.
struct Setup {
    invocation: Invocation,
    config: StateConfig,
}

impl Setup {
    /// Reads `config/state.sql`, after finishing a rotation of its key that was interrupted.
    fn read(wait: Duration, ui: &Ui) -> Result<Self, CliError> {
        let mut invocation = Invocation::enter(ui)?;
        let lease = lease(&invocation.environment)?;
        let configured = |environment: &Environment| -> Result<StateConfig, StateError> {
            let file = check_state_key(&invocation.root, environment)?;
            Ok(config(&invocation, file, wait, lease))
        };
        let finished = finish_rekey(&invocation.root, &invocation.environment, configured)?;
        if let Some(environment) = finished {
            ui.line("Finished a rotation of the state's key that was interrupted");
            invocation.environment = environment;
        }
        let file = check_state_key(&invocation.root, &invocation.environment)?;
        let config = config(&invocation, file, wait, lease);
        Ok(Self { invocation, config })
    }

    /// Reads the configuration and works with the state; once more if its key was replaced while the file was waited
    /// for.
    fn with<T>(wait: Duration, ui: &Ui, mut work: impl FnMut(&Self) -> Result<T, StateError>) -> Result<T, CliError> {
        let mut setup = Self::read(wait, ui)?;
        loop {
            let worked = work(&setup);
            if !matches!(worked, Err(StateError::WrongKey { .. })) {
                return Ok(worked?);
            }
            let fresh = Self::read(wait, ui)?;
            if fresh.config.file.expanded.text == setup.config.file.expanded.text {
                return Ok(worked?);
            }
            setup = fresh;
        }
    }

    fn open(&self) -> Result<SqlStore, StateError> {
        state::open(self.config.clone(), worker()?)
    }
}

/// Opens the state of the project for a run, when it asks for it.
pub(crate) fn state_opener(
    root: &Path,
    environment: &Environment,
    session: &EngineOptions,
    wait: Duration,
) -> Result<Box<dyn Fn() -> Result<SqlStore, StateError>>, CliError> {
    let lease = lease(environment)?;
    let (root, environment, session) = (root.to_owned(), environment.clone(), session.clone());
    Ok(Box::new(move || {
        let configured = |environment: &Environment| -> Result<StateConfig, StateError> {
            let file = check_state_key(&root, environment)?;
            Ok(StateConfig { lease, lock_wait: wait, ..StateConfig::new(file, session.clone()) })
        };
        let finished = finish_rekey(&root, &environment, configured)?;
        state::open(configured(finished.as_ref().unwrap_or(&environment))?, worker()?)
    }))
}

/// Says where the state of the project is, by the file that does, for a command that opens it itself.
pub(crate) fn state_config(
    invocation: &Invocation,
    wait: Duration,
) -> Result<impl FnOnce(ConfigFile) -> StateConfig + use<>, CliError> {
    let (lease, session) = (lease(&invocation.environment)?, invocation.session_options());
    Ok(move |file| StateConfig { lease, lock_wait: wait, ..StateConfig::new(file, session) })
}

/// How long a server may take to answer one who only looks.
const LOOK: Duration = Duration::from_secs(2);

/// Opens the state for one who only looks: it is not waited for.
pub(crate) fn open_at_once(invocation: &Invocation) -> Result<SqlStore, StateError> {
    let file = check_state_key(&invocation.root, &invocation.environment)?;
    let config = StateConfig { answer_wait: LOOK, patience: LOOK, ..config(invocation, file, Duration::ZERO, LEASE) };
    state::open(config, worker()?)
}

fn config(invocation: &Invocation, file: ConfigFile, wait: Duration, lease: Duration) -> StateConfig {
    StateConfig { lease, lock_wait: wait, ..StateConfig::new(file, invocation.session_options()) }
}

fn worker() -> Result<WorkerId, StateError> {
    WorkerId::of_this_process()
}

/// The lease of chapter 04 §7: `ONDATRA_LEASE` in seconds, 60 without it.
fn lease(environment: &Environment) -> Result<Duration, CliError> {
    let Some(text) = environment.get("ONDATRA_LEASE").filter(|text| !text.is_empty()) else {
        return Ok(LEASE);
    };
    let seconds = text.trim().parse().ok().filter(|&seconds| seconds >= LEASE_SECONDS_MIN);
    seconds.map(Duration::from_secs).ok_or_else(|| {
        CliError::usage(
            format!("invalid ONDATRA_LEASE: {text}"),
            format!("write whole seconds, at least {LEASE_SECONDS_MIN}"),
        )
    })
}
