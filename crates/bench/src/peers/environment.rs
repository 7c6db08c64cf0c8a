//! Peers: what is installed of each, into a Python environment of its own below `target/bench-peers/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use engine::{ExtensionSearch, Pins};

/// dbt with its adapter for DuckDB.
pub static DBT: Peer = Peer::new("dbt", include_str!("../../peers/dbt/requirements.txt"));
/// `SQLMesh`.
pub static SQLMESH: Peer = Peer::new("sqlmesh", include_str!("../../peers/sqlmesh/requirements.txt"));
/// dlt with its destination DuckDB.
pub static DLT: Peer = Peer::new("dlt", include_str!("../../peers/dlt/requirements.txt"));

/// Another program.
pub struct Peer {
    pub name: &'static str,
    requirements: &'static str,
    made: OnceLock<Result<Environment, String>>,
}

impl Peer {
    const fn new(name: &'static str, requirements: &'static str) -> Self {
        Self { name, requirements, made: OnceLock::new() }
    }

    /// Its environment, installed when it is asked for first; an error says why it is not.
    pub fn environment(&self) -> Result<&Environment, &str> {
        let made = self.made.get_or_init(|| Installer::of_this_build().environment(self.name, self.requirements));
        made.as_ref().map_err(String::as_str)
    }
}

/// Names and versions of all peers, and of the Python that runs them, where there is one.
pub fn versions() -> Vec<(String, String)> {
    let python = Command::new(PYTHON).arg("--version").output().ok();
    let python = python.and_then(|output| String::from_utf8(output.stdout).ok());
    let python = python.and_then(|text| Some(("python".to_owned(), text.trim().strip_prefix("Python ")?.to_owned())));
    let pinned = [&DBT, &SQLMESH, &DLT].into_iter().flat_map(|peer| pinned_versions(peer.requirements));
    python.into_iter().chain(pinned).collect()
}

/// Of lines like `name[extra]==version`.
fn pinned_versions(requirements: &str) -> impl Iterator<Item = (String, String)> {
    requirements.lines().filter_map(|line| {
        let (name, version) = line.split_once("==")?;
        Some((name.split('[').next().unwrap_or(name).to_owned(), version.to_owned()))
    })
}

/// A Python environment with a peer in it.
#[derive(Debug)]
pub struct Environment {
    folder: PathBuf,
    home: PathBuf,
}

impl Environment {
    /// One of its programs, with a home of its own: nobody's settings and nobody's extensions.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.folder.join("bin").join(program));
        command.env("HOME", &self.home);
        command
    }
}

const PYTHON: &str = "python3";

/// Makes environments.
struct Installer {
    /// The folder that they lie in.
    root: PathBuf,
    python: PathBuf,
    /// Version of the engine that all peers get: the one that is linked here.
    duckdb: String,
    /// Where the engine's extensions are: in Python they are loaded from the same files.
    extensions: Option<PathBuf>,
}

impl Installer {
    fn of_this_build() -> Self {
        let executable = std::env::current_exe().unwrap();
        let target = executable.ancestors().find(|up| up.file_name().is_some_and(|name| name == "target"));
        let root = target.or(executable.parent()).unwrap().join("bench-peers");
        let duckdb = Pins::read().version.trim_start_matches('v').to_owned();
        let search = ExtensionSearch::new(None, Some(&executable), None);
        Self { root, python: PYTHON.into(), duckdb, extensions: search.engine_folder().map(Path::to_owned) }
    }

    /// The peer's environment, which is made unless it holds just what is wanted.
    fn environment(&self, peer: &str, requirements: &str) -> Result<Environment, String> {
        let environment = Environment { folder: self.root.join(peer), home: self.root.join("home") };
        let wanted = format!("{requirements}duckdb=={}\n", self.duckdb);
        let stamp = environment.folder.join("installed.txt");
        if !fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
            self.install(&environment.folder, &wanted).map_err(|why| format!("{peer} cannot be installed: {why}"))?;
            fs::write(&stamp, wanted).map_err(|error| error.to_string())?;
        }
        self.make_home(&environment.home).map_err(|error| format!("{peer} has no home: {error}"))?;
        Ok(environment)
    }

    fn install(&self, folder: &Path, wanted: &str) -> Result<(), String> {
        let _ = fs::remove_file(folder.join("installed.txt"));
        fs::create_dir_all(&self.root).map_err(|error| error.to_string())?;
        // The folder that this process is in may be one of a figure before, which is gone.
        let here = |mut command: Command| succeed(command.current_dir(&self.root));
        let mut make = Command::new(&self.python);
        make.args(["-m", "venv", "--clear"]).arg(folder);
        here(make)?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--retries", "1"];
        let mut install = Command::new(folder.join("bin/python"));
        install.args(pip).args(wanted.lines());
        here(install)
    }

    /// A home in which the engine finds its extensions as if they had been installed there.
    fn make_home(&self, home: &Path) -> std::io::Result<()> {
        let link = home.join(".duckdb/extensions");
        fs::create_dir_all(home.join(".duckdb"))?;
        if let Some(extensions) = &self.extensions
            && fs::read_link(&link).ok().as_ref() != Some(extensions)
        {
            let _ = fs::remove_file(&link);
            std::os::unix::fs::symlink(extensions, &link)?;
        }
        Ok(())
    }
}

/// Runs a command; what it said last is the error.
fn succeed(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().display().to_string();
    let output = command.output().map_err(|error| format!("{program} cannot be started: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    let last = said.lines().rfind(|line| !line.trim().is_empty());
    Err(last.map_or_else(|| format!("{program} failed: {}", output.status), |line| line.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use super::{Installer, pinned_versions, versions};

    fn installer(root: &Path, python: &Path) -> Installer {
        let (root, python) = (root.to_owned(), python.to_owned());
        Installer { root, python, duckdb: "9.9.9".into(), extensions: Some("/extensions".into()) }
    }

    /// A program that does what `script` says, in the place of Python.
    fn python(dir: &Path, script: &str) -> std::path::PathBuf {
        let path = dir.join("python3");
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[test]
    fn where_there_is_no_python_the_reason_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let error = installer(dir.path(), Path::new("/no/python3")).environment("dbt", "a==1\n").unwrap_err();
        assert!(error.starts_with("dbt cannot be installed: /no/python3 cannot be started: "), "{error}");
    }

    #[test]
    fn where_an_installation_fails_the_reason_is_what_it_said_last() {
        let dir = tempfile::tempdir().unwrap();
        let python = python(dir.path(), "echo first >&2; echo 'No module named venv' >&2; exit 1");
        let error = installer(dir.path(), &python).environment("dbt", "a==1\n").unwrap_err();
        assert_eq!(error, "dbt cannot be installed: No module named venv");
    }

    #[test]
    fn an_environment_is_made_once_for_the_same_requirements() {
        let dir = tempfile::tempdir().unwrap();
        // As `venv` does, it puts a Python there, which then is asked to install.
        let script = format!(
            "echo \"$PWD: $@\" >> {0}/calls; for last; do :; done; \
             if [ \"$2\" = venv ]; then mkdir -p \"$last/bin\"; cp \"$0\" \"$last/bin/python\"; fi",
            dir.path().display()
        );
        let python = python(dir.path(), &script);
        let calls = || fs::read_to_string(dir.path().join("calls")).unwrap();
        let installer = installer(dir.path(), &python);
        let environment = installer.environment("dbt", "a==1\nb[c]==2\n").unwrap();
        assert!(calls().ends_with("a==1 b[c]==2 duckdb==9.9.9\n"), "{}", calls());
        let root = dir.path().canonicalize().unwrap().display().to_string();
        assert!(calls().lines().all(|call| call.starts_with(&format!("{root}: -m "))), "{}", calls());
        let before = calls();
        installer.environment("dbt", "a==1\nb[c]==2\n").unwrap();
        assert_eq!(calls(), before, "nothing is installed again");
        installer.environment("dbt", "a==2\n").unwrap();
        assert!(calls().ends_with("a==2 duckdb==9.9.9\n"), "other requirements are");
        let home = environment.home.join(".duckdb/extensions");
        assert_eq!(fs::read_link(home).unwrap(), Path::new("/extensions"));
    }

    #[test]
    fn every_peer_is_pinned_to_a_version() {
        let of: Vec<_> = pinned_versions("dlt[duckdb]==1.31.0\nx==2\n").collect();
        assert_eq!(of, [("dlt".to_owned(), "1.31.0".to_owned()), ("x".to_owned(), "2".to_owned())]);
        let names: Vec<String> = versions().into_iter().map(|(name, _)| name).collect();
        for name in ["dbt-core", "dbt-duckdb", "sqlmesh", "dlt"] {
            assert!(names.iter().any(|known| known == name), "{name}");
        }
    }
}
