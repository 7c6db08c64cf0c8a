//! The names of the project's macros, as the texts of its configuration tell them.

use std::collections::BTreeSet;

use project::ConfigTexts;

/// What macros there are.
pub(crate) struct OwnMacros {
    /// In lower case.
    names: BTreeSet<String>,
    /// Whether a text could not be read, so that there may be others.
    may_be_more: bool,
}

impl OwnMacros {
    pub(crate) fn new(config: &ConfigTexts) -> Self {
        Self { names: config.macro_names.clone(), may_be_more: config.may_have_more_macros }
    }

    pub(crate) fn contains(&self, name: &str) -> bool {
        self.names.contains(&name.to_lowercase())
    }

    /// Where a macro is, for those who call it; nothing is called here.
    pub(crate) fn schema(&self, name: &str) -> Option<&'static str> {
        self.contains(name).then_some("memory.main")
    }

    /// All names; `None` if there may be others.
    pub(crate) fn known(&self) -> Option<impl Iterator<Item = &str>> {
        (!self.may_be_more).then(|| self.names.iter().map(String::as_str))
    }
}
