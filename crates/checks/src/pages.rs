//! What people read about the shipped checks: the pages of `docs/checks/` and the list in a new project and in the
//! help, all made from the list.

use crate::{Check, Stage, shipped_in};

/// File name of a stage's page.
pub fn page_name(stage: Stage) -> String {
    format!("{stage}s.md")
}

/// The page of a stage.
pub fn page(stage: Stage) -> String {
    let checks = shipped_in(stage);
    let (title, about) = match stage {
        Stage::Constraint => (
            "Constraints",
            "They look at the rows of a run before these are written: all of the result, or what is new in an\n\
             incremental run. A finding means that nothing is written and the model fails.\n\
             NULL values and empty results pass, unless a check says otherwise.",
        ),
        Stage::Audit => (
            "Audits",
            "They look at the whole table inside the transaction that wrote it. A finding undoes the write: data,\n\
             change of columns and metadata.\n\
             Aggregates ignore single NULLs and fail where there is nothing to aggregate: an empty table, a column\n\
             of only NULLs. The message then shows `NULL`.",
        ),
        Stage::Warning => (
            "Warnings",
            "They look at the whole table after its commit. A finding is shown as `WARN:` and changes nothing, not even\n\
             the exit code.",
        ),
    };
    let mut page = format!(
        "# {title}\n\n<!-- Made from the list in crates/checks/src/list/{stage}s.rs. To write it again: make check-docs -->\n\n\
         {about}\n\nHow directives are written, own checks, and the command `check`: [README.md](README.md).\n\n\
         The {} that come with `ondatrasql`; in messages a parameter's name stands for its\n         argument, and `…` for what was found:\n\n\
         | Check | Finds | Message |\n|---|---|---|\n",
        checks.len()
    );
    for check in checks {
        page.push_str(&format!(
            "| `{}` | {} | `{}` |\n",
            check.signature(),
            check.fails.replace('|', "\\|"),
            check.message().replace('|', "\\|")
        ));
    }
    page.push_str("\n## Examples\n\n```sql\n");
    for check in checks {
        page.push_str(&format!("-- @{stage}: {}\n", check.example));
    }
    page.push_str("```\n\n");
    page.push_str(&rows_note(checks));
    page
}

/// Which checks can show rows.
fn rows_note(checks: &[Check]) -> String {
    let names: Vec<String> =
        checks.iter().filter(|check| check.has_rows()).map(|check| format!("`{}`", check.name)).collect();
    let mut lines = vec!["Findings of these show rows, and `check --store-failures` keeps them:".to_owned()];
    let mut line = String::new();
    for (at, name) in names.iter().enumerate() {
        let end = if at + 1 == names.len() { "." } else { "," };
        if line.len() + name.len() + 2 > 110 {
            lines.push(std::mem::take(&mut line));
        }
        line = [line.as_str(), name].join(if line.is_empty() { "" } else { " " }) + end;
    }
    lines.push(line);
    lines.join("\n") + "\n"
}

/// The checks of a stage, one a line: how to call it, and when it has a finding. The lines begin with `margin`.
pub fn summary(stage: Stage, margin: &str) -> String {
    let checks = shipped_in(stage);
    let width = checks.iter().map(|check| check.signature().len()).max().unwrap_or_default();
    let line = |check: &Check| format!("{margin}{:width$}  {}\n", check.signature(), check.fails);
    checks.iter().map(line).collect()
}
