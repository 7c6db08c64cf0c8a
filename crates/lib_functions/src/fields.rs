//! Takes the keys of a literal dict one by one, each with its type and range.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use num_bigint::BigInt;
use starlark_syntax::codemap::Span;
use types::parse_duration;

use crate::literal::{Entry, Literal, LiteralValue, Problem};

/// The longest time that a file may ask for, some hundred years: clocks can add it.
const LONGEST: Duration = Duration::from_hours(24 * 36_500);

/// The keys of a dict that are not taken yet.
pub(crate) struct Fields {
    /// How messages name the dict.
    path: String,
    /// The word that the dict is the value of.
    span: Span,
    entries: Vec<Entry>,
    /// Every key that was asked for: those that there may be.
    known: Vec<&'static str>,
}

/// A key that nobody knows, with the closest that is known.
#[derive(Debug, Clone)]
pub(crate) struct UnknownKey {
    pub path: String,
    pub closest: &'static str,
    pub span: Span,
}

impl Fields {
    /// The keys of a literal that must be a dict; `span` is the word that it is the value of.
    pub(crate) fn of(literal: Literal, path: &str, span: Span) -> Result<Self, Problem> {
        let LiteralValue::Dict(entries) = literal.value else {
            return Err(Problem::new(format!("{path}: expected dict, got {}", literal.value.kind()), literal.span));
        };
        Ok(Self { path: path.to_owned(), span, entries, known: Vec::new() })
    }

    /// A key's value.
    fn take(&mut self, name: &'static str) -> Option<Literal> {
        self.known.push(name);
        self.entry(name).map(|entry| entry.value)
    }

    /// A key's value; `None` stands for a key that is not there.
    pub(crate) fn optional(&mut self, name: &'static str) -> Option<Literal> {
        self.take(name).filter(|literal| !matches!(literal.value, LiteralValue::None))
    }

    fn entry(&mut self, name: &str) -> Option<Entry> {
        let at = self.entries.iter().position(|entry| entry.name == name)?;
        Some(self.entries.remove(at))
    }

    /// An error if there is a key that earlier releases knew.
    pub(crate) fn refuse(&mut self, name: &str, why: &str) -> Result<(), Problem> {
        match self.entry(name) {
            Some(entry) => Err(Problem::new(format!("{} {why}", self.path_of(name)), entry.span)),
            None => Ok(()),
        }
    }

    pub(crate) fn text(&mut self, name: &'static str) -> Result<Option<(String, Span)>, Problem> {
        let literal = self.take(name);
        self.text_of(name, literal)
    }

    /// As `text`, but `None` may be written.
    pub(crate) fn optional_text(&mut self, name: &'static str) -> Result<Option<(String, Span)>, Problem> {
        let literal = self.optional(name);
        self.text_of(name, literal)
    }

    fn text_of(&self, name: &str, literal: Option<Literal>) -> Result<Option<(String, Span)>, Problem> {
        literal.map(|literal| text(literal, &self.path_of(name))).transpose()
    }

    pub(crate) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, Problem> {
        match self.take(name) {
            None => Ok(None),
            Some(Literal { value: LiteralValue::Bool(flag), .. }) => Ok(Some(flag)),
            Some(literal) => Err(wrong(&self.path_of(name), "bool", &literal)),
        }
    }

    /// One of some words.
    pub(crate) fn choice<T: Copy>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<(T, Span)>, Problem> {
        let Some((word, span)) = self.text(name)? else { return Ok(None) };
        if let Some((_, value)) = choices.iter().find(|(choice, _)| *choice == word) {
            return Ok(Some((*value, span)));
        }
        let choices: Vec<_> = choices.iter().map(|(choice, _)| format!("\"{choice}\"")).collect();
        Err(self.problem(name, &format!("must be {}", choices.join(" or ")), span))
    }

    /// A whole number.
    pub(crate) fn whole<T>(&mut self, name: &'static str, range: RangeInclusive<T>) -> Result<Option<T>, Problem>
    where
        T: TryFrom<BigInt> + PartialOrd + Display,
    {
        let Some(literal) = self.take(name) else { return Ok(None) };
        let LiteralValue::Int(int) = &literal.value else {
            return Err(wrong(&self.path_of(name), "int", &literal));
        };
        let number = T::try_from(int.clone()).ok().filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| {
            self.problem(name, &format!("must be from {} to {}", range.start(), range.end()), literal.span)
        })
    }

    /// Seconds, whole or not.
    pub(crate) fn seconds(&mut self, name: &'static str, may_be_zero: bool) -> Result<Option<Duration>, Problem> {
        let Some(literal) = self.take(name) else { return Ok(None) };
        let Some(seconds) = literal.value.number() else {
            return Err(wrong(&self.path_of(name), "number of seconds", &literal));
        };
        let duration = Duration::try_from_secs_f64(seconds)
            .ok()
            .filter(|duration| *duration <= LONGEST && (may_be_zero || !duration.is_zero()));
        let least = if may_be_zero { "0 seconds or more" } else { "more than 0 seconds" };
        duration
            .map(Some)
            .ok_or_else(|| self.problem(name, &format!("must be {least}, at most {}", LONGEST.as_secs()), literal.span))
    }

    /// A duration like `5s`.
    pub(crate) fn duration(&mut self, name: &'static str) -> Result<Option<Duration>, Problem> {
        let Some((text, span)) = self.text(name)? else { return Ok(None) };
        let duration = parse_duration(&text).filter(|duration| !duration.is_zero() && *duration <= LONGEST);
        duration.map(Some).ok_or_else(|| {
            let most = LONGEST.as_secs() / 3600;
            let message = format!("must be a duration like \"5s\" or \"1m30s\", more than 0, at most {most}h");
            self.problem(name, &message, span)
        })
    }

    /// A list of strings.
    pub(crate) fn texts(&mut self, name: &'static str) -> Result<Option<Vec<(String, Span)>>, Problem> {
        let literal = self.take(name);
        self.texts_of(name, literal)
    }

    /// As `texts`, but `None` may be written.
    pub(crate) fn optional_texts(&mut self, name: &'static str) -> Result<Option<Vec<(String, Span)>>, Problem> {
        let literal = self.optional(name);
        self.texts_of(name, literal)
    }

    fn texts_of(&self, name: &str, literal: Option<Literal>) -> Result<Option<Vec<(String, Span)>>, Problem> {
        let Some(literal) = literal else { return Ok(None) };
        let path = self.path_of(name);
        let LiteralValue::List(items) = literal.value else {
            return Err(wrong(&path, "list of strings", &literal));
        };
        let texts = items.into_iter().enumerate().map(|(at, item)| text(item, &format!("{path}[{at}]")));
        texts.collect::<Result<_, _>>().map(Some)
    }

    /// A dict of strings, with where its keys stand.
    pub(crate) fn pairs(&mut self, name: &'static str) -> Result<Vec<(String, String, Span)>, Problem> {
        let Some(fields) = self.fields(name)? else { return Ok(Vec::new()) };
        let pair = |entry: Entry| {
            let (text, _) = text(entry.value, &format!("{}[\"{}\"]", fields.path, entry.name))?;
            Ok((entry.name, text, entry.span))
        };
        fields.entries.into_iter().map(pair).collect()
    }

    /// A dict; `None` may be written.
    pub(crate) fn fields(&mut self, name: &'static str) -> Result<Option<Self>, Problem> {
        let span = self.entries.iter().find(|entry| entry.name == name).map_or(self.span, |entry| entry.span);
        let path = self.path_of(name);
        self.optional(name).map(|literal| Self::of(literal, &path, span)).transpose()
    }

    /// A dict; `None` is no dict.
    pub(crate) fn section(&mut self, name: &'static str) -> Result<Option<Self>, Problem> {
        match self.entries.iter().find(|entry| entry.name == name) {
            Some(Entry { value: none @ Literal { value: LiteralValue::None, .. }, .. }) => {
                Err(wrong(&self.path_of(name), "dict", none))
            }
            _ => self.fields(name),
        }
    }

    /// Notes the keys that nobody asked for, with the closest that there may be.
    pub(crate) fn note_unknown(&self, unknown: &mut Vec<UnknownKey>) {
        unknown.extend(self.entries.iter().filter_map(|entry| {
            let name = entry.name.to_lowercase();
            let distance = |known: &&'static str| strsim::damerau_levenshtein(&name, known);
            let closest = self.known.iter().copied().min_by_key(distance)?;
            Some(UnknownKey { path: self.path_of(&entry.name), closest, span: entry.span })
        }));
    }

    /// The word that the dict is the value of.
    pub(crate) fn span(&self) -> Span {
        self.span
    }

    /// The value of a key that is not taken yet; the word that the dict is the value of without one.
    pub(crate) fn span_of(&self, name: &str) -> Span {
        self.entries.iter().find(|entry| entry.name == name).map_or(self.span, |entry| entry.value.span)
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    pub(crate) fn path_of(&self, name: &str) -> String {
        format!("{}[\"{name}\"]", self.path)
    }

    /// An error about a key's value.
    pub(crate) fn problem(&self, name: &str, message: &str, span: Span) -> Problem {
        Problem::new(format!("{} {message}", self.path_of(name)), span)
    }
}

/// The error for a value of another type.
pub(crate) fn wrong(path: &str, expected: &str, literal: &Literal) -> Problem {
    Problem::new(format!("{path}: expected {expected}, got {}", literal.value.kind()), literal.span)
}

fn text(literal: Literal, path: &str) -> Result<(String, Span), Problem> {
    match literal.value {
        LiteralValue::Text(text) => Ok((text, literal.span)),
        _ => Err(wrong(path, "string", &literal)),
    }
}
