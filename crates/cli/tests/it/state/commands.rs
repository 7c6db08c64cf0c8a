//! `ondatrasql state …` as a user meets it, and what can be wrong with `config/state.sql`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use state::{BackendKind, Queue, Staging, Token, Tokens};
use testkit::{Changes, Project, STATE_KEY, StateFixture};

use super::fixture;
use crate::project;

/// A key that is not the project's.
const OTHER_KEY: &str = "BAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
const SECRET: &str = "refresh-0123456789-token";

/// Puts something into every kind of table.
fn fill(fixture: &StateFixture) {
    let mut store = fixture.open("w");
    Changes::of_rows(10).feed(&mut store, "sync.contacts", 30).unwrap();
    store.claim("sync.contacts", "run", 5).unwrap().unwrap();
    let token = Token {
        provider: "crm".into(),
        refresh_token: SECRET.into(),
        access_token: None,
        expires_in_ms: None,
        scope: None,
        token_url: "https://example.com".into(),
    };
    assert!(store.put_token(&token, None).unwrap());
    let fetch = store.begin_fetch("raw.weather", "run", "f").unwrap();
    store.stage_rows(&fetch, 0, &[format!("{{\"payload\": \"{SECRET}\"}}")]).unwrap();
    store.run_sql("UPDATE sync_claim SET lease_until = now() - INTERVAL '1 hour'").unwrap();
    store.run_sql("UPDATE sync_fetch SET lease_until = now() - INTERVAL '1 hour'").unwrap();
}

fn env_of(project: &Project) -> String {
    fs::read_to_string(project.root().join(".env")).unwrap()
}

fn value(env: &str, name: &str) -> Option<String> {
    env.lines().find_map(|line| line.strip_prefix(&format!("{name}="))).map(str::to_owned)
}

#[test]
fn status_tells_where_the_state_is_and_what_is_in_it() {
    for kind in testkit::ALL_BACKENDS {
        let fixture = fixture(kind);
        fill(&fixture);
        let text = fixture.project.run(&["state", "status"]).success().stdout;
        assert!(text.contains(kind.name()) && text.contains("sync.contacts") && !text.contains(SECRET), "{text}");
        let json = fixture.project.run(&["state", "status", "--json"]).success().stdout;
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!((&json["schema_version"], &json["backend"]), (&1.into(), &kind.name().into()));
        assert_eq!((&json["targets"][0]["pending"], &json["targets"][0]["in_flight"]), (&25.into(), &5.into()));
        assert_eq!(json["workers"][0]["alive"], false);
    }
}

#[test]
fn nothing_of_the_state_can_be_read_from_the_file() {
    let fixture = fixture(BackendKind::File);
    fill(&fixture);
    let root = fixture.project.root();
    let mut seen = 0;
    for file in ["state.duckdb", "state.duckdb.wal"] {
        let Ok(bytes) = fs::read(root.join(file)) else { continue };
        seen += 1;
        for plain in [SECRET, "sync.contacts", "payload"] {
            assert!(!bytes.windows(plain.len()).any(|window| window == plain.as_bytes()), "{plain} in {file}");
        }
    }
    assert!(seen > 0);
}

#[test]
fn a_new_key_replaces_the_old_one() {
    let fixture = fixture(BackendKind::File);
    fill(&fixture);
    let project = &fixture.project;
    let state = project.root().join("state.duckdb");
    fs::set_permissions(&state, fs::Permissions::from_mode(0o600)).unwrap();
    let output = project.run(&["state", "rekey"]).success();
    let key = value(&env_of(project), "ONDATRA_STATE_KEY").unwrap();
    assert!(key != STATE_KEY && !format!("{output:?}").contains(&key));
    assert_eq!(value(&env_of(project), "ONDATRA_STATE_KEY_NEXT"), None);
    for file in [".env", "state.duckdb"] {
        let mode = fs::metadata(project.root().join(file)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    assert_eq!(fixture.open("w").token("crm").unwrap().unwrap().refresh_token, SECRET);
    assert!(project.files().iter().all(|file| !file.contains("rekey") && !file.contains(".env.")));
    project.write(".env", &format!("ONDATRA_STATE_KEY={STATE_KEY}\n"));
    let error = project.run(&["state", "status"]).failure(1).stderr;
    assert!(error.contains("cannot be opened with this key") && error.contains("STATE-003"), "{error}");
}

#[test]
fn a_rotation_that_was_interrupted_is_finished() {
    // A crash after the new key was noted, before the file was replaced; and one after it was.
    for (key, next) in [(STATE_KEY, OTHER_KEY), (OTHER_KEY, STATE_KEY)] {
        let fixture = fixture(BackendKind::File);
        fill(&fixture);
        let project = &fixture.project;
        project.write(".env", &format!("# mine\nONDATRA_STATE_KEY={key}\nONDATRA_STATE_KEY_NEXT={next}\n"));
        project.run(&["state", "status"]).success();
        assert_eq!(env_of(project), format!("# mine\nONDATRA_STATE_KEY={STATE_KEY}\n"));
    }
    // Neither key is the file's: nothing is changed.
    let fixture = fixture(BackendKind::File);
    fill(&fixture);
    let env = format!("ONDATRA_STATE_KEY={OTHER_KEY}\nONDATRA_STATE_KEY_NEXT={OTHER_KEY}\n");
    fixture.project.write(".env", &env);
    assert!(fixture.project.run(&["state", "status"]).failure(1).stderr.contains("STATE-003"));
    assert_eq!(env_of(&fixture.project), env);
}

#[test]
fn a_rotation_killed_at_any_moment_leaves_a_working_pair() {
    let fixture = fixture(BackendKind::File);
    fill(&fixture);
    let env = fixture.project.root().join(".env");
    let mut interrupted = 0;
    for at in 0..24 {
        let mut rekey = fixture.project.command(&["state", "rekey"]).spawn().unwrap();
        // A third of them by time; the others once both keys are noted, which is when the file is replaced.
        if at % 3 == 0 {
            std::thread::sleep(std::time::Duration::from_millis(20 + at * 10));
        } else {
            while rekey.try_wait().unwrap().is_none() && !fs::read_to_string(&env).unwrap().contains("_NEXT") {}
            (0..at * 20).for_each(|_| std::hint::spin_loop());
        }
        let _ = rekey.kill();
        rekey.wait().unwrap();
        interrupted += usize::from(fs::read_to_string(&env).unwrap().contains("_NEXT"));
        let status = fixture.project.run(&["state", "status"]).success().stdout;
        assert!(status.contains("sync.contacts"), "{status}");
    }
    assert!(interrupted > 0, "no rotation was killed in its middle");
    fixture.project.run(&["state", "rekey"]).success();
    assert_eq!(fixture.open("w").token("crm").unwrap().unwrap().refresh_token, SECRET);
}

#[test]
fn a_key_from_elsewhere_is_not_replaced() {
    let fixture = fixture(BackendKind::File);
    fill(&fixture);
    let rekey = || {
        let output = fixture.project.command(&["state", "rekey"]).env("ONDATRA_STATE_KEY", STATE_KEY).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    // Also where .env has the same key: the next command of that shell would use the old one.
    for env in [String::new(), env_of(&fixture.project)] {
        fixture.project.write(".env", &env);
        let error = rekey();
        assert!(error.contains("is set in the environment") && error.contains("STATE-014"), "{error}");
    }
}

#[test]
fn a_key_from_elsewhere_does_not_settle_a_rotation() {
    // The file has its next key, which somebody gives by hand.
    let fixture = fixture(BackendKind::File);
    fill(&fixture);
    fixture.project.write(".env", &format!("ONDATRA_STATE_KEY={OTHER_KEY}\nONDATRA_STATE_KEY_NEXT={STATE_KEY}\n"));
    let status = |key: &str| fixture.project.command(&["state", "status"]).env("ONDATRA_STATE_KEY", key).output();
    assert!(status(STATE_KEY).unwrap().status.success());
    assert_eq!(env_of(&fixture.project), format!("ONDATRA_STATE_KEY={STATE_KEY}\n"), "it is not lost");
    assert!(!status(OTHER_KEY).unwrap().status.success());
    fixture.project.run(&["state", "status"]).success();
}

#[test]
fn a_state_moves_from_any_database_to_any_other() {
    let kinds = [
        (BackendKind::File, BackendKind::Postgres),
        (BackendKind::Postgres, BackendKind::Quack),
        (BackendKind::Quack, BackendKind::File),
    ];
    for (from, to) in kinds {
        let (source, target) = (fixture(from), fixture(to));
        fill(&source);
        // The other state's line, with a key or token of its own name.
        let line = fs::read_to_string(target.project.root().join("config/state.sql")).unwrap();
        let line = line.replace("'state.duckdb'", &format!("'{}/state.duckdb'", target.project.root().display()));
        source.project.write("config/other.sql", &line);
        let env = format!("{}\n{}", env_of(&source.project), env_of(&target.project));
        source.project.write(".env", &env);
        let copy = ["state", "copy", "--to", "config/other.sql"];
        let output = source.project.run(&copy).success();
        assert!(output.stdout.contains("sync_evt: 25 rows, compared"), "{}", output.stdout);
        let error = source.project.run(&copy).failure(1).stderr;
        assert!(error.contains("not empty") && error.contains("STATE-010"), "{error}");
        let mut store = target.open("w2");
        assert_eq!(store.token("crm").unwrap().unwrap().refresh_token, SECRET);
        assert_eq!(store.recover().unwrap().released, 1);
        assert_eq!(store.claim("sync.contacts", "run", 100).unwrap().unwrap().events.len(), 30);
    }
}

#[test]
fn a_state_is_not_copied_onto_itself() {
    let fixture = fixture(BackendKind::File);
    fill(&fixture);
    // By other names, so that only the file tells.
    let root = fixture.project.root();
    fs::hard_link(root.join("state.duckdb"), root.join("twin.duckdb")).unwrap();
    let url = format!("file://{}/state.duckdb", root.display());
    for path in ["./config/../state.duckdb", "twin.duckdb", &url] {
        let line = format!("ATTACH '{path}' AS state (ENCRYPTION_KEY '${{ONDATRA_STATE_KEY}}');");
        fixture.project.write("config/other.sql", &line);
        let error = fixture.project.run(&["state", "copy", "--to", "config/other.sql"]).failure(1).stderr;
        assert!(error.contains("is the state itself") && error.contains("STATE-010"), "{path}: {error}");
    }
    assert_eq!(fixture.open("w").token("crm").unwrap().unwrap().refresh_token, SECRET);
}

#[test]
fn passwords_of_servers_do_not_appear() {
    let (project, elsewhere) = (project(), project());
    let to = elsewhere.root().join("other.sql");
    for password in ["${PGPW}", "hunter2"] {
        let line = format!("ATTACH 'host=127.0.0.1 port=1 user=u password={password}' AS state (TYPE postgres);");
        fs::write(&to, &line).unwrap();
        let args = ["state", "copy", "--state-wait", "100ms", "--to", to.to_str().unwrap()];
        let output = project.command(&args).env("PGPW", "hunter2").output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("cannot be reached") && !error.contains("hunter2"), "{error}");
        // A place in the file: the excerpt does not show it either.
        fs::write(&to, line.replace("TYPE postgres", "TYPE nonesuch")).unwrap();
        let output = project.command(&args).env("PGPW", "hunter2").output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("ATTACH") && !error.contains("hunter2"), "{error}");
    }
}

#[test]
fn a_key_may_stand_in_a_file_which_a_rotation_leaves_alone() {
    let project = project();
    project.write("run/key", &format!("{STATE_KEY}\n"));
    project.write(".env", "ONDATRA_STATE_KEY=file:run/key\n");
    project.run(&["state", "status"]).success();
    let output = project.run(&["state", "rekey"]).failure(1);
    assert!(output.stderr.contains("ONDATRA_STATE_KEY stands for a file"), "{}", output.stderr);
    assert_eq!(fs::read_to_string(project.root().join("run/key")).unwrap(), format!("{STATE_KEY}\n"));
    project.remove("run/key");
    let output = project.run(&["state", "status"]).failure(1);
    assert!(
        output.stderr.starts_with("error: ONDATRA_STATE_KEY stands for the content of run/key, which cannot be read:"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_server_needs_a_real_token_and_a_real_address() {
    let project = project();
    let serve = |token: &str, listen: &str| {
        let args = ["state", "serve", "--listen", listen, "--token-env", "MY_TOKEN"];
        let output = project.command(&args).env("MY_TOKEN", token).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(serve("", "localhost:9494").contains("the token is empty: MY_TOKEN is not defined"));
    let short = serve("fifteen-letters", "localhost:9494");
    assert!(short.contains("has 15 characters") && !short.contains("fifteen-letters"), "{short}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    assert!(serve("0123456789abcdef", &address).contains(&format!("listen on {address}")));
    assert!(!project.root().join("state.duckdb.wal").exists());
}

#[test]
fn a_port_is_served_once() {
    let fixture = fixture(BackendKind::Quack);
    let line = fs::read_to_string(fixture.project.root().join("config/state.sql")).unwrap();
    let address = line.split("quack:").nth(1).unwrap().split('\'').next().unwrap().to_owned();
    let other = project();
    let args = ["state", "serve", "--listen", &address];
    let output = other.command(&args).env("ONDATRA_QUACK_TOKEN", "0123456789abcdef").output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains(&format!("listen on {address}")) && error.contains("STATE-013"), "{error}");
}

#[test]
fn wrong_words_of_serve_are_wrong_invocations() {
    let project = project();
    for args in [["--listen", "localhost"], ["--listen", "*:9494"], ["--token-env", ""], ["--token-env", "A B"]] {
        project.run(&[&["state", "serve"][..], &args].concat()).failure(2);
    }
    project.run(&["state", "status", "--state-wait", &"18446744073709551615ms".repeat(1001)]).failure(2);
}

#[test]
fn commands_of_files_refuse_servers_without_asking_them() {
    let project = project();
    // Somebody who accepts and never answers.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let line = format!("ATTACH 'quack:localhost:{port}' AS state (TYPE quack, TOKEN 'aaaaaaaaaaaaaaaaaaaaaa');");
    project.write("config/state.sql", &line);
    for command in ["rekey", "serve"] {
        let error = project.run(&["state", command]).failure(1).stderr;
        assert!(error.contains("needs a state in a DuckDB file"), "{error}");
    }
}

#[test]
fn a_file_whose_making_was_cut_short_is_made_anew() {
    let project = project();
    project.run(&["state", "status"]).success();
    let state = project.root().join("state.duckdb");
    let whole = fs::read(&state).unwrap();
    for length in [0, 4096, 8192] {
        fs::write(&state, &whole[..length]).unwrap();
        project.run(&["state", "status"]).success();
    }
    // What is something else stays.
    fs::write(&state, "my notes").unwrap();
    let error = project.run(&["state", "status"]).failure(1).stderr;
    assert!(error.contains("move it away"), "{error}");
    assert_eq!(fs::read_to_string(&state).unwrap(), "my notes");
}

#[test]
fn tables_of_somebody_else_are_left_alone() {
    for (sql, table) in [
        ("CREATE TABLE schema_version (version INTEGER, description TEXT)", "schema_version"),
        ("CREATE TABLE schema_version (version INTEGER)", "schema_version"),
        ("CREATE TABLE schema_version (version INTEGER); INSERT INTO schema_version VALUES (2)", "schema_version"),
        ("CREATE TABLE tokens (id INTEGER)", "tokens"),
    ] {
        let fixture = fixture(BackendKind::Postgres);
        let postgres = fixture.postgres.as_ref().unwrap();
        postgres.sql("state", sql);
        let error = fixture.project.run(&["state", "status"]).failure(1).stderr;
        assert!(error.contains(&format!("a table `{table}` that is not the state's")), "{error}");
        let tables = postgres.sql("state", "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'");
        assert_eq!(tables.trim(), "1");
    }
}

#[test]
fn a_server_that_isolates_too_weakly_or_speaks_otherwise_is_refused() {
    let fixture = fixture(BackendKind::Postgres);
    let line = fs::read_to_string(fixture.project.root().join("config/state.sql")).unwrap();
    let weak = line.replace("TYPE postgres", "TYPE postgres, ISOLATION_LEVEL 'READ COMMITTED'");
    fixture.project.write("config/state.sql", &weak);
    let error = fixture.project.run(&["state", "status"]).failure(1).stderr;
    assert!(error.contains("ISOLATION_LEVEL") && error.contains("STATE-002"), "{error}");
    fixture.project.write("config/state.sql", &line.replace("TYPE postgres", "TYPE postgres, SCHEMA 'nope'"));
    let error = fixture.project.run(&["state", "status"]).failure(1).stderr;
    assert!(error.contains("no schema of the name") && error.contains("STATE-002"), "{error}");
}

#[test]
fn the_cipher_stays_when_the_key_is_replaced() {
    let project = project();
    let line = "ATTACH 'ctr.duckdb' AS state (ENCRYPTION_KEY '${ONDATRA_STATE_KEY}', ENCRYPTION_CIPHER 'CTR');";
    project.write("config/state.sql", line);
    project.run(&["state", "status"]).success();
    assert!(project.run(&["state", "rekey"]).success().stdout.contains("0 rows compared"));
    assert!(project.run(&["state", "status"]).success().stdout.contains("CTR"));
}

#[test]
fn whoever_waited_for_a_rotation_goes_on_with_the_new_key() {
    let fixture = fixture(BackendKind::File);
    fill(&fixture);
    let processes: Vec<_> = (0..6)
        .map(|at| {
            let command = if at % 2 == 0 { "rekey" } else { "status" };
            fixture.project.command(&["state", command]).spawn().unwrap()
        })
        .collect();
    for process in processes {
        let output = process.wait_with_output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    assert_eq!(fixture.open("w").token("crm").unwrap().unwrap().refresh_token, SECRET);
}

#[test]
fn what_is_wrong_with_the_configuration_is_said() {
    let project = project();
    for (sql, expected, code) in [
        ("SELECT 1;", "attaches nothing", "STATE-002"),
        ("ATTACH ':memory:' AS other;", "the alias must be `state`", "STATE-002"),
        ("ATTACH 'a.duckdb' AS state; ATTACH 'b.duckdb' AS b;", "must attach one catalog", "STATE-002"),
        ("ATTACH ':memory:' AS state;", "attaches a database in memory", "STATE-002"),
        ("ATTACH '.env' AS state;", "not a valid DuckDB database file", "STATE-001"),
        ("ATTACH 'none.duckdb' AS state (READ_ONLY);", "none.duckdb", "STATE-001"),
        ("ATTACH 'a.duckdb' AS state (READ_ONLY);", "read-only", "STATE-002"),
        ("BEGIN; ATTACH 'c.duckdb' AS state;", "transactions are the runtime's", "STATE-001"),
        ("ATTACH 'state.duckdb' AS state (ENCRYPTION_KEY 'c2hvcnQ=');", "decodes to 5 bytes", "CONFIG-006"),
        (
            "ATTACH 'host=127.0.0.1 port=1 user=x password=s3same' AS state (TYPE postgres);",
            "cannot be reached",
            "STATE-007",
        ),
    ] {
        project.write("config/state.sql", sql);
        let error = project.run(&["state", "status", "--state-wait", "100ms"]).failure(1).stderr;
        assert!(error.contains(expected) && error.contains(code), "{sql}: {error}");
    }
    assert!(!project.root().join("state.duckdb").exists(), "a refused key creates nothing");
}

#[test]
fn a_newer_schema_is_refused_and_an_older_one_is_brought_up_to_date() {
    let fixture = fixture(BackendKind::File);
    fill(&fixture);
    fixture.open("w").run_sql("UPDATE schema_version SET version = 99").unwrap();
    let error = fixture.project.run(&["state", "status"]).failure(1).stderr;
    assert!(error.contains("schema version 99") && error.contains("STATE-005"), "{error}");
    // As an older version left it: without the last tables and columns.
    let config = fixture.config();
    {
        let names = ["httpfs"];
        let instance = config.engine.open(&names).unwrap();
        instance.connection.execute(&config.file.expanded.text).unwrap();
        instance
            .connection
            .execute(
                "UPDATE state.schema_version SET version = 3; DROP TABLE state.tokens; DROP TABLE state.sync_receipt; \
                 ALTER TABLE state.sync_feed DROP COLUMN since_seq",
            )
            .unwrap();
    }
    let mut store = fixture.open("w");
    assert_eq!(store.tokens().unwrap(), []);
    assert_eq!(store.counts().unwrap()[0].in_flight, 5);
}

#[test]
fn a_file_in_use_is_waited_for_and_its_holder_named() {
    let fixture = fixture(BackendKind::File);
    let store = fixture.open("w");
    let error = fixture.project.run(&["state", "status", "--state-wait", "300ms"]).failure(1).stderr;
    assert!(error.contains(&format!("(process {})", std::process::id())) && error.contains("STATE-004"), "{error}");
    drop(store);
    fixture.project.run(&["state", "status"]).success();
}

#[test]
fn a_lease_that_cannot_be_kept_is_refused() {
    let project = project();
    for wrong in ["1", "x", "-5"] {
        let output = project.command(&["state", "status"]).env("ONDATRA_LEASE", wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
    }
    let output = project.run(&["state", "frobnicate"]).failure(2).stderr;
    assert!(output.contains("unknown command: state frobnicate"), "{output}");
    project.run(&["state", "copy"]).failure(2);
    assert!(project.run(&["state", "serve", "--help"]).success().stdout.contains("--listen"));
}
