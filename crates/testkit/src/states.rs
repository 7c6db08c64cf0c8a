//! States to test against: the three databases, each real.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use engine::{EngineOptions, ExtensionSearch};
use project::{Environment, check_state_key};
use state::{BackendKind, SqlStore, StateConfig, WorkerId};
use tempfile::TempDir;

use crate::postgres::{Postgres, free_port};
use crate::{Catalog, Project, STATE_KEY};

/// The token of a test's Quack server.
const TOKEN: &str = "0123456789abcdef-token";

/// All three databases.
pub const ALL_BACKENDS: [BackendKind; 3] = [BackendKind::File, BackendKind::Postgres, BackendKind::Quack];

/// A project whose `config/state.sql` leads to an empty state, with the server that the state needs.
pub struct StateFixture {
    /// The database.
    pub kind: BackendKind,
    /// The project.
    pub project: Project,
    /// The server, for PostgreSQL.
    pub postgres: Option<Postgres>,
    /// The server, for Quack.
    pub quack: Option<StateServer>,
    temp: TempDir,
}

impl StateFixture {
    /// A project with an empty state on a database of this kind.
    pub fn new(binary: &str, kind: BackendKind) -> Self {
        let project = Project::new(binary, Catalog::Sqlite);
        let temp = tempfile::tempdir().unwrap();
        let mut fixture = Self { kind, project, postgres: None, quack: None, temp };
        match kind {
            BackendKind::File => {}
            BackendKind::Postgres => {
                let postgres = Postgres::start();
                postgres.create_database("state");
                let attach = format!("ATTACH '{}' AS state (TYPE postgres);", postgres.connection("state"));
                fixture.project.write("config/state.sql", &attach);
                fixture.postgres = Some(postgres);
            }
            BackendKind::Quack => {
                let server = StateServer::start(binary);
                fixture.project.write("config/state.sql", &server.attach);
                let env = format!("ONDATRA_STATE_KEY={STATE_KEY}\nONDATRA_QUACK_TOKEN={TOKEN}\n");
                fixture.project.write(".env", &env);
                fixture.quack = Some(server);
            }
        }
        fixture
    }

    /// How to open the state from here.
    pub fn config(&self) -> StateConfig {
        state_config(&self.project.root(), self.temp.path())
    }

    /// Opens the state for a worker.
    pub fn open(&self, worker: &str) -> SqlStore {
        state::open(self.config(), WorkerId::from(worker.to_owned())).unwrap()
    }
}

/// How to open the state of the project at `root`, from wherever the process is.
pub fn state_config(root: &Path, temp_root: &Path) -> StateConfig {
    let environment = Environment::load(root, []).unwrap();
    let mut file = check_state_key(root, &environment).unwrap();
    // Paths of a configuration are relative to the project; a test does not move there.
    let path = format!("'{}/state.duckdb'", root.display());
    file.expanded.text = file.expanded.text.replace("'state.duckdb'", &path);
    StateConfig {
        lock_wait: Duration::from_secs(20),
        answer_wait: Duration::from_secs(5),
        patience: Duration::from_mins(1),
        ..StateConfig::new(file, engine_options(temp_root.into()))
    }
}

/// The engine as tests bring it up.
pub fn engine_options(temp_root: PathBuf) -> EngineOptions {
    let extensions = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../.engine/extensions");
    EngineOptions { extensions: ExtensionSearch { folders: vec![extensions] }, temp_root }
}

/// `ondatrasql state serve` in a process of its own.
pub struct StateServer {
    project: Project,
    listen: String,
    server: Child,
    /// The line that it prints for workers.
    pub attach: String,
}

impl StateServer {
    /// Starts a server for an empty state.
    pub fn start(binary: &str) -> Self {
        let project = Project::new(binary, Catalog::Sqlite);
        project.write(".env", &format!("ONDATRA_STATE_KEY={STATE_KEY}\nONDATRA_QUACK_TOKEN={TOKEN}\n"));
        let listen = format!("localhost:{}", free_port());
        let (server, attach) = serve(&project, &listen);
        Self { project, listen, server, attach }
    }

    /// Stops it without a word, and starts it again on the same file and port.
    pub fn kill_and_restart(&mut self) {
        self.server.kill().unwrap();
        self.server.wait().unwrap();
        (self.server, self.attach) = serve(&self.project, &self.listen);
    }

    /// Freezes the process, or lets it go on.
    pub fn freeze(&self, frozen: bool) {
        let signal = if frozen { "-STOP" } else { "-CONT" };
        Command::new("kill").args([signal, &self.server.id().to_string()]).status().unwrap();
    }
}

impl Drop for StateServer {
    fn drop(&mut self) {
        self.freeze(false);
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn serve(project: &Project, listen: &str) -> (Child, String) {
    let mut command = project.command(&["state", "serve", "--listen", listen]);
    let mut server = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines().map_while(Result::ok);
    let attach = lines.find(|line| line.starts_with("ATTACH")).expect("the server prints its line");
    (server, attach)
}
