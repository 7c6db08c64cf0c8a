//! Fetching by jobs: `submit`, `check`, `fetch_result`.

use lib_functions::{CallError, HostValue, JobState};
use testkit::http::{Answer, Server};

use crate::scene::{Scene, call_error, keep};

const API: &str =
    "API = {\"base_url\": \"URL\", \"fetch\": {\"args\": [\"day\"], \"async\": True, \"page_size\": 2}}\n\n";

fn lib(server: Option<&Server>, submit: &str, check: &str) -> String {
    let url = server.map_or_else(|| "http://127.0.0.1:9".to_owned(), |server| server.url(""));
    API.replace("URL", &url)
        + &format!(
            "def submit(day, target):\n    {submit}\n\ndef check(job_ref):\n    {check}\n\n\
             def fetch_result(result_ref, page):\n    \
             resp = http.get(result_ref[\"url\"], params={{\"cursor\": page.cursor, \"size\": page.size}})\n    \
             return {{\"rows\": resp.json[\"rows\"], \"next\": resp.json[\"next\"]}}\n"
        )
}

fn arguments() -> Vec<(&'static str, HostValue)> {
    vec![
        ("day", HostValue::text(Some("2026-01-01"))),
        ("target", HostValue::text(Some("raw.x"))),
        ("last_run", HostValue::None),
    ]
}

#[test]
fn a_job_is_submitted_checked_and_read() {
    let server = Server::new(|_, seen| {
        Answer::ok(match seen.line() {
            "POST /jobs HTTP/1.1" => "{\"id\": 7}",
            "GET /jobs/7?try=1 HTTP/1.1" => "{\"done\": false}",
            "GET /jobs/7?try=2 HTTP/1.1" => "{\"done\": true, \"url\": \"/r\"}",
            "GET /r?size=2 HTTP/1.1" => "{\"rows\": [{\"n\": 1}, {\"n\": 2}], \"next\": 5}",
            "GET /r?cursor=5&size=2 HTTP/1.1" => "{\"rows\": [{\"n\": 3}], \"next\": null}",
            _ => "unexpected",
        })
    });
    let submit = "return {\"id\": http.post(\"jobs\", json={\"day\": day, \"into\": target}).json[\"id\"], \"path\": (\"jobs\",)}";
    let check = "n = int(env.get(\"TRY\", \"0\")) + 1\n    env.set(\"TRY\", str(n))\n    \
                 state = http.get(\"/\".join(job_ref[\"path\"]) + \"/\" + str(job_ref[\"id\"]), params={\"try\": n}).json\n    \
                 return {\"url\": state[\"url\"]} if state[\"done\"] else None";
    let mut rows = Vec::new();
    let stage = Scene::of(&lib(Some(&server), submit, check)).stage();
    let pages = stage.with(|running| {
        let job = running.submit(&arguments()).unwrap().unwrap();
        assert_eq!(running.check(&job).unwrap(), JobState::Waiting);
        let JobState::Done(result) = running.check(&job).unwrap() else { panic!("not done") };
        let mut page = |cursor: &HostValue, number| {
            running
                .fetch_result(&result, cursor, number, |_, row, _| keep(&row, &mut rows))
                .map_err(call_error)
                .unwrap()
        };
        let first = page(&HostValue::None, 1);
        [first.next.clone(), page(&first.next.unwrap(), 2).next]
    });
    assert_eq!(pages.unwrap(), [Some(HostValue::int(5)), None]);
    assert_eq!(rows, ["n=1", "n=2", "n=3"]);
    assert_eq!(server.seen()[0].body, b"{\"day\":\"2026-01-01\",\"into\":\"raw.x\"}");
    assert_eq!(server.seen().len(), 5);
}

fn submitted(line: &str) -> Result<Option<HostValue>, CallError> {
    Scene::of(&lib(None, line, "return None")).stage().with(|running| running.submit(&arguments())).unwrap()
}

/// Trap 38 of chapter 03 §3.6 among others.
#[test]
fn a_submit_may_have_nothing_to_fetch() {
    assert_eq!(submitted("return None").unwrap(), None);
    assert_eq!(submitted("pass").unwrap(), None);
    assert!(matches!(submitted("abort()"), Err(CallError::Aborted)));
    assert_eq!(submitted("return 0").unwrap(), Some(HostValue::int(0)));
    assert_eq!(submitted("return \"\"").unwrap(), Some(HostValue::Text(String::new())));
    for bomb in ["range(2000000000)", "[\"a\" * 10000000] * 1000"] {
        assert!(matches!(submitted(&format!("return {bomb}")), Err(CallError::Failed(_))), "{bomb}");
    }
    let Err(CallError::Failed(error)) = submitted("return len") else { panic!("a function is no reference") };
    assert!(error.to_string().starts_with("x.submit: "), "{error}");
    assert!(!error.help.contains("rows"), "{}", error.help);
}

fn checked(line: &str) -> Result<JobState, CallError> {
    let scene = Scene::of(&lib(None, "return 1", line));
    scene.stage().with(|running| running.check(&HostValue::text(Some("job 1")))).unwrap()
}

/// Trap 21 of chapter 03 §3.6 among others.
#[test]
fn a_check_waits_or_gives_the_result() {
    assert_eq!(checked("return None").unwrap(), JobState::Waiting);
    assert_eq!(checked("return job_ref").unwrap(), JobState::Done(HostValue::text(Some("job 1"))));
    for result in ["0", "\"\"", "{}", "[]"] {
        assert!(matches!(checked(&format!("return {result}")).unwrap(), JobState::Done(_)), "{result}");
    }
    for line in ["return False", "return True"] {
        let Err(CallError::Failed(error)) = checked(line) else { panic!("{line}") };
        assert!(error.to_string().starts_with("x.check: ") && error.to_string().contains("bool"), "{error}");
        assert!(error.place.is_some() && !error.help.contains("rows"), "{}", error.help);
    }
    assert!(matches!(checked("abort()"), Err(CallError::Aborted)));
    let Err(CallError::Failed(error)) = checked("fail(\"job\", job_ref, \"is lost\")") else { panic!("it failed") };
    assert_eq!(error.to_string(), "x.check: job job 1 is lost");
}

#[test]
fn a_result_is_judged_like_a_page() {
    let text = lib(None, "return 1", "return 1").replace("resp = http.get", "return {}\n    resp = http.get");
    let failed = Scene::of(&text).stage().with(|running| {
        running
            .fetch_result(&HostValue::int(1), &HostValue::None, 3, |_, row, _| keep(&row, &mut Vec::new()))
            .map_err(call_error)
    });
    let Err(CallError::Failed(error)) = failed.unwrap() else { panic!("it has no rows") };
    assert!(error.to_string().starts_with("x.fetch_result: must include 'rows' key"), "{error}");
}
