//! `docs/auth.md`, followed to the letter.

use testkit::authorization_server::{CLIENT_ID, CLIENT_SECRET};
use testkit::browse;

use super::{Asking, MODEL, Scene};
use crate::docs::blocks;

const FETCH: &str = "\ndef fetch(page):\n    return {\"rows\": http.get(\"/rows\").json}\n";

#[test]
fn the_page_leads_from_an_app_to_rows() {
    let scene = Scene::new();
    let server = &scene.server.server;
    let page = blocks("auth.md", "");
    let of = |language: &str, part: &str| {
        let found = page.iter().find(|block| block.language == language && block.text.contains(part));
        found.unwrap_or_else(|| panic!("{language} {part}")).text.clone()
    };
    let variables: String = of("sh", "MY_CRM_CLIENT_ID")
        .replace("CLIENT_ID=…", &format!("CLIENT_ID={CLIENT_ID}"))
        .replace("CLIENT_SECRET=…", &format!("CLIENT_SECRET={CLIENT_SECRET}"))
        .replace("https://crm.example.com/oauth/authorize", &server.url("/authorize?access_type=offline"))
        .replace("https://crm.example.com/oauth/token", &server.url("/token"))
        // The port may be another's here.
        .replace("8910", "");
    scene.project.write(".env", &format!("ONDATRA_STATE_KEY={}\n{variables}", testkit::STATE_KEY));
    assert_eq!(scene.project.run(&["auth"]).success().stdout, "my-crm\n");
    assert_eq!(of("sh", "ondatrasql auth my-crm\n"), "ondatrasql auth my-crm\n");
    let asking = Asking::of(&scene.project, "my-crm", &[], &[]);
    assert_eq!(browse(&asking.url).0, 200);
    asking.end().success();
    let api = of("python", "\"provider\"").replace("https://api.crm.example.com", &server.url("/api"));
    scene.project.write("lib/api.star", &format!("{api}{FETCH}"));
    scene.project.model("raw/rows", MODEL);
    scene.project.run(&["run"]).success();
    assert_eq!(scene.project.rows("SELECT count(*) FROM raw.rows"), "2\n");
    assert!(of("sh", "auth status").contains("ondatrasql auth status"));
    // The other form of `auth` on the page is one that is read.
    let account = of("python", "service_account").replace("https://sheets.googleapis.com/v4", &server.url("/api"));
    scene.project.write("lib/api.star", &format!("{account}{FETCH}"));
    scene.project.run(&["validate"]).success();
    let output = scene.project.run(&["auth", "status"]).success();
    assert!(
        output.stdout.contains("keys/robot.json") && output.stdout.contains("service account"),
        "{}",
        output.stdout
    );
}
