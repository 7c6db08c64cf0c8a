//! A throwaway project and the binary in a sealed environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::Output;

/// A valid key for the state file; nothing is protected by it.
pub const STATE_KEY: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

/// Where a project's lake keeps its metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Catalog {
    /// A SQLite file.
    Sqlite,
    /// A DuckDB file.
    Duckdb,
}

impl Catalog {
    /// The line of `catalog.sql`.
    pub fn attach(self) -> &'static str {
        match self {
            Self::Sqlite => {
                "ATTACH 'ducklake:sqlite:ducklake.sqlite' AS lake (DATA_PATH 'ducklake.sqlite.files', \
                 DATA_INLINING_ROW_LIMIT 0, META_JOURNAL_MODE 'WAL', META_BUSY_TIMEOUT 5000);"
            }
            Self::Duckdb => {
                "ATTACH 'ducklake:duckdb:ducklake.duckdb' AS lake (DATA_PATH 'ducklake.duckdb.files', DATA_INLINING_ROW_LIMIT 0);"
            }
        }
    }
}

/// A project in a temporary folder; gone when dropped.
pub struct Project {
    binary: PathBuf,
    dir: TempDir,
}

impl Project {
    /// An empty folder; the binary is `env!("CARGO_BIN_EXE_ondatrasql")` of the calling test.
    pub fn empty(binary: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("home")).unwrap();
        fs::create_dir(dir.path().join("tmp")).unwrap();
        fs::create_dir(dir.path().join("project")).unwrap();
        Self { binary: binary.into(), dir }
    }

    /// A project with the smallest configuration: a lake and a state.
    pub fn new(binary: &str, catalog: Catalog) -> Self {
        let project = Self::empty(binary);
        project.write("config/catalog.sql", catalog.attach());
        project.write("config/state.sql", "ATTACH 'state.duckdb' AS state (ENCRYPTION_KEY '${ONDATRA_STATE_KEY}');");
        project.write(".env", &format!("ONDATRA_STATE_KEY={STATE_KEY}\n"));
        project
    }

    /// The project's folder.
    pub fn root(&self) -> PathBuf {
        self.dir.path().join("project")
    }

    /// The folder that the binary takes for the system's temporary one.
    pub fn temp_root(&self) -> PathBuf {
        self.dir.path().join("tmp")
    }

    /// Writes a file below the project, with its folders.
    pub fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes `models/<path>.sql`.
    pub fn model(&self, path: &str, sql: &str) {
        self.write(&format!("models/{path}.sql"), sql);
    }

    /// Deletes a file below the project.
    pub fn remove(&self, path: &str) {
        fs::remove_file(self.root().join(path)).unwrap();
    }

    /// The binary with `args`, in the project's folder, with nothing of the caller's environment.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.binary);
        command
            .args(args)
            .current_dir(self.root())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.dir.path().join("home"))
            .env("TMPDIR", self.temp_root())
            .stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub fn run(&self, args: &[&str]) -> Output {
        finish(&mut self.command(args))
    }

    /// Runs the binary to its end from a folder below the project.
    pub fn run_in(&self, folder: &str, args: &[&str]) -> Output {
        finish(self.command(args).current_dir(self.root().join(folder)))
    }

    /// The rows of a query as CSV without the header.
    #[track_caller]
    pub fn rows(&self, sql: &str) -> String {
        let output = self.run(&["sql", sql, "--format", "csv"]).success();
        output.stdout.split_once('\n').map(|(_, rows)| rows.to_owned()).unwrap_or_default()
    }

    /// Every file below the project, relative, sorted; without the lake's data files.
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        collect(&self.root(), &self.root(), &mut files);
        files.retain(|path| !path.contains(".files/"));
        files.sort();
        files
    }
}

fn collect(root: &Path, dir: &Path, files: &mut Vec<String>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            files.push(path.strip_prefix(root).unwrap().display().to_string());
        }
    }
}

fn finish(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    Output {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    }
}
