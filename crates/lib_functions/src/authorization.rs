//! What authorizes a lib's requests, and to where it may go (chapter 03 §3.5).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_client::{Origin, Receiver, Secrets, Stop};
use types::Diagnose;

use crate::auth::{Auth, AuthForm, KeyPlace, Secret};
use crate::host::Host;
use crate::{Lib, LibError, LibErrorKind, TokenError};

/// The section `auth` of a lib. Variables are read when a request is made: a script may set them.
#[derive(Clone)]
pub(crate) struct Authorization {
    auth: Option<Auth>,
    receivers: Option<Vec<Receiver>>,
}

/// Why a request cannot be authorized: a variable is not set, or there is no token.
pub(crate) type Unauthorized = TokenError;

/// What authorizes one request.
#[derive(Default)]
pub(crate) struct Authorized {
    pub secrets: Secrets,
    /// The token in it, if another one can be got in its place.
    pub renewable: Option<String>,
}

impl Authorization {
    /// # Errors
    /// A variable is not set, unless a script of the lib may set it before its first request.
    pub(crate) fn of(lib: &Lib, host: &Host) -> Result<Self, LibError> {
        let auth = lib.api.auth.clone();
        let authorization = Self { receivers: auth.as_ref().and_then(|auth| receivers(lib, auth)), auth };
        authorization.keep_secret(host);
        let may_set = lib.texts().any(|(_, text)| text.contains("env.set") || text.contains(".set("));
        match authorization.check_variables(host) {
            Err(Unauthorized::Failed { message, help }) if !may_set => Err(LibError {
                kind: LibErrorKind::Failed,
                message: format!("{}: {message}", lib.name),
                help,
                place: None,
            }),
            _ => Ok(authorization),
        }
    }

    /// What a request to `url` carries, and who may get it: the origin of `base_url` and the hosts that `auth` lists;
    /// without a `base_url` everyone. A token that the server has `rejected` is not given again.
    ///
    /// # Errors
    /// A variable is not set, or there is no token.
    pub(crate) fn for_request(
        &self,
        host: &Host,
        url: &str,
        rejected: Option<&str>,
        stop: &Stop,
    ) -> Result<Authorized, Unauthorized> {
        let Some(auth) = &self.auth else { return Ok(Authorized::default()) };
        // Nobody is asked for a token that the request would not carry.
        if self.is_managed() && !self.may_get(url) {
            return Ok(Authorized::default());
        }
        let mut renewable = None;
        let (mut headers, mut params) = (Vec::new(), Vec::new());
        match &auth.form {
            AuthForm::Basic { user, password } => {
                let (user, password) = (value(host, user)?, value(host, password)?);
                headers.push(("Authorization".to_owned(), basic(host, &user, &password)));
            }
            AuthForm::Key { key, place } => {
                let key = value(host, key)?;
                match place {
                    KeyPlace::Bearer => headers.push(("Authorization".to_owned(), format!("Bearer {key}"))),
                    KeyPlace::Header(name) => headers.push((name.clone(), key)),
                    KeyPlace::Parameter(name) => params.push((name.clone(), key)),
                }
            }
            AuthForm::Provider(name) => {
                let variable = name.injected_variable();
                let token = match variable_of(host, &variable)?.map(|token| token.trim().to_owned()) {
                    Some(token) if !token.is_empty() => token,
                    _ => renewable.insert(tokens(host)?.provider(name, rejected, stop)?).clone(),
                };
                headers.push(bearer(host, &token));
            }
            AuthForm::ServiceAccount { file, scope } => {
                let token = tokens(host)?.service_account(&found(host, file)?, scope, rejected, stop)?;
                headers.push(bearer(host, renewable.insert(token)));
            }
        }
        if headers.iter().any(|(name, value)| http_client::check_header(name, value).is_err()) {
            return Err(unsendable(&auth.form));
        }
        Ok(Authorized { secrets: Secrets { headers, params, receivers: self.receivers.clone() }, renewable })
    }

    /// Whether a request to this URL may carry what authorizes.
    fn may_get(&self, url: &str) -> bool {
        let covers = |receivers: &Vec<Receiver>| {
            Origin::of(url).is_ok_and(|origin| receivers.iter().any(|receiver| receiver.covers(&origin)))
        };
        self.receivers.as_ref().is_none_or(covers)
    }

    /// An error if a variable is not set.
    fn check_variables(&self, host: &Host) -> Result<(), Unauthorized> {
        self.parts().into_iter().try_for_each(|secret| found(host, secret).map(drop))
    }

    /// Keeps out of what is printed whatever of it is known by now.
    pub(crate) fn keep_secret(&self, host: &Host) {
        for secret in self.parts() {
            // What is not there yet cannot be shown. Of a service account it is the name of a file.
            let _ = if self.is_managed() { Ok(String::new()) } else { value(host, secret) };
        }
    }

    fn parts(&self) -> Vec<&Secret> {
        match self.auth.as_ref().map(|auth| &auth.form) {
            Some(AuthForm::Basic { user, password }) => vec![user, password],
            Some(AuthForm::Key { key, .. }) => vec![key],
            Some(AuthForm::ServiceAccount { file, .. }) => vec![file],
            Some(AuthForm::Provider(_)) | None => Vec::new(),
        }
    }

    /// Whether its tokens come from a provider.
    pub(crate) fn is_managed(&self) -> bool {
        let form = self.auth.as_ref().map(|auth| &auth.form);
        matches!(form, Some(AuthForm::Provider(_) | AuthForm::ServiceAccount { .. }))
    }
}

/// A secret that no header can carry. It is not shown.
fn unsendable(form: &AuthForm) -> Unauthorized {
    let what = match form {
        AuthForm::Provider(name) => format!("the token of {name} (auth, or {})", name.injected_variable()),
        AuthForm::Key { key: Secret::Variable(name), .. } => format!("the variable {name} of API[\"auth\"]"),
        AuthForm::ServiceAccount { .. } | AuthForm::Basic { .. } | AuthForm::Key { .. } => {
            "the secret of API[\"auth\"]".to_owned()
        }
    };
    Unauthorized::Failed {
        message: format!(
            "{what} cannot be sent as a header: it holds a line break or another character that is none of ASCII"
        ),
        help: "store it anew, as one line and without what does not belong to it".into(),
    }
}

fn tokens(host: &Host) -> Result<&dyn crate::AccessTokens, Unauthorized> {
    host.options().tokens.as_deref().ok_or_else(|| Unauthorized::Failed {
        message: "there are no tokens of providers here".into(),
        help: "run the model with `ondatrasql run`".into(),
    })
}

/// The header of a token; it is kept secret from here on.
fn bearer(host: &Host, token: &str) -> (String, String) {
    host.options().redactor.add_secret(token);
    ("Authorization".to_owned(), format!("Bearer {token}"))
}

/// The value of a `Basic` header; it is kept secret from here on.
pub(crate) fn basic(host: &Host, user: &str, password: &str) -> String {
    let pair = STANDARD.encode(format!("{user}:{password}"));
    let redactor = &host.options().redactor;
    redactor.add_secret(password);
    redactor.add_secret(&pair);
    format!("Basic {pair}")
}

fn receivers(lib: &Lib, auth: &Auth) -> Option<Vec<Receiver>> {
    let base = lib.api.base_url.as_deref()?;
    // Both were checked when the file was read.
    let own = Origin::of(base).is_ok().then(|| Receiver::parse(base).ok()).flatten();
    let hosts = auth.hosts.iter().filter_map(|host| Receiver::parse(host).ok());
    Some(own.into_iter().chain(hosts).collect())
}

/// The value of a secret; it is kept secret from here on.
fn value(host: &Host, secret: &Secret) -> Result<String, Unauthorized> {
    let value = found(host, secret)?;
    host.options().redactor.add_secret(&value);
    Ok(value)
}

fn variable_of(host: &Host, name: &str) -> Result<Option<String>, Unauthorized> {
    host.variable(name).map_err(|error| Unauthorized::Failed { message: error.to_string(), help: error.help() })
}

/// What a secret says, or the variable that it names.
fn found(host: &Host, secret: &Secret) -> Result<String, Unauthorized> {
    let found = match secret {
        Secret::Literal(text) => Some(text.clone()),
        Secret::Variable(name) => variable_of(host, name)?,
    };
    match (found.filter(|value| !value.is_empty()), secret) {
        (Some(value), _) => Ok(value),
        (None, Secret::Variable(name)) => Err(Unauthorized::Failed {
            message: format!("the variable {name} of API[\"auth\"] is not set, or empty"),
            help: format!("put {name}=… into .env, or set it in the environment"),
        }),
        (None, Secret::Literal(_)) => {
            Err(Unauthorized::Failed { message: "a secret of API[\"auth\"] is empty".into(), help: "write it".into() })
        }
    }
}
