//! Why a value cannot be written in some form. Never holds the value itself, which is shown apart, without secrets.

use std::borrow::Cow;
use std::fmt;

/// Deepest steps that are named.
const SHOWN: usize = 8;

/// The reason, and where in a nested value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    reason: Cow<'static, str>,
    /// Innermost first.
    path: Vec<String>,
}

impl Refusal {
    /// A reason.
    pub fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { reason: reason.into(), path: Vec::new() }
    }

    /// The same, found one level down.
    #[must_use]
    pub fn within(mut self, step: impl FnOnce() -> String) -> Self {
        if self.path.len() < SHOWN {
            self.path.push(step());
        }
        self
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)?;
        if self.path.is_empty() {
            return Ok(());
        }
        write!(f, " (at {})", self.path.iter().rev().map(String::as_str).collect::<String>())
    }
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    #[test]
    fn a_place_is_told_from_the_outside_inwards() {
        let refusal = Refusal::new("is no list").within(|| "[2]".into()).within(|| ".tags".into());
        assert_eq!(refusal.to_string(), "is no list (at .tags[2])");
        assert_eq!(Refusal::new("is no list").to_string(), "is no list");
    }
}
