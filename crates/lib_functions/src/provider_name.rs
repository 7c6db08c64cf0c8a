//! Names of OAuth providers, and of the variables that go with them (chapter 03 §3.5).

use std::fmt;

/// What a token from outside is called, without the provider's prefix.
const INJECTED: &str = "ONDATRA_OAUTH_TOKEN_";

/// What `auth` understands as commands of its own.
const COMMANDS: [&str; 2] = ["status", "remove"];

/// The name of a provider: `[a-z0-9][a-z0-9-]*[a-z0-9]`, 2 to 64 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ProviderName(String);

impl ProviderName {
    /// Reads a name; `None` if it is none.
    pub fn parse(name: &str) -> Option<Self> {
        let is_inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        let is_name = (2..=64).contains(&name.len())
            && name.chars().all(|c| is_inner(c) || c == '-')
            && name.starts_with(is_inner)
            && name.ends_with(is_inner);
        (is_name && !COMMANDS.contains(&name)).then(|| Self(name.to_owned()))
    }

    /// The name whose variables begin with `prefix`; `None` if there is none.
    pub fn of_prefix(prefix: &str) -> Option<Self> {
        Self::parse(&prefix.to_ascii_lowercase().replace('_', "-")).filter(|name| name.prefix() == prefix)
    }

    /// The name whose token from outside this variable holds.
    pub fn of_injected(variable: &str) -> Option<Self> {
        Self::of_prefix(variable.strip_prefix(INJECTED)?)
    }

    /// What its variables begin with: `MY_CRM` for `my-crm`.
    pub fn prefix(&self) -> String {
        self.0.to_ascii_uppercase().replace('-', "_")
    }

    /// The variable that holds a token from outside, which is used as it is.
    pub fn injected_variable(&self) -> String {
        format!("{INJECTED}{}", self.prefix())
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProviderName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::ProviderName;

    #[test]
    fn a_name_has_letters_digits_and_inner_dashes() {
        for name in ["crm", "a1", "my-crm2", "0--0", &"a".repeat(64)] {
            assert_eq!(ProviderName::parse(name).unwrap().as_str(), name);
        }
        for name in ["", "a", "-a", "a-", "My", "a_b", "a b", "ä1", "a.b", "status", "remove", &"a".repeat(65)] {
            assert_eq!(ProviderName::parse(name), None, "{name}");
        }
    }

    #[test]
    fn a_name_and_its_prefix_lead_to_each_other() {
        let name = ProviderName::parse("my-crm2").unwrap();
        assert_eq!((name.prefix(), name.injected_variable()), ("MY_CRM2".into(), "ONDATRA_OAUTH_TOKEN_MY_CRM2".into()));
        assert_eq!(ProviderName::of_prefix("MY_CRM2"), Some(name.clone()));
        assert_eq!(ProviderName::of_injected("ONDATRA_OAUTH_TOKEN_MY_CRM2"), Some(name));
        for prefix in ["my_crm2", "MY-CRM2", "_CRM", "CRM_", ""] {
            assert_eq!(ProviderName::of_prefix(prefix), None, "{prefix}");
        }
    }
}
