//! The section `auth` (chapter 03 §3.5): where secrets come from and how they are sent.

use starlark_syntax::codemap::Span;

use crate::ProviderName;
use crate::fields::{Fields, UnknownKey, wrong};
use crate::literal::{Entry, Literal, LiteralValue, Problem};

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
    Provider(ProviderName),
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
        let account = secret(&mut fields, "service_account")?;
        let scope = fields.optional_text("scope")?;
        let provider = provider(&mut fields)?;
        let user = secret(&mut fields, "user")?;
        let password = secret(&mut fields, "pass")?;
        let key = fields.optional_text("env")?;
        let key = key.map(|(name, span)| variable(&fields, "env", name, span)).transpose()?;
        let place = key_place(&mut fields)?;
        let hosts = hosts(&mut fields)?;
        fields.note_unknown(unknown);
        let form = match (account, provider, user, password, key) {
            (Some(file), ..) => match scope {
                Some((scope, _)) => AuthForm::ServiceAccount { file, scope },
                None => return Err(needs(&fields, "\"scope\" with \"service_account\"")),
            },
            (None, Some(provider), ..) => AuthForm::Provider(provider),
            (None, None, Some(user), Some(password), _) => AuthForm::Basic { user, password },
            (None, None, Some(_), None, _) | (None, None, None, Some(_), _) => {
                return Err(needs(&fields, "\"user\" and \"pass\" together"));
            }
            (None, None, None, None, Some(key)) => AuthForm::Key { key, place },
            (None, None, None, None, None) => {
                let forms = "one of \"env\", \"user\" with \"pass\", \"provider\", \"service_account\"";
                return Err(needs(&fields, forms));
            }
        };
        Ok(Self { form, hosts })
    }
}

fn needs(fields: &Fields, what: &str) -> Problem {
    Problem::new(format!("{} needs {what}", fields.path()), fields.span())
}

/// `{"env": "NAME"}`, or the secret itself.
fn secret(fields: &mut Fields, name: &'static str) -> Result<Option<Secret>, Problem> {
    let Some(literal) = fields.optional(name) else { return Ok(None) };
    match literal.value {
        LiteralValue::Text(text) if text.is_empty() => Err(fields.problem(name, "is empty", literal.span)),
        LiteralValue::Text(text) => Ok(Some(Secret::Literal(text))),
        LiteralValue::Dict(ref entries) => match &entries[..] {
            [Entry { name: key, value: Literal { value: LiteralValue::Text(text), span }, .. }] if key == "env" => {
                variable(fields, name, text.clone(), *span).map(Some)
            }
            _ => Err(fields.problem(name, "must be {\"env\": \"NAME\"}", literal.span)),
        },
        _ => Err(wrong(&fields.path_of(name), "{\"env\": \"NAME\"} or string", &literal)),
    }
}

fn variable(fields: &Fields, key: &str, name: String, span: Span) -> Result<Secret, Problem> {
    if name.trim().is_empty() {
        return Err(fields.problem(key, "names no variable", span));
    }
    Ok(Secret::Variable(name))
}

fn key_place(fields: &mut Fields) -> Result<KeyPlace, Problem> {
    match (fields.optional_text("header")?, fields.optional_text("param")?) {
        (Some(_), Some((_, span))) => Err(fields.problem("param", "cannot stand beside \"header\"", span)),
        (Some((header, span)), None) => match http_client::check_header(&header, "") {
            Ok(()) => Ok(KeyPlace::Header(header)),
            Err(_) => Err(fields.problem("header", "must be the name of a header, like \"X-Api-Key\"", span)),
        },
        (None, Some((parameter, _))) => Ok(KeyPlace::Parameter(parameter)),
        (None, None) => Ok(KeyPlace::Bearer),
    }
}

fn hosts(fields: &mut Fields) -> Result<Vec<String>, Problem> {
    let hosts = fields.optional_texts("hosts")?.unwrap_or_default();
    let host = |(host, span): (String, Span)| {
        let place = host.split_once("://").map_or(host.as_str(), |(_, place)| place);
        if http_client::Receiver::parse(&host).is_ok() && !place.contains(['/', '?', '#']) {
            return Ok(host);
        }
        let message = format!("{}: \"{host}\" is no host, like \"files.example.com\"", fields.path_of("hosts"));
        Err(Problem::new(message, span))
    };
    hosts.into_iter().map(host).collect()
}

fn provider(fields: &mut Fields) -> Result<Option<ProviderName>, Problem> {
    let Some((name, span)) = fields.optional_text("provider")? else { return Ok(None) };
    let wrong = "must be a name of 2 to 64 lower-case letters, digits and dashes";
    ProviderName::parse(&name).map(Some).ok_or_else(|| fields.problem("provider", wrong, span))
}
