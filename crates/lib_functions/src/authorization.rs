//! The secrets of a lib, resolved before its first request (chapter 03 §3.5).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_client::{Origin, Receiver, Secrets};

use crate::auth::{Auth, AuthForm, KeyPlace, Secret};
use crate::host::Host;
use crate::{Lib, LibError, LibErrorKind};

/// What authorizes a lib's requests, and to where it may go: the origin of `base_url` and the hosts that `auth` lists;
/// without a `base_url` everywhere.
pub(crate) fn resolve(lib: &Lib, host: &Host) -> Result<Secrets, LibError> {
    let Some(auth) = &lib.api.auth else { return Ok(Secrets::default()) };
    let (headers, params) = match &auth.form {
        AuthForm::Basic { user, password } => {
            let (user, password) = (value(lib, host, user)?, value(lib, host, password)?);
            (vec![("Authorization".to_owned(), basic(host, &user, &password))], Vec::new())
        }
        AuthForm::Key { key, place } => {
            let key = value(lib, host, key)?;
            match place {
                KeyPlace::Bearer => (vec![("Authorization".to_owned(), format!("Bearer {key}"))], Vec::new()),
                KeyPlace::Header(name) => (vec![(name.clone(), key)], Vec::new()),
                KeyPlace::Parameter(name) => (Vec::new(), vec![(name.clone(), key)]),
            }
        }
        AuthForm::Provider(_) | AuthForm::ServiceAccount { .. } => {
            let message =
                format!("{}: \"provider\" and \"service_account\" cannot be used by this version yet", lib.name);
            return Err(failed(message, "use \"env\", or \"user\" and \"pass\""));
        }
    };
    Ok(Secrets { headers, params, receivers: receivers(lib, auth) })
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

fn value(lib: &Lib, host: &Host, secret: &Secret) -> Result<String, LibError> {
    let found = match secret {
        Secret::Literal(text) => Some(text.clone()),
        Secret::Variable(name) => host.variable(name),
    };
    match (found.filter(|value| !value.is_empty()), secret) {
        (Some(value), _) => {
            host.options().redactor.add_secret(&value);
            Ok(value)
        }
        (None, Secret::Variable(name)) => Err(failed(
            format!("{}: the variable {name} of API[\"auth\"] is not set, or empty", lib.name),
            &format!("put {name}=… into .env, or set it in the environment"),
        )),
        (None, Secret::Literal(_)) => {
            Err(failed(format!("{}: a secret of API[\"auth\"] is empty", lib.name), "write it"))
        }
    }
}

fn failed(message: String, help: &str) -> LibError {
    LibError { kind: LibErrorKind::Failed, message, help: help.into(), place: None }
}
