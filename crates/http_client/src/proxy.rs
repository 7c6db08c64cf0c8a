//! Which way a request takes: straight, through a tunnel, or handed to a proxy.

use crate::url::{Origin, split_port};
use crate::{ClientOptions, HttpError};
use std::net::IpAddr;
use ureq::http::Uri;
use ureq::{Proxy, ProxyProtocol};

/// The way to an origin.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Route {
    Direct,
    /// The proxy connects to the origin and sees nothing more.
    Tunnel(Proxy),
    /// The proxy gets the request, with the whole URL in its first line (RFC 9112 §3.2.2). Most proxies allow tunnels
    /// to port 443 only.
    Forward(Proxy),
}

impl Route {
    /// Chooses the way to `origin`.
    pub(crate) fn to(origin: &Origin, options: &ClientOptions) -> Result<Self, HttpError> {
        let (scheme, proxy) =
            if origin.secure { ("https", &options.https_proxy) } else { ("http", &options.http_proxy) };
        let Some(proxy) = proxy.as_deref().map(str::trim).filter(|proxy| !proxy.is_empty()) else {
            return Ok(Self::Direct);
        };
        if is_excepted(origin, &options.no_proxy) {
            return Ok(Self::Direct);
        }
        let invalid = |reason| HttpError::InvalidProxy { scheme, reason };
        let proxy = Proxy::new(proxy).map_err(|_| invalid("its URL cannot be read"))?;
        Ok(match proxy.protocol() {
            ProxyProtocol::Http if !origin.secure => Self::Forward(proxy),
            _ => Self::Tunnel(proxy),
        })
    }
}

/// The URL of a proxy that requests are handed to.
pub(crate) fn place(proxy: &Proxy) -> Option<Uri> {
    format!("http://{}:{}/", proxy.host(), proxy.port()).parse().ok()
}

/// Whether an origin is asked directly though there is a proxy.
fn is_excepted(origin: &Origin, exceptions: &str) -> bool {
    let host = origin.host.trim_matches(['[', ']']);
    let address: Option<IpAddr> = host.parse().ok();
    exceptions.split(',').map(str::trim).filter(|one| !one.is_empty()).any(|one| {
        if one == "*" {
            return true;
        }
        if let (Some(address), Some(covers)) = (address, network(one)) {
            return covers(address);
        }
        // An IPv6 address without brackets is no host with a port.
        let (name, port) =
            if one.parse::<IpAddr>().is_ok() { (one, None) } else { split_port(one).unwrap_or((one, None)) };
        let port_fits = port.is_none_or(|port| port.parse() == Ok(origin.port));
        port_fits && covers_name(name, host, address)
    })
}

fn covers_name(name: &str, host: &str, address: Option<IpAddr>) -> bool {
    let name = name.trim_matches(['[', ']']);
    if let Some(address) = address {
        return name.parse() == Ok(address);
    }
    let name = name.trim_start_matches('*').trim_start_matches('.').to_ascii_lowercase();
    host == name || host.strip_suffix(&name).is_some_and(|rest| !name.is_empty() && rest.ends_with('.'))
}

/// `10.0.0.0/8` as a question about addresses.
fn network(text: &str) -> Option<impl Fn(IpAddr) -> bool + use<>> {
    let (base, length) = text.split_once('/')?;
    let (base, length): (IpAddr, u32) = (base.parse().ok()?, length.parse().ok()?);
    Some(move |address: IpAddr| match (base, address) {
        (IpAddr::V4(base), IpAddr::V4(address)) => {
            same_start(u32::from(base).into(), u32::from(address).into(), length, 32)
        }
        (IpAddr::V6(base), IpAddr::V6(address)) => same_start(base.into(), address.into(), length, 128),
        _ => false,
    })
}

/// Whether two numbers of `bits` bits have the same first `length` bits.
fn same_start(one: u128, other: u128, length: u32, bits: u32) -> bool {
    length <= bits && (one ^ other).checked_shr(bits - length).unwrap_or(0) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exceptions_cover_names_addresses_and_networks() {
        for (exceptions, url, excepted) in [
            ("", "http://a", false),
            ("*", "http://a", true),
            ("b, a", "http://a", true),
            ("a.test", "http://A.TEST:81", true),
            ("a.test", "http://x.a.test", true),
            (".a.test", "http://x.a.test", true),
            ("*.a.test", "http://x.a.test", true),
            ("a.test", "http://xa.test", false),
            ("x.a.test", "http://a.test", false),
            ("a.test:81", "http://a.test:81", true),
            ("a.test:81", "http://a.test", false),
            ("127.0.0.1", "http://127.0.0.1:99", true),
            ("127.0.0.1:99", "http://127.0.0.1:98", false),
            ("10.0.0.0/8", "http://10.1.2.3", true),
            ("10.0.0.0/8", "http://11.1.2.3", false),
            ("0.0.0.0/0", "http://11.1.2.3", true),
            ("10.0.0.0/99", "http://10.0.0.0", false),
            ("::1", "http://[::1]:99", true),
            ("[::1]:99", "http://[::1]:99", true),
            ("fe80::/10", "http://[fe80::1]", true),
            ("0.0.1", "http://127.0.0.1", false),
        ] {
            assert_eq!(is_excepted(&Origin::of(url).unwrap(), exceptions), excepted, "{exceptions} {url}");
        }
    }

    #[test]
    fn the_way_depends_on_the_scheme_and_the_proxy() {
        let options = ClientOptions {
            http_proxy: Some("http://u:p@proxy:3128".to_owned()),
            https_proxy: Some("socks5h://socks".to_owned()),
            no_proxy: "near".to_owned(),
            ..ClientOptions::default()
        };
        let route = |url| Route::to(&Origin::of(url).unwrap(), &options).unwrap();
        assert!(matches!(route("http://a"), Route::Forward(_)));
        assert!(matches!(route("https://a"), Route::Tunnel(_)));
        assert_eq!(route("http://near"), Route::Direct);
        let options = ClientOptions { http_proxy: Some("ftp://u:secret@x".to_owned()), ..ClientOptions::default() };
        let message = Route::to(&Origin::of("http://a").unwrap(), &options).unwrap_err().to_string();
        assert!(!message.contains("secret"), "{message}");
    }
}
