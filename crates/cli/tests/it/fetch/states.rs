//! The state that rows are staged in: each database, and a state that cannot be used.

use state::BackendKind;
use testkit::StateFixture;

use super::{COLUMNS, Items, model, run, staged_in};
use crate::{BINARY, project};

const APPEND: &str = "append\n-- @incremental: id\n-- @incremental_initial: 0";

fn append_on(kind: BackendKind) {
    let fixture = StateFixture::new(BINARY, kind);
    let (project, items) = (&fixture.project, Items::start(&[(1, 1, "a"), (2, 1, "b'\\ \u{1F600}"), (3, 1, "c")]));
    items.lib(project, 2);
    model(project, "raw/x", APPEND, COLUMNS, "items()");
    run(project);
    items.set(&[(1, 1, "a"), (4, 1, "d")]);
    run(project);
    run(project);
    assert_eq!(project.rows("SELECT id, v FROM raw.x ORDER BY id"), "1,a\n2,b'\\ \u{1F600}\n3,c\n4,d\n");
    assert_eq!(staged_in(&fixture, "raw.x"), []);
}

#[test]
fn append_on_a_file() {
    append_on(BackendKind::File);
}

#[test]
fn append_on_postgresql() {
    append_on(BackendKind::Postgres);
}

#[test]
fn append_on_a_quack_server() {
    append_on(BackendKind::Quack);
}

#[test]
fn a_run_that_fetches_nothing_needs_no_state() {
    let (project, items) = (project(), Items::start(&[(1, 1, "a")]));
    items.lib(&project, 2);
    project.model("raw/x", "SELECT 1 AS a");
    model(&project, "raw/f", "table", COLUMNS, "items()");
    project.run(&["run", "raw.x"]).success();
    assert!(!project.files().iter().any(|file| file.starts_with("state.duckdb")), "{:?}", project.files());
    run(&project);
    assert!(project.files().contains(&"state.duckdb".to_owned()));
}

#[test]
fn a_state_that_cannot_be_used_stops_the_run_before_any_request() {
    let other = format!("ONDATRA_STATE_KEY={}\n", testkit::STATE_KEY.replace("AAEC", "BAEC"));
    let cases: [(&str, &str, Option<&str>, &str); 3] = [
        ("config/state.sql", "", None, "CONFIG-005"),
        (
            "config/state.sql",
            "ATTACH '/no/such/folder/s.duckdb' AS state (ENCRYPTION_KEY '${ONDATRA_STATE_KEY}');",
            Some(""),
            "STATE-",
        ),
        (".env", &other, Some(""), "STATE-003"),
    ];
    for (path, text, keep, code) in cases {
        let (project, items) = (project(), Items::start(&[(1, 1, "a")]));
        items.lib(&project, 2);
        model(&project, "raw/x", APPEND, COLUMNS, "items()");
        run(&project);
        items.api.take_seen();
        match keep {
            Some(_) => project.write(path, text),
            None => project.remove(path),
        }
        let output = project.run(&["run"]).failure(1);
        assert!(output.stderr.contains(code), "{code}: {}", output.stderr);
        assert_eq!(items.api.seen().len(), 0, "{code}");
        assert_eq!(project.rows("SELECT count(*) FROM raw.x"), "1\n", "{code}");
    }
}

#[test]
fn a_state_that_another_process_has_is_waited_for_and_then_an_error() {
    let fixture = StateFixture::new(BINARY, BackendKind::File);
    let (project, items) = (&fixture.project, Items::start(&[(1, 1, "a")]));
    items.lib(project, 2);
    model(project, "raw/x", APPEND, COLUMNS, "items()");
    let held = fixture.open("holder");
    let output = project.run(&["run", "--state-wait", "1s"]).failure(1);
    assert!(output.stderr.contains("STATE-004"), "{}", output.stderr);
    assert_eq!(items.api.seen().len(), 0);
    drop(held);
    run(project);
}
