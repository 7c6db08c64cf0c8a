//! Projects of which a part cannot be read: the rest is checked.

use std::fs::{Permissions, create_dir, set_permissions};
use std::os::unix::fs::{PermissionsExt, symlink};

use super::{Found, found, report, with_files};

fn at(path: &str, rule: &str) -> Found {
    (path.into(), None, rule.into())
}

#[test]
fn links_to_nowhere_are_told_and_the_rest_is_checked() {
    let project = with_files(&[
        ("models/raw/a.sql", "SELECT 1 LIMIT 1"),
        ("lib/one.star", "API = {\"push\": {}}\ndef push(rows):\n    return {}\n"),
    ]);
    symlink("nowhere", project.root().join("models/raw/b.sql")).unwrap();
    symlink("nowhere", project.root().join("lib/two.star")).unwrap();
    let whole = report(&project, &[]);
    assert_eq!(
        found(&whole),
        [
            ("models/raw/a.sql".into(), Some(1), "read_only.limit_disallowed".into()),
            at("models/raw/b.sql", "validate.walk_skipped"),
            at("lib/two.star", "validate.walk_skipped"),
        ]
    );
    assert_eq!(whole["files"][1].get("checks"), None);
    // What models there are is not known, whatever was asked for.
    let one = report(&project, &["lib/one.star"]);
    assert_eq!(
        found(&one),
        [at("models/raw/b.sql", "validate.walk_skipped"), at("lib/two.star", "validate.walk_skipped")]
    );
    project.run(&["run"]).failure(1);
}

#[test]
fn files_that_cannot_be_read_are_told() {
    let project = with_files(&[("models/raw/a.sql", "SELECT 1 AS a")]);
    let write = |path: &str, bytes: &[u8]| std::fs::write(project.root().join(path), bytes).unwrap();
    create_dir(project.root().join("lib")).unwrap();
    write("models/raw/latin.sql", b"SELECT '\xe9' AS a");
    write("lib/latin.star", b"API = '\xe9'");
    let pipe = std::process::Command::new("mkfifo").arg(project.root().join("models/raw/pipe.sql")).status().unwrap();
    assert!(pipe.success());
    assert_eq!(
        found(&report(&project, &[])),
        [
            at("models/raw/latin.sql", "parser.other"),
            at("models/raw/pipe.sql", "parser.other"),
            at("lib/latin.star", "blueprint.other"),
        ]
    );
    project.run(&["run"]).failure(1);
}

#[test]
fn folders_that_cannot_be_read_are_told() {
    let project = with_files(&[("models/raw/a.sql", "SELECT 1 AS a"), ("models/closed/b.sql", "SELECT 1 AS a")]);
    let closed = project.root().join("models/closed");
    set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();
    // Nothing is closed to root.
    let is_closed = std::fs::read_dir(&closed).is_err();
    if is_closed {
        assert_eq!(found(&report(&project, &[])), [at("models/closed", "validate.walk_skipped")]);
    }
    set_permissions(&closed, Permissions::from_mode(0o755)).unwrap();
    std::fs::remove_dir_all(project.root().join("models")).unwrap();
    symlink("nowhere", project.root().join("models")).unwrap();
    std::fs::write(project.root().join("lib"), "a file").unwrap();
    let report = report(&project, &[]);
    assert_eq!(found(&report), [at("models", "validate.walk_skipped"), at("lib", "validate.walk_skipped")]);
}

#[test]
fn without_lib_nothing_is_said_of_functions_that_are_not_there() {
    let project = with_files(&[
        ("models/raw/a.sql", "-- @fetch\nSELECT id::INT AS id FROM api('x')"),
        ("models/raw/b.sql", "-- @push: api\nSELECT id AS id FROM raw.a"),
        ("models/raw/c.sql", "SELECT * FROM api('x')"),
    ]);
    let outside = tempfile::tempdir().unwrap();
    symlink(outside.path(), project.root().join("lib")).unwrap();
    let expected =
        [("models/raw/b.sql".into(), Some(2), "strict_push.cast_required".into()), at("lib", "blueprint.other")];
    assert_eq!(found(&report(&project, &[])), expected);
}

#[test]
fn an_error_in_a_file_that_is_loaded_points_there() {
    let project = with_files(&[
        ("lib/x.star", "load(\"lib/deep/y.star\", \"f\")\nAPI = {\"fetch\": {}}\ndef fetch(page):\n    return f()\n"),
        ("lib/deep/y.star", "\ndef f(:\n"),
    ]);
    let report = report(&project, &[]);
    assert_eq!(report["files"][0]["path"], "lib/x.star");
    assert_eq!(found(&report), [("lib/deep/y.star".into(), Some(2), "blueprint.invalid_api_dict".into())]);
}

#[test]
fn a_model_of_which_nothing_can_be_told_is_a_warning() {
    let project = with_files(&[("models/raw/x.sql", "PIVOT ext.t ON a USING sum(b)")]);
    let at = |rule: &str| ("models/raw/x.sql".into(), Some(1), rule.into());
    assert_eq!(found(&report(&project, &[])), [at("parser.other"), at("validate.lineage_extract_failed")]);
    project.model("ext/t", "SELECT 1 AS a, 2 AS b");
    assert_eq!(found(&report(&project, &[])), [at("parser.other")], "it reads a model");
}

#[test]
fn circles_are_seen_through_macros_and_without_a_tree() {
    let project = with_files(&[
        ("config/macros/m.sql", "CREATE MACRO newest(n) AS TABLE SELECT * FROM {{catalog}}.a.y WHERE i > n;"),
        ("models/a/x.sql", "SELECT * FROM newest(1)"),
        ("models/a/y.sql", "PIVOT a.x ON a USING sum(b)"),
    ]);
    let found = found(&report(&project, &[]));
    let cycle = |path: &str| at(path, "dag.cycle_detected");
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found.contains(&cycle("models/a/x.sql")) && found.contains(&cycle("models/a/y.sql")), "{found:?}");
}

#[test]
fn several_mistakes_of_a_header_are_told_at_once() {
    let project =
        with_files(&[("models/raw/x.sql", "-- @kind: x\n-- @unique_key: a b\nSELECT 1;\nSELECT 2;\nSELECT 3")]);
    let at = |line: u64, rule: &str| ("models/raw/x.sql".to_owned(), Some(line), rule.to_owned());
    let expected = [at(1, "parser.invalid_kind"), at(2, "parser.invalid_unique_key"), at(4, "parser.multi_statement")];
    assert_eq!(found(&report(&project, &[])), expected);
}

/// Every beginning of a text that uses a bit of everything: whatever is typed so far, there is a report.
#[test]
fn every_beginning_of_a_file_has_a_report() {
    let model = "-- @kind: tracked\n-- @group_key: a, \"b\n/* é /* x */ */ -- @push: sink('a', 'it''s')\n-- @extension: h3 FROM x\n\
                 WITH c AS (SELECT $$;$$ AS é FROM api('x', y => [1]) LIMIT 1) SELECT a::INT AS \"a\", TRY_CAST(b AS STRUCT(x \
                 INT[])) AS b, * FROM c JOIN lake.raw.\"t\" AS t(x) ON x -> 1 UNION ALL (PIVOT t ON a) OFFSET 5%;";
    let lib = "API = {\"fetch\": {\"args\": [\"x\"], \"poll_interval\": \"1s\"}, \"push\": {\"rate_limit\": {}}}\n\
               def fetch(x, page):\n\twhile True:\n\t\treturn {\"rows\": [http.get(f\"{x}\").json]}\n";
    let project = with_files(&[]);
    let mut files = 0;
    for (text, folder, ending, extra) in
        [(model, "models/m", "sql", ""), (model, "models/f", "sql", "-- @fetch\n"), (lib, "lib", "star", "")]
    {
        for (at, _) in text.char_indices() {
            project.write(&format!("{folder}/x{at}.{ending}"), &format!("{extra}{}", &text[..at]));
            files += 1;
        }
    }
    let nested = format!("SELECT {}1{} AS a", "(".repeat(2_000), ")".repeat(2_000));
    project.model("deep/x", &nested);
    let report = report(&project, &[]);
    assert_eq!(report["summary"]["files"], files + 1);
    let findings = found(&report);
    assert!(findings.iter().all(|(_, line, _)| *line != Some(0)), "{findings:?}");
    assert!(findings.len() > files / 2, "{}", findings.len());
}
