//! `auth <provider>`: consent, and all that may come instead of it.

use std::io::Write;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::Duration;

use state::{BackendKind, Tokens};
use testkit::http::Answer;
use testkit::{StateFixture, browse};

use super::{Asking, Scene, lib, shared, token};
use crate::BINARY;

#[test]
fn consent_is_given_once_and_models_need_nothing_more() {
    let scene = Scene::new();
    let asking = Asking::start(&scene.project, &[], &[]);
    let (status, page) = browse(&asking.url);
    assert!(status == 200 && page.contains("Go back to the terminal"), "{page}");
    let output = asking.end().success();
    assert!(output.stdout.ends_with("Authorized crm: contacts.read deals.read\n"), "{}", output.stdout);
    assert_eq!(output.stderr, "");
    let stored = scene.stored().unwrap();
    assert!(stored.expires_in_ms.is_some_and(|left| left > 3_000_000), "{:?}", stored.expires_in_ms);
    assert_eq!(
        (stored.scope.as_deref(), stored.token_url),
        (Some("contacts.read deals.read"), scene.server.server.url("/token"))
    );
    scene.fetches("{\"provider\": \"crm\"}", 2);
    scene.project.run(&["run"]).success();
    assert_eq!(scene.project.rows("SELECT string_agg(id, ',' ORDER BY id) FROM raw.rows"), "\"11,12,21,22\"\n");
    assert_eq!(scene.server.refreshes(), 0, "the access token of the consent is good");
}

#[test]
fn a_second_consent_replaces_the_first() {
    let scene = Scene::new();
    let first = scene.authorize();
    let asking = Asking::start(&scene.project, &[], &[]);
    browse(&asking.url);
    asking.end().success();
    assert_ne!(scene.stored().unwrap().refresh_token, first);
}

#[test]
fn a_user_who_says_no_is_quoted() {
    let scene = Scene::new();
    scene.server.behave(|it| it.error = Some("access_denied"));
    let asking = Asking::start(&scene.project, &[], &[]);
    assert_eq!(browse(&asking.url).0, 200);
    let output = asking.end().failure(1);
    assert!(
        output.stderr.contains("error: crm did not authorize: the user said no (access_denied) [AUTH-003]"),
        "{}",
        output.stderr
    );
    assert_eq!(scene.stored(), None);
}

#[test]
fn a_wrong_state_is_answered_and_ignored() {
    let scene = Scene::new();
    scene.server.behave(|it| it.state = Some("of-somebody-else"));
    let asking = Asking::start(&scene.project, &[], &[]);
    let (status, page) = browse(&asking.url);
    assert_eq!((status, page.as_str()), (400, "state mismatch\n"));
    scene.server.behave(|it| it.state = None);
    assert_eq!(browse(&asking.url).0, 200);
    let output = asking.end().success();
    assert!(output.stderr.starts_with("warning: state mismatch"), "{}", output.stderr);
}

#[test]
fn what_the_token_endpoint_says_instead_is_shown_and_nothing_is_stored() {
    let scene = Scene::new();
    let fails = |told: &str| {
        let asking = Asking::start(&scene.project, &[], &[]);
        browse(&asking.url);
        let output = asking.end().failure(1);
        assert!(output.stderr.contains(told), "{told}: {}", output.stderr);
        assert!(!output.stderr.contains("code-"), "the code is a secret: {}", output.stderr);
        assert_eq!(scene.stored(), None);
    };
    scene.server.behave(|it| it.expires_codes = true);
    fails("error: crm: the code was not accepted: the token endpoint answered 400");
    fails("help: run `ondatrasql auth crm` again: a code counts once");
    scene.server.behave(|it| (it.expires_codes, it.gives_refresh) = (false, false));
    fails("error: crm: it did not return a refresh token");
    scene.server.behave(|it| it.gives_refresh = true);
    scene.server.fail_with([Answer::ok("<html>hello</html>")]);
    fails("answered 200 without an access_token (no JSON object)");
    scene.server.fail_with(vec![Answer::new(503, &[], "busy"); 3]);
    fails("/token failed after 3 attempts: status 503: busy");
    scene.server.fail_with(vec![Answer::default().close(); 3]);
    fails("/token failed after 3 attempts: ");
    // A moment of weakness is nothing to tell of.
    scene.server.fail_with([Answer::new(500, &[], "")]);
    let asking = Asking::start(&scene.project, &[], &[]);
    browse(&asking.url);
    asking.end().success();
}

fn interrupt(asking: &Asking) {
    assert!(Command::new("kill").args(["-INT", &asking.child.id().to_string()]).status().unwrap().success());
}

#[test]
fn ctrl_c_during_consent_stores_nothing() {
    let scene = Scene::new();
    let asking = Asking::start(&scene.project, &[], &[]);
    interrupt(&asking);
    let output = asking.end().failure(1);
    assert!(output.stderr.starts_with("error: interrupted [RUN-002]\nhelp: nothing was stored"), "{}", output.stderr);
    assert_eq!(scene.stored(), None);
    // Nothing is left that would be in the way of the next one.
    let asking = Asking::start(&scene.project, &[], &[]);
    browse(&asking.url);
    asking.end().success();
}

#[test]
fn ctrl_c_while_the_provider_is_slow_stores_nothing() {
    let scene = Scene::new();
    scene.server.fail_with([Answer::ok("").after(Duration::from_mins(5))]);
    let asking = Asking::start(&scene.project, &[], &[]);
    browse(&asking.url);
    scene.server.server.wait_for(|seen| seen.path() == "/token");
    interrupt(&asking);
    assert!(asking.end().failure(1).stderr.contains("interrupted"));
    assert_eq!(scene.stored(), None);
}

#[test]
fn a_second_consent_at_once_is_told_of_the_first() {
    let scene = Scene::new();
    let asking = Asking::start(&scene.project, &[], &[]);
    let output = scene.project.run(&["auth", "crm", "--state-wait", "100ms"]).failure(1);
    assert!(output.stderr.contains(&format!("process {}", asking.child.id())), "{}", output.stderr);
    assert_eq!(output.stdout, "", "nobody is asked for what cannot be kept");
    browse(&asking.url);
    asking.end().success();
    for kind in [BackendKind::Postgres, BackendKind::Quack] {
        let fixture = StateFixture::new(BINARY, kind);
        let server = Scene::on(&fixture);
        let asking = Asking::start(&fixture.project, &[], &[]);
        let output = fixture.project.run(&["auth", "crm"]).failure(1);
        assert!(output.stderr.starts_with("error: another `auth crm` is going on, in "), "{}", output.stderr);
        assert_eq!(output.stdout, "");
        // Those who have an authorization go on with it meanwhile.
        let refresh = server.authorized();
        assert!(shared(fixture.open("w")).lock().put_token(&token(&refresh), None).unwrap());
        lib(&fixture.project, &server, "{\"provider\": \"crm\"}", 1);
        fixture.project.run(&["run"]).success();
        browse(&asking.url);
        asking.end().success();
        let stored = fixture.open("w").token("crm").unwrap().unwrap();
        assert!(stored.refresh_token != refresh && !server.is_revoked());
    }
}

#[test]
fn without_a_browser_the_url_or_the_code_is_pasted() {
    let scene = Scene::new();
    // Whatever is called back goes to another machine, where nobody listens.
    let end_of = |url: &str| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let away = format!("127.0.0.1:{}", listener.local_addr().unwrap().port());
        drop(listener);
        drop(away);
        let server = scene.server.server.url("");
        let target = url.strip_prefix(&server).unwrap().to_owned();
        let mut stream = std::net::TcpStream::connect(scene.server.server.address).unwrap();
        write!(stream, "GET {target} HTTP/1.1\r\nConnection: close\r\n\r\n").unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).unwrap();
        answer.lines().find_map(|line| line.strip_prefix("Location: ").map(str::to_owned)).unwrap()
    };
    let code_of = |end: &str| end.split("code=").nth(1).unwrap().split('&').next().unwrap().to_owned();
    for (paste, warns) in [
        (&(|end: &str| format!("{end}\n")) as &dyn Fn(&str) -> String, false),
        (&|end: &str| format!("\n{}\n", code_of(end)), false),
        (&|end: &str| format!("{}\n{end}\n", end.replace("state=", "state=x")), true),
        (&|end: &str| format!("I said yes\n{}\0\n{}\n{end}\n", "x".repeat(9), "x".repeat(5_000)), false),
    ] {
        let mut asking = Asking::start(&scene.project, &["--no-browser"], &[("BROWSER", "/no/such/browser")]);
        let end = end_of(&asking.url);
        asking.child.stdin.take().unwrap().write_all(paste(&end).as_bytes()).unwrap();
        let output = asking.end().success();
        assert_eq!(output.stderr.contains("state mismatch"), warns, "{}", output.stderr);
        assert!(output.stdout.contains("paste the URL"), "{}", output.stdout);
    }
}

#[test]
fn a_browser_is_opened_where_there_is_one() {
    let scene = Scene::new();
    let (browser, opened) = (scene.project.root().join("browser"), scene.project.root().join("opened"));
    std::fs::write(&browser, "#!/bin/sh\nprintf %s \"$1\" > opened.new && mv opened.new opened\n").unwrap();
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let asking = Asking::start(&scene.project, &[], &[("BROWSER", browser.to_str().unwrap())]);
    while !opened.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(std::fs::read_to_string(&opened).unwrap(), asking.url);
    browse(&asking.url);
    asking.end().success();
    // One that cannot be started is no harm.
    let asking = Asking::start(&scene.project, &[], &[("BROWSER", "/no/such/browser")]);
    browse(&asking.url);
    assert_eq!(asking.end().success().stderr, "");
}

#[test]
fn the_port_of_the_callback_can_be_fixed() {
    let scene = Scene::new();
    let free = || TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    for (args, variable, port) in [
        (vec!["--port".to_owned()], None, free()),
        (vec![], Some(free()), 0),
        (vec!["--port".to_owned()], Some(1), free()),
    ] {
        let args: Vec<String> = args.iter().flat_map(|flag| [flag.clone(), port.to_string()]).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let own = variable.map(|port| port.to_string()).unwrap_or_default();
        let asking = Asking::start(&scene.project, &args, &[("CRM_REDIRECT_PORT", &own)]);
        let expected = if port == 0 { own } else { port.to_string() };
        let redirect = format!("redirect_uri=http%3A%2F%2F127.0.0.1%3A{expected}%2Fcallback&");
        assert!(asking.url.contains(&redirect), "{redirect}: {}", asking.url);
        browse(&asking.url);
        asking.end().success();
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let output = scene.project.run(&["auth", "crm", "--port", &port]).failure(1);
    assert!(output.stderr.starts_with(&format!("error: listen on 127.0.0.1:{port}: ")), "{}", output.stderr);
}

#[test]
fn the_state_is_opened_before_anybody_is_asked() {
    let scene = Scene::new();
    scene.project.remove("config/state.sql");
    let output = scene.project.run(&["auth", "crm"]).failure(1);
    assert!(output.stderr.contains("config/state.sql required") && output.stdout.is_empty(), "{}", output.stderr);
}

#[test]
fn with_json_nothing_is_on_standard_output() {
    let scene = Scene::new();
    scene.server.behave(|it| it.error = Some("access_denied"));
    let mut command = scene.project.command(&["auth", "crm", "--json"]);
    let mut child = command.stderr(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut stderr = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("  http://") {
        line.clear();
        assert!(std::io::BufRead::read_line(&mut stderr, &mut line).unwrap() > 0);
    }
    browse(line.trim());
    assert_eq!(child.wait_with_output().unwrap().stdout, b"");
}

#[test]
fn a_state_that_is_not_encrypted_is_warned_of() {
    let scene = Scene::new();
    scene.project.write("config/state.sql", "ATTACH 'state.duckdb' AS state;");
    let asking = Asking::start(&scene.project, &[], &[]);
    browse(&asking.url);
    let output = asking.end().success();
    assert!(output.stderr.starts_with("warning: the state is not encrypted"), "{}", output.stderr);
    assert_eq!(output.stderr.lines().count(), 1);
}

#[test]
fn a_variable_of_another_time_is_noted() {
    let scene = Scene::new();
    let asking = Asking::start(&scene.project, &[], &[("ONDATRA_KEY", "old")]);
    browse(&asking.url);
    let output = asking.end().success();
    assert!(output.stderr.starts_with("note: ONDATRA_KEY is ignored"), "{}", output.stderr);
}
