//! `ondatrasql lineage`: what models and columns are made of.

mod document;
mod drawing;
mod labels;

use std::process::ExitCode;

use runtime::{Lineage, LineageMode};

use super::queue::warn;
use crate::args::{LineageArgs, LineageFormat};
use crate::error::CliError;
use crate::invocation::Invocation;
use crate::output::graph::{dot, mermaid, svg, text};
use crate::ui::Ui;

pub(crate) fn lineage(args: &LineageArgs, ui: &Ui) -> Result<ExitCode, CliError> {
    let invocation = Invocation::enter(ui)?;
    let lineage_of = invocation.model(&args.lineage_of)?;
    let session = invocation.look_at_lake(ui)?;
    let mut lineage = runtime::lineage(&session, &invocation.root, &lineage_of)?;
    drop(session);
    lineage.warnings.iter_mut().for_each(|warning| *warning = ui.message(warning));
    redact(&mut lineage, ui);
    let is_empty = lineage.mode == LineageMode::Overview && lineage.models.is_empty();
    let graph = || drawing::graph(&lineage);
    let drawn = match args.format {
        _ if ui.json => document::document(&lineage).to_string(),
        LineageFormat::Json => format!("{:#}", document::document(&lineage)),
        LineageFormat::Text if is_empty => "No models found".to_owned(),
        LineageFormat::Text => text(&graph(), ui.columns_if_narrow(), &|text, color| ui.paint(text, color)),
        LineageFormat::Mermaid => mermaid(&graph()),
        LineageFormat::Dot => dot(&graph()),
        LineageFormat::Svg => svg(&graph()),
    };
    ui.result(&drawn)?;
    warn(ui, &lineage.warnings);
    Ok(ExitCode::SUCCESS)
}

/// A name may be a secret of the environment, or hold one, like that of a file that is read. The same name stays the same.
fn redact(lineage: &mut Lineage, ui: &Ui) {
    lineage.outside = lineage.outside.iter().map(|name| ui.redact(name)).collect();
    let asked = std::iter::once(&mut lineage.model).chain(&mut lineage.column);
    let names = lineage.models.iter_mut().flat_map(|model| {
        let of_columns = model.column_lineage.iter_mut().flat_map(|entry| {
            let sources = entry.sources.iter_mut().flat_map(|source| [&mut source.table, &mut source.column]);
            std::iter::once(&mut entry.column).chain(sources)
        });
        std::iter::once(&mut model.name).chain(&mut model.columns).chain(&mut model.dependencies).chain(of_columns)
    });
    asked.chain(names).for_each(|name| *name = ui.redact(name));
}
