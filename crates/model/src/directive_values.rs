//! Reads the values of single directives (chapter 01 §3.3).

use std::fmt;

use types::is_identifier;

/// One term of `@partitioned_by`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartitionTerm {
    /// The column's values.
    Column(String),
    /// `year`, `month`, `day` or `hour` of a column.
    Time(&'static str, String),
    /// A number of buckets over a column.
    Bucket(u32, String),
}

impl fmt::Display for PartitionTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(column) => f.write_str(column),
            Self::Time(part, column) => write!(f, "{part}({column})"),
            Self::Bucket(count, column) => write!(f, "bucket({count}, {column})"),
        }
    }
}

/// The function named by `@push`, with its positional arguments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushCall {
    /// Lib function.
    pub function: String,
    /// Arguments, unquoted.
    pub args: Vec<String>,
}

/// An engine extension named by `@extension`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// Its name.
    pub name: String,
    /// The repository to install it from.
    pub repository: Option<Repository>,
}

/// Where an extension is installed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repository {
    /// One that DuckDB knows by name, like `community`.
    Named(String),
    /// A path or URL.
    Location(String),
}

impl Extension {
    /// Parses `name` or `name FROM repository`.
    pub fn parse(value: &str) -> Result<Self, String> {
        let invalid = || format!("invalid extension `{value}`: write `name` or `name FROM repository`");
        let mut words = value.splitn(2, char::is_whitespace);
        let name = words.next().unwrap_or_default();
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_') {
            return Err(invalid());
        }
        let repository = match words.next().map(str::trim).filter(|rest| !rest.is_empty()) {
            None => None,
            Some(rest) => Some(parse_repository(rest).ok_or_else(invalid)?),
        };
        Ok(Self { name: name.to_owned(), repository })
    }
}

fn parse_repository(rest: &str) -> Option<Repository> {
    let (from, repository) = rest.split_once(char::is_whitespace)?;
    let repository = repository.trim();
    let inner = repository.strip_prefix('\'').and_then(|r| r.strip_suffix('\''));
    let text = inner.unwrap_or(repository);
    let one_token = inner.is_some() || !text.contains(char::is_whitespace);
    let harmless = !text.is_empty() && ![";", "--", "/*", "'"].iter().any(|bad| text.contains(bad));
    let repository = match inner {
        None if is_identifier(text) => Repository::Named(text.to_owned()),
        _ => Repository::Location(text.to_owned()),
    };
    (from.eq_ignore_ascii_case("from") && one_token && harmless).then_some(repository)
}

/// Why `name` cannot be a column in a directive.
pub(crate) fn check_column(name: &str) -> Result<(), String> {
    if name.is_empty() {
        return Err("it is empty".into());
    }
    if name.to_lowercase().starts_with("__ondatra_") {
        return Err("the prefix `__ondatra_` is reserved".into());
    }
    if !is_identifier(name) {
        return Err("a column is a letter or `_`, then letters, digits or `_`".into());
    }
    Ok(())
}

/// The columns of a comma list.
pub(crate) fn column_list(value: &str) -> Result<Vec<String>, String> {
    value
        .split(',')
        .map(|column| {
            let column = column.trim();
            if column.is_empty() {
                return Err("empty column name".to_owned());
            }
            check_column(column).map(|()| column.to_owned()).map_err(|why| format!("`{column}`: {why}"))
        })
        .collect()
}

/// The terms of `@partitioned_by`.
pub(crate) fn partition_terms(value: &str) -> Result<Vec<PartitionTerm>, String> {
    split_outside_brackets(value).into_iter().map(partition_term).collect()
}

fn partition_term(term: &str) -> Result<PartitionTerm, String> {
    let term = term.trim();
    let invalid = |why: &str| format!("invalid partitioned_by expression `{term}`: {why}");
    let Some((function, args)) = term.split_once('(') else {
        return check_column(term).map(|()| PartitionTerm::Column(term.to_owned())).map_err(|why| invalid(&why));
    };
    let args = args.strip_suffix(')').ok_or_else(|| invalid("it does not end with `)`"))?;
    let function = function.trim().to_lowercase();
    let column = |name: &str| check_column(name.trim()).map(|()| name.trim().to_owned()).map_err(|why| invalid(&why));
    if let Some(part) = ["year", "month", "day", "hour"].into_iter().find(|&part| part == function) {
        return Ok(PartitionTerm::Time(part, column(args)?));
    }
    if function != "bucket" {
        return Err(format!(
            "unsupported partition transform `{function}`: use year, month, day, hour or bucket(N, column)"
        ));
    }
    let (count, name) = args.split_once(',').ok_or_else(|| invalid("bucket takes a number and a column"))?;
    let count: u32 = count
        .trim()
        .parse()
        .ok()
        .filter(|&count| count > 0)
        .ok_or_else(|| invalid("bucket takes a positive number"))?;
    Ok(PartitionTerm::Bucket(count, column(name)?))
}

fn split_outside_brackets(value: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0_i32, 0, Vec::new());
    for (at, c) in value.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&value[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&value[start..]);
    parts
}

/// The value of `@push`: a function's name, alone or with quoted arguments.
pub(crate) fn push_call(value: &str) -> Result<PushCall, String> {
    if value.is_empty() {
        return Err("@push requires the name of a lib function".into());
    }
    let invalid = || format!("invalid @push `{value}`: write `name` or `name('a', 'b')`");
    let (function, args) = match value.split_once('(') {
        None => (value, None),
        Some((function, rest)) => (function.trim(), Some(rest.strip_suffix(')').ok_or_else(invalid)?)),
    };
    if !is_identifier(function) {
        return Err(invalid());
    }
    let args = args.map_or(Some(Vec::new()), quoted_args).ok_or_else(invalid)?;
    Ok(PushCall { function: function.to_owned(), args })
}

/// `'a', 'it''s'` → its texts.
fn quoted_args(text: &str) -> Option<Vec<String>> {
    let mut args = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let mut chars = rest.strip_prefix('\'')?.char_indices().peekable();
        let mut arg = String::new();
        let end = loop {
            match chars.next()? {
                (_, '\'') if chars.next_if(|&(_, c)| c == '\'').is_some() => arg.push('\''),
                (at, '\'') => break at + 2,
                (_, c) => arg.push(c),
            }
        };
        args.push(arg);
        rest = rest[end..].trim_start();
        match rest.strip_prefix(',') {
            Some(more) if !more.trim().is_empty() => rest = more.trim_start(),
            None if rest.is_empty() => {}
            _ => return None,
        }
    }
    Some(args)
}

#[cfg(test)]
mod tests {
    use super::{Extension, PartitionTerm, Repository, column_list, partition_terms, push_call};

    #[test]
    fn partition_terms_are_columns_or_known_transforms() {
        assert_eq!(
            partition_terms("region, YEAR(ts), bucket(8, id)").unwrap(),
            [
                PartitionTerm::Column("region".into()),
                PartitionTerm::Time("year", "ts".into()),
                PartitionTerm::Bucket(8, "id".into())
            ]
        );
        for bad in ["year(x)); DROP TABLE t; --(y)", "bucket(0, x)", "bucket(x)", "year(a b)", "", "a,"] {
            assert!(partition_terms(bad).unwrap_err().starts_with("invalid partitioned_by"), "{bad}");
        }
        assert!(partition_terms("week(ts)").unwrap_err().starts_with("unsupported partition transform"));
    }

    #[test]
    fn column_lists_name_what_is_wrong() {
        assert_eq!(column_list("a, b").unwrap(), ["a", "b"]);
        assert_eq!(column_list("a,,b").unwrap_err(), "empty column name");
        assert!(column_list("a.b").is_err());
        assert!(column_list("__ondatra_x").unwrap_err().contains("reserved"));
    }

    #[test]
    fn push_takes_quoted_arguments_with_doubled_quotes() {
        let call = push_call("crm('a', 'it''s, (x)')").unwrap();
        assert_eq!((call.function.as_str(), call.args), ("crm", vec!["a".to_owned(), "it's, (x)".to_owned()]));
        assert_eq!(push_call("crm").unwrap().args, Vec::<String>::new());
        assert!(push_call("").unwrap_err().starts_with("@push requires"));
        for bad in ["crm(a)", "crm('a'", "crm('a',)", "crm('a' 'b')", "c-m"] {
            assert!(push_call(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn extensions_take_a_name_and_a_harmless_repository() {
        assert_eq!(Extension::parse("spatial").unwrap().repository, None);
        let repository = |value: &str| Extension::parse(value).unwrap().repository.unwrap();
        assert_eq!(repository("h3 FROM community"), Repository::Named("community".into()));
        assert_eq!(repository("h3 from 'a b'"), Repository::Location("a b".into()));
        assert_eq!(repository("h3 from /a/b"), Repository::Location("/a/b".into()));
        for bad in ["Spatial", "x FROM", "x FROM a b", "x FROM 'a;b'", "x; DROP", "x FROM a--b", "x community"] {
            assert!(Extension::parse(bad).is_err(), "{bad}");
        }
    }
}
