//! The section `auth`: its forms, their precedence, and what is refused.

use lib_functions::{Auth, AuthForm, KeyPlace, ProviderName, Secret};

use crate::{assert_fails, good};

fn text(auth: &str) -> String {
    format!("API = {{\"fetch\": {{}},\n\"auth\": {auth}}}\ndef fetch(): pass\n")
}

fn read(auth: &str) -> Auth {
    good(&text(auth)).api.auth.unwrap()
}

fn variable(name: &str) -> Secret {
    Secret::Variable(name.into())
}

fn literal(text: &str) -> Secret {
    Secret::Literal(text.into())
}

#[test]
fn each_form_is_read() {
    let key = |place| AuthForm::Key { key: variable("K"), place };
    for (auth, form) in [
        ("{'env': 'K'}", key(KeyPlace::Bearer)),
        ("{'env': 'K', 'header': 'X-Key'}", key(KeyPlace::Header("X-Key".into()))),
        ("{'env': 'K', 'param': 'key'}", key(KeyPlace::Parameter("key".into()))),
        ("{'user': 'u', 'pass': {'env': 'P'}}", AuthForm::Basic { user: literal("u"), password: variable("P") }),
        ("{'user': {'env': 'U'}, 'pass': 'p'}", AuthForm::Basic { user: variable("U"), password: literal("p") }),
        (
            "{'service_account': 'key.json', 'scope': 's'}",
            AuthForm::ServiceAccount { file: literal("key.json"), scope: "s".into() },
        ),
        (
            "{'service_account': {'env': 'F'}, 'scope': 's'}",
            AuthForm::ServiceAccount { file: variable("F"), scope: "s".into() },
        ),
        ("{'provider': 'my-crm2'}", AuthForm::Provider(ProviderName::parse("my-crm2").unwrap())),
    ] {
        assert_eq!(read(auth), Auth { form, hosts: Vec::new() }, "{auth}");
    }
}

#[test]
fn forms_have_a_precedence() {
    let all = ["'service_account': 'f', 'scope': 's'", "'provider': 'pp'", "'user': 'u', 'pass': 'p'", "'env': 'K'"];
    let name = |form: &AuthForm| match form {
        AuthForm::ServiceAccount { .. } => 0,
        AuthForm::Provider(_) => 1,
        AuthForm::Basic { .. } => 2,
        AuthForm::Key { .. } => 3,
    };
    for first in 0..all.len() {
        let mut rest = all[first..].to_vec();
        rest.reverse();
        assert_eq!(name(&read(&format!("{{{}}}", rest.join(", "))).form), first);
    }
}

#[test]
fn hosts_get_the_secret_too() {
    assert_eq!(
        read("{'env': 'K', 'hosts': ['files.example.com', 'x.y:8443']}").hosts,
        ["files.example.com", "x.y:8443"]
    );
    assert_fails(&text("{'env': 'K', 'hosts': ['a b']}"), "API[\"auth\"][\"hosts\"]: \"a b\" is no host", 2, "'a b'");
    for host in ["http://x.y/", "https://x.y/a", "x.y/", "x.y?a"] {
        assert_fails(&text(&format!("{{'env': 'K', 'hosts': ['{host}']}}")), "is no host", 2, &format!("'{host}'"));
    }
    assert_fails(
        &text("{'env': 'K', 'hosts': 'x.y'}"),
        "[\"hosts\"]: expected list of strings, got string",
        2,
        "'x.y'",
    );
    assert_fails(&text("{'env': 'K', 'hosts': [1]}"), "[\"hosts\"][0]: expected string, got int", 2, "1");
}

#[test]
fn what_is_no_form_is_refused() {
    let secret = ": expected {\"env\": \"NAME\"} or string, got int";
    let variable = " must be {\"env\": \"NAME\"}";
    let provider = "[\"provider\"] must be a name of 2 to 64";
    let long = format!("'{}'", "a".repeat(65));
    for (auth, said, words) in [
        ("{}", " needs one of \"env\", \"user\" with \"pass\", \"provider\", \"service_account\"", "\"auth\""),
        ("{'header': 'X'}", " needs one of", "\"auth\""),
        ("{'user': 'u'}", " needs \"user\" and \"pass\" together", "\"auth\""),
        ("{'pass': 'p', 'env': 'K'}", " needs \"user\" and \"pass\" together", "\"auth\""),
        ("{'service_account': 'f'}", " needs \"scope\" with \"service_account\"", "\"auth\""),
        ("{'env': 'K', 'header': 'X', 'param': 'p'}", "[\"param\"] cannot stand beside \"header\"", "'p'"),
        ("{'env': {'env': 'K'}}", "[\"env\"]: expected string, got dict", "{'env': 'K'}"),
        ("{'env': ''}", "[\"env\"] names no variable", "''"),
        ("{'env': 'K', 'header': 'Bad Header'}", "[\"header\"] must be the name of a header", "'Bad Header'"),
        ("{'env': 'K', 'header': 1}", "[\"header\"]: expected string, got int", "1"),
        ("{'env': 'K', 'param': []}", "[\"param\"]: expected string, got list", "[]"),
        ("{'user': 1, 'pass': 'p'}", &format!("[\"user\"]{secret}"), "1"),
        ("{'user': 'u', 'pass': {}}", &format!("[\"pass\"]{variable}"), "{}"),
        ("{'user': 'u', 'pass': {'en': 'P'}}", &format!("[\"pass\"]{variable}"), "{'en': 'P'}"),
        ("{'user': 'u', 'pass': {'env': 1}}", &format!("[\"pass\"]{variable}"), "{'env': 1}"),
        ("{'user': 'u', 'pass': {'env': 'P', 'x': 1}}", &format!("[\"pass\"]{variable}"), "{'env': 'P', 'x': 1}"),
        ("{'user': 'u', 'pass': {'env': ''}}", "[\"pass\"] names no variable", "''"),
        ("{'user': '', 'pass': 'p'}", "[\"user\"] is empty", "''"),
        ("{'service_account': 5, 'scope': 's'}", &format!("[\"service_account\"]{secret}"), "5"),
        ("{'service_account': 'f', 'scope': []}", "[\"scope\"]: expected string, got list", "[]"),
        ("{'provider': 'x'}", provider, "'x'"),
        ("{'provider': 'CRM'}", provider, "'CRM'"),
        ("{'provider': '-ab'}", provider, "'-ab'"),
        ("{'provider': 'ab-'}", provider, "'ab-'"),
        ("{'provider': 'a_b'}", provider, "'a_b'"),
        (&format!("{{'provider': {long}}}"), provider, &long),
        ("{'provider': 1}", "[\"provider\"]: expected string, got int", "1"),
        // What another form makes void is checked all the same.
        ("{'service_account': 'f', 'scope': 's', 'provider': 1}", "[\"provider\"]: expected string, got int", "1"),
    ] {
        assert_fails(&text(auth), &format!("API[\"auth\"]{said}"), 2, words);
    }
}

#[test]
fn a_secret_is_not_printed() {
    let auth = read("{'user': 'the_user', 'pass': 'the_password'}");
    assert!(!format!("{auth:?}").contains("the_"), "{auth:?}");
}
