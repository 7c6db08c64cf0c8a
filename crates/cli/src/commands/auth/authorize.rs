//! `ondatrasql auth <provider>`: asks for consent and keeps the tokens.

use std::io::BufRead;
use std::process::ExitCode;
use std::sync::mpsc::{Receiver, channel};

use http_client::Stop;
use lib_functions::ProviderName;
use oauth::{Consent, ConsentOptions, Provider};
use runtime::Cancellation;

use super::{OpenState, browser};
use crate::args::AuthArgs;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::signals::cancel_on_signal;
use crate::ui::Ui;

pub(crate) fn authorize(name: &ProviderName, args: &AuthArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let environment = &invocation.environment;
    if environment.get("ONDATRA_KEY").is_some_and(|key| !key.is_empty()) {
        ui.note("ONDATRA_KEY is ignored: providers are asked directly");
    }
    let injected = name.injected_variable();
    if environment.names().any(|variable| variable == injected) {
        ui.warn(&format!("{injected} is set, and wins over what is authorized here"));
    }
    let provider = Provider::read(name, environment)?;
    // Nobody is asked for what cannot be kept.
    let state = OpenState::open(&invocation, args.wait.state_wait)?;
    let cancellation = Cancellation::default();
    cancel_on_signal(&cancellation)?;
    let consent = Consent::begin(
        provider,
        ConsentOptions {
            store: state.store.clone(),
            client: runtime::client(environment),
            redactor: ui.redactor(),
            port: args.port,
            run_id: format!("auth {name}"),
            stop: Stop::new(move || cancellation.check().is_err()),
        },
    )?;
    let url = consent.url();
    ui.line(&format!("Open this URL to authorize {name}:\n\n  {url}\n"));
    let pasted = if args.no_browser {
        ui.line(&format!(
            "Then paste the URL at which the browser ends up ({}?…), or the code in it:",
            consent.redirect_url()
        ));
        Some(lines_of_input()?)
    } else {
        browser::open(&url, environment);
        ui.line(&format!("Waiting for the answer at {} for 5 minutes, Ctrl-C ends it", consent.redirect_url()));
        None
    };
    let stored = consent.finish(pasted.as_ref(), &|text| ui.warn(&ui.message(text)))?;
    ui.line(&format!("Authorized {}: {}", stored.provider, ui.message(&stored.scope)));
    if state.is_plain {
        let help = "ENCRYPTION_KEY in config/state.sql protects them, in a state that is made with it";
        ui.warn(&format!("the state is not encrypted: who reads its file has the tokens; {help}"));
    }
    Ok(ExitCode::SUCCESS)
}

/// What is pasted, line by line, until there is no more.
fn lines_of_input() -> std::io::Result<Receiver<String>> {
    let (sender, lines) = channel();
    std::thread::Builder::new().name("pasted".into()).spawn(move || {
        for line in std::io::stdin().lock().split(b'\n').map_while(Result::ok) {
            // Nobody listens after the one that counts.
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    })?;
    Ok(lines)
}
