//! Requests to APIs: retries, rate limits, redirects, digest, bounded bodies (chapter 03 §3.3 *http*).
//!
//! Boundary: knows nothing of scripts, models or tables; reads no environment variable and prints nothing.

mod attempt;
mod client;
mod decode;
mod digest;
mod error;
mod exchange;
mod header_names;
mod headers;
mod limiter;
mod links;
mod options;
mod payload;
mod proxy;
mod redact;
mod request;
mod response;
mod retry;
mod stop;
mod transport;
mod url;

pub use client::Client;
pub use error::{Cause, HttpError};
pub use headers::check_header;
pub use limiter::RateLimiter;
pub use links::links;
pub use options::ClientOptions;
pub use request::{Body, ClientTls, Credentials, Method, Request, Secrets};
pub use response::Response;
pub use stop::Stop;
pub use url::{Origin, Receiver, form, join};
