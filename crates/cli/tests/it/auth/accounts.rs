//! Service accounts: models whose key file signs for their tokens.

use serde_json::json;
use testkit::keys;

use super::Scene;

fn key_file(scene: &Scene) -> String {
    let file = json!({
        "client_email": "robot@project.example",
        "private_key": keys::PKCS8,
        "private_key_id": "key-1",
        "token_uri": scene.server.server.url("/token"),
    });
    file.to_string()
}

#[test]
fn a_key_file_is_all_that_it_takes() {
    let scene = Scene::new();
    scene.server.trust(keys::PUBLIC);
    scene.project.write("keys/robot.json", &key_file(&scene));
    scene.fetches("{\"service_account\": \"keys/robot.json\", \"scope\": \"sheets.read\"}", 10);
    scene.project.run(&["run"]).success();
    let [claims] = &scene.server.assertions()[..] else { panic!("one token for ten requests") };
    assert_eq!((&claims["iss"], &claims["scope"]), (&json!("robot@project.example"), &json!("sheets.read")));
    assert_eq!(scene.stored(), None, "nothing is kept of it");
}

#[test]
fn what_is_wrong_is_told_before_the_api_is_asked() {
    let scene = Scene::new();
    scene.fetches("{\"service_account\": {\"env\": \"ROBOT\"}, \"scope\": \"s\"}", 1);
    let fails = |variable: Option<&str>, told: &str| {
        let mut command = scene.project.command(&["run", "raw.rows"]);
        let output = command.envs(variable.map(|value| ("ROBOT", value))).output().unwrap();
        let stderr = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(stderr.contains(told), "{told}: {stderr}");
    };
    fails(None, "the variable ROBOT of API[\"auth\"] is not set");
    fails(Some("robot.json"), "read service_account robot.json: No such file");
    scene.project.write("robot.json", "{}");
    fails(Some("robot.json"), "parse service_account robot.json: it has no client_email");
    scene.project.write("robot.json", &key_file(&scene));
    fails(Some("robot.json"), "service account robot@project.example: the token endpoint answered 400");
    let asked = scene.server.server.seen();
    assert!(asked.iter().all(|seen| seen.path() == "/token") && asked.len() == 1);
    scene.server.trust(keys::PUBLIC);
    let output = scene.project.command(&["run"]).env("ROBOT", key_file(&scene)).output().unwrap();
    assert!(output.status.success(), "the text of a key file does as well");
}
