//! What may stand in FROM: functions of the engine, of extensions, of the lake, macros; and when that cannot be told.

use std::net::TcpListener;

use super::{found, report, with_files};

#[test]
fn functions_that_a_run_finds_are_known() {
    let project = with_files(&[
        ("config/macros/a.sql", "CREATE MACRO my_rows(n) AS TABLE SELECT * FROM range(n) t(i);"),
        ("config/sources.sql", "CREATE OR REPLACE MACRO memory.main.\"Other\"() AS TABLE SELECT 1 AS a;"),
        (
            "models/raw/x.sql",
            "SELECT count(*) AS n FROM My_Rows(3), other(), range(2), unnest([1]), (VALUES (1)) v(a), snapshots(), \
             current_snapshot(), main.range(1), duckdb_tables()",
        ),
    ]);
    assert_eq!(found(&report(&project, &[])), []);
    project.run(&["run"]).success();
}

#[test]
fn functions_of_extensions_that_a_run_would_load_are_known() {
    let project =
        with_files(&[("models/raw/x.sql", "SELECT * FROM st_read('x'), delta_scan('x'), sqlite_scan('a', 'b')")]);
    assert_eq!(found(&report(&project, &[])), []);
}

#[test]
fn a_scalar_macro_is_no_table_function() {
    let project = with_files(&[
        ("config/macros/a.sql", "CREATE MACRO plus(a) AS a + 1;"),
        ("models/raw/x.sql", "SELECT plus(1) AS a,\n(SELECT max(a) FROM plus(1) t(a)) AS b"),
    ]);
    assert_eq!(found(&report(&project, &[])), [("models/raw/x.sql".into(), Some(2), "cross_ast.unknown_lib".into())]);
    project.run(&["run"]).failure(1);
}

#[test]
fn a_lib_file_and_a_macro_cannot_share_a_name() {
    let project = with_files(&[
        ("config/macros/a.sql", "CREATE MACRO api(n) AS TABLE SELECT n AS a;"),
        ("lib/api.star", "API = {\"fetch\": {}}\ndef fetch(page):\n    return {\"rows\": []}\n"),
    ]);
    assert_eq!(found(&report(&project, &[])), [("lib/api.star".into(), None, "blueprint.invalid_api_dict".into())]);
}

#[test]
fn extensions_are_loaded_from_this_machine() {
    let project = with_files(&[
        ("config/extensions.sql", "INSTALL postgres;\nLOAD postgres;"),
        ("models/raw/x.sql", "SELECT * FROM postgres_query('a', 'b')"),
    ]);
    assert_eq!(found(&report(&project, &[])), []);
}

#[test]
fn extensions_that_fail_are_told_and_nothing_is_guessed() {
    for (text, line) in [
        ("LOAD postgres;\nLOAD no_such_extension;\nLOAD another_one;", 2),
        ("SET no_such_setting = 1;\n", 1),
        ("LOAD postgres; LOAD '${NOT_DEFINED}';", 1),
    ] {
        let project =
            with_files(&[("config/extensions.sql", text), ("models/raw/x.sql", "SELECT * FROM no_such_function()")]);
        let report = report(&project, &["models/raw"]);
        let found = found(&report);
        let rule = "validate.extensions_load_failed";
        assert_eq!(found[0], ("config/extensions.sql".into(), Some(line), rule.into()), "{report:#}");
        assert!(found.iter().all(|(_, _, id)| id == rule), "what functions there are is not known: {report:#}");
        assert_eq!(report["files"][0]["path"], "config/extensions.sql", "parts of the project come first");
    }
}

#[test]
fn an_extension_of_the_model_or_of_other_configuration_may_bring_a_function() {
    let rule = "validate.extensions_load_failed";
    let of_model = with_files(&[("models/raw/x.sql", "-- @extension: no_such\nSELECT *\nFROM no_such_function()")]);
    assert_eq!(found(&report(&of_model, &[])), [("models/raw/x.sql".into(), Some(3), rule.into())]);
    let of_settings = with_files(&[
        ("config/settings.sql", "LOAD no_such;"),
        ("models/raw/x.sql", "SELECT * FROM no_such_function()"),
        ("models/raw/y.sql", "SELECT * FROM range(1)"),
    ]);
    assert_eq!(found(&report(&of_settings, &[])), [("models/raw/x.sql".into(), Some(1), rule.into())]);
    let found_here = with_files(&[("models/raw/x.sql", "-- @extension: postgres\nSELECT * FROM no_such_function()")]);
    let unknown = ("models/raw/x.sql".into(), Some(2), "cross_ast.unknown_lib".into());
    assert_eq!(found(&report(&found_here, &[])), [unknown]);
}

#[test]
fn an_engine_that_does_not_tell_its_functions_is_a_warning() {
    let project = with_files(&[
        ("config/extensions.sql", "SET memory_limit = '1KB';"),
        ("models/raw/x.sql", "SELECT * FROM no_such_function()"),
    ]);
    let report = report(&project, &[]);
    let found = found(&report);
    assert!(found.contains(&(".".into(), None, "validate.builtin_introspection_failed".into())), "{report:#}");
}

#[test]
fn no_server_is_asked_anything() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    server.set_nonblocking(true).unwrap();
    let host = format!("http://{}", server.local_addr().unwrap());
    let attached = format!("{host}/x.duckdb");
    let project = with_files(&[
        ("models/raw/x.sql", "-- @extension: h3\nSELECT * FROM no_such_function()"),
        ("models/raw/y.sql", "-- @fetch\nSELECT id::INT AS id FROM api(getvariable('x'))"),
        ("models/raw/z.sql", "SELECT * FROM delta_scan('x')"),
    ]);
    let all = format!("INSTALL h3 FROM '{host}'; FORCE INSTALL h3 FROM '{host}'; ATTACH '{attached}' AS a;");
    project.write("config/extensions.sql", &format!("SET custom_extension_repository = '{host}'; {all} LOAD h3;"));
    for file in ["settings", "secrets", "sources", "schemas", "catalog"] {
        project.write(&format!("config/{file}.sql"), &all);
    }
    let lib = format!("API = {{\"base_url\": \"{host}\", \"fetch\": {{\"args\": [\"x\"]}}}}\n");
    project.write(
        "lib/api.star",
        &format!("{lib}http.get(\"x\")\ndef fetch(x, page):\n    return http.get(\"x\").json\n"),
    );
    let found = found(&report(&project, &[]));
    assert!(found.iter().any(|(_, _, rule)| rule == "validate.extensions_load_failed"), "{found:?}");
    assert!(server.accept().is_err(), "somebody connected");
}
