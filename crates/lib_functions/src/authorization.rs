//! What authorizes a lib's requests, and to where it may go (chapter 03 §3.5).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_client::{Origin, Receiver, Secrets};

use crate::auth::{Auth, AuthForm, KeyPlace, Secret};
use crate::host::Host;
use crate::{Lib, LibError, LibErrorKind};

/// The section `auth` of a lib. Variables are read when a request is made: a script may set them.
#[derive(Clone)]
pub(crate) struct Authorization {
    auth: Option<Auth>,
    receivers: Option<Vec<Receiver>>,
}

/// Why a request cannot be authorized.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub(crate) struct Unauthorized {
    message: String,
    help: String,
}

impl Authorization {
    /// # Errors
    /// A variable is not set, unless a script of the lib may set it before its first request.
    pub(crate) fn of(lib: &Lib, host: &Host) -> Result<Self, LibError> {
        let auth = lib.api.auth.clone();
        let authorization = Self { receivers: auth.as_ref().and_then(|auth| receivers(lib, auth)), auth };
        authorization.keep_secret(host);
        let may_set = lib.texts().any(|(_, text)| text.contains("env.set") || text.contains(".set("));
        match authorization.secrets(host) {
            Err(error) if !may_set || authorization.is_managed() => Err(LibError {
                kind: LibErrorKind::Failed,
                message: format!("{}: {}", lib.name, error.message),
                help: error.help,
                place: None,
            }),
            _ => Ok(authorization),
        }
    }

    /// What a request carries, and who may get it: the origin of `base_url` and the hosts that `auth` lists; without a
    /// `base_url` everyone.
    ///
    /// # Errors
    /// A variable is not set.
    pub(crate) fn secrets(&self, host: &Host) -> Result<Secrets, Unauthorized> {
        let Some(auth) = &self.auth else { return Ok(Secrets::default()) };
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
            AuthForm::Provider(_) | AuthForm::ServiceAccount { .. } => {
                return Err(Unauthorized {
                    message: "\"provider\" and \"service_account\" cannot be used by this version yet".into(),
                    help: "use \"env\", or \"user\" and \"pass\"".into(),
                });
            }
        }
        Ok(Secrets { headers, params, receivers: self.receivers.clone() })
    }

    /// Keeps out of what is printed whatever of it is known by now.
    pub(crate) fn keep_secret(&self, host: &Host) {
        for secret in self.parts() {
            // What is not there yet cannot be shown.
            let _ = value(host, secret);
        }
    }

    fn parts(&self) -> Vec<&Secret> {
        match self.auth.as_ref().map(|auth| &auth.form) {
            Some(AuthForm::Basic { user, password }) => vec![user, password],
            Some(AuthForm::Key { key, .. }) => vec![key],
            Some(AuthForm::Provider(_) | AuthForm::ServiceAccount { .. }) | None => Vec::new(),
        }
    }

    /// Whether no variable helps.
    fn is_managed(&self) -> bool {
        self.auth.is_some() && self.parts().is_empty()
    }
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
    let found = match secret {
        Secret::Literal(text) => Some(text.clone()),
        Secret::Variable(name) => host.variable(name),
    };
    match (found.filter(|value| !value.is_empty()), secret) {
        (Some(value), _) => {
            host.options().redactor.add_secret(&value);
            Ok(value)
        }
        (None, Secret::Variable(name)) => Err(Unauthorized {
            message: format!("the variable {name} of API[\"auth\"] is not set, or empty"),
            help: format!("put {name}=… into .env, or set it in the environment"),
        }),
        (None, Secret::Literal(_)) => {
            Err(Unauthorized { message: "a secret of API[\"auth\"] is empty".into(), help: "write it".into() })
        }
    }
}
