//! Why a value cannot be had in a type. Never holds the value itself, which is shown apart, without secrets.

use std::borrow::Cow;

/// Deepest steps that are named.
const SHOWN: usize = 8;

/// The reason, and where in a nested value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    reason: Cow<'static, str>,
    /// Innermost first.
    path: Vec<String>,
}

pub(crate) type Written<T = ()> = Result<T, Refusal>;

impl Refusal {
    pub(crate) fn new(reason: impl Into<Cow<'static, str>>) -> Self {
        Self { reason: reason.into(), path: Vec::new() }
    }

    /// The same, found one level down.
    pub(crate) fn within(mut self, step: impl FnOnce() -> String) -> Self {
        if self.path.len() < SHOWN {
            self.path.push(step());
        }
        self
    }

    /// The reason with its place.
    pub(crate) fn text(self) -> String {
        if self.path.is_empty() {
            return self.reason.into_owned();
        }
        let path: String = self.path.iter().rev().map(String::as_str).collect();
        format!("{} (at {path})", self.reason)
    }
}

#[cfg(test)]
mod tests {
    use super::Refusal;

    #[test]
    fn a_place_is_told_from_the_outside_inwards() {
        let refusal = Refusal::new("is no list").within(|| "[2]".into()).within(|| ".tags".into());
        assert_eq!(refusal.text(), "is no list (at .tags[2])");
        assert_eq!(Refusal::new("is no list").text(), "is no list");
    }
}
