//! A directive's value into a name and arguments (chapter 01 §4.2).

use types::is_identifier;

use crate::Stage;
use crate::argument::Argument;

/// Why a directive's value is no call. The messages are those of the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DispatchError {
    /// The name is none.
    Name {
        /// Of which directive.
        stage: Stage,
        /// As written.
        name: String,
    },
    /// A bracket or a quote is not closed.
    Unbalanced {
        /// The directive's value.
        written: String,
    },
    /// Something stands behind the closing bracket.
    Trailing {
        /// As written.
        text: String,
        /// The directive's value.
        written: String,
    },
    /// A shipped check cannot take an argument.
    Argument {
        /// As written.
        argument: String,
        /// Name of the parameter.
        param: &'static str,
        /// What is wrong with it.
        why: &'static str,
        /// The directive's value.
        written: String,
    },
}

impl std::fmt::Display for DispatchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name { stage, name } => write!(f, "invalid {stage} macro name `{name}`"),
            Self::Unbalanced { written } => write!(f, "unbalanced parentheses in `{written}`"),
            Self::Trailing { text, written } => write!(f, "unexpected trailing text `{text}` in `{written}`"),
            Self::Argument { argument, param, why, written } => {
                write!(f, "`{argument}` {why}, for `{param}` in `{written}`")
            }
        }
    }
}

impl std::error::Error for DispatchError {}

impl DispatchError {
    /// The message of a directive of `stage`, for `run` and `validate`.
    pub fn told(&self, stage: Stage) -> String {
        format!("{stage} dispatch error: {self}")
    }

    /// How to write it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Name { .. } => "write `name` or `name(arguments)`; a name is letters, digits and `_`",
            Self::Unbalanced { .. } => {
                "close every bracket and quote; write an argument that holds some in quotes: 'O''Brien'"
            }
            Self::Trailing { .. } => "nothing follows the closing bracket; a further check has its own directive",
            Self::Argument { .. } => {
                "columns are expressions of SQL, tables are names or queries in brackets; write what holds a comma in quotes"
            }
        }
    }
}

/// A directive's value, taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub name: String,
    pub arguments: Vec<Argument>,
    /// Each as it is written.
    pub written: Vec<String>,
}

/// Takes a directive's value apart.
pub(crate) fn parse(stage: Stage, value: &str) -> Result<Parsed, DispatchError> {
    let value = value.trim();
    let (name, inner) = match value.split_once('(') {
        None => (value, None),
        Some((name, rest)) => (name.trim_end(), Some(rest)),
    };
    if !is_identifier(name) {
        return Err(DispatchError::Name { stage, name: name.to_owned() });
    }
    let written = inner.map_or_else(|| Ok(Vec::new()), |inner| arguments(inner, value))?;
    let arguments = written.iter().map(|written| Argument::read(written)).collect();
    Ok(Parsed { name: name.to_owned(), arguments, written })
}

/// The arguments in the text behind the opening bracket.
///
/// Commas part them outside of quotes, `( )` and `{ }`. A doubled quote closes and opens at once, so it needs no rule.
fn arguments(inner: &str, written: &str) -> Result<Vec<String>, DispatchError> {
    let (mut round, mut curly, mut in_text, mut start) = (0_usize, 0_usize, false, 0);
    let mut parts = Vec::new();
    for (at, c) in inner.char_indices() {
        match c {
            '\'' => in_text = !in_text,
            _ if in_text => {}
            '(' => round += 1,
            '{' => curly += 1,
            '}' => curly = curly.saturating_sub(1),
            ')' if round > 0 => round -= 1,
            ')' => {
                parts.push(&inner[start..at]);
                let text = inner[at + 1..].trim();
                if !text.is_empty() {
                    return Err(DispatchError::Trailing { text: text.to_owned(), written: written.to_owned() });
                }
                return Ok(trimmed(parts));
            }
            ',' if round == 0 && curly == 0 => {
                parts.push(&inner[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    Err(DispatchError::Unbalanced { written: written.to_owned() })
}

/// A trailing empty argument is none.
fn trimmed(mut parts: Vec<&str>) -> Vec<String> {
    if parts.last().is_some_and(|last| last.trim().is_empty()) {
        parts.pop();
    }
    parts.into_iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Argument, parse};
    use crate::Stage;

    fn read(value: &str) -> Result<String, String> {
        let parsed = parse(Stage::Constraint, value).map_err(|error| error.to_string())?;
        let arguments: Vec<String> = parsed.arguments.iter().map(Argument::sql).collect();
        Ok(format!("{} {}", parsed.name, arguments.join(" | ")).trim_end().to_owned())
    }

    #[test]
    fn a_value_is_a_name_with_arguments() {
        for (value, expected) in [
            ("no_rows", "no_rows"),
            ("no_rows()", "no_rows"),
            ("_a1 ( x )", "_a1 'x'"),
            ("f(a,b)", "f 'a' | 'b'"),
            ("f(a, )", "f 'a'"),
            ("f(, a)", "f '' | 'a'"),
            ("f(,)", "f ''"),
            ("f('a, b', c)", "f 'a, b' | 'c'"),
            ("f('it''s, ok', c)", "f 'it''s, ok' | 'c'"),
            ("f(coalesce(a, b), c)", "f 'coalesce(a, b)' | 'c'"),
            ("f({'a': 1, 'b': 2}, c)", "f '{''a'': 1, ''b'': 2}' | 'c'"),
            ("f(x, [A-Z]{2,3})", "f 'x' | '[A-Z]{2,3}'"),
            ("f(x, [A-Z,]{2})", "f 'x' | '[A-Z' | ']{2}'"),
            ("f(\"a,b\")", "f '\"a' | 'b\"'"),
            ("f(\\')", "f '\\'')"),
            ("f(a, '%)', 5%)", "f 'a' | '%)' | '5%'"),
            ("f(a, >=, -1.5)", "f 'a' | '>=' | (-1.5)"),
            ("f(ts, 24h)", "f 'ts' | '24 HOUR'"),
            ("f(ünï, 'ß')", "f 'ünï' | 'ß'"),
        ] {
            let expected = if value == "f(\\')" { Err("unbalanced parentheses in `f(\\')`") } else { Ok(expected) };
            assert_eq!(read(value), expected.map(str::to_owned).map_err(str::to_owned), "{value}");
        }
    }

    #[test]
    fn what_is_no_call_is_told_in_the_words_of_the_contract() {
        for (value, message) in [
            ("", "invalid constraint macro name ``"),
            ("1a", "invalid constraint macro name `1a`"),
            ("a b", "invalid constraint macro name `a b`"),
            ("a.b(c)", "invalid constraint macro name `a.b`"),
            ("é(a)", "invalid constraint macro name `é`"),
            ("f)", "invalid constraint macro name `f)`"),
            ("f(a", "unbalanced parentheses in `f(a`"),
            ("f(a, (b)", "unbalanced parentheses in `f(a, (b)`"),
            ("not_like(n, O'B%)", "unbalanced parentheses in `not_like(n, O'B%)`"),
            ("f(a) b", "unexpected trailing text `b` in `f(a) b`"),
            ("f(a))", "unexpected trailing text `)` in `f(a))`"),
            ("f(a); DROP TABLE t", "unexpected trailing text `; DROP TABLE t` in `f(a); DROP TABLE t`"),
        ] {
            assert_eq!(read(value), Err(message.to_owned()), "{value}");
        }
    }
}
