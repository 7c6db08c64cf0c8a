//! The section `auth` (chapter 03 §3.5): where secrets come from and how they are sent.

use crate::api::{UnknownKey, note_unknown};
use crate::fields::Fields;
use crate::literal::{Literal, LiteralValue, Problem};

/// How requests are authorized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Auth {
    /// Which form.
    pub form: AuthForm,
    /// Hosts that get the secret besides that of `base_url`.
    pub hosts: Vec<String>,
}

/// The forms, in the order of their precedence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AuthForm {
    /// A signed JWT of a service account: the key file, and the scope.
    ServiceAccount {
        /// The key file.
        file: Secret,
        /// What it asks for.
        scope: String,
    },
    /// `OAuth2` with a provider's tokens.
    Provider(String),
    /// Basic.
    Basic {
        /// The user.
        user: Secret,
        /// The password.
        password: Secret,
    },
    /// A key of the environment.
    Key {
        /// The key.
        key: Secret,
        /// Where it goes.
        place: KeyPlace,
    },
}

/// Where a key goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyPlace {
    /// `Authorization: Bearer`.
    Bearer,
    /// A header of this name, as it is.
    Header(String),
    /// A query parameter of this name.
    Parameter(String),
}

/// Where a secret comes from.
#[derive(Clone, PartialEq, Eq)]
pub enum Secret {
    /// A variable of the environment or of `.env`.
    Variable(String),
    /// It stands in the file.
    Literal(String),
}

// A literal one is a secret.
impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Variable(name) => write!(f, "Variable({name:?})"),
            Self::Literal(_) => f.write_str("Literal"),
        }
    }
}

impl Auth {
    pub(crate) fn read(mut fields: Fields, unknown: &mut Vec<UnknownKey>) -> Result<Self, Problem> {
        let account = fields.take("service_account");
        let scope = fields.text("scope")?.unwrap_or_default();
        let provider = fields.take("provider");
        let (user, password) = (fields.take("user"), fields.take("pass"));
        let key = fields.text("env")?;
        let (header, parameter) = (fields.text("header")?, fields.text("param")?);
        let hosts = fields.texts("hosts")?.unwrap_or_default();
        note_unknown(&fields, unknown);
        for (host, literal) in &hosts {
            if http_client::Receiver::parse(host).is_err() {
                return Err(fields.problem("hosts", &format!("\"{host}\" is no host"), literal));
            }
        }
        let form = match (account, provider, user, password, key) {
            (Some(account), ..) => {
                AuthForm::ServiceAccount { file: secret(&fields, "service_account", account)?, scope }
            }
            (None, Some(provider), ..) => AuthForm::Provider(provider_name(&fields, &provider)?),
            (None, None, Some(user), Some(password), _) => {
                AuthForm::Basic { user: secret(&fields, "user", user)?, password: secret(&fields, "pass", password)? }
            }
            (None, None, Some(one), None, _) | (None, None, None, Some(one), _) => {
                return Err(Problem::new("API[\"auth\"] needs \"user\" and \"pass\" together", one.span));
            }
            (None, None, None, None, Some(key)) => AuthForm::Key {
                key: Secret::Variable(key),
                place: match (header, parameter) {
                    (Some(header), _) => KeyPlace::Header(header),
                    (None, Some(parameter)) => KeyPlace::Parameter(parameter),
                    (None, None) => KeyPlace::Bearer,
                },
            },
            (None, None, None, None, None) => {
                let message =
                    "API[\"auth\"] needs one of \"env\", \"user\" with \"pass\", \"provider\", \"service_account\"";
                return Err(Problem::new(message, fields.span()));
            }
        };
        Ok(Self { form, hosts: hosts.into_iter().map(|(host, _)| host).collect() })
    }
}

/// `{"env": "NAME"}`, or the secret itself.
fn secret(fields: &Fields, name: &str, literal: Literal) -> Result<Secret, Problem> {
    match &literal.value {
        LiteralValue::Text(text) => Ok(Secret::Literal(text.clone())),
        LiteralValue::Dict(entries) => match &entries[..] {
            [(key, Literal { value: LiteralValue::Text(variable), .. })] if key == "env" => {
                Ok(Secret::Variable(variable.clone()))
            }
            _ => Err(fields.problem(name, "must be {\"env\": \"NAME\"}", &literal)),
        },
        _ => Err(fields.problem(name, "must be {\"env\": \"NAME\"} or a string", &literal)),
    }
}

/// `[a-z0-9][a-z0-9-]*[a-z0-9]`, 2 to 64 characters.
fn provider_name(fields: &Fields, literal: &Literal) -> Result<String, Problem> {
    let is_name = |name: &str| {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
        (2..=64).contains(&name.len())
            && name.chars().all(|c| inner(c) || c == '-')
            && name.starts_with(inner)
            && name.ends_with(inner)
    };
    match &literal.value {
        LiteralValue::Text(name) if is_name(name) => Ok(name.clone()),
        _ => {
            Err(fields.problem("provider", "must be a name of 2 to 64 lower-case letters, digits and dashes", literal))
        }
    }
}
