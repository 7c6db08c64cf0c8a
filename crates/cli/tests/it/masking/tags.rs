//! Tags that come, go and are wrong.

use testkit::Project;

use crate::project;

fn with(header: &str) -> Project {
    let project = project();
    project.model("raw/x", &format!("{header}\nSELECT 1 AS id, 'alice@example.com' AS mail, 42 AS n"));
    project
}

#[test]
fn a_tag_that_cannot_mask_fails_the_model_at_its_place() {
    for (tag, said) in [
        (
            "mail = x | mask_emial",
            "cannot be masked with mask_emial: Scalar Function with name mask_emial does not exist!",
        ),
        ("mail = x | mask", "Scalar Function with name mask does not exist!"),
        ("mial = x | redact", "the masked column `mial` is not in the model output (available columns: id, mail, n)"),
        ("mail = x | mask_two", "cannot be masked with mask_two: "),
    ] {
        let project = with(&format!("-- @kind: append\n-- @column: {tag}"));
        project.write("config/macros/own.sql", "CREATE MACRO mask_two(a, b) AS a;");
        project.model("raw/y", "SELECT 1 AS fine");
        let output = project.run(&["run"]).failure(1);
        assert!(output.stderr.contains(said) && output.stderr.contains("[RUN-006]"), "{tag}: {}", output.stderr);
        assert!(output.stderr.contains("models/raw/x.sql:2:13"), "{tag}: {}", output.stderr);
        assert_eq!(project.rows("SELECT table_name FROM information_schema.tables WHERE table_schema = 'raw'"), "y\n");
    }
}

#[test]
fn a_masked_column_that_is_there_twice_is_refused() {
    let project = project();
    project.model("raw/x", "-- @column: a = x | redact\nSELECT 1 AS a, 2 AS A");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("`a` is in the model output more than once"), "{}", output.stderr);
}

#[test]
fn the_engines_own_hash_masks_and_a_description_does_not() {
    let project = with("-- @column: mail = x | hash\n-- @column: n = redact");
    project.run(&["run"]).success();
    assert_eq!(project.rows("SELECT typeof(mail), n FROM raw.x"), "UBIGINT,42\n");
}

#[test]
fn a_new_tag_rebuilds_and_a_new_description_does_not() {
    let project = with("-- @column: mail = x");
    project.run(&["run"]).success();
    let sql = "SELECT 1 AS id, 'alice@example.com' AS mail, 42 AS n";
    for (tag, ran) in
        [("x | redact", true), ("another text | redact", false), ("x | PII | redact", false), ("x | hash_pii", true)]
    {
        project.model("raw/x", &format!("-- @column: mail = {tag}\n{sql}"));
        let output = project.run(&["run"]).success().stdout;
        assert_eq!(output.contains("1 ran"), ran, "{tag}: {output}");
    }
    assert!(project.rows("SELECT mail FROM raw.x").starts_with("ff8d9819"), "masked anew");
}

#[test]
fn an_edited_masking_macro_rebuilds() {
    let project = with("-- @column: mail = x | mask_own");
    for body in ["'one'", "'two'"] {
        project.write("config/macros/own.sql", &format!("CREATE OR REPLACE MACRO Mask_Own(v) AS {body};"));
        project.run(&["run"]).success();
    }
    assert_eq!(project.rows("SELECT mail FROM raw.x"), "two\n");
}

/// The rows that a table has in clear are masked where they are, those too that the query does not give any more.
#[test]
fn a_new_tag_masks_the_rows_that_are_there() {
    for (header, expected) in [
        ("-- @kind: append", "1,a***@example.com\n2,b***@example.com\n3,c***@example.com\n"),
        ("-- @kind: merge\n-- @unique_key: id", "1,a***@example.com\n2,b***@example.com\n3,c***@example.com\n"),
        ("-- @kind: scd2\n-- @unique_key: id", "1,a***@example.com\n2,b***@example.com\n3,c***@example.com\n"),
        ("-- @kind: tracked\n-- @group_key: id", "2,b***@example.com\n3,c***@example.com\n"),
    ] {
        let project = project();
        let write = |tag: &str, rows: &str| {
            let sql = format!("SELECT * FROM (VALUES {rows}) AS t(id, mail)");
            project.model("src/t", &sql);
            project.model("raw/x", &format!("{header}\n{tag}SELECT id, mail FROM src.t"));
        };
        write("", "(1, 'alice@example.com'), (2, 'bob@example.com')");
        project.run(&["run"]).success();
        write("-- @column: mail = x | mask_email\n", "(2, 'bob@example.com'), (3, 'carol@example.com')");
        // An append cannot give what its query does not give any more: it is told to keep it.
        let args: &[&str] = if header.contains("append") { &["run", "raw.x", "--keep"] } else { &["run"] };
        if header.contains("append") {
            project.run(&["run", "src.t"]).success();
        }
        project.run(args).success();
        let rows = project.rows("SELECT DISTINCT id, mail FROM raw.x ORDER BY id, mail");
        assert_eq!(rows, expected, "{header}");
    }
}

#[test]
fn what_cannot_be_masked_where_it_is_asks_for_a_rebuild() {
    let project = with("-- @kind: merge\n-- @unique_key: id");
    project.run(&["run"]).success();
    let sql = "SELECT 1 AS id, 'alice@example.com' AS mail, 42 AS n";
    project.model("raw/x", &format!("-- @kind: merge\n-- @unique_key: id\n-- @column: n = x | redact\n{sql}"));
    let output = project.run(&["run"]).failure(1);
    let said = "the table holds column `n` in clear as INTEGER, and masked it is VARCHAR [RUN-005]";
    assert!(output.stderr.contains(said) && output.stderr.contains("raw/x.sql:3:13"), "{}", output.stderr);
    let checked = project.run(&["check", "raw.x"]).failure(1);
    assert!(checked.stderr.contains("holds `n` in clear"), "{}", checked.stderr);
    project.run(&["run", "raw.x", "--full-refresh", "--yes"]).success();
    assert_eq!(project.rows("SELECT n FROM raw.x"), "[REDACTED]\n");
    project.run(&["check", "raw.x"]).success();
}

#[test]
fn a_key_that_the_kind_ignores_is_masked_and_a_real_one_is_warned_of() {
    for kind in ["table", "append"] {
        let project = with(&format!("-- @kind: {kind}\n-- @unique_key: mail\n-- @column: MAIL = x | mask_email"));
        let output = project.run(&["run"]).success();
        assert!(!output.stdout.contains("WARN"), "{kind}: {}", output.stdout);
        assert_eq!(project.rows("SELECT mail FROM raw.x"), "a***@example.com\n", "{kind}");
        project.run(&["validate", "--strict"]).success();
    }
    for (kind, directive) in [
        ("merge\n-- @unique_key: mail", "@unique_key"),
        ("scd2\n-- @unique_key: mail", "@unique_key"),
        ("tracked\n-- @group_key: mail, id", "@group_key"),
    ] {
        let project = with(&format!("-- @kind: {kind}\n-- @column: MAIL = x | mask_email"));
        let said = format!(
            "`MAIL` is the {directive}, by which rows are known, so it stays in clear: mask_email masks nothing"
        );
        let output = project.run(&["run"]).success();
        assert!(output.stdout.contains(&said), "{kind}: {}", output.stdout);
        assert_eq!(project.rows("SELECT mail FROM raw.x"), "alice@example.com\n", "{kind}");
        let output = project.run(&["validate"]).success();
        assert!(
            output.stdout.contains("3 [WARN masking.key_in_clear]") && output.stdout.contains(&said),
            "{}",
            output.stdout
        );
        project.run(&["validate", "--strict"]).failure(1);
    }
}

#[test]
fn a_masking_function_for_a_description_is_warned_of() {
    for (description, is_told) in [
        ("Mask_Email", true),
        ("hash", true),
        ("mask_own", true),
        ("mask_emial", false),
        ("x | redact", false),
        ("a hash", false),
    ] {
        let project = with(&format!("-- @column: mail = {description}"));
        project.write("config/macros/own.sql", "CREATE MACRO mask_own(v) AS 1;");
        let output = project.run(&["validate"]).success();
        let is_found = output.stdout.contains("1 [WARN masking.tag_without_bar]");
        assert_eq!(is_found, is_told, "{description}: {}", output.stdout);
        assert_eq!(project.run(&["validate", "--strict"]).code, i32::from(is_told), "{description}");
    }
}
