//! Nothing leaks: every command, and every kind of failure, with secrets set; then all that was printed or written is
//! searched for them (chapter 03 §3.3 *Redaction*).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::json;
use testkit::authorization_server::CLIENT_SECRET;
use testkit::http::{Answer, Server};
use testkit::{STATE_KEY, browse, keys};

use super::{Asking, Scene};

const API_KEY: &str = "k3y-of/the+API?1";
const PASSWORD: &str = "p4ss w0rd of it's";
const MOUNTED: &str = "mounted-s3cret-value";
const INJECTED: &str = "1njected-access-token";
const S3_SECRET: &str = "s3-s3cret/KEY+0";
/// Where secrets are at home.
const HOMES: [&str; 3] = [".env", "run/mounted", "keys/robot.json"];

/// A project with every kind of secret, and all that its commands printed.
struct Search {
    scene: Scene,
    /// An API that tells back what it was asked, the worst way.
    echo: Server,
    printed: Vec<(String, String)>,
    /// What the search must find, each with where it comes from.
    secrets: Vec<String>,
}

impl Search {
    fn new() -> Self {
        let scene = Scene::new();
        let env = fs::read_to_string(scene.project.root().join(".env")).unwrap();
        let own =
            format!("API_KEY={API_KEY}\nUSER_PASS=\"{PASSWORD}\"\nCOLOR=file:run/mounted\nS3_SECRET={S3_SECRET}\n");
        scene.project.write(".env", &format!("{env}{own}"));
        scene.project.write("run/mounted", &format!("{MOUNTED}\n"));
        scene
            .project
            .write("config/secrets.sql", "CREATE SECRET bucket (TYPE s3, KEY_ID 'id', SECRET '${S3_SECRET}');");
        scene.server.trust(keys::PUBLIC);
        let robot = json!({
            "client_email": "robot@project.example", "private_key": keys::PKCS8,
            "token_uri": scene.server.server.url("/token"),
        });
        scene.project.write("keys/robot.json", &robot.to_string());
        let echo = Server::new(|_, seen| {
            let value = seen.all("authorization").join(" ");
            let told = format!("{}\n{value}\n{}", seen.target(), value.split(' ').next_back().unwrap_or_default());
            let encoded = format!("{} {}", STANDARD.encode(value.split(' ').next_back().unwrap()), told);
            Answer::new(500, &[], encoded)
        });
        let line = keys::PKCS8.lines().nth(3).unwrap();
        let known = [API_KEY, PASSWORD, MOUNTED, INJECTED, S3_SECRET, STATE_KEY, CLIENT_SECRET, line];
        Self { scene, echo, printed: Vec::new(), secrets: known.map(str::to_owned).to_vec() }
    }

    fn keep(&mut self, name: &str, output: &Output) -> String {
        let text = String::from_utf8_lossy(&[output.stdout.clone(), output.stderr.clone()].concat()).into_owned();
        self.printed.push((name.to_owned(), text.clone()));
        text
    }

    fn run(&mut self, args: &[&str]) -> String {
        let output = self.scene.project.command(args).output().unwrap();
        self.keep(&args.join(" "), &output)
    }

    /// A run of a lib that asks the API that tells everything back: the message would hold what it was asked with.
    fn leaks(&mut self, auth: &str, body: &str) {
        let text = format!(
            "API = {{\"base_url\": \"{}\", \"auth\": {auth}, \"fetch\": {{}}}}\n\ndef fetch(page):\n    {body}\n    \
             return {{\"rows\": []}}\n",
            self.echo.url("/x")
        );
        self.scene.project.write("lib/api.star", &text);
        self.scene.project.model("raw/rows", super::MODEL);
        for args in [&["run", "raw.rows"][..], &["run", "--json"]] {
            let text = self.run(args);
            assert!(text.contains("[REDACTED]"), "{auth} {body}: nothing was there to be taken out: {text}");
        }
        self.run(&["validate", "--json"]);
    }

    /// All texts in which a secret turns up, with the secret.
    fn found(&self) -> Vec<String> {
        let mut texts: Vec<(String, Vec<u8>)> =
            self.printed.iter().map(|(name, text)| (format!("output of {name}"), text.clone().into_bytes())).collect();
        for folder in [self.scene.project.root(), self.scene.project.temp_root()] {
            let files = files(&folder);
            let is_home = |path: &Path| HOMES.iter().any(|home| path.ends_with(home));
            let rest = files.into_iter().filter(|path| !is_home(path));
            texts.extend(rest.map(|path| (path.display().to_string(), fs::read(path).unwrap())));
        }
        let secrets = self.secrets.iter().cloned().chain(self.scene.server.secrets());
        let mut found = Vec::new();
        for secret in secrets {
            for form in forms(&secret) {
                let holding = texts.iter().filter(|(_, text)| holds(text, form.as_bytes()));
                found.extend(holding.map(|(name, _)| format!("{form} in {name}")));
            }
        }
        found
    }
}

fn forms(secret: &str) -> Vec<String> {
    let url: String = form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    vec![
        secret.to_owned(),
        url.replace('+', "%20"),
        url,
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
        secret.replace('\'', "''"),
    ]
}

fn holds(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[test]
fn no_command_and_no_failure_shows_a_secret_or_leaves_one_in_a_file() {
    let mut search = Search::new();
    // Consent, refused in the worst words and then given.
    search.scene.server.behave(|it| it.expires_codes = true);
    for expires in [true, false] {
        search.scene.server.behave(|it| it.expires_codes = expires);
        let asking = Asking::start(&search.scene.project, &[], &[]);
        browse(&asking.url);
        let output = asking.end();
        assert_eq!(output.stderr.contains("[REDACTED]"), expires, "{}", output.stderr);
        search.printed.push(("auth crm".into(), output.stdout + &output.stderr));
    }
    // Every way to authorize, against an API that tells it back.
    for (auth, body) in [
        ("{\"provider\": \"crm\"}", "http.get(\"y\")"),
        ("{\"service_account\": \"keys/robot.json\", \"scope\": \"s\"}", "http.get(\"y\")"),
        ("{\"env\": \"API_KEY\"}", "http.get(\"y\")"),
        ("{\"env\": \"API_KEY\", \"param\": \"sig\"}", "http.get(\"y\")"),
        ("{\"env\": \"COLOR\", \"header\": \"Authorization\"}", "http.get(\"y\")"),
        ("{\"user\": \"me\", \"pass\": {\"env\": \"USER_PASS\"}}", "http.get(\"y\")"),
        (
            "{\"env\": \"API_KEY\"}",
            "fail(\"I was given\", env.get(\"API_KEY\"), env.get(\"COLOR\"), env.get(\"S3_SECRET\"))",
        ),
        ("{\"env\": \"API_KEY\"}", "print(env.get(\"COLOR\"), base64_encode(env.get(\"API_KEY\")))"),
        ("{\"env\": \"API_KEY\"}", "{}[env.get(\"USER_PASS\")]"),
    ] {
        search.leaks(auth, body);
    }
    // A provider that tells back what it was sent.
    let stored = search.scene.stored().unwrap().refresh_token;
    let told = format!("{stored} {CLIENT_SECRET} {} {}", STANDARD.encode(&stored), forms(CLIENT_SECRET)[2]);
    for answer in [
        Answer::new(400, &[], json!({"error": "invalid_grant", "error_description": &told}).to_string()),
        Answer::new(403, &[], &told),
        Answer::redirect(307, &format!("http://127.0.0.1:1/?refresh_token={stored}&x={CLIENT_SECRET}")),
    ] {
        search.scene.fetches("{\"provider\": \"crm\"}", 1);
        search.scene.server.expire_access();
        search.scene.server.fail_with([answer]);
        let text = search.run(&["run", "raw.rows"]);
        assert!(text.contains("[REDACTED]"), "{text}");
    }
    search.scene.server.fail_with(vec![Answer::new(500, &[], &told); 3]);
    let text = search.run(&["run", "raw.rows"]);
    assert!(text.contains("status 500: [REDACTED]"), "{text}");
    // An injected token, an API that knows it not.
    let mut command = search.scene.project.command(&["run", "raw.rows"]);
    let output = command.env("ONDATRA_OAUTH_TOKEN_CRM", INJECTED).output().unwrap();
    assert!(search.keep("run with an injected token", &output).contains("[REDACTED]"));
    // Configuration that is wrong with a secret in it.
    let state = fs::read_to_string(search.scene.project.root().join("config/state.sql")).unwrap();
    for (file, text) in [
        ("config/settings.sql", "SET no_such_setting = '${API_KEY} ${COLOR}'"),
        ("config/state.sql", "ATTACH 'dbname=x password=${USER_PASS} host=127.0.0.1 port=1' AS state (TYPE postgres)"),
        ("config/state.sql", "ATTACH 'quack:127.0.0.1:1' AS state (TYPE quack, TOKEN '${COLOR}')"),
        ("config/secrets.sql", "CREATE SECRET bucket (TYPE s3, NO_SUCH '${S3_SECRET}')"),
    ] {
        let path = search.scene.project.root().join(file);
        let before = fs::read_to_string(&path).ok();
        search.scene.project.write(file, text);
        for args in
            [&["run", "--state-wait", "0s"][..], &["auth", "status", "--state-wait", "0s"], &["sql", "SELECT 1"]]
        {
            search.run(args);
        }
        match before {
            Some(before) => search.scene.project.write(file, &before),
            None => search.scene.project.remove(file),
        }
    }
    search.scene.project.write("config/state.sql", &state);
    // All commands, on a project that works.
    search.scene.fetches("{\"provider\": \"crm\"}", 1);
    let text = search.run(&["run"]);
    assert!(text.contains("[OK] raw.rows"), "{text}");
    search.scene.project.write("sql/mine.sql", "SELECT 1");
    for args in [
        &["run"][..],
        &["run", "--json"],
        &["run", "raw.rows", "--full-refresh"],
        &["check"],
        &["validate"],
        &["sandbox"],
        &["sql", "SELECT count(*) FROM raw.rows"],
        &["sql", "SELECT nothing"],
        &["query", "raw.rows"],
        &["queue"],
        &["queue", "show", "raw.rows"],
        &["queue", "drain"],
        &["push", "raw.rows", "--dry-run"],
        &["mine"],
        &["auth"],
        &["auth", "status"],
        &["auth", "status", "--json"],
        &["state", "status", "--json"],
        &["auth", "remove", "crm"],
        &["auth", "remove", "crm", "--yes"],
        &["auth", "remove", "crm", "--yes"],
        &["version"],
        &["help"],
    ] {
        search.run(args);
    }
    let given = search.scene.server.secrets();
    assert!(given.len() >= 8 && search.scene.server.refreshes() > 0, "tokens were given and taken: {given:?}");
    assert_eq!(search.found(), Vec::<String>::new());
    // The search finds what is there.
    search.printed.push(("a test".into(), format!("x {} y", STANDARD.encode(INJECTED))));
    assert!(!search.found().is_empty());
    assert!(HOMES.iter().all(|home| search.scene.project.root().join(home).exists()));
}
