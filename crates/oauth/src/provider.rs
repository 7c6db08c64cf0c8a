//! Providers as variables describe them (chapter 03 §3.5).

use lib_functions::ProviderName;
use project::Environment;

use crate::OAuthError;

const CLIENT_ID: &str = "CLIENT_ID";
const CLIENT_SECRET: &str = "CLIENT_SECRET";
const AUTH_URL: &str = "AUTH_URL";
const TOKEN_URL: &str = "TOKEN_URL";
const SCOPE: &str = "SCOPE";
/// The variables that a provider must have, each behind its prefix.
const REQUIRED: [&str; 5] = [CLIENT_ID, CLIENT_SECRET, AUTH_URL, TOKEN_URL, SCOPE];
/// The one that it may have.
const REDIRECT_PORT: &str = "REDIRECT_PORT";

/// A provider with all that asking for consent needs.
pub struct Provider {
    /// Its name.
    pub name: ProviderName,
    /// How this client is known to it.
    pub(crate) client: ClientCredentials,
    /// Where the user is asked.
    pub(crate) auth_url: String,
    /// Where codes and refresh tokens are taken.
    pub(crate) token_url: String,
    /// What is asked for.
    pub(crate) scope: String,
    /// The port of the callback, where the provider knows only one.
    pub(crate) redirect_port: Option<u16>,
}

/// How this client is known to a provider.
pub(crate) struct ClientCredentials {
    pub id: String,
    pub secret: String,
}

impl Provider {
    /// Reads a provider's variables.
    ///
    /// # Errors
    /// Some are not set, or one says nothing that can be used.
    pub fn read(name: &ProviderName, environment: &Environment) -> Result<Self, OAuthError> {
        for part in REQUIRED.iter().chain(&[REDIRECT_PORT]) {
            environment.check(&variable(name, part))?;
        }
        let missing: Vec<String> = REQUIRED
            .iter()
            .filter(|part| value(name, part, environment).is_none())
            .map(|part| variable(name, part))
            .collect();
        let of = |part: &str| value(name, part, environment).unwrap_or_default();
        if !missing.is_empty() {
            return Err(OAuthError::MissingVariables { provider: name.clone(), variables: missing });
        }
        Ok(Self {
            client: ClientCredentials::read(name, environment)?,
            auth_url: url(name, AUTH_URL, of(AUTH_URL))?,
            token_url: url(name, TOKEN_URL, of(TOKEN_URL))?,
            scope: of(SCOPE),
            redirect_port: port(name, value(name, REDIRECT_PORT, environment))?,
            name: name.clone(),
        })
    }
}

impl ClientCredentials {
    /// # Errors
    /// One of the two is not set.
    pub(crate) fn read(name: &ProviderName, environment: &Environment) -> Result<Self, OAuthError> {
        let read = |part: &str| {
            let missing =
                || OAuthError::MissingVariables { provider: name.clone(), variables: vec![variable(name, part)] };
            environment.check(&variable(name, part))?;
            value(name, part, environment).ok_or_else(missing)
        };
        Ok(Self { id: read(CLIENT_ID)?, secret: read(CLIENT_SECRET)? })
    }
}

/// Where a provider takes refresh tokens, if its variable says so.
///
/// # Errors
/// The variable stands for a file that cannot be read.
pub(crate) fn token_url(name: &ProviderName, environment: &Environment) -> Result<Option<String>, OAuthError> {
    environment.check(&variable(name, TOKEN_URL))?;
    Ok(value(name, TOKEN_URL, environment))
}

/// The providers that have all of their variables, by name.
pub fn configured_providers(environment: &Environment) -> Vec<ProviderName> {
    let prefixes = environment.names().filter_map(|variable| variable.strip_suffix("_CLIENT_ID"));
    let mut names: Vec<ProviderName> = prefixes
        .filter_map(ProviderName::of_prefix)
        .filter(|name| REQUIRED.iter().all(|part| is_described(name, part, environment)))
        .collect();
    names.sort();
    names
}

/// Whether a variable is set: one that stands for a file which cannot be read is, too.
fn is_described(name: &ProviderName, part: &str, environment: &Environment) -> bool {
    let variable = variable(name, part);
    let is_blank = environment.get(&variable).is_some_and(|value| value.trim().is_empty());
    !is_blank && environment.names().any(|own| own == variable)
}

/// A variable that is set and not blank.
fn value(name: &ProviderName, part: &str, environment: &Environment) -> Option<String> {
    environment.get(&variable(name, part)).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn variable(name: &ProviderName, part: &str) -> String {
    format!("{}_{part}", name.prefix())
}

fn url(name: &ProviderName, part: &str, text: String) -> Result<String, OAuthError> {
    match http_client::Origin::of(&text) {
        Ok(_) if !text.contains(char::is_whitespace) => Ok(text),
        _ => Err(OAuthError::Variable { variable: variable(name, part), expected: "a URL, https://…" }),
    }
}

fn port(name: &ProviderName, text: Option<String>) -> Result<Option<u16>, OAuthError> {
    let wrong = || OAuthError::Variable { variable: variable(name, REDIRECT_PORT), expected: "a port, 1 to 65535" };
    text.map(|text| text.parse().ok().filter(|port| *port > 0).ok_or_else(wrong)).transpose()
}

#[cfg(test)]
mod tests {
    use super::{Provider, configured_providers};
    use lib_functions::ProviderName;
    use project::Environment;

    fn environment(text: &str) -> Environment {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(".env"), text).unwrap();
        Environment::load(dir.path(), []).unwrap()
    }

    fn variables(prefix: &str) -> String {
        format!(
            "{prefix}_CLIENT_ID=id\n{prefix}_CLIENT_SECRET=s3cret\n{prefix}_AUTH_URL=https://a/x?y=1\n\
             {prefix}_TOKEN_URL=https://a/t\n{prefix}_SCOPE=a b\n"
        )
    }

    #[test]
    fn a_provider_is_configured_once_it_has_all_of_its_variables() {
        let text = format!(
            "{}{}{}OTHER_CLIENT_ID=x\nA_b_CLIENT_ID=x\n",
            variables("ZED"),
            variables("MY_CRM"),
            variables("a")
        );
        let names: Vec<String> = configured_providers(&environment(&text)).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["my-crm", "zed"]);
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        let error = |text: &str| {
            let name = ProviderName::parse("my-crm").unwrap();
            Provider::read(&name, &environment(text)).err().map(|error| error.to_string()).unwrap_or_default()
        };
        assert_eq!(error(&variables("MY_CRM")), "");
        assert_eq!(
            error("MY_CRM_CLIENT_ID=x\nMY_CRM_SCOPE= \nMY_CRM_AUTH_URL=https://a\n"),
            "missing .env variables for my-crm: MY_CRM_CLIENT_SECRET, MY_CRM_TOKEN_URL, MY_CRM_SCOPE"
        );
        for (line, named) in
            [("MY_CRM_REDIRECT_PORT=70000", "MY_CRM_REDIRECT_PORT"), ("MY_CRM_TOKEN_URL=ftp://x", "MY_CRM_TOKEN_URL")]
        {
            let text = variables("MY_CRM").replace(
                "MY_CRM_TOKEN_URL=https://a/t",
                if line.contains("TOKEN") { line } else { "MY_CRM_TOKEN_URL=https://a/t" },
            );
            let shown = error(&format!("{text}{line}\n"));
            assert!(shown.starts_with(named), "{shown}");
        }
    }
}
