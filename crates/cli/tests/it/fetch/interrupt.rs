//! Ctrl-C and SIGTERM while models fetch.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use testkit::http::Server;

use super::{PAGES, model, page_number, run, staged, with_lib};

/// Interrupts a run once the server was asked, and checks that it ends in time, and the next run works.
fn interrupt(functions: &str, signal: &str, single: bool) {
    let blocked = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(true));
    let is_blocked = std::sync::Arc::clone(&blocked);
    let api = Server::new(move |_, request| {
        let number = page_number(request);
        while number == 2 && is_blocked.load(std::sync::atomic::Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(20));
        }
        super::page(&serde_json::json!([{"a": number}]), (number < 3).then_some(number + 1))
    });
    let project = with_lib(&api, "", functions);
    model(&project, "raw/x", "append", "a::INTEGER AS a", "api()");
    project.model("raw/y", "SELECT 1 AS a");
    let arguments: &[&str] = if single { &["run", "raw.x"] } else { &["run"] };
    let child = project.command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    api.wait_for(|request| page_number(request) == 2 || functions.contains("sleep") || functions.contains("while"));
    std::thread::sleep(Duration::from_millis(100));
    let asked = Instant::now();
    assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let took = asked.elapsed();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(took < Duration::from_secs(10), "it took {took:?}");
    assert_eq!(output.status.code(), Some(1), "{stdout}{stderr}");
    assert!(stderr.contains("error: interrupted"), "{stdout}{stderr}");
    assert!(!stdout.contains("[OK] raw.x"), "{stdout}");
    blocked.store(false, std::sync::atomic::Ordering::SeqCst);
    assert_eq!(staged(&project, "raw.x"), []);
    project.write("lib/api.star", &super::lib(&api, "", PAGES));
    run(&project);
    assert_eq!(project.rows("FROM raw.x ORDER BY ALL"), "1\n2\n3\n");
    assert_eq!(std::fs::read_dir(project.temp_root()).unwrap().count(), 0, "nothing is left in the temporary folder");
}

#[test]
fn a_request_that_is_not_answered_is_given_up() {
    interrupt(PAGES, "-INT", false);
    interrupt(PAGES, "-TERM", true);
}

#[test]
fn a_sleeping_function_is_woken() {
    interrupt("def fetch():\n    http.get(\"/page\").ok\n    sleep(600)\n", "-INT", false);
}

#[test]
fn a_loop_is_left() {
    interrupt("def fetch():\n    http.get(\"/page\").ok\n    while True:\n        pass\n", "-INT", true);
}
