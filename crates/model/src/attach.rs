//! An ATTACH statement, taken apart so that it can be written again with another path and other options.

use types::literal;

use crate::{Code, TokenKind};

/// An ATTACH statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attach {
    /// What it attaches, as the text means it.
    pub path: String,
    /// Up to the path.
    head: String,
    /// From behind the path to the options: the alias.
    alias: String,
    options: Vec<AttachOption>,
}

/// An option in the brackets of an ATTACH.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AttachOption {
    name: String,
    /// What its value means; empty if it has none.
    value: String,
    /// Name and value as written.
    text: String,
}

impl Attach {
    /// Reads a statement; `None` if it attaches nothing, or in a form that the engine does not know.
    pub fn read(statement: &str) -> Option<Self> {
        let code = Code::new(statement);
        if !code.is(0, &["ATTACH"]) {
            return None;
        }
        let path = (1..code.len()).find(|&at| code.kind(at) == Some(TokenKind::Text))?;
        let open = (path + 1..code.len()).find(|&at| code.is(at, &["("])).unwrap_or(code.len());
        let words = |from: usize, to: usize| (from..to).map(|at| code.text(at)).collect::<Vec<_>>().join(" ");
        Some(Self {
            path: code.value(path),
            head: words(0, path),
            alias: words(path + 1, open),
            options: options(&code, open + 1),
        })
    }

    /// What the value of an option means; empty if it stands without one, `None` if it is not there.
    pub fn option(&self, name: &str) -> Option<&str> {
        let is_it = |option: &&AttachOption| option.name.eq_ignore_ascii_case(name);
        self.options.iter().find(is_it).map(|option| option.value.as_str())
    }

    /// The statement with another path, and with `options` (names and SQL) in the place of those of the same names.
    #[must_use]
    pub fn rewritten(&self, path: &str, options: &[(&str, String)]) -> String {
        let is_replaced = |own: &AttachOption| options.iter().any(|(name, _)| own.name.eq_ignore_ascii_case(name));
        let kept = self.options.iter().filter(|own| !is_replaced(own)).map(|own| own.text.clone());
        let set = options.iter().map(|(name, sql)| format!("{name} {sql}").trim_end().to_owned());
        let options: Vec<String> = kept.chain(set).collect();
        let alias = if self.alias.is_empty() { String::new() } else { format!(" {}", self.alias) };
        let list = if options.is_empty() { String::new() } else { format!(" ({})", options.join(", ")) };
        format!("{} {}{alias}{list}", self.head, literal(path))
    }
}

/// The options from piece `at` to the closing bracket.
fn options(code: &Code<'_>, mut at: usize) -> Vec<AttachOption> {
    let mut options = Vec::new();
    while at < code.len() {
        let end = end_of_option(code, at);
        if end > at {
            let value = if code.is(at + 1, &["="]) { at + 2 } else { at + 1 };
            let value = if value < end { code.value(value) } else { String::new() };
            let text: Vec<&str> = (at..end).map(|at| code.text(at)).collect();
            options.push(AttachOption { name: code.value(at), value, text: text.join(" ") });
        }
        if code.is(end, &[")"]) {
            break;
        }
        at = end + 1;
    }
    options
}

/// The piece behind an option: a comma or the closing bracket of the list.
fn end_of_option(code: &Code<'_>, from: usize) -> usize {
    let mut depth = 0_usize;
    for at in from..code.len() {
        match code.text(at) {
            "," | ")" if depth == 0 => return at,
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::Attach;

    fn rewritten(sql: &str) -> Option<String> {
        Some(Attach::read(sql)?.rewritten("new", &[("DATA_PATH", "'d'".into()), ("READ_ONLY", String::new())]))
    }

    #[test]
    fn path_and_options_are_replaced_and_the_rest_stays() {
        let sql = "ATTACH IF NOT EXISTS 'ducklake:sqlite:it''s.db' AS \"my lake\" -- it\n\
                   (data_path 'a,b)', /* no */ META_X = [1, 2], ENCRYPTED) -- end";
        let expected =
            "ATTACH IF NOT EXISTS 'new' AS \"my lake\" (META_X = [ 1 , 2 ], ENCRYPTED, DATA_PATH 'd', READ_ONLY)";
        assert_eq!(rewritten(sql).as_deref(), Some(expected));
        let attach = Attach::read(sql).unwrap();
        assert_eq!(attach.path, "ducklake:sqlite:it's.db");
        let options = ["DATA_PATH", "encrypted", "meta_x", "READ_ONLY"].map(|name| attach.option(name));
        assert_eq!(options, [Some("a,b)"), Some(""), Some("["), None]);
    }

    #[test]
    fn a_statement_without_options_gets_some_and_others_are_none() {
        assert_eq!(rewritten("attach 'x' -- why"), Some("attach 'new' (DATA_PATH 'd', READ_ONLY)".into()));
        assert_eq!(rewritten("ATTACH $$x$$ AS s ()"), Some("ATTACH 'new' AS s (DATA_PATH 'd', READ_ONLY)".into()));
        assert_eq!(rewritten("SELECT 'ATTACH'"), None);
        assert_eq!(rewritten("DETACH x"), None);
        assert_eq!(Attach::read("ATTACH 'x' AS s").unwrap().rewritten("y", &[]), "ATTACH 'y' AS s");
    }
}
