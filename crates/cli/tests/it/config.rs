//! Configuration: order, catalogs that cannot be used, macros, variables, secrets in messages.

use crate::project;

#[test]
fn a_catalog_that_is_not_one_ducklake_is_refused() {
    let lake = testkit::Catalog::Sqlite.attach();
    for (catalog, expected) in [
        ("-- nothing".to_owned(), "did not attach a DuckLake catalog"),
        (
            format!("{lake} ATTACH 'other.duckdb' AS other;"),
            "exactly one DuckLake ATTACH before macros, it attached: lake, other",
        ),
        ("ATTACH 'plain.duckdb' AS lake;".into(), "requires a DuckLake catalog"),
        ("ATTACH 'ducklake:mysql:db=x' AS lake;".into(), "only supports sqlite, duckdb, and postgres"),
        ("ATTACH 'ducklake:oracle:x' AS lake;".into(), "unrecognised DuckLake backend `oracle`"),
        (lake.replace("AS lake", "AS sandbox"), "`sandbox` cannot be the alias of the lake"),
    ] {
        let project = project();
        project.write("config/catalog.sql", &catalog);
        project.model("raw/a", "SELECT 1 AS a");
        let output = project.run(&["run"]).failure(1);
        assert!(output.stderr.contains(expected), "{catalog}: {}", output.stderr);
    }
}

#[test]
fn commented_attaches_and_those_of_sources_do_not_count() {
    let project = project();
    let lake = testkit::Catalog::Sqlite.attach();
    project.write("config/catalog.sql", &format!("/* ATTACH 'x' AS y; */ {lake} -- ATTACH 'z' AS w;"));
    project.write("config/sources.sql", "ATTACH ':memory:' AS crm; CREATE TABLE crm.main.people AS SELECT 7 AS id;");
    project.model("raw/people", "SELECT * FROM crm.main.people");
    project.run(&["run"]).success();
    assert_eq!(project.rows("FROM raw.people"), "7\n");
}

#[test]
fn relative_paths_start_at_the_root_wherever_the_command_does() {
    let project = project();
    project.write("models/config/note.txt", "a folder called config is no root");
    project.model("raw/a", "SELECT 1 AS a");
    project.run_in("models", &["run"]).success();
    assert!(project.root().join("ducklake.sqlite").is_file());
    assert!(!project.root().join("models/ducklake.sqlite").exists());
    project.run_in("models/raw", &["run", "a.sql"]).success();
}

#[test]
fn macro_files_may_depend_on_each_other_in_any_order_and_stay_out_of_the_lake() {
    let project = project();
    project.write("config/macros/a.sql", "CREATE MACRO IF NOT EXISTS plus_one(x) AS twice(x) + 1;");
    project.write("config/macros/b.sql", "CREATE MACRO lonely() AS 1; CREATE MACRO twice(x) AS third(x) * 2;");
    project.write("config/macros/c.sql", "CREATE MACRO third(x) AS x + 10;");
    project.model("raw/a", "SELECT plus_one(1) AS a");
    project.run(&["run"]).success();
    assert_eq!(project.rows("FROM raw.a"), "23\n");
    assert_eq!(
        project
            .rows("SELECT DISTINCT database_name FROM duckdb_functions() WHERE function_name IN ('plus_one', 'twice')"),
        "memory\n"
    );
}

#[test]
fn a_macro_that_names_the_lake_is_refused_before_it_is_stored_there() {
    let project = project();
    for name in ["lake.main.f", "\"lake\".f", "IF NOT EXISTS lake.f", "{{catalog}}.main.f"] {
        project.write("config/macros/m.sql", &format!("CREATE MACRO fine(x) AS x;\nCREATE MACRO {name}(x) AS x + 1;"));
        let output = project.run(&["sql", "SELECT 1"]).failure(1);
        assert!(output.stderr.contains("macros live in the memory database"), "{}", output.stderr);
        assert!(output.stderr.contains("m.sql:2:"), "{}", output.stderr);
        project.write("config/macros/m.sql", &format!("CREATE MACRO {name}(x) AS x + 1;"));
        let output = project.run(&["sql", "SELECT 1"]).failure(1);
        assert!(output.stderr.contains("macros live in the memory database"), "{}", output.stderr);
    }
    project.write("config/macros/m.sql", "CREATE MACRO f(x) AS x + 1;");
    assert_eq!(project.rows("SELECT f(1)"), "2\n");
    testkit::Lake::open(&project).execute("CREATE MACRO lake.main.theirs() AS 40");
    project.write("config/macros/m.sql", "CREATE MACRO f(x) AS lake.main.theirs() + x;");
    assert_eq!(project.rows("SELECT f(2)"), "42\n", "a macro of another tool's in the lake may be called");
}

#[test]
fn a_macro_file_that_never_loads_is_named_with_its_line() {
    let project = project();
    project.write(
        "config/macros/audits.sql",
        "CREATE MACRO fine() AS 1;\nCREATE MACRO broken() AS TABLE FROM no_such_table;",
    );
    let output = project.run(&["sql", "SELECT 1"]).failure(1);
    assert!(output.stderr.starts_with("error: load audits.sql: Catalog Error: "), "{}", output.stderr);
    assert!(output.stderr.contains("config/macros/audits.sql:2:"), "{}", output.stderr);
}

#[test]
fn variables_come_in_order_and_know_the_lakes_name() {
    let project = project();
    project.write("config/variables/constants.sql", "SET VARIABLE base = 40;");
    project.write(
        "config/variables/global.sql",
        "SET VARIABLE answer = getvariable('base') + (SELECT count(*) + 1 FROM {{catalog}}.snapshots());",
    );
    project.model(
        "raw/a",
        "SELECT getvariable('answer') AS a, getvariable('not_set') IS NULL AS b, getvariable('incr_cursor') AS c",
    );
    project.run(&["run"]).success();
    assert_eq!(project.rows("FROM raw.a"), "42,true,\n");
}

#[test]
fn built_in_variables_and_functions() {
    let project = project();
    let row = project.rows(
        "SELECT getvariable('curr_snapshot'), getvariable('prev_snapshot'), last_snapshot(), prev_snapshot(), dag_start_snapshot(), \
         ondatra_current_snapshot(), ondatra_now() = getvariable('ondatra_run_time'), ondatra_load_id() = getvariable('ondatra_load_id'), \
         regexp_full_match(ondatra_load_id(), '\\d+_\\d+'), typeof(ondatra_now())",
    );
    assert_eq!(row, "0,0,0,0,0,0,true,true,true,TIMESTAMP\n", "a fresh lake: prev_snapshot is not below 0");
}

#[test]
fn secrets_do_not_appear_in_errors() {
    let attach = |text: &str| format!("ATTACH '{text}' AS crm (TYPE postgres);");
    for (file, sql) in [
        ("sources", attach("host=127.0.0.1 port=1 user=u password=${PG_PW} connect_timeout=1")),
        ("sources", attach("postgresql://u:${PG_PW}@127.0.0.1:1/x")),
        ("secrets", "SET VARIABLE x = ${PG_PW};".into()),
        ("catalog", "ATTACH 'ducklake:${PG_PW}:x' AS lake;".into()),
    ] {
        let project = project();
        project.write(".env", &format!("ONDATRA_STATE_KEY={}\nPG_PW=hunter2 it's@s3cret\n", testkit::STATE_KEY));
        project.write(&format!("config/{file}.sql"), &sql);
        project.model("raw/a", "SELECT 1 AS a");
        for args in [&["run"][..], &["--json", "run"], &["sql", "SELECT 1"]] {
            let output = project.run(args).failure(1);
            let all = format!("{}{}", output.stdout, output.stderr);
            assert!(!all.contains("hunter2") && !all.contains("s3cret"), "{all}");
        }
    }
}

#[test]
fn secrets_do_not_appear_when_a_model_fails() {
    let project = project();
    project.write(".env", &format!("ONDATRA_STATE_KEY={}\nAPI_TOKEN=hunter2\n", testkit::STATE_KEY));
    project.write("config/secrets.sql", "SET VARIABLE tok = '${API_TOKEN}';");
    project.model("raw/a", "SELECT CAST(getvariable('tok') AS INTEGER) AS a");
    for args in
        [&["run"][..], &["--json", "run"], &["run", "raw.a"], &["sql", "SELECT CAST(getvariable('tok') AS INTEGER)"]]
    {
        let output = project.run(args).failure(1);
        let all = format!("{}{}", output.stdout, output.stderr);
        assert!(!all.contains("hunter2") && all.contains("[REDACTED]"), "{all}");
    }
}

#[test]
fn a_password_that_is_also_a_name_does_not_change_the_report() {
    let project = project();
    project.write(".env", &format!("ONDATRA_STATE_KEY={}\nPG_PASSWORD=orders-2024\n", testkit::STATE_KEY));
    project.model("raw/orders", "SELECT nope");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stdout.contains("[FAILED] raw.orders (table"), "{}", output.stdout);
    assert!(
        output.stderr.contains("error: raw.orders: ") && output.stderr.contains("models/raw/orders.sql:1:8"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_transaction_in_the_configuration_is_refused_by_name() {
    let project = project();
    project.write("config/sources.sql", "SET VARIABLE a = 1;\nBEGIN;");
    let output = project.run(&["sql", "SELECT 1"]).failure(1);
    assert!(output.stderr.contains("load sources.sql: BEGIN is not allowed"), "{}", output.stderr);
    project.write("config/sources.sql", "SELECT 1 AS €$$; COMMIT; SELECT 1 AS €$$;");
    let output = project.run(&["sql", "SELECT 1"]).failure(1);
    assert!(output.stderr.contains("load sources.sql: COMMIT is not allowed"), "{}", output.stderr);
}

#[test]
fn a_folder_named_like_a_database_is_refused() {
    let project = project();
    project.model("lake/a", "SELECT 1 AS a");
    let output = project.run(&["run"]).failure(1);
    assert!(output.stderr.contains("schema `lake` has the name of an attached database"), "{}", output.stderr);
}

#[test]
fn an_unreadable_optional_file_is_an_error() {
    let project = project();
    std::fs::create_dir_all(project.root().join("config/settings.sql")).unwrap();
    let output = project.run(&["sql", "SELECT 1"]).failure(1);
    assert!(output.stderr.contains("config/settings.sql"), "{}", output.stderr);
}

#[test]
fn a_missing_extension_says_where_it_was_looked_for() {
    let project = project();
    let empty = project.root().join("empty");
    std::fs::create_dir(&empty).unwrap();
    // A copy of the binary elsewhere finds no folder of extensions beside it.
    let copy = project.root().join("ondatrasql");
    std::fs::copy(crate::BINARY, &copy).unwrap();
    let library = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.engine/lib");
    let output = std::process::Command::new(&copy)
        .args(["sql", "SELECT 1"])
        .current_dir(project.root())
        .env_clear()
        .env("ONDATRA_EXTENSION_DIR", &empty)
        .env("HOME", &empty)
        .env("LD_LIBRARY_PATH", library)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("extension `ducklake`") && stderr.contains(&empty.display().to_string()), "{stderr}");
    assert!(stderr.contains("ONDATRA_EXTENSION_DIR") && stderr.contains("internet"), "{stderr}");
}

#[test]
fn metadata_under_a_name_of_its_own_is_found() {
    let project = project();
    for (at, option) in
        ["METADATA_SCHEMA 'meta data'", "METADATA_CATALOG 'own_name'", "METADATA_SCHEMA meta"].iter().enumerate()
    {
        let attach = format!("ATTACH 'ducklake:duckdb:own{at}.duckdb' AS lake (DATA_PATH 'own{at}.files', {option});");
        project.write("config/catalog.sql", &attach);
        project.model("raw/a", "SELECT 1 AS a");
        project.model("staging/b", "SELECT a FROM raw.a");
        project.run(&["run"]).success();
        assert!(project.run(&["run"]).success().stdout.contains("0 ran, 2 skipped"), "{option}");
    }
}

#[test]
fn settings_with_which_the_lake_breaks_are_refused_at_their_place() {
    let project = project();
    project.model("raw/a", "SELECT 1 AS a, 2 AS b");
    for statement in [
        "SET default_order = 'DESC'",
        "SET GLOBAL default_order = 'desc'",
        "SET \"DEFAULT_ORDER\" = 'DESCENDING'",
        "PRAGMA default_order = 'DESC'",
        "SET immediate_transaction_mode = true",
    ] {
        for file in ["settings.sql", "sources.sql"] {
            project.write(&format!("config/{file}"), &format!("SET threads = 2;\n  {statement};"));
            let output = project.run(&["run"]).failure(1);
            let told =
                output.stderr.contains(&format!("load {file}: ")) && output.stderr.contains("is not allowed: DuckLake");
            assert!(told && output.stderr.contains("[CONFIG-002]"), "{statement}: {}", output.stderr);
            assert!(output.stderr.contains(&format!("config/{file}:2:3")), "{statement}: {}", output.stderr);
            project.remove(&format!("config/{file}"));
        }
    }
    assert!(project.run(&["run"]).success().stdout.contains("[OK] raw.a (table, backfill, 1 rows"), "nothing had run");
}

/// What a setting means for models is the user's affair; the lake and its bookkeeping are the same under each.
#[test]
fn other_settings_leave_the_lake_as_it_is() {
    let settings = [
        "SET default_order = 'ASC'",
        "SET default_null_order = 'nulls_first'",
        "SET integer_division = true",
        "SET preserve_insertion_order = false",
        "SET old_implicit_casting = true",
        "SET scalar_subquery_error_on_multiple_rows = false",
        "SET ieee_floating_point_ops = false",
        "SET threads = 1",
        "SET TimeZone = 'Asia/Kathmandu'",
        "SET search_path = 'memory.main'",
        "SET schema = 'memory.main'",
        "SET default_collation = 'NOCASE'",
        "SET preserve_identifier_case = false",
    ];
    for setting in settings {
        let project = project();
        project.write("config/settings.sql", &format!("{setting};"));
        project.model("mart/m", "-- @kind: merge\n-- @unique_key: id\nSELECT id, v FROM raw.a");
        project.model("mart/s", "-- @kind: scd2\n-- @unique_key: id\nSELECT id, v FROM raw.a");
        project.model("mart/t", "-- @kind: tracked\n-- @group_key: id\nSELECT id, v FROM raw.a");
        for (rows, mark) in [(3, "x"), (2, "y")] {
            project.model("raw/a", &format!("SELECT range AS id, '{mark}' AS v FROM range({rows})"));
            let output = project.run(&["run"]).success().stdout;
            assert!(output.contains("Done: 4 ran, 0 skipped, 0 failed"), "{setting}: {output}");
        }
        let counts = "SELECT (SELECT count(*) FROM raw.a), (SELECT count(*) FROM mart.m), (SELECT count(*) FROM mart.s), \
                      (SELECT count(*) FROM mart.t), (SELECT count(*) FROM mart.m WHERE v = 'y')";
        assert_eq!(project.rows(counts), "2,3,5,2,2\n", "{setting}");
    }
}
