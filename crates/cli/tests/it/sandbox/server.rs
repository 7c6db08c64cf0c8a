//! Forks of a catalog in PostgreSQL.

use std::collections::BTreeMap;
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime};

use testkit::{Catalog, Postgres, Project};

use super::{has, inside, records, sandbox};
use crate::BINARY;
use crate::terminal::on_terminal;

fn on_server(server: &Postgres, options: &str) -> Project {
    let project = Project::new(BINARY, Catalog::Sqlite);
    let attach = format!(
        "ATTACH 'ducklake:postgres:{}' AS lake (DATA_PATH 'files', DATA_INLINING_ROW_LIMIT 0{options});",
        server.connection("lake")
    );
    project.write("config/catalog.sql", &attach);
    project
}

/// Every row of every table of a database.
fn contents(server: &Postgres, database: &str) -> BTreeMap<String, String> {
    let tables = "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE tablename LIKE 'ducklake%'";
    let rows = |table: &str| server.sql(database, &format!("SELECT t::text FROM {table} t ORDER BY 1"));
    server.sql(database, tables).lines().map(|table| (table.to_owned(), rows(table))).collect()
}

fn databases(server: &Postgres) -> String {
    server.sql("postgres", "SELECT string_agg(datname, ',' ORDER BY datname) FROM pg_database WHERE NOT datistemplate")
}

#[test]
fn production_on_a_server_is_the_same_before_and_after() {
    let server = Postgres::start();
    for options in ["", ", METADATA_SCHEMA 'Meta'"] {
        server.create_database("lake");
        let project = on_server(&server, options);
        project.model("raw/a", "SELECT i AS id FROM range(5) t(i)");
        project.model("mart/b", "-- @kind: merge\n-- @unique_key: id\nSELECT id FROM lake.raw.a");
        has(&sandbox(&project, &[]).failure(1).stderr, "error: sandbox needs an existing prod catalog to fork from");
        project.run(&["run"]).success();
        project.model("raw/a", "SELECT i AS id FROM range(2, 7) t(i)");
        let before = contents(&server, "lake");
        let told = records(&project, &[], 0);
        assert_eq!(told["raw.a"]["diff"]["rows_removed"], 2);
        assert_eq!(told["mart.b"]["diff"]["rows_after"], 7);
        has(&inside(&sandbox(&project, &["mart.b"]).success()), "[OK] mart.b (merge, incremental");
        assert_eq!(contents(&server, "lake"), before);
        assert_eq!(databases(&server), "lake,postgres\n");
        server.sql("postgres", "DROP DATABASE lake");
    }
}

/// The held connection is counted; one of the server's own, or of a run that has just ended, may be as well.
#[track_caller]
fn warns(stderr: &str) {
    let count = stderr
        .split("warning: sandbox will terminate ")
        .nth(1)
        .and_then(|rest| rest.split_once(" active connection(s)\n"));
    assert!(count.is_some_and(|(count, _)| count.parse::<u32>().is_ok_and(|count| count >= 1)), "{stderr}");
}

#[test]
fn connections_are_ended_only_with_consent() {
    let server = Postgres::start();
    server.create_database("lake");
    let project = on_server(&server, "");
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    let mut other = server.hold_rows("lake", "SELECT * FROM ducklake_snapshot");
    for args in [&[][..], &["--json"]] {
        let output = sandbox(&project, args).failure(1);
        warns(&output.stderr);
        has(&output.stderr, "needs --yes without a terminal [SANDBOX-003]");
        assert!(other.try_wait().unwrap().is_none(), "it was not ended");
    }
    assert_eq!(databases(&server), "lake,postgres\n");
    // A person is asked, and says nothing.
    let (shown, code) = on_terminal(&project, 80, &["sandbox"]);
    has(&shown, "Continue? [y/N]");
    has(&shown, "sandbox cancelled by user [SANDBOX-003]");
    assert_eq!(code, 1);
    assert!(other.try_wait().unwrap().is_none() && !project.root().join(".sandbox").exists());
    let output = sandbox(&project, &["--yes"]).success();
    warns(&output.stderr);
    other.wait().unwrap();
    assert_eq!(databases(&server), "lake,postgres\n");
}

#[test]
fn the_database_of_a_killed_sandbox_is_dropped_by_the_next() {
    let server = Postgres::start();
    server.create_database("lake");
    let project = on_server(&server, "");
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    let endless = "SELECT count(*) AS n FROM range(10000000) a(i), range(10000000) b(j) WHERE (i * j) % 7 = 9";
    for (signal, is_left) in [("-INT", false), ("-KILL", true)] {
        project.model("raw/b", endless);
        let mut child = project.command(&["sandbox"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let (started, name) = (Instant::now(), format!("ondatrasql_sandbox_{}_", child.id()));
        let is_connected = format!("SELECT count(*) FROM pg_stat_activity WHERE datname LIKE '{name}%'");
        while server.sql("postgres", &is_connected).trim() == "0" {
            assert!(started.elapsed() < Duration::from_mins(1), "no fork is made");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        child.wait().unwrap();
        assert_eq!(databases(&server).contains(&name), is_left, "{signal}");
        project.remove("models/raw/b.sql");
    }
    for entry in fs::read_dir(project.root().join(".sandbox")).unwrap() {
        let minutes_ago = SystemTime::now() - Duration::from_secs(90);
        fs::File::open(entry.unwrap().path()).unwrap().set_modified(minutes_ago).unwrap();
    }
    project.run(&["sandbox"]).success();
    assert_eq!(databases(&server), "lake,postgres\n");
    assert!(!project.root().join(".sandbox").exists());
}

#[test]
fn a_server_that_refuses_is_told() {
    let server = Postgres::start();
    server.create_database("lake");
    let project = on_server(&server, "");
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    server.sql("lake", "CREATE ROLE reader LOGIN; GRANT ALL ON ALL TABLES IN SCHEMA public TO reader");
    let config = fs::read_to_string(project.root().join("config/catalog.sql")).unwrap();
    project.write("config/catalog.sql", &config.replace("user=ondatra", "user=reader"));
    let output = sandbox(&project, &[]).failure(1);
    has(&output.stderr, "permission denied");
    has(&output.stderr, "[SANDBOX-002]\nhelp: the user of the ATTACH has to own the database");
}

#[test]
fn sessions_that_may_not_be_ended_and_servers_that_are_down_are_told_apart() {
    let server = Postgres::start();
    server.sql("postgres", "CREATE ROLE owner LOGIN CREATEDB");
    server.sql("postgres", "CREATE DATABASE lake OWNER owner");
    let project = on_server(&server, "");
    let config = fs::read_to_string(project.root().join("config/catalog.sql")).unwrap();
    project.write("config/catalog.sql", &config.replace("user=ondatra", "user=owner"));
    project.model("raw/a", "SELECT 1 AS a");
    project.run(&["run"]).success();
    let mut other = server.hold_rows("lake", "SELECT * FROM ducklake_snapshot");
    let output = sandbox(&project, &[]).failure(1);
    warns(&output.stderr);
    has(&output.stderr, "needs --yes without a terminal [SANDBOX-003]");
    let output = sandbox(&project, &["--yes"]).failure(1);
    has(&output.stderr, "[SANDBOX-002]\nhelp: sessions of other users use the catalog's database");
    has(&output.stderr, "pg_signal_backend");
    assert!(other.try_wait().unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
    drop(server);
    let output = sandbox(&project, &[]).failure(1);
    has(&output.stderr, "Connection refused");
    assert!(!output.stderr.contains("CREATEDB"), "{}", output.stderr);
}
