//! Protection of a server against requests that foreign pages send through a browser.
//!
//! A page of any origin can make a browser send requests to every port that the browser reaches,
//! loopback among them. Two checks keep such a page out:
//!
//! * **Host.** A page may give its own name the address of our port (DNS rebinding); then the
//!   browser takes our answers for the page's own. Its requests carry that name in `Host` (HTTP/2:
//!   `:authority`). Answered are requests to an IP address, to `localhost` and to names that the
//!   operator has given; others get 421.
//! * **Origin.** A request that writes, or opens a WebSocket, and carries an `Origin` is answered
//!   if that is the host of the request, or one that the operator has given; others get 403. A
//!   client that is no browser sends no `Origin`.
//!
//! ```
//! use axum::http::{Request, StatusCode};
//! use chronoscope_origin::AllowedHosts;
//! let allowed = AllowedHosts::new(["collector.example".to_owned()], "--allow-host");
//! let to = |host: &str| Request::get("/").header("host", host).body(()).unwrap();
//! assert!(allowed.check(&to("127.0.0.1:4318")).is_ok());
//! assert!(allowed.check(&to("collector.example")).is_ok());
//! let refused = allowed.check(&to("attacker.example")).unwrap_err();
//! assert_eq!(refused.status(), StatusCode::MISDIRECTED_REQUEST);
//! ```
//!
//! An IP address needs no list: only a name can be given another address. Not here: authorisation
//! (tokens), CORS (no page of another origin may read anything).

use axum::extract::{Request as AxumRequest, State};
use axum::http::header::{HOST, ORIGIN, UPGRADE};
use axum::http::uri::Authority;
use axum::http::{HeaderValue, Method, Request, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

/// Longest part of a refused header in a message, in letters.
const SAID_MAX: usize = 100;

/// Names by which a server may be requested, beside `localhost` and every IP address.
#[derive(Clone, Debug, Default)]
pub struct AllowedHosts {
    names: Arc<BTreeSet<String>>,
    /// Option by which an operator gives further names, for the refusal's text.
    option: &'static str,
}

/// Reasons why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The requested name is not one of this server's.
    #[error("this server does not have the name {0:?}: use its address, or add the name with {1}")]
    Host(String, &'static str),
    /// The request changes state and comes from a page of another origin.
    #[error("a page of another origin ({0:?}) is not allowed to send this request")]
    Origin(String),
}

impl Refused {
    /// 421 for a host, 403 for an origin.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::Host(..) => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin(_) => StatusCode::FORBIDDEN,
        }
    }
}

impl AllowedHosts {
    /// Allowed host names without ports; upper and lower case are equal. `option` is the
    /// command-line option that sets them; a refusal names it.
    pub fn new(names: impl IntoIterator<Item = String>, option: &'static str) -> Self {
        let names = names.into_iter().map(|name| name.to_ascii_lowercase()).collect();
        Self { names: Arc::new(names), option }
    }

    /// Whether no name was given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Whether a request is answered.
    ///
    /// # Errors
    /// [`Refused`]: the first check that does not hold.
    pub fn check<B>(&self, request: &Request<B>) -> Result<(), Refused> {
        self.check_host(request)?;
        self.check_origin(request)
    }

    /// Whether a request went to a name of this server. One that names no host is none of a
    /// browser.
    ///
    /// # Errors
    /// [`Refused::Host`].
    pub fn check_host<B>(&self, request: &Request<B>) -> Result<(), Refused> {
        let refused = |host: &str| {
            let host = host.chars().take(SAID_MAX).collect();
            Refused::Host(host, self.option)
        };
        if let Some(authority) = request.uri().authority()
            && !self.is_allowed(authority.as_str())
        {
            return Err(refused(authority.as_str()));
        }
        for value in request.headers().get_all(HOST) {
            let host = value.to_str().unwrap_or("?");
            if !self.is_allowed(host) {
                return Err(refused(host));
            }
        }
        Ok(())
    }

    /// Whether a request that changes something, or opens a WebSocket, comes from a page of this
    /// server or from no page.
    ///
    /// # Errors
    /// [`Refused::Origin`].
    pub fn check_origin<B>(&self, request: &Request<B>) -> Result<(), Refused> {
        let reads = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
        if reads && !request.headers().contains_key(UPGRADE) {
            return Ok(());
        }
        let host = request.uri().authority().map(Authority::as_str);
        let host = host.or_else(|| request.headers().get(HOST)?.to_str().ok());
        let is_own = |origin: &HeaderValue| {
            let (_, origin) = origin.to_str().ok()?.split_once("://")?;
            let is_same = host.is_some_and(|host| host.eq_ignore_ascii_case(origin));
            Some(is_same || self.is_named(origin))
        };
        match request.headers().get_all(ORIGIN).iter().find(|one| is_own(one) != Some(true)) {
            None => Ok(()),
            Some(origin) => {
                let origin = String::from_utf8_lossy(origin.as_bytes());
                Err(Refused::Origin(origin.chars().take(SAID_MAX).collect()))
            }
        }
    }

    fn is_allowed(&self, authority: &str) -> bool {
        let Some(host) = host(authority) else { return false };
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        // RFC 6761 §6.3: names below localhost are loopback addresses, which cannot be reassigned.
        bare.parse::<IpAddr>().is_ok()
            || host == "localhost"
            || host.ends_with(".localhost")
            || self.names.contains(&host)
    }

    fn is_named(&self, authority: &str) -> bool {
        host(authority).is_some_and(|host| self.names.contains(&host))
    }
}

/// The host of `host:port`, in lower case; `None` where it is none.
fn host(authority: &str) -> Option<String> {
    let authority: Authority = authority.parse().ok()?;
    // A user's name before the host is no part of a Host header (RFC 9110 §7.2).
    if authority.as_str().contains('@') {
        return None;
    }
    Some(authority.host().trim_end_matches('.').to_ascii_lowercase())
}

/// The layer for a server without tokens: refuses with a status and a line of text.
pub async fn only_own_pages(
    State(allowed): State<AllowedHosts>,
    request: AxumRequest,
    next: Next,
) -> Response {
    match allowed.check(&request) {
        Ok(()) => next.run(request).await,
        Err(refused) => (refused.status(), format!("{refused}\n")).into_response(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic

    use super::*;

    fn allowed() -> AllowedHosts {
        AllowedHosts::new(["Collector.example".to_owned()], "--allow-host")
    }

    fn request(method: Method, headers: &[(&str, &str)]) -> Request<()> {
        let mut request = Request::builder().method(method).uri("/v1/traces");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.body(()).unwrap()
    }

    #[test]
    fn a_name_that_is_not_ours_is_refused() {
        let to = |host: &str| allowed().check(&request(Method::GET, &[("host", host)]));
        for host in [
            "localhost",
            "LOCALHOST:80",
            "a.localhost",
            "127.0.0.1:1",
            "10.1.2.3",
            "[::1]:4318",
            "collector.example",
            "COLLECTOR.example.:9",
        ] {
            assert_eq!(to(host), Ok(()), "{host}");
        }
        for host in [
            "attacker.example",
            "attacker.example:4318",
            "127.0.0.1.attacker.example",
            "localhost.attacker.example",
            "127.0.0.1@attacker.example",
            "attacker@127.0.0.1",
            "notlocalhost",
            "",
            "a b",
        ] {
            assert!(matches!(to(host), Err(Refused::Host(..))), "{host}");
        }
        assert_eq!(allowed().check(&request(Method::GET, &[])), Ok(()), "HTTP/1.0, no browser");
    }

    #[test]
    fn every_host_that_a_request_names_is_looked_at() {
        let two = request(Method::GET, &[("host", "localhost"), ("host", "attacker.example")]);
        assert!(allowed().check(&two).is_err());
        let mut absolute = request(Method::GET, &[("host", "localhost")]);
        *absolute.uri_mut() = "http://attacker.example/".parse().unwrap();
        assert!(allowed().check(&absolute).is_err());
    }

    #[test]
    fn a_page_of_another_origin_writes_nothing_and_opens_no_socket() {
        let host = ("host", "localhost:80");
        let posts =
            |origin: &str| allowed().check(&request(Method::POST, &[host, ("origin", origin)]));
        assert_eq!(posts("http://localhost:80"), Ok(()));
        assert_eq!(posts("https://collector.example"), Ok(()), "a given name");
        for origin in ["http://attacker.example", "http://localhost:81", "null", ""] {
            assert!(matches!(posts(origin), Err(Refused::Origin(_))), "{origin}");
        }
        assert_eq!(allowed().check(&request(Method::POST, &[host])), Ok(()), "no browser");
        let foreign = ("origin", "http://attacker.example");
        assert_eq!(allowed().check(&request(Method::GET, &[host, foreign])), Ok(()));
        let socket = [host, foreign, ("upgrade", "websocket")];
        assert!(allowed().check(&request(Method::GET, &socket)).is_err());
    }
}
