//! A PostgreSQL server of a test's own: private port, private folder, gone with the test.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::chown;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longest wait for a server to start or to stop.
const PATIENCE: Duration = Duration::from_mins(1);

/// A running server; the superuser is `ondatra`, without a password.
pub struct Postgres {
    programs: PathBuf,
    dir: TempDir,
    user: Option<(u32, u32)>,
    port: u16,
    server: Child,
}

impl Postgres {
    /// Makes a cluster and starts a server for it.
    pub fn start() -> Self {
        let programs = programs();
        let dir = tempfile::tempdir().unwrap();
        let user = other_user();
        if let Some((uid, gid)) = user {
            chown(dir.path(), Some(uid), Some(gid)).unwrap();
        }
        let mut init = program(&programs, "initdb", user);
        init.args(["-A", "trust", "-U", "ondatra", "-E", "UTF8", "--no-sync", "-D"]).arg(dir.path().join("data"));
        let output = init.output().unwrap();
        assert!(output.status.success(), "initdb: {}", String::from_utf8_lossy(&output.stderr));
        let port = free_port();
        let server = serve(&programs, dir.path(), user, port);
        let mut postgres = Self { programs, dir, user, port, server };
        postgres.wait_until_up();
        postgres
    }

    /// The libpq words that lead to a database.
    pub fn connection(&self, database: &str) -> String {
        format!("host=127.0.0.1 port={} user=ondatra dbname={database}", self.port)
    }

    /// The folder of the server's files.
    pub fn folder(&self) -> &Path {
        self.dir.path()
    }

    /// Makes an empty database.
    pub fn create_database(&self, name: &str) {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
    }

    /// Runs SQL with the server's own client.
    #[track_caller]
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let output = self.psql(database, sql);
        assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Locks the rows of a query in a transaction of another connection, until the returned process is killed.
    pub fn hold_rows(&self, database: &str, query: &str) -> Child {
        let port = self.port.to_string();
        let sql = format!("BEGIN; {query} FOR UPDATE; SELECT pg_sleep(600)");
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-h", "127.0.0.1", "-p", &port, "-U", "ondatra", "-d", database, "-qAtX"]);
        // One statement after the other: in one request the lock would not be seen to be there.
        for statement in sql.split("; ") {
            command.args(["-c", statement]);
        }
        let holder = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let sleeping =
            "SELECT count(*) FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)' AND state = 'active'";
        let started = Instant::now();
        while self.sql(database, sleeping).trim() != "1" {
            assert!(started.elapsed() < PATIENCE, "the rows are not locked");
            std::thread::sleep(Duration::from_millis(20));
        }
        holder
    }

    /// Ends every other connection to the server.
    pub fn terminate_connections(&self) {
        let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'";
        // The server may be down just now.
        let _ = self.psql("postgres", sql);
    }

    /// Stops the server as an operator would, and starts it again.
    pub fn restart(&mut self) {
        self.stop("-INT");
        self.server = serve(&self.programs, self.dir.path(), self.user, self.port);
        self.wait_until_up();
    }

    fn psql(&self, database: &str, sql: &str) -> std::process::Output {
        let port = self.port.to_string();
        let mut command = Command::new(self.programs.join("psql"));
        command.args(["-h", "127.0.0.1", "-p", &port, "-U", "ondatra", "-d", database, "-qAtXc", sql]).output().unwrap()
    }

    fn wait_until_up(&mut self) {
        let started = Instant::now();
        while !self.psql("postgres", "SELECT 1").status.success() {
            assert!(started.elapsed() < PATIENCE, "PostgreSQL does not start: {:?}", self.server.try_wait());
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn stop(&mut self, signal: &str) {
        let pid = self.server.id().to_string();
        Command::new("kill").args([signal, &pid]).status().unwrap();
        self.server.wait().unwrap();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        self.stop("-QUIT");
    }
}

fn serve(programs: &Path, dir: &Path, user: Option<(u32, u32)>, port: u16) -> Child {
    let log = fs::OpenOptions::new().append(true).create(true).open(dir.join("log")).unwrap();
    program(programs, "postgres", user)
        .arg("-D")
        .arg(dir.join("data"))
        .args(["-p", &port.to_string(), "-k"])
        .arg(dir)
        .args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off"])
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

fn program(programs: &Path, name: &str, user: Option<(u32, u32)>) -> Command {
    let mut command = Command::new(programs.join(name));
    command.current_dir("/").env("LC_ALL", "C").stdin(Stdio::null());
    if let Some((uid, gid)) = user {
        command.uid(uid).gid(gid);
    }
    command
}

/// The server refuses to run as root: then it runs as another user.
fn other_user() -> Option<(u32, u32)> {
    use std::os::unix::fs::MetadataExt;
    if fs::metadata("/proc/self").unwrap().uid() != 0 {
        return None;
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let find = |name: &str| {
        let line = users.lines().find(|line| line.starts_with(&format!("{name}:")))?;
        let mut ids = line.split(':').skip(2).map(|id| id.parse().unwrap());
        Some((ids.next()?, ids.next()?))
    };
    Some(find("postgres").or_else(|| find("nobody")).expect("a user other than root"))
}

/// The folder of the server's programs.
fn programs() -> PathBuf {
    let named = std::env::var_os("ONDATRA_POSTGRES_BIN").map(PathBuf::from);
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = versions.map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut all = named.into_iter().chain(debian).chain(path);
    all.find(|folder| folder.join("initdb").is_file() && folder.join("psql").is_file())
        .expect("PostgreSQL is not installed: run scripts/postgres")
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}
