//! Where a raw value must not be found: what is printed, what the lake has, what is spilled.

use std::process::Stdio;
use std::time::{Duration, Instant};

use super::files_with;
use crate::project;

#[test]
fn nothing_that_is_printed_or_kept_has_the_raw_value() {
    let project = project();
    let select = "SELECT i AS id, 'raw' || 'secret' || i || '@example.com' AS mail, 'open' || 'mark' || i AS open FROM range(1000) t(i)";
    let header =
        "-- @kind: append\n-- @column: mail = x | mask_email\n-- @warning: unique(mail)\n-- @warning: not_null(mail)";
    project.model("raw/x", &format!("{header}\n-- @constraint: email(mail)\n{select}"));
    let failed = project.run(&["run", "--json"]).failure(1);
    project.model("raw/x", &format!("{header}\n{select}"));
    let ran = project.run(&["run"]).success();
    let checked = project.run(&["check", "raw.x", "--store-failures"]).success();
    let shown: Vec<String> = [failed, ran, checked].into_iter().map(|output| output.stdout + &output.stderr).collect();
    assert!(shown[0].contains("r***@example.com") && !shown.concat().contains("rawsecret"), "{shown:?}");
    assert!(!files_with(&project.root(), "openmark").is_empty(), "what is not masked is found, so what is would be");
    assert_eq!(files_with(&project.root(), "rawsecret"), Vec::<String>::new());
}

#[test]
fn no_message_of_the_engine_quotes_a_value() {
    for sql in [
        "SELECT CAST('raw' || 'secret' || range AS INTEGER) AS n, 1 AS mail FROM range(1)",
        "SELECT 1 AS n, error('raw' || 'secret' || range) AS mail FROM range(1)",
        "SELECT 1 AS n, strptime('raw' || 'secret' || range, '%Y') AS mail FROM range(1)",
    ] {
        let project = project();
        project.model("raw/x", &format!("-- @column: mail = x | hash_pii\n{sql}"));
        let output = project.run(&["run", "--json"]).failure(1);
        let shown = output.stdout + &output.stderr;
        assert!(shown.contains("which is not shown, as the model masks columns"), "{shown}");
        assert!(shown.contains("find the value with `ondatrasql sql`"), "{shown}");
        assert!(!shown.contains("as the engine's message says"), "{shown}");
        assert!(!shown.contains("rawsecret"), "{shown}");
    }
}

/// Runs a model that has to spill, kills the run once it has, and gives the files of the folder with the text.
fn spilled(header: &str, text: &str) -> Vec<String> {
    let project = project();
    project.write("config/settings.sql", "SET memory_limit = '100MB'; SET threads = 2;");
    project.model(
        "raw/x",
        &format!(
            "{header}SELECT mail, count(*) AS n FROM (SELECT '{text}' || md5(i::VARCHAR) AS mail \
             FROM range(6000000) t(i)) GROUP BY mail HAVING count(*) > 1"
        ),
    );
    let mut command = project.command(&["run"]);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_mins(2);
    while spilled_bytes(&project.temp_root()) < 32 << 20 {
        assert!(child.try_wait().unwrap().is_none(), "it ended without spilling");
        assert!(Instant::now() < deadline, "it does not spill");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    files_with(&project.temp_root(), text)
}

fn spilled_bytes(folder: &std::path::Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(kind) if kind.is_dir() => spilled_bytes(&entry.path()),
            Ok(file) => file.len(),
            Err(_) => 0,
        })
        .sum()
}

#[test]
fn what_the_engine_spills_is_encrypted() {
    assert_eq!(spilled("-- @column: mail = x | hash_pii\n", "rawsecret"), Vec::<String>::new());
    assert!(!spilled("", "openmark").is_empty(), "without a mask it is found, so with one it would be");
}

#[test]
fn an_error_that_holds_the_cursors_start_by_chance_quotes_no_value() {
    let project = project();
    let header = "-- @kind: append\n-- @incremental: id\n-- @incremental_initial: 0\n-- @column: ssn = x | mask_ssn";
    project.model(
        "raw/x",
        &format!("{header}\nSELECT 1 AS id, ('123' || '-45-670' || range)::BIGINT AS ssn FROM range(1)"),
    );
    let output = project.run(&["run", "--json"]).failure(1);
    let shown = output.stdout + &output.stderr;
    assert!(!shown.contains("123-45"), "{shown}");
}

#[test]
fn rows_that_a_change_of_kind_would_lose_are_shown_masked() {
    let project = project();
    let of = |kind: &str, tag: &str, rows: &str| {
        project.model("raw/x", &format!("-- @kind: {kind}{tag}\nSELECT * FROM (VALUES {rows}) t(id, mail)"));
    };
    of("append", "", "(1, 'rawsecret@example.com')");
    project.run(&["run"]).success();
    let tag = "\n-- @column: mail = x | mask_email";
    of("table", tag, "(2, 'rawsecret2@example.com')");
    let output = project.run(&["run", "--json"]).failure(1);
    let shown = output.stdout + &output.stderr;
    assert!(shown.contains("***@example.com") && !shown.contains("rawsecret"), "{shown}");
    // Nothing is lost where all rows come again, masked.
    of("table", tag, "(1, 'rawsecret@example.com'), (2, 'rawsecret2@example.com')");
    project.run(&["run"]).success();
    assert_eq!(project.rows("SELECT DISTINCT mail FROM raw.x"), "r***@example.com\n");
}

#[test]
fn stored_failures_go_with_the_run_that_masks_their_table() {
    for kind in ["append", "table", "merge\n-- @unique_key: id"] {
        let project = project();
        let model = |more: &str| {
            let select = "SELECT 1 AS id, 'rawsecret@example.com' AS mail, NULL::INT AS n";
            project.model("raw/x", &format!("-- @kind: {kind}\n-- @warning: not_null(n)\n{more}{select}"));
        };
        model("");
        project.run(&["run"]).success();
        project.run(&["check", "--store-failures"]).success();
        assert_eq!(project.rows("SELECT mail FROM checks.raw__x"), "rawsecret@example.com\n", "{kind}");
        // A run that fails leaves both as they were.
        let tag = "-- @column: mail = x | mask_email\n";
        model(&format!("{tag}-- @audit: row_count(=, 5)\n"));
        project.run(&["run"]).failure(1);
        assert_eq!(project.rows("SELECT count(*) FROM checks.raw__x"), "1\n", "{kind}");
        model(tag);
        project.run(&["run"]).success();
        let tables = "SELECT table_schema, table_name FROM information_schema.tables WHERE table_schema = 'checks'";
        assert_eq!(project.rows(tables), "", "{kind}");
        project.run(&["check", "--store-failures"]).success();
        project.run(&["run"]).success();
        assert_eq!(project.rows("SELECT mail FROM checks.raw__x"), "r***@example.com\n", "{kind}");
    }
}

/// The warnings that compare would show a value of the table before the tag.
#[test]
fn nothing_is_compared_with_a_commit_from_before_the_tag() {
    let project = project();
    project.write(
        "config/macros/own.sql",
        "CREATE MACRO mask_pay(v) AS v * 0 + 7;\n\
         CREATE MACRO ondatra_warning_then(t) AS TABLE SELECT * FROM query(\n\
         CASE WHEN coalesce(getvariable('prev_model_snapshot'), 0) = 0 THEN 'SELECT NULL WHERE false'\n\
         ELSE 'SELECT ''own '' || max(pay) FROM ' || t || ' AT (VERSION => ' || getvariable('prev_model_snapshot') || ')' END);",
    );
    let local = include_str!("../../../../project/templates/config/variables/local.sql");
    project.write("config/variables/local.sql", &local.replace("{{catalog}}", "lake"));
    let model = |header: &str, pay: i64| {
        let header = format!("-- @kind: merge\n-- @unique_key: id\n{header}");
        project.model("raw/x", &format!("{header}SELECT 1 AS id, {pay}::BIGINT AS pay, {pay}::BIGINT AS open"));
    };
    let warnings = "-- @warning: sum_delta('CASE WHEN id = 1 THEN pay END', 1)\n-- @warning: mean_delta(open, 1)\n\
                    -- @warning: then()\n";
    let tag = "-- @column: pay = x | mask_pay\n";
    let shown = |args: &[&str]| {
        let output = project.run(args).success();
        output.stdout + &output.stderr
    };
    model(warnings, 512_345);
    shown(&["run"]);
    model(&format!("{tag}{warnings}"), 512_346);
    let said = "nothing is compared with the model's previous commit, which holds `pay` in clear";
    for args in [&["run"][..], &["check", "raw.x"], &["check", "raw.x", "--json"]] {
        let output = shown(args);
        assert!(output.contains(said) && !output.contains("512345"), "{args:?}: {output}");
    }
    // The next commit is compared with one that is masked.
    model(&format!("{tag}{warnings}"), 3);
    let output = shown(&["run"]);
    assert!(output.contains("mean_delta(open) warning: from 512346") && output.contains("own 7"), "{output}");
    assert!(!output.contains(said) && !output.contains("512345"), "{output}");
}

/// Nothing is said where nothing would be compared.
#[test]
fn a_model_without_comparisons_is_not_told_of_them() {
    let project = project();
    let model = |tag: &str| project.model("raw/x", &format!("{tag}-- @warning: not_null(n)\nSELECT 'x' AS n"));
    model("");
    project.run(&["run"]).success();
    model("-- @column: n = x | redact\n");
    let output = project.run(&["run"]).success();
    assert!(!output.stdout.contains("WARN"), "{}", output.stdout);
}

/// A file without a header gives its first row for names, and messages list names.
#[test]
fn no_message_names_columns_that_the_model_does_not() {
    for (header, select, said) in [
        ("", "SELECT mial AS mail FROM read_csv('p.csv')", "Referenced column \"mial\" not found in FROM clause!"),
        ("", "SELECT *, count(*) AS mail FROM read_csv('p.csv')", "must appear in the GROUP BY clause"),
        ("", "SELECT * FROM read_csv('p.csv')", "`mail` is not in the model output (available columns: …)"),
        (
            "-- @kind: merge\n-- @unique_key: key\n",
            "SELECT *, 1 AS mail FROM read_csv('p.csv')",
            "\"key\" is not in the model output (available columns: mail, …)",
        ),
        ("-- @constraint: not_null(mial)\n", "SELECT *, 1 AS mail FROM read_csv('p.csv')", "\"mial\" not found"),
    ] {
        let project = project();
        project.write("p.csv", "rawone@example.com,rawtwo@example.com\nrawthree@example.com,rawfour@example.com\n");
        project.model("raw/x", &format!("{header}-- @column: mail = x | redact\n{select}"));
        let output = project.run(&["run"]).failure(1);
        let shown = output.stdout + &output.stderr;
        assert!(shown.contains(said) && !shown.contains("rawone"), "{select}: {shown}");
    }
}
