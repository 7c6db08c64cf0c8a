//! OAuth end to end: the binary against an authorization server that follows the RFCs (chapter 03 §3.5).

mod accounts;
mod commands;
mod consent;
mod redaction;
mod refresh;
mod tutorial;
mod workers;

use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use state::{SharedStore, SqlStore, Token, Tokens};
use tempfile::TempDir;
use testkit::{AuthorizationServer, Output, Project, STATE_KEY, StateFixture, state_config};

use crate::project;

/// A model with two rows of the API.
const MODEL: &str = "-- @kind: table\n-- @fetch\nSELECT id::BIGINT AS id FROM api()";

/// A project with a provider `crm` that nobody has authorized yet.
struct Scene {
    project: Project,
    server: AuthorizationServer,
}

impl Scene {
    fn new() -> Self {
        Self::of(project(), &format!("ONDATRA_STATE_KEY={STATE_KEY}\n"))
    }

    /// In a project whose `.env` is `env`.
    fn of(project: Project, env: &str) -> Self {
        let server = AuthorizationServer::start();
        project.write(".env", &format!("{env}{}", server.variables("CRM")));
        Self { project, server }
    }

    /// On a fixture's state.
    fn on(fixture: &StateFixture) -> AuthorizationServer {
        let server = AuthorizationServer::start();
        let env = std::fs::read_to_string(fixture.project.root().join(".env")).unwrap();
        fixture.project.write(".env", &format!("{env}{}", server.variables("CRM")));
        server
    }

    /// The model `raw.rows` whose lib asks the API with this `auth` for each of so many pages.
    fn fetches(&self, auth: &str, pages: usize) {
        lib(&self.project, &self.server, auth, pages);
    }

    /// Works with the state, which no process has open.
    fn state<T>(&self, work: impl FnOnce(&mut SqlStore) -> T) -> T {
        let temp = TempDir::new().unwrap();
        work(&mut state::open(state_config(&self.project.root(), temp.path()), "t".to_owned().into()).unwrap())
    }

    /// Stores an authorization as `auth crm` would, without an access token.
    fn authorize(&self) -> String {
        let refresh = self.server.authorized();
        self.state(|store| assert!(store.put_token(&token(&refresh), None).unwrap()));
        refresh
    }

    fn stored(&self) -> Option<Token> {
        self.state(|store| store.token("crm").unwrap())
    }
}

/// The model `raw.rows` in a project.
fn lib(project: &Project, server: &AuthorizationServer, auth: &str, pages: usize) {
    let text = format!(
        "API = {{\"base_url\": \"{}\", \"auth\": {auth}, \"fetch\": {{}}}}\n\ndef fetch(page):\n    \
         number = (page.cursor or 0) + 1\n    resp = http.get(\"/rows\", params = {{\"page\": number}})\n    \
         if not resp.ok:\n        fail(\"status\", resp.status_code, resp.text)\n    \
         rows = [{{\"id\": number * 10 + row[\"id\"]}} for row in resp.json]\n    \
         return {{\"rows\": rows, \"next\": number if number < {pages} else None}}\n",
        server.server.url("/api")
    );
    project.write("lib/api.star", &text);
    project.model("raw/rows", MODEL);
}

/// Tokens of `crm`, none of them an access token.
fn token(refresh: &str) -> Token {
    Token {
        provider: "crm".into(),
        refresh_token: refresh.to_owned(),
        access_token: None,
        expires_in_ms: None,
        scope: Some("contacts.read".into()),
        token_url: "http://127.0.0.1:1/".into(),
    }
}

/// Shares a store, as a run does.
fn shared(store: SqlStore) -> SharedStore {
    SharedStore::new(Box::new(store))
}

/// `auth crm` that waits for consent.
struct Asking {
    child: Child,
    stdout: BufReader<ChildStdout>,
    /// Where the user says yes.
    url: String,
}

impl Asking {
    fn start(project: &Project, args: &[&str], variables: &[(&str, &str)]) -> Self {
        Self::of(project, "crm", args, variables)
    }

    /// The same for another provider.
    fn of(project: &Project, provider: &str, args: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = project.command(&[&["auth", provider], args].concat());
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.envs(variables.iter().copied()).spawn().unwrap();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.starts_with("  http://") {
            line.clear();
            if stdout.read_line(&mut line).unwrap() == 0 {
                let output = child.wait_with_output().unwrap();
                panic!("it ended too early: {}", String::from_utf8_lossy(&output.stderr));
            }
        }
        Self { child, stdout, url: line.trim().to_owned() }
    }

    /// How it ended.
    fn end(mut self) -> Output {
        let mut stdout = self.url.clone();
        std::io::Read::read_to_string(&mut self.stdout, &mut stdout).unwrap();
        let output = self.child.wait_with_output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        Output { stdout, stderr, code: output.status.code().unwrap_or(-1) }
    }
}
