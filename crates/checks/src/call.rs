//! A check as a directive asks for it: the call of its macro, and many calls as one query.

use model::Written;
use types::literal;

use crate::directive::{DispatchError, parse};
use crate::{Argument, Check, ParamKind, Stage, find};

/// Database and schema of what is shipped.
pub const SHIPPED_IN: &str = "memory.main";

/// A call of a check's macro.
#[derive(Debug, Clone)]
pub struct Call {
    /// When it runs.
    pub stage: Stage,
    /// The check's name.
    pub name: String,
    /// What it is called with, behind the table.
    pub arguments: Vec<Argument>,
    /// The directive's value.
    pub written: Written<String>,
    /// The shipped check behind it; `None` if the macro is the project's own.
    pub shipped: Option<&'static Check>,
    /// Texts that are passed as something else than what is written: each as written, and as passed.
    pub changed_texts: Vec<(String, String)>,
    /// Where the project's macro is: one of the same name in the lake is another.
    schema: Option<&'static str>,
}

impl Call {
    /// Reads a directive's value. `own` tells the database and schema of the project's macro of this lower-case name, if
    /// it has one, which then stands in the place of a shipped one.
    pub fn read(
        stage: Stage,
        written: &Written<String>,
        own: impl Fn(&str) -> Option<&'static str>,
    ) -> Result<Self, DispatchError> {
        let parsed = parse(stage, &written.value)?;
        let schema = own(&stage.macro_name(&parsed.name).to_lowercase());
        let shipped = find(stage, &parsed.name).filter(|_| schema.is_none());
        let params = shipped.map_or(&[][..], |check| check.params);
        for (argument, param) in parsed.arguments.iter().zip(params) {
            if let Some(why) = argument.refusal(param.kind) {
                return Err(DispatchError::Argument {
                    argument: argument.written(),
                    param: param.name,
                    why,
                    written: written.value.clone(),
                });
            }
        }
        let texts = parsed.arguments.iter().zip(params).zip(&parsed.written);
        let texts = texts.filter(|((_, param), _)| param.kind == ParamKind::Text);
        let changed_texts = texts.filter_map(|((argument, _), written)| {
            argument.changed_from(written).map(|passed| (written.clone(), passed))
        });
        let changed_texts = changed_texts.collect();
        Ok(Self {
            stage,
            name: parsed.name,
            arguments: parsed.arguments,
            written: written.clone(),
            shipped,
            changed_texts,
            schema,
        })
    }

    /// Whether the macro is the project's own.
    pub fn is_own(&self) -> bool {
        self.schema.is_some()
    }

    /// Name of its macro, in lower case.
    pub fn macro_name(&self) -> String {
        self.stage.macro_name(&self.name).to_lowercase()
    }

    /// The call as a relation (for FROM); `table` is the SQL of a name.
    fn relation(&self, table: &str) -> String {
        let arguments = std::iter::once(literal(table)).chain(self.arguments.iter().map(Argument::sql));
        format!(
            "{}.{}({})",
            self.schema.unwrap_or(SHIPPED_IN),
            self.macro_name(),
            arguments.collect::<Vec<_>>().join(", ")
        )
    }

    /// The relation of the rows at fault in `table`, if they can be told.
    pub fn rows(&self, table: &str) -> Option<String> {
        let arguments: Vec<String> = self.arguments.iter().map(Argument::sql).collect();
        self.shipped?.rows(&literal(table), &arguments)
    }

    /// The text of a finding: an empty one says nothing but that there is one (chapter 01 §4.1).
    pub fn message(&self, found: String) -> String {
        if found.is_empty() { format!("{} failed", self.name) } else { found }
    }
}

/// One query over all `calls`: the position of a call and, for each of its findings, the text. The first column of a
/// macro is the text, whatever it is called and whatever follows it.
pub fn query<'a>(calls: impl IntoIterator<Item = (usize, &'a Call)>, table: &str) -> String {
    let select = |(at, call): (usize, &Call)| {
        format!(
            "SELECT {at} AS call, found.__ondatra_text::VARCHAR AS text FROM {} AS found(__ondatra_text) \
             WHERE found.__ondatra_text IS NOT NULL",
            call.relation(table)
        )
    };
    calls.into_iter().map(select).collect::<Vec<_>>().join("\nUNION ALL ")
}
