//! The client against real servers on the loopback address, one test for each promise.
#![allow(clippy::unwrap_used)]

mod bodies;
mod connections;
mod credentials;
mod digest;
mod hostile;
mod limits;
mod proxies;
mod redirects;
mod requests;
mod retries;
mod tls;

use http_client::{Client, ClientOptions, HttpError, Method, Request, Response, Stop};
use std::time::Duration;

/// A client without proxies.
fn client() -> Client {
    Client::new(ClientOptions { user_agent: "OndatraSQL/1.0".to_owned(), ..ClientOptions::default() })
}

fn get(url: &str) -> Request {
    Request { backoff: Duration::ZERO, timeout: Duration::from_secs(20), ..Request::new(Method::Get, url) }
}

fn send(request: &Request) -> Result<Response, HttpError> {
    client().send(request, &Stop::never())
}

/// What a request fails with, as people read it.
fn failure(request: &Request) -> String {
    send(request).unwrap_err().to_string()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}
