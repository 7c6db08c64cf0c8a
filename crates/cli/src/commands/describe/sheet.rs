//! A description for people.

use runtime::Description;

use super::document::{nullable, table_size};
use crate::output::{Cell, Column, Grid, Sheet, count};
use crate::ui::Color;

/// Lines of SQL that are shown.
const LINES_MAX: usize = 8;
/// Most columns of a name in a grid.
const NAME: usize = 48;

pub(super) fn sheet(model: &Description) -> Sheet {
    let title = match &model.description {
        Some(description) => format!("{} - {description}", model.target),
        None => model.target.clone(),
    };
    let mut sheet = Sheet::new(&title);
    about(&mut sheet, model);
    statistics(&mut sheet, model);
    recent_runs(&mut sheet, model);
    profile(&mut sheet, model);
    neighbors(&mut sheet, model);
    checks(&mut sheet, model);
    definition(&mut sheet, model);
    columns(&mut sheet, model);
    if !model.gather_warnings.is_empty() {
        sheet.section("Gather Warnings");
        model.gather_warnings.iter().for_each(|warning| sheet.paragraph(warning, Some(Color::Yellow)));
    }
    sheet.section("Commands:");
    // Without a file there is nothing to run, only what is left.
    let commands: &[&str] = if model.has_file { &["run", "sandbox", "edit", "lineage"] } else { &["history", "query"] };
    for command in commands {
        sheet.line(&format!("ondatrasql {command} {}", model.target));
    }
    sheet
}

fn about(sheet: &mut Sheet, model: &Description) {
    let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
    let local = |time: &Option<runtime::Moment>| time.as_ref().map_or_else(|| "-".into(), |time| time.local.clone());
    sheet.field("Kind", &model.kind);
    sheet.field("Schema", &model.schema);
    sheet.field("Materialization", &or_dash(&model.run_type));
    sheet.field("File", &or_dash(&model.source_file));
    if let Some(blueprint) = &model.blueprint {
        sheet.field("Blueprint", blueprint);
    }
    if let Some(error) = &model.blueprint_error {
        sheet.paragraph(&format!("Blueprint error: {error}"), Some(Color::Red));
    }
    sheet.field("Created", &local(&model.created));
    sheet.field("Updated", &local(&model.last_run));
}

fn statistics(sheet: &mut Sheet, model: &Description) {
    sheet.section("Statistics");
    sheet.field("Runs", &count(model.total_runs));
    sheet.field("Avg duration", &format!("{} ms", model.avg_duration_ms));
    sheet.field("Rows", &count(model.total_rows));
    sheet.field("Table size", &table_size(model));
    if let (Some(first), Some(last)) = (&model.first_run, &model.last_run) {
        sheet.field("Success rate", "100%");
        sheet.field("First run", &first.local);
        sheet.field("Last run", &last.local);
    }
}

fn recent_runs(sheet: &mut Sheet, model: &Description) {
    sheet.section("Recent Runs");
    if model.recent_runs.is_empty() {
        return sheet.line("(none)");
    }
    let mut grid = Grid::new(vec![Column::text("Time"), Column::number("Rows"), Column::number("ms")]);
    for run in &model.recent_runs {
        let or_dash = |text: Option<String>| Cell::from(text.unwrap_or_else(|| "-".into()));
        let (rows, ms) = (or_dash(run.rows.map(count)), or_dash(run.duration_ms.map(|ms| ms.to_string())));
        grid.push(vec![run.time.local.as_str().into(), rows, ms]);
    }
    sheet.grid(grid);
}

fn profile(sheet: &mut Sheet, model: &Description) {
    sheet.section("Execution Profile (last run)");
    if model.steps.is_empty() {
        sheet.line("(none)");
    } else {
        let mut grid =
            Grid::new(vec![Column::text("Step").between(8, NAME), Column::number("ms"), Column::text("Status")]);
        for step in &model.steps {
            grid.push(vec![
                step.name.as_str().into(),
                step.duration_ms.to_string().into(),
                step.status.as_str().into(),
            ]);
        }
        sheet.grid(grid);
    }
    let versions = [("DuckDB", &model.duckdb_version), ("Git commit", &model.git_commit)];
    for (name, value) in versions {
        if let Some(value) = value {
            sheet.field(name, value);
        }
    }
}

fn neighbors(sheet: &mut Sheet, model: &Description) {
    let marked = |mark: &str, names: &[String]| -> Vec<String> {
        if names.is_empty() {
            return vec!["(none)".into()];
        }
        names.iter().map(|name| format!("{mark} {name}")).collect()
    };
    let (above, below) = (marked(">", &model.dependencies), marked("<", &model.downstream));
    sheet.section("Lineage");
    let column = |title| Column::text(title).between(12, NAME);
    let mut grid = Grid::new(vec![column("Dependencies"), column("Downstream")]);
    for at in 0..above.len().max(below.len()) {
        let cell = |names: &[String]| Cell::from(names.get(at).map_or("", String::as_str));
        grid.push(vec![cell(&above), cell(&below)]);
    }
    sheet.grid(grid);
}

fn checks(sheet: &mut Sheet, model: &Description) {
    sheet.section("Data Quality Rules");
    let kinds = [("[BLOCK]", &model.constraints), ("[AUDIT]", &model.audits), ("[WARN]", &model.warnings)];
    if kinds.iter().all(|(_, rules)| rules.is_empty()) {
        return sheet.line("(none)");
    }
    for (word, rules) in kinds {
        for rule in rules {
            sheet.line(&format!("{word} {rule}"));
        }
    }
}

fn definition(sheet: &mut Sheet, model: &Description) {
    let Some(sql) = &model.definition else { return };
    sheet.section("Definition (SQL)");
    let lines: Vec<&str> = sql.lines().collect();
    lines.iter().take(LINES_MAX).for_each(|line| sheet.code(line));
    if lines.len() > LINES_MAX {
        sheet.line(&format!("... ({} more lines)", lines.len() - LINES_MAX));
    }
}

fn columns(sheet: &mut Sheet, model: &Description) {
    sheet.section("Columns");
    let mut grid = Grid::new(vec![
        Column::text("Name").between(8, NAME),
        Column::text("Type").between(8, NAME),
        Column::text("Null").spare(2),
        Column::text("Key").spare(3),
        Column::text("Description").between(11, usize::MAX).spare(1),
    ]);
    for column in &model.columns {
        grid.push(vec![
            column.name.as_str().into(),
            column.type_name.as_str().into(),
            nullable(column).unwrap_or("-").into(),
            column.constraint.as_deref().unwrap_or_default().into(),
            column.description.as_deref().unwrap_or_default().into(),
        ]);
    }
    sheet.grid(grid);
}
