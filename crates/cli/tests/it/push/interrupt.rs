//! Ctrl-C during a push.

use std::process::{Child, Command};
use std::time::Duration;

use testkit::Output;

use super::sink::Say;
use super::{MERGE, SYNC, Scene, has};

/// Sends Ctrl-C.
pub fn signal(child: &Child) {
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
}

/// The end of a process.
pub fn ended(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    Output {
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
        code: output.status.code().unwrap_or(-1),
    }
}

#[test]
fn the_running_call_ends_and_the_rest_is_given_back() {
    let scene = Scene::new(MERGE, "\"batch_size\": 3", SYNC);
    scene.add(1..=9);
    scene.sink.always(Say::Slow(Duration::from_millis(700)));
    let run = scene.spawn();
    scene.sink.server.wait_for(|request| request.path() == "/rows");
    signal(&run);
    let output = ended(run);
    assert_eq!(output.code, 1, "{output:?}");
    has(&output.stderr, "interrupted");
    let counts = scene.counts();
    assert_eq!((scene.sink.calls().len(), counts.pending, counts.in_flight, counts.waiting), (1, 6, 0, 0));
    assert_eq!(scene.sink.finalized(), []);
    scene.sink.always(Say::Ok);
    has(&scene.good(), "PUSH: 6 delivered");
    assert_eq!(scene.check().twice, 0);
}

#[test]
fn a_second_ctrl_c_ends_at_once_and_recovery_does_the_rest() {
    let scene = Scene::new(MERGE, "\"batch_size\": 3", SYNC);
    scene.lib("\"batch_size\": 3, \"timeout\": 20", SYNC);
    scene.add(1..=9);
    scene.sink.always(Say::TimeOut);
    let mut run = scene.spawn();
    scene.sink.server.wait_for(|request| request.path() == "/rows");
    signal(&run);
    // One signal too many does no harm; two at once may be taken for one.
    while run.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(300));
        signal(&run);
    }
    assert_eq!(ended(run).code, 1);
    scene.sink.always(Say::Ok);
    has(&scene.good(), "PUSH: 9 delivered");
    assert_eq!(scene.check().twice, 3);
}
