//! The report for people.

use types::{Diagnose, Severity};
use validate::{FileReport, Report, line};

use crate::ui::{Color, Ui};

/// A block a file, and the counts.
pub(super) fn text(report: &Report, ui: &Ui) -> String {
    let mut text: String = report.files.iter().map(|file| block(file, ui)).collect();
    if !text.is_empty() {
        text.push('\n');
    }
    let counts = report.summary();
    text + &format!(
        "Summary: {} files, {} BLOCKER, {} WARN, {} INFO, {} clean\n",
        counts.files, counts.blockers, counts.warns, counts.infos, counts.clean
    )
}

fn block(file: &FileReport, ui: &Ui) -> String {
    let mut block = format!("{}\n", ui.message(&file.path));
    for (check, _) in file.checks.iter().filter(|(_, passed)| *passed) {
        block += &format!("  {} {}\n", ui.paint("✓", Color::Green), check.as_str());
    }
    for finding in &file.findings {
        let (mark, color) = match finding.rule.severity() {
            Severity::Blocker => ("✗", Color::Red),
            Severity::Warn => ("⚠", Color::Yellow),
            Severity::Info => ("ℹ", Color::Green),
        };
        let line = line(finding).map_or_else(String::new, |line| format!(":{line}"));
        let (severity, rule) = (finding.rule.severity(), finding.rule.id());
        let message = one_line(finding.message(), ui);
        block += &format!("  {}{line} [{severity} {rule}] {message}\n", ui.paint(mark, color));
        block += &format!("      {}help: {}\n", place(finding), one_line(&finding.help(), ui));
    }
    block
}

/// `file:line:column: `, as editors and terminals open it.
fn place(finding: &model::Finding) -> String {
    let place = &finding.place;
    match line(finding) {
        Some(line) => format!("{}:{line}:{}: ", place.file().display(), place.column()),
        None => String::new(),
    }
}

fn one_line(text: &str, ui: &Ui) -> String {
    crate::commands::run::one_line(&ui.message(text))
}
