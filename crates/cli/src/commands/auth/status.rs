//! `ondatrasql auth status`.

use std::process::ExitCode;
use std::time::Duration;

use lib_functions::Registry;
use oauth::{AuthStatus, status as statuses};
use serde_json::{Value, json};

use super::OpenState;
use crate::args::StateWait;
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::output::{TextTable, markdown};
use crate::ui::Ui;

pub(crate) fn status(wait: &StateWait, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let state = OpenState::open(&invocation, wait.state_wait)?;
    let stored = state.store.lock().tokens()?;
    // What is broken is told where it is used. No lib is called, so its name is of no matter.
    let registry = Registry::read(&invocation.root, |_| false).map_err(|error| CliError::Failed(Box::new(error)))?;
    let all = statuses(&invocation.environment, registry.libs(), &stored);
    let broken: Vec<String> = registry
        .all_broken()
        .map(|broken| ui.message(&format!("{} is not read: {}", broken.path.display(), broken.error)))
        .collect();
    if ui.json {
        let all: Vec<Value> = all.iter().map(record).collect();
        ui.result(&json!({"schema_version": 1, "providers": all, "warnings": broken}).to_string())?;
    } else {
        ui.result(&text(&all))?;
    }
    for warning in &broken {
        ui.warn(warning);
    }
    Ok(ExitCode::SUCCESS)
}

fn record(status: &AuthStatus) -> Value {
    let seconds = |ms: Option<i64>| ms.map(|ms| ms / 1000);
    json!({
        "provider": status.name,
        "source": status.source.word(),
        "scope": status.scope,
        "refused": status.is_refused,
        "expires_in_s": seconds(status.expires_in_ms),
        "refreshed_s_ago": seconds(status.refreshed_ms_ago),
    })
}

fn text(all: &[AuthStatus]) -> String {
    if all.is_empty() {
        return "Nothing is authorized, and no lib file asks for it.".into();
    }
    let rows = all.iter().map(|status| {
        vec![
            Some(status.name.clone()),
            Some(status.source.word().to_owned()),
            Some(status.scope.clone().unwrap_or_default()),
            Some(access_token(status)),
            Some(status.refreshed_ms_ago.map(|ms| format!("{} ago", rough(ms))).unwrap_or_default()),
        ]
    });
    let columns = ["provider", "source", "scope", "access token", "last refresh"];
    markdown(&TextTable { columns: columns.iter().map(|&name| name.to_owned()).collect(), rows: rows.collect() })
}

fn access_token(status: &AuthStatus) -> String {
    match status.expires_in_ms {
        _ if status.is_refused => "refused: authorize again".to_owned(),
        Some(ms) if ms > 0 => format!("expires in {}", rough(ms)),
        Some(_) => "due for refresh".to_owned(),
        None => String::new(),
    }
}

/// A time as people say it: its largest unit.
fn rough(ms: i64) -> String {
    let seconds = Duration::from_millis(u64::try_from(ms).unwrap_or_default()).as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
