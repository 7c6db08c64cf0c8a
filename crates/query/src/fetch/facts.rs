//! What reading a model's SQL has to know of the project's lib functions.

use types::Kind;

/// A lib function of the project, as its `API` declares it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LibFacts {
    /// The stem of its file; calls match it in any case.
    pub name: String,
    /// Whether its file is broken: then it has this name, and nothing else is known or judged.
    pub is_broken: bool,
    /// Whether it fetches; others only push.
    pub can_fetch: bool,
    /// `fetch.args`, in order.
    pub args: Vec<String>,
    /// Those without a default.
    pub required: Vec<String>,
    /// `fetch.supported_columns`.
    pub supported_columns: Option<Vec<String>>,
    /// `fetch.supported_kinds`.
    pub supported_kinds: Option<Vec<Kind>>,
}

impl LibFacts {
    /// Whether it fetches, as far as is known.
    pub(crate) fn may_fetch(&self) -> bool {
        self.can_fetch || self.is_broken
    }

    /// The declared name of a parameter: as written, else the only one that differs just by case.
    pub(crate) fn parameter(&self, written: &str) -> Option<&str> {
        let exact = self.args.iter().find(|arg| *arg == written);
        let mut alike = self.args.iter().filter(|arg| arg.eq_ignore_ascii_case(written));
        let only = alike.next().filter(|_| alike.next().is_none());
        exact.or(only).map(String::as_str)
    }
}

/// The function that a call names.
pub(crate) fn find<'a>(libs: &'a [LibFacts], name: &str) -> Option<&'a LibFacts> {
    libs.iter().find(|lib| lib.name.eq_ignore_ascii_case(name))
}

/// The name that was probably meant.
pub(crate) fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let name = name.to_lowercase();
    let rated = known.map(|known| (strsim::damerau_levenshtein(&known.to_lowercase(), &name), known));
    rated.min().filter(|(distance, _)| *distance <= 2).map(|(_, known)| known)
}
