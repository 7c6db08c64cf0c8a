//! What holds for all requests of a client.

use std::path::PathBuf;

/// The options of a [`crate::Client`].
#[derive(Clone, Default)]
pub struct ClientOptions {
    /// Sent as `User-Agent` by requests that have none.
    pub user_agent: String,
    /// The proxy for `http` URLs.
    pub http_proxy: Option<String>,
    /// The proxy for `https` URLs.
    pub https_proxy: Option<String>,
    /// Hosts that are asked directly: names with their subdomains, addresses, networks, each with a port or without,
    /// separated by commas. `*` stands for all.
    pub no_proxy: String,
    /// A file of roots to trust instead of the system's.
    pub root_file: Option<PathBuf>,
    /// Folders of such files.
    pub root_folders: Vec<PathBuf>,
}

impl ClientOptions {
    /// Takes proxies and roots from the variables that are usual for them. The lower-case name of a proxy goes first,
    /// and an empty value stands for none.
    pub fn from_environment(user_agent: impl Into<String>, variable: impl Fn(&str) -> Option<String>) -> Self {
        let first =
            |names: &[&str]| names.iter().find_map(|name| variable(name).filter(|value| !value.trim().is_empty()));
        Self {
            user_agent: user_agent.into(),
            http_proxy: first(&["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]),
            https_proxy: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
            no_proxy: first(&["no_proxy", "NO_PROXY"]).unwrap_or_default(),
            root_file: first(&["SSL_CERT_FILE"]).map(PathBuf::from),
            root_folders: first(&["SSL_CERT_DIR"]).map_or_else(Vec::new, |all| std::env::split_paths(&all).collect()),
        }
    }
}

impl std::fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The URLs of proxies hold passwords.
        f.debug_struct("ClientOptions").field("user_agent", &self.user_agent).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proxies_and_roots_come_from_the_usual_variables() {
        let options = |pairs: &'static [(&str, &str)]| {
            ClientOptions::from_environment("x", |name| {
                pairs.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
            })
        };
        let found = options(&[("HTTP_PROXY", "a"), ("http_proxy", "b"), ("ALL_PROXY", "c"), ("NO_PROXY", "d,e")]);
        assert_eq!(found.http_proxy.as_deref(), Some("b"));
        assert_eq!(found.https_proxy.as_deref(), Some("c"));
        assert_eq!(found.no_proxy, "d,e");
        let found =
            options(&[("https_proxy", ""), ("HTTPS_PROXY", "a"), ("SSL_CERT_FILE", "f"), ("SSL_CERT_DIR", "d:e")]);
        assert_eq!((found.http_proxy, found.https_proxy.as_deref()), (None, Some("a")));
        assert_eq!((found.root_file, found.root_folders), (Some("f".into()), vec!["d".into(), "e".into()]));
    }
}
