//! `ondatrasql doctor`: looks at everything that a run needs, changes nothing, and tells how to mend what is amiss.

mod files;
mod finding;
mod lake;
mod machine;
mod state;

use std::process::ExitCode;

use finding::{Finding, Level};
use project::read_config;
use serde_json::Value;

use crate::error::CliError;
use crate::invocation::Invocation;
use crate::output::Keys;
use crate::ui::{Color, Ui};

pub(crate) fn doctor(ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let findings = findings(&invocation);
    let findings: Vec<Finding> = findings.into_iter().map(|finding| finding.map(|text| ui.message(text))).collect();
    if ui.json {
        ui.result(&document(&findings).to_string())?;
    } else {
        for finding in &findings {
            print(finding, ui);
        }
        ui.line(&format!("\n{}", summary(&findings)));
    }
    let is_sound = findings.iter().all(|finding| finding.level != Level::Error);
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One check after the other; what cannot be looked at because of an earlier one is left out.
fn findings(invocation: &Invocation) -> Vec<Finding> {
    let mut all = machine::versions();
    all.extend(files::permissions(invocation));
    all.extend(machine::disk(invocation));
    all.extend(files::leftovers(invocation));
    match read_config(&invocation.root, &invocation.environment) {
        Ok(config) => {
            all.push(Finding::ok("config", "config/ is read"));
            all.extend(lake::lake(&config, invocation));
        }
        Err(error) => all.push(Finding::of_error("config", &error)),
    }
    all.extend(state::state(invocation));
    all
}

fn print(finding: &Finding, ui: &Ui) {
    let (word, color) = match finding.level {
        Level::Ok => ("[OK]", Color::Green),
        Level::Warning => ("[WARN]", Color::Yellow),
        Level::Error => ("[ERROR]", Color::Red),
    };
    ui.line(&format!("{} {}: {}", ui.paint(word, color), finding.check, finding.message));
    if let Some(remedy) = &finding.remedy {
        ui.line(&format!("  help: {remedy}"));
    }
}

fn count(findings: &[Finding], level: Level) -> usize {
    findings.iter().filter(|finding| finding.level == level).count()
}

fn summary(findings: &[Finding]) -> String {
    match (count(findings, Level::Error), count(findings, Level::Warning)) {
        (0, 0) => "Nothing is amiss.".to_owned(),
        (errors, warnings) => format!("{errors} error(s), {warnings} warning(s)"),
    }
}

fn document(findings: &[Finding]) -> Value {
    let record = |finding: &Finding| {
        let mut keys = Keys::new();
        keys.put("check", finding.check);
        keys.put("level", finding.level.word());
        keys.put("message", finding.message.as_str());
        keys.put_some("remedy", finding.remedy.clone());
        Value::from(keys)
    };
    let mut keys = Keys::document();
    keys.put("errors", count(findings, Level::Error));
    keys.put("findings", findings.iter().map(record).collect::<Vec<_>>());
    keys.put("warnings", Vec::<Value>::new());
    keys.into()
}
