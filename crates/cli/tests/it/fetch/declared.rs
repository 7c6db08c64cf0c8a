//! What a model that fetches declares is known as a whole: what is wrong with it is told before the first request.

use testkit::http::{Answer, Server};
use testkit::{Lake, Project};

use super::{PAGES, model, run, silent, with_lib};

/// A project whose function asks a server that counts.
fn asking() -> (Project, Server) {
    let api = silent();
    let project = with_lib(&api, "\"args\": [\"a\", \"b\"]", &PAGES.replace("(page)", "(page, a = None, b = None)"));
    (project, api)
}

/// Runs, and gives what was said; nobody was asked, and no model ran.
#[track_caller]
fn refused(project: &Project, api: &Server) -> String {
    let output = project.run(&["run"]).failure(1);
    assert_eq!(api.seen().len(), 0, "{}", output.stderr);
    assert_eq!(output.stdout, "", "{}", output.stderr);
    output.stderr
}

#[test]
fn columns_of_directives_that_the_select_does_not_give_are_told_at_their_place() {
    let (project, api) = asking();
    project.model("raw/first", "SELECT 1 AS a");
    for (header, said, place) in [
        ("merge\n-- @unique_key: nr", "@unique_key column \"nr\" is not in the model output [RUN-004]", "2:17"),
        ("scd2\n-- @unique_key: nr", "@unique_key column \"nr\" is not in the model output [RUN-004]", "2:17"),
        ("tracked\n-- @group_key: id, nr", "@group_key column \"nr\" is not in the model output [RUN-004]", "2:20"),
        ("append\n-- @incremental: nr", "@incremental column \"nr\" is not in the model output [RUN-004]", "2:18"),
        (
            "table\n-- @partitioned_by: id, bucket(3, nr)",
            "@partitioned_by column \"nr\" is not in the model output [RUN-004]",
            "2:35",
        ),
        ("table\n-- @sorted_by: nr", "@sorted_by column \"nr\" is not in the model output [RUN-004]", "2:16"),
        ("table\n-- @partitioned_by: year(id)", "@partitioned_by year(id): the column is BIGINT [MODEL-002]", "2:26"),
        ("table\n-- @extension: Upper", "invalid extension `Upper`", "2:16"),
    ] {
        model(&project, "raw/x", header, "id::BIGINT AS id", "api()");
        let text = refused(&project, &api).replace(" (available columns: id)", "");
        assert!(text.contains(said) && text.contains(&format!("models/raw/x.sql:{place}]")), "{header}: {text}");
    }
}

#[test]
fn columns_that_the_lake_cannot_hold_are_told_at_their_place() {
    let (project, api) = asking();
    for (column, said) in [
        ("a::ENUM('x') AS a", "column `a` has type ENUM('x'), which the lake cannot store [ENGINE-004]"),
        ("TRY_CAST(a AS UNION(n INTEGER)) AS b", "column `b` has type UNION(n INTEGER), which the lake cannot store"),
        ("a::BIT AS a", "column `a` has type BIT, which the lake cannot store"),
        ("a::INTEGER[3] AS a", "column `a` has type INTEGER[3], which the lake cannot store"),
        ("a::STRUCT(i INTERVAL) AS a", "column `a` has type STRUCT(i INTERVAL), which the lake cannot store"),
        ("a::VARIANT[] AS a", "column `a` has type VARIANT[], which the lake cannot store"),
        ("a::NOSUCH AS a", "the type of column \"a\" cannot be used: Type with name NOSUCH does not exist!"),
        ("a::DECIMAL(50, 2) AS a", "the type of column \"a\" cannot be used: DECIMAL type width"),
        ("a::INTEGER AS __ondatra_a", "column `__ondatra_a`: names that begin with `__ondatra_` are reserved"),
    ] {
        model(&project, "raw/x", "table", &format!("id::BIGINT AS id,\n  {column}"), "api()");
        let text = refused(&project, &api);
        assert!(text.contains(said) && text.contains("models/raw/x.sql:4:3]"), "{column}: {text}");
    }
    model(&project, "raw/x", "table", "a::ENUM('x')[] AS a", "api()");
    let text = refused(&project, &api);
    assert!(text.contains("ENUM is not allowed inside") && text.contains("models/raw/x.sql:3:11]"), "{text}");
}

#[test]
fn arguments_that_have_no_value_are_told_at_their_place() {
    let (project, api) = asking();
    for (arguments, said, column) in [
        ("CAST('x' AS INT)", "the argument \"a\" of \"api\" cannot be evaluated: Could not convert string 'x'", 10),
        ("'x', nofunc(1)", "the argument \"b\" of \"api\" cannot be evaluated: Scalar Function with name nofunc", 15),
        ("b => today() - 'x'", "the argument \"b\" of \"api\" cannot be evaluated: Could not choose", 15),
        ("1/0", "the argument \"a\" of \"api\" cannot be evaluated: its value is inf", 10),
        ("'x', unnest([1, 2])", "the argument \"b\" of \"api\" cannot be evaluated: it gives 2 values", 15),
        ("unnest([]::INTEGER[])", "the argument \"a\" of \"api\" cannot be evaluated: it gives 0 values", 10),
        ("1e400", "this number is larger than any DOUBLE", 10),
        ("id", "argument 1 of \"api\" is not constant: it holds the column \"id\"", 10),
        ("'x', (SELECT 1)", "argument 2 of \"api\" is not constant: it holds a subquery", 15),
        ("b => nope", "argument 1 of \"api\" is not constant: it holds the column \"nope\"", 15),
        ("*", "a star as an argument is not allowed", 10),
    ] {
        model(&project, "raw/x", "table", "id::BIGINT AS id", &format!("api({arguments})"));
        let text = refused(&project, &api);
        let place = format!("models/raw/x.sql:4:{column}]");
        assert!(text.contains(said) && text.contains("[FETCH-001]"), "{arguments}: {text}");
        assert!(text.contains(&place) && text.contains("help: "), "{arguments}: {text}");
    }
}

#[test]
fn nothing_is_fetched_for_a_table_that_cannot_be() {
    let (project, api) = asking();
    Lake::open(&project).execute("CREATE SCHEMA raw; CREATE VIEW raw.x AS SELECT 1 AS a");
    model(&project, "raw/x", "table", "id::BIGINT AS id", "api()");
    let text = project.run(&["run"]).failure(1).stderr;
    assert!(text.contains("the lake holds a view raw.x"), "{text}");
    assert_eq!(api.seen().len(), 0);
}

#[test]
fn a_cursor_that_the_table_does_not_have_is_told_before_a_request() {
    let api = Server::new(|_, _| Answer::ok(r#"{"rows": [{"id": 1}]}"#));
    let project = with_lib(&api, "", PAGES);
    model(&project, "raw/x", "append\n-- @incremental: id", "id::BIGINT AS id", "api()");
    run(&project);
    api.take_seen();
    // Another tool renamed it.
    Lake::open(&project).execute("ALTER TABLE raw.x RENAME COLUMN id TO nr");
    let text = project.run(&["run"]).failure(1).stderr;
    assert!(text.contains("the newest `id` of raw.x cannot be read"), "{text}");
    assert!(text.contains("models/raw/x.sql:2:18]") && text.contains("--full-refresh"), "{text}");
    assert_eq!(api.seen().len(), 0);
}
