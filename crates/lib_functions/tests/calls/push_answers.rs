//! What `push` and `poll` may return, in each mode, and what is said of all else.

use lib_functions::{HostValue, LibErrorKind, PollAnswer, PushAnswer, RowStatus};

use crate::pushing::{failure, keys, lib, push};
use crate::scene::{Scene, Stage};

fn stage(mode: &str, returned: &str) -> Stage {
    let functions = format!(
        "def answer():\n    {}\n\ndef push(rows):\n    return answer()\n\ndef poll(job_ref):\n    return answer()",
        returned.replace('\n', "\n    ")
    );
    let scene = Scene::of(&lib("", &format!("\"batch_mode\": \"{mode}\""), &functions));
    scene.file(".env", "CRM_TOKEN=hunter2hunter2\n").stage()
}

/// A status of the first row; the second one is `ok`.
fn status(status: &str) -> RowStatus {
    let returned = format!("return {{\"1:insert\": {status}, \"2:delete\": \"ok\"}}");
    match stage("sync", &returned).pushing(|running| push(running)).unwrap() {
        Ok(PushAnswer::Rows(statuses)) => {
            assert_eq!((statuses.rows.len(), &statuses.rows[1]), (2, &RowStatus::Ok), "{status}");
            assert!(statuses.warnings.is_empty(), "{status}: {:?}", statuses.warnings);
            statuses.rows[0].clone()
        }
        other => panic!("{status}: {other:?}"),
    }
}

#[test]
fn a_status_is_one_of_four_and_all_else_an_error() {
    let text = str::to_owned;
    for (given, expected) in [
        ("\"ok\"", RowStatus::Ok),
        ("\"warn: was there\"", RowStatus::Warn(text("was there"))),
        ("\"warn:was there\"", RowStatus::Warn(text("was there"))),
        ("\"error: full: later\"", RowStatus::Error(text("full: later"))),
        ("\"reject: no such list\"", RowStatus::Reject(text("no such list"))),
        ("\"error:\"", RowStatus::Error(text("x.push() gave no reason"))),
        ("\"reject: \"", RowStatus::Reject(text("x.push() gave no reason"))),
    ] {
        assert_eq!(status(given), expected, "{given}");
    }
    for (given, shown) in [
        ("\"accepted\"", "accepted"),
        ("\"OK\"", "OK"),
        ("\"ok \"", "ok "),
        ("\"ok: 7\"", "ok: 7"),
        ("\"warn\"", "warn"),
        ("\"reject\"", "reject"),
        ("\"\"", ""),
        ("None", "None"),
        ("True", "True"),
        ("200", "200"),
        ("{\"a\": [1]}", "{\"a\": [1]}"),
    ] {
        let message = format!("a status is ok, warn: …, error: … or reject: …, not: {shown}");
        assert_eq!(status(given), RowStatus::Error(message), "{given}");
    }
}

#[test]
fn messages_of_rows_are_without_secrets_and_no_longer_than_can_be_read() {
    for word in ["warn", "error", "reject", "what"] {
        let given = format!("\"{word}: token \" + env.get(\"CRM_TOKEN\") + \"\\x1b\" + \"a\" * 100000");
        let (RowStatus::Warn(text) | RowStatus::Error(text) | RowStatus::Reject(text)) = status(&given) else {
            panic!("{word}")
        };
        assert!(text.contains("[REDACTED]\u{fffd}aaa") && !text.contains("hunter2"), "{word}: {text:.99}");
        assert!(text.chars().count() <= 4001, "{word}: {}", text.len());
    }
}

const MUST: &str = "with a status for every row, not";

#[test]
fn a_batch_without_a_status_for_each_row_fails_and_names_the_first() {
    for (returned, expected) in [
        ("pass", format!("must return a dict {MUST} None: \"1:insert\" has none")),
        ("return None", format!("must return a dict {MUST} None: \"1:insert\" has none")),
        ("return True", format!("must return a dict {MUST} bool: \"1:insert\" has none")),
        ("return \"ok\"", format!("must return a dict {MUST} string: \"1:insert\" has none")),
        ("return [\"ok\", \"ok\"]", format!("must return a dict {MUST} list: \"1:insert\" has none")),
        ("return len", format!("must return a dict {MUST} function: \"1:insert\" has none")),
        ("return {}", "must return a dict with a status for every row: \"1:insert\" has none (2 of 2 rows)".into()),
        (
            "return {\"1:insert\": \"ok\"}",
            "must return a dict with a status for every row: \"2:delete\" has none (1 of 2 rows)".into(),
        ),
        (
            "return {1: \"ok\", \"1\": \"ok\", \"2:delete\": \"ok\"}",
            "must return a dict with a status for every row: \"1:insert\" has none (1 of 2 rows)".into(),
        ),
    ] {
        let error = failure(stage("sync", returned).pushing(|running| push(running)).unwrap());
        assert_eq!((error.to_string(), error.kind), (format!("x.push: {expected}"), LibErrorKind::Failed));
        let place = error.place.unwrap();
        assert_eq!(&place.source()[place.span()], "push");
        assert!(error.help.contains("rowid:change_type"), "{}", error.help);
    }
}

#[test]
fn keys_of_another_batch_are_ignored_with_a_warning() {
    let ok = "\"1:insert\": \"ok\", \"2:delete\": \"ok\"";
    for (more, expected) in [
        (
            "\"3:insert\": \"reject: x\"",
            "x.push() answered for rows that are not in the batch: 1 ignored, first: 3:insert",
        ),
        ("7: \"ok\", (): 1", "x.push() answered for rows that are not in the batch: 2 ignored, first: 7"),
        (
            "env.get(\"CRM_TOKEN\"): 1",
            "x.push() answered for rows that are not in the batch: 1 ignored, first: [REDACTED]",
        ),
    ] {
        let stage = stage("sync", &format!("return {{{more}, {ok}}}"));
        let answer = stage.pushing(|running| push(running)).unwrap().unwrap();
        let PushAnswer::Rows(statuses) = answer else { panic!("{answer:?}") };
        assert_eq!(statuses.rows, [RowStatus::Ok, RowStatus::Ok]);
        assert_eq!(statuses.warnings, [expected]);
    }
    let many =
        "d = {str(i): \"a\" * 10 for i in range(20000)}\nd[\"1:insert\"] = \"ok\"\nd[\"2:delete\"] = \"ok\"\nreturn d";
    let answer = stage("sync", many).pushing(|running| push(running)).unwrap().unwrap();
    let PushAnswer::Rows(statuses) = answer else { panic!("{answer:?}") };
    assert_eq!(statuses.warnings, ["x.push() answered for rows that are not in the batch: 20000 ignored, first: 0"]);
}

#[test]
fn an_atomic_batch_is_delivered_unless_it_fails() {
    let warnings = |returned: &str| match stage("atomic", returned).pushing(|running| push(running)).unwrap() {
        Ok(PushAnswer::All { warnings }) => warnings,
        other => panic!("{returned}: {other:?}"),
    };
    for returned in ["pass", "return None"] {
        assert!(warnings(returned).is_empty(), "{returned}");
    }
    for (returned, kind) in [("return {}", "dict"), ("return True", "bool"), ("return \"ok\"", "string")] {
        let warnings = warnings(returned);
        assert_eq!(warnings.len(), 1);
        assert!(warnings[0].starts_with(&format!("x.push() returned a value of type {kind}, which")), "{warnings:?}");
        assert!(warnings[0].ends_with("the sink may be meant as \"sync\""), "{warnings:?}");
    }
    let error = failure(stage("atomic", "fail(\"rolled back\")").pushing(|running| push(running)).unwrap());
    assert_eq!(error.to_string(), "x.push: rolled back");
}

#[test]
fn an_async_batch_gives_the_reference_of_its_job() {
    let job = stage("async", "return {\"id\": 7}").pushing(|running| push(running)).unwrap().unwrap();
    assert_eq!(job, PushAnswer::Job(HostValue::Dict(vec![(HostValue::text(Some("id")), HostValue::int(7))])));
    for (returned, expected) in [
        ("pass", "must return the job's reference as a dict, not a value of type None"),
        ("return 7", "must return the job's reference as a dict, not a value of type int"),
        ("return [{}]", "must return the job's reference as a dict, not a value of type list"),
        ("return {\"f\": len}", "a value of type function is not data"),
    ] {
        let error = failure(stage("async", returned).pushing(|running| push(running)).unwrap());
        assert_eq!(error.to_string(), format!("x.push: {expected}"));
        assert!(error.place.is_some() && error.help.contains("poll()"), "{}", error.help);
    }
}

fn polled(returned: &str) -> Result<PollAnswer, String> {
    let job = HostValue::Dict(Vec::new());
    let ended = stage("async", returned).pushing(|running| running.poll(&job, &keys())).unwrap();
    ended.map_err(|error| failure::<()>(Err(error)).to_string())
}

#[test]
fn a_job_is_waited_for_until_it_has_a_status_for_each_row() {
    for waiting in ["return {\"done\": False}", "return {\"done\": False, \"per_row\": {\"1:insert\": \"ok\"}}"] {
        assert_eq!(polled(waiting), Ok(PollAnswer::Waiting));
    }
    let done = "return {\"done\": True, \"per_row\": \
                {\"2:delete\": \"reject: gone\", \"1:insert\": \"warn: slow\", \"9:x\": \"ok\"}}";
    let Ok(PollAnswer::Done(statuses)) = polled(done) else { panic!("not done") };
    assert_eq!(statuses.rows, [RowStatus::Warn("slow".into()), RowStatus::Reject("gone".into())]);
    assert_eq!(statuses.warnings, ["x.poll() answered for rows that are not in the batch: 1 ignored, first: 9:x"]);
    for (returned, expected) in [
        ("pass", "must return dict, not None"),
        ("return True", "must return dict, not bool"),
        ("return {}", "must include 'done' key"),
        ("return {\"done\": None}", "'done' must be True or False, not a value of type None"),
        ("return {\"done\": \"yes\"}", "'done' must be True or False, not a value of type string"),
        ("return {\"done\": 1}", "'done' must be True or False, not a value of type int"),
    ] {
        assert_eq!(polled(returned), Err(format!("x.poll: {expected}")));
    }
    // A job that is over says nothing more.
    for (returned, expected) in [
        (
            "return {\"done\": True}",
            "'per_row' must be a dict with a status for every row, not None: \"1:insert\" has none",
        ),
        (
            "return {\"done\": True, \"per_row\": []}",
            "'per_row' must be a dict with a status for every row, not list: \"1:insert\" has none",
        ),
        (
            "return {\"done\": True, \"per_row\": {\"1:insert\": \"ok\"}}",
            "'per_row' must be a dict with a status for every row: \"2:delete\" has none (1 of 2 rows)",
        ),
    ] {
        assert_eq!(polled(returned), Ok(PollAnswer::Unreadable(format!("x.poll: {expected}"))));
    }
}

const BOMBS: [&str; 6] = [
    "l = []\nfor i in range(600):\n    l = [l, l]\n",
    "l = []\nl.append(l)\n",
    "l = [\"a\" * 10000000] * 100\n",
    "l = [(1 << 100000) << 100000] * 10000\n",
    "l = {str(i): \"a\" * 1000000 for i in range(10)}\nl = [l] * 100\n",
    "l = range(2000000000)\n",
];

#[test]
fn answers_without_end_are_no_danger() {
    for bomb in BOMBS {
        let stage = |mode, returned: &str| stage(mode, &format!("{bomb}{returned}"));
        let row = "return {\"1:insert\": l, \"2:delete\": \"ok\"}";
        let sync = stage("sync", row).pushing(|running| push(running)).unwrap();
        let shown = "not: range(2000000000)";
        match sync {
            Ok(PushAnswer::Rows(answer)) => {
                assert!(matches!(&answer.rows[0], RowStatus::Error(text) if text.ends_with(shown)), "{bomb}");
            }
            other => assert_eq!(failure(other).kind, LibErrorKind::Failed, "{bomb}"),
        }
        let job = stage("async", "return {\"l\": l}").pushing(|running| push(running)).unwrap();
        assert_eq!(failure(job).kind, LibErrorKind::Failed, "{bomb}");
        let waiting = polled(&format!("{bomb}return {{\"done\": False, \"l\": l}}"));
        assert_eq!(waiting, Ok(PollAnswer::Waiting), "{bomb}");
        let answer = stage("atomic", "return l").pushing(|running| push(running)).unwrap();
        assert!(matches!(answer, Ok(PushAnswer::All { .. })), "{bomb}");
    }
}
