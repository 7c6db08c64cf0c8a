//! Takes the keys of a literal dict one by one, each with its type.

use std::time::Duration;

use starlark_syntax::codemap::Span;
use types::parse_duration;

use crate::literal::{Literal, LiteralValue, Problem};

/// The keys of a dict that are not taken yet.
pub(crate) struct Fields {
    /// How messages name the dict.
    path: String,
    span: Span,
    entries: Vec<(String, Literal)>,
    /// Every key that was asked for: those that there may be.
    known: Vec<&'static str>,
}

impl Fields {
    /// The keys of a literal that must be a dict.
    pub(crate) fn of(literal: Literal, path: &str) -> Result<Self, Problem> {
        let LiteralValue::Dict(entries) = literal.value else {
            return Err(Problem::new(format!("{path}: expected dict, got {}", literal.value.kind()), literal.span));
        };
        Ok(Self { path: path.to_owned(), span: literal.span, entries, known: Vec::new() })
    }

    /// A key's value; `None` if it is not there, or is `None`.
    pub(crate) fn take(&mut self, name: &'static str) -> Option<Literal> {
        self.known.push(name);
        let at = self.entries.iter().position(|(known, _)| known == name)?;
        Some(self.entries.remove(at).1).filter(|literal| !matches!(literal.value, LiteralValue::None))
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<String>, Problem> {
        self.typed(name, "string", |value| match value {
            LiteralValue::Text(text) => Some(text),
            _ => None,
        })
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, Problem> {
        self.typed(name, "bool", |value| match value {
            LiteralValue::Bool(flag) => Some(flag),
            _ => None,
        })
    }

    /// A whole number from `min` on.
    pub(crate) fn whole(&mut self, name: &'static str, min: u64) -> Result<Option<u64>, Problem> {
        let Some(literal) = self.take(name) else { return Ok(None) };
        let LiteralValue::Int(int) = &literal.value else { return Err(self.wrong(name, "int", &literal)) };
        match u64::try_from(int).ok().filter(|&number| number >= min) {
            Some(number) => Ok(Some(number)),
            None => Err(self.out_of_range(name, &format!("at least {min}"), &literal)),
        }
    }

    /// Seconds, whole or not.
    pub(crate) fn seconds(&mut self, name: &'static str, may_be_zero: bool) -> Result<Option<Duration>, Problem> {
        let Some(literal) = self.take(name) else { return Ok(None) };
        let Some(seconds) = literal.value.number() else { return Err(self.wrong(name, "number of seconds", &literal)) };
        let duration = Duration::try_from_secs_f64(seconds).ok().filter(|duration| may_be_zero || !duration.is_zero());
        let least = if may_be_zero { "0 or more" } else { "more than 0" };
        duration.map(Some).ok_or_else(|| self.out_of_range(name, least, &literal))
    }

    /// A duration like `5s`.
    pub(crate) fn duration(&mut self, name: &'static str) -> Result<Option<Duration>, Problem> {
        let Some(literal) = self.take(name) else { return Ok(None) };
        let LiteralValue::Text(text) = &literal.value else {
            return Err(self.wrong(name, "duration like \"5s\" or \"1m30s\"", &literal));
        };
        match parse_duration(text).filter(|duration| !duration.is_zero()) {
            Some(duration) => Ok(Some(duration)),
            None => Err(self.out_of_range(name, "a duration like \"5s\" or \"1m30s\", more than 0", &literal)),
        }
    }

    /// A list of strings.
    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Option<Vec<(String, Literal)>>, Problem> {
        let Some(literal) = self.take(name) else { return Ok(None) };
        let LiteralValue::List(items) = literal.value else {
            return Err(self.wrong(name, "list of strings", &literal));
        };
        let text = |item: Literal| match &item.value {
            LiteralValue::Text(text) => Ok((text.clone(), item)),
            _ => Err(self.wrong(name, "list of strings", &item)),
        };
        items.into_iter().map(text).collect::<Result<_, _>>().map(Some)
    }

    /// A dict of strings.
    pub(crate) fn pairs(&mut self, name: &'static str) -> Result<Option<Vec<(String, String)>>, Problem> {
        let Some(fields) = self.fields(name)? else { return Ok(None) };
        let pair = |(key, literal): (String, Literal)| match literal.value {
            LiteralValue::Text(text) => Ok((key, text)),
            _ => Err(self.wrong(name, "dict of strings", &literal)),
        };
        fields.entries.into_iter().map(pair).collect::<Result<_, _>>().map(Some)
    }

    /// A dict.
    pub(crate) fn fields(&mut self, name: &'static str) -> Result<Option<Self>, Problem> {
        let path = format!("{}[\"{name}\"]", self.path);
        self.take(name).map(|literal| Self::of(literal, &path)).transpose()
    }

    /// Keys that nobody asked for, with the closest that there may be.
    pub(crate) fn unknown(&self) -> Vec<(String, Literal, Option<&'static str>)> {
        let closest = |name: &str| {
            let distance = |known: &&'static str| strsim::damerau_levenshtein(name, known);
            self.known.iter().copied().min_by_key(distance).filter(|known| distance(known) <= 3)
        };
        self.entries.iter().map(|(name, literal)| (name.clone(), literal.clone(), closest(name))).collect()
    }

    pub(crate) fn span(&self) -> Span {
        self.span
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// An error about a key's value.
    pub(crate) fn problem(&self, name: &str, message: &str, literal: &Literal) -> Problem {
        Problem::new(format!("{}[\"{name}\"] {message}", self.path), literal.span)
    }

    fn typed<T>(
        &mut self,
        name: &'static str,
        expected: &str,
        read: impl FnOnce(LiteralValue) -> Option<T>,
    ) -> Result<Option<T>, Problem> {
        let Some(literal) = self.take(name) else { return Ok(None) };
        let wrong = self.wrong(name, expected, &literal);
        read(literal.value).map(Some).ok_or(wrong)
    }

    fn wrong(&self, name: &str, expected: &str, literal: &Literal) -> Problem {
        self.problem(name, &format!("must be a {expected}, not a {}", literal.value.kind()), literal)
    }

    fn out_of_range(&self, name: &str, expected: &str, literal: &Literal) -> Problem {
        self.problem(name, &format!("must be {expected}"), literal)
    }
}
