//! `state serve`: the state file for several workers, over Quack.

use std::net::{IpAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use engine::Connection;
use types::{Code, literal};

use crate::migrations::migrate;
use crate::open::{StateConfig, check_is_file, session};
use crate::sql_store::local;
use crate::{StateError, backend};

/// Shortest token that a server takes.
const TOKEN_CHARS_MIN: usize = 16;
/// How long somebody who listens may take to be noticed.
const PROBE: Duration = Duration::from_secs(1);
/// Pause between two looks at whether to stop.
const STOP_PAUSE: Duration = Duration::from_millis(100);

/// How to serve.
pub struct ServeOptions {
    /// Where: `host:port`.
    pub listen: String,
    /// The secret that clients must know.
    pub token: String,
    /// The variable that holds it, for texts.
    pub token_variable: String,
}

/// A server that has begun.
pub struct Served {
    /// Where it listens.
    pub listen: String,
    /// The line for the workers' `config/state.sql`.
    pub attach: String,
    /// Whether machines other than this one can reach it.
    pub is_public: bool,
}

/// Serves the state file until `is_stopped`.
pub fn serve(
    config: &StateConfig,
    options: &ServeOptions,
    started: impl FnOnce(&Served),
    is_stopped: impl Fn() -> bool,
) -> Result<(), StateError> {
    check_is_file(config, Code::StateServe, "serve")?;
    check_token(options)?;
    let (host, port) = address(&options.listen)?;
    check_is_free(&options.listen)?;
    let (instance, _) = session(config, &["quack"])?;
    let mut file = backend::File::new(instance).map_err(local)?;
    migrate(&mut file)?;
    let instance = file.into_instance();
    let connection = &instance.connection;
    let is_public = !is_local(host);
    let uri = format!("quack:{}", options.listen);
    // Who has the token may run any SQL here: it must not reach beyond the state.
    connection.execute("SET enable_external_access = false").map_err(local)?;
    let call = format!(
        "CALL quack_serve({}, token => {}{})",
        literal(&uri),
        literal(&options.token),
        if is_public { ", allow_other_hostname => true" } else { "" }
    );
    connection.execute(&call).map_err(|error| cannot_listen(&options.listen, &error.cleaned()))?;
    connection.execute("SET lock_configuration = true").map_err(local)?;
    let shown = if host == "0.0.0.0" || host == "[::]" { machine() } else { host.to_owned() };
    // Clients speak TLS to other machines unless they are told that this server does not.
    let plain = if is_public { ", DISABLE_SSL true" } else { "" };
    started(&Served {
        listen: options.listen.clone(),
        attach: format!(
            "ATTACH 'quack:{shown}:{port}' AS state (TYPE quack, TOKEN '${{{}}}'{plain});",
            options.token_variable
        ),
        is_public,
    });
    while !is_stopped() {
        std::thread::sleep(STOP_PAUSE);
    }
    stop(connection, &uri)
}

/// An error if somebody listens there already: the engine's server would share the port with another of its kind, and
/// workers would come to one of the two by chance.
fn check_is_free(listen: &str) -> Result<(), StateError> {
    // Where a server was killed the port cannot be bound for a while, by us: only its engine shares it with the dead.
    let addresses = listen.replace("0.0.0.0", "127.0.0.1").replace("[::]", "[::1]").to_socket_addrs();
    let mut addresses = addresses.map_err(|error| cannot_listen(listen, &error.to_string()))?;
    if addresses.any(|address| TcpStream::connect_timeout(&address, PROBE).is_ok()) {
        return Err(cannot_listen(listen, "another server listens there"));
    }
    Ok(())
}

fn cannot_listen(listen: &str, cause: &str) -> StateError {
    let help = "choose another port with --listen localhost:PORT";
    StateError::refused(Code::StateServe, format!("listen on {listen}: {cause}"), help)
}

fn stop(connection: &Connection, uri: &str) -> Result<(), StateError> {
    let stop = format!("CALL quack_stop({}); CHECKPOINT state", literal(uri));
    connection.execute(&stop).map_err(|error| StateError::Write { message: error.cleaned() })
}

fn check_token(options: &ServeOptions) -> Result<(), StateError> {
    let variable = &options.token_variable;
    let refused = |message: String| {
        StateError::refused(
            Code::StateServe,
            message,
            format!("add `{variable}=` and what `openssl rand -hex 32` prints to .env, here and where the workers run"),
        )
    };
    match options.token.chars().count() {
        0 => Err(refused(format!("the token is empty: {variable} is not defined"))),
        short if short < TOKEN_CHARS_MIN => {
            Err(refused(format!("the token in {variable} has {short} characters, it needs at least {TOKEN_CHARS_MIN}")))
        }
        _ => Ok(()),
    }
}

/// Host and port of `host:port`.
fn address(listen: &str) -> Result<(&str, u16), StateError> {
    let is_host = |host: &str| !host.is_empty() && !host.contains(['\'', '/', ' ', '*']);
    let parts = listen.rsplit_once(':').filter(|(host, _)| is_host(host));
    parts.and_then(|(host, port)| Some((host, port.parse().ok().filter(|&port| port > 0)?))).ok_or_else(|| {
        StateError::refused(
            Code::StateServe,
            format!("`{listen}` is not host:port"),
            "write for example --listen localhost:9494",
        )
    })
}

/// An error unless `listen` is `host:port`.
pub fn check_address(listen: &str) -> Result<(), StateError> {
    address(listen).map(drop)
}

/// This machine's name.
fn machine() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

fn is_local(host: &str) -> bool {
    let address = host.trim_matches(['[', ']']);
    host.eq_ignore_ascii_case("localhost") || address.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::{address, is_local};

    #[test]
    fn addresses_are_host_and_port() {
        assert_eq!(address("localhost:9494").unwrap(), ("localhost", 9494));
        assert_eq!(address("[::1]:1").unwrap(), ("[::1]", 1));
        for wrong in ["localhost", ":9494", "localhost:0", "localhost:x", "a b:1", "localhost:99999", "", "*:9494"] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
        assert!(["localhost", "LOCALHOST", "127.0.0.2", "[::1]"].into_iter().all(is_local));
        assert!(!is_local("0.0.0.0") && !is_local("example.com"));
    }
}
