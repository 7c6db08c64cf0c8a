//! Throwaway projects and a bare engine for the floor.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use engine::{Connection, Database, ExtensionSearch, Pins};

const ATTACH: &str = "ATTACH 'ducklake:sqlite:ducklake.sqlite' AS lake (DATA_PATH 'ducklake.sqlite.files', \
    DATA_INLINING_ROW_LIMIT 0, META_JOURNAL_MODE 'WAL', META_BUSY_TIMEOUT 5000);";

/// The release binary beside this one.
pub fn binary() -> PathBuf {
    let binary = std::env::current_exe().unwrap().with_file_name("ondatrasql");
    assert!(binary.is_file(), "{} is not there: run make bench", binary.display());
    binary
}

/// A project in a temporary folder.
pub struct Project {
    pub dir: tempfile::TempDir,
}

impl Project {
    pub fn new() -> Self {
        let project = Self { dir: tempfile::tempdir().unwrap() };
        project.write("config/catalog.sql", ATTACH);
        project.write("config/state.sql", "ATTACH 'state.duckdb' AS state;");
        project
    }

    pub fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// `ondatrasql run`, which must succeed.
    pub fn run(&self, binary: &Path) {
        self.run_with(binary, &[]);
    }

    /// `ondatrasql run` with arguments, which must succeed.
    pub fn run_with(&self, binary: &Path, args: &[&str]) {
        let mut run = Command::new(binary);
        run.arg("run").args(args).current_dir(self.dir.path()).stdout(Stdio::null());
        assert!(run.status().unwrap().success());
    }

    /// Any command, which must succeed.
    pub fn command(&self, binary: &Path, args: &[&str]) {
        let mut command = Command::new(binary);
        command.args(args).current_dir(self.dir.path()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(command.status().unwrap().success(), "{args:?}");
    }

    /// Any command, which must fail.
    pub fn fails(&self, binary: &Path, args: &[&str]) {
        let mut command = Command::new(binary);
        command.args(args).current_dir(self.dir.path()).stdout(Stdio::null()).stderr(Stdio::null());
        assert!(!command.status().unwrap().success(), "{args:?}");
    }

    /// Any command, which must succeed; gives the most memory that it had, in MiB.
    pub fn watch_memory(&self, binary: &Path, args: &[&str]) -> u64 {
        let mut run =
            Command::new(binary).args(args).current_dir(self.dir.path()).stdout(Stdio::null()).spawn().unwrap();
        let mut peak_kib = 0;
        while run.try_wait().unwrap().is_none() {
            let status = fs::read_to_string(format!("/proc/{}/status", run.id())).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
            let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            peak_kib = peak_kib.max(kib.unwrap_or(0));
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(run.wait().unwrap().success());
        peak_kib / 1024
    }

    /// Deletes the lake.
    pub fn forget_lake(&self) {
        for file in ["ducklake.sqlite", "ducklake.sqlite-wal", "ducklake.sqlite-shm"] {
            let _ = fs::remove_file(self.dir.path().join(file));
        }
        let _ = fs::remove_dir_all(self.dir.path().join("ducklake.sqlite.files"));
    }

    /// A bare engine with the project's lake attached and current, from the project's folder.
    pub fn bare_engine(&self) -> Connection {
        std::env::set_current_dir(self.dir.path()).unwrap();
        let connection = Arc::new(Database::open(&[("allow_unsigned_extensions", "true")]).unwrap()).connect().unwrap();
        let executable = std::env::current_exe().unwrap();
        let search = ExtensionSearch::new(None, Some(&executable), None);
        search.load(&connection, &["ducklake", "sqlite_scanner"], &Pins::read()).unwrap();
        connection.execute(ATTACH).unwrap();
        connection.execute("USE lake").unwrap();
        connection
    }
}

/// The query of the rows that all benchmarks start from.
pub fn source_rows(rows: usize) -> String {
    format!(
        "SELECT i AS id, i % 100 AS grp, 'name ' || i AS name, (i * 7 % 1000)::DOUBLE AS amount FROM range({rows}) t(i)"
    )
}
