//! `@push` that cannot work is refused before anything runs, and what it passes arrives.

use serde_json::json;

use super::{MERGE, SELECT, SYNC, Scene, has};

/// A run that is refused: nothing is sent, and no table is made.
#[track_caller]
fn refused(scene: &Scene, expected: &str) {
    let text = scene.bad();
    has(&text, expected);
    assert!(scene.sink.calls().is_empty() && !text.contains("[OK]"), "{text}");
}

fn directive(scene: &Scene, header: &str, push: &str) {
    scene.fixture.project.model("sync/x", &format!("-- @kind: {header}\n-- @push: {push}\n{SELECT}\n"));
}

#[test]
fn a_state_is_needed() {
    let scene = Scene::new(MERGE, "", SYNC);
    scene.fixture.project.remove("config/state.sql");
    refused(&scene, "config/state.sql required");
}

#[test]
fn arguments_that_are_too_many_or_missing_are_refused() {
    let scene = Scene::new(MERGE, "\"args\": [\"list\"]", &SYNC.replace("batch_number)", "batch_number, list)"));
    refused(&scene, "lacks argument(s) of crm: list");
    directive(&scene, MERGE, "crm('a', 'b')");
    refused(&scene, "passes 2 argument(s) to crm, which takes 1");
    directive(&scene, MERGE, "crn");
    refused(&scene, "there is no lib function crn");
}

#[test]
fn what_cannot_push_is_refused() {
    let scene = Scene::new("scd2\n-- @unique_key: id", "", SYNC);
    refused(&scene, "is_current");
    scene.model("append", SELECT);
    scene.lib("\"supported_kinds\": [\"merge\"]", SYNC);
    refused(&scene, "crm does not support @kind append");
    scene.fixture.project.write("lib/crm.star", "API = {\"fetch\": {}}\ndef fetch():\n    return {\"rows\": []}\n");
    refused(&scene, "lib/crm.star cannot push");
}

#[test]
fn a_chunk_that_is_no_number_is_refused() {
    let scene = Scene::new(MERGE, "", SYNC);
    scene.env("ONDATRA_CLAIM_CHUNK=many\n");
    refused(&scene, "ONDATRA_CLAIM_CHUNK is \"many\"");
}

#[test]
fn push_gets_what_its_signature_names() {
    let functions = SYNC
        .replace("batch_number)", "batch_number, kind, key_columns, columns, list)")
        .replace("batch_number}", "batch_number, \"passed\": [kind, key_columns, columns, list]}");
    let scene = Scene::new(MERGE, "\"batch_size\": 9, \"args\": [\"list\"]", &functions);
    directive(&scene, MERGE, "crm('people')");
    scene.add(1..=2);
    scene.good();
    let column = |name: &str| json!({"name": name, "type": "BIGINT"});
    let columns = json!([column("id"), column("k"), column("v")]);
    assert_eq!(scene.sink.calls()[0].passed, json!(["merge", ["id"], columns, "people"]));
    directive(&scene, "tracked\n-- @group_key: k", "crm('groups')");
    scene.good();
    let call = &scene.sink.calls()[1];
    assert_eq!(call.passed, json!(["tracked", ["k"], columns, "groups"]));
    let inserted = call.sent.iter().find(|row| row.change == "insert").unwrap();
    assert_eq!(inserted.values.keys().collect::<Vec<_>>(), ["id", "k", "v"], "the SELECT's columns and no other");
}

#[test]
fn a_row_carries_exact_values() {
    let scene = Scene::new("append", "", SYNC);
    let columns = [
        ("18446744073709551615::UBIGINT", json!(u64::MAX)),
        ("'-9223372036854775808'::BIGINT", json!(i64::MIN)),
        ("12345678901234567890.123456789::DECIMAL(38, 9)", json!("12345678901234567890.123456789")),
        ("DATE '2024-02-29'::DATE", json!("2024-02-29")),
        ("'2024-02-29 12:30:00.5'::TIMESTAMP", json!("2024-02-29T12:30:00.5Z")),
        ("'\\x01\\xFF'::BLOB", json!("Af8=")),
        ("[1, NULL]::INTEGER[]", json!([1, null])),
        ("{'a': 'x', 'b': {'c': 1}}::STRUCT(a VARCHAR, b STRUCT(c INTEGER))", json!({"a": "x", "b": {"c": 1}})),
        ("MAP {'k': 1}::MAP(VARCHAR, INTEGER)", json!({"k": 1})),
        ("'{\"b\": 1,  \"a\": 2}'::JSON", json!("{\"b\": 1,  \"a\": 2}")),
        ("NULL::VARCHAR", json!(null)),
        ("'NaN'::DOUBLE", json!(null)),
        ("true::BOOLEAN", json!(true)),
        ("'Grüße \u{1F600}'::VARCHAR", json!("Grüße \u{1F600}")),
    ];
    let list =
        columns.iter().enumerate().map(|(at, (sql, _))| format!("{sql} AS c{at}")).collect::<Vec<_>>().join(", ");
    scene.model("append", &format!("SELECT {list}"));
    has(&scene.good(), "NaN or infinite");
    let row = &scene.sink.taken()[0];
    for (at, (sql, expected)) in columns.iter().enumerate() {
        assert_eq!(row.values[&format!("c{at}")].to_string(), expected.to_string(), "{sql}");
    }
}
