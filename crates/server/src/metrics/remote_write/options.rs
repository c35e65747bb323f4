//! What remote write is asked to do.

use axum::http::{HeaderName, HeaderValue, Uri};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

/// Shortest interval: a receiver keeps what it gets for years.
const EVERY_MIN: Duration = Duration::from_secs(1);
/// Headers that belong to the protocol.
const OWN_HEADERS: [&str; 7] = [
    "authorization",
    "content-encoding",
    "content-length",
    "content-type",
    "host",
    "transfer-encoding",
    "x-prometheus-remote-write-version",
];

/// Options of remote write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteWriteOptions {
    /// The receiver: `http:` or `https:`, with its path.
    pub url: String,
    /// Interval between samples, at least a second.
    pub every: Duration,
    /// File of a token, which is sent as `authorization: Bearer`; read for each request.
    pub token_file: Option<PathBuf>,
    /// Further headers.
    pub headers: Vec<(String, String)>,
    /// Labels of all series; where a series has a label of the same name, that one counts.
    pub labels: BTreeMap<String, String>,
    /// Also send native histograms.
    pub native: bool,
}

/// Reason why remote write cannot be done as asked.
#[derive(Debug, thiserror::Error)]
pub enum RemoteWriteError {
    /// The URL is none, or names no receiver.
    #[error(
        "--remote-write {0}: expected http://HOST:PORT/PATH or https://…, such as \
         https://prometheus.example/api/v1/write, without a password (--remote-write-headers)"
    )]
    Url(String),
    /// The interval is too short.
    #[error("--remote-write-every: the shortest interval is 1 s")]
    Interval,
    /// A line of the file of headers.
    #[error("--remote-write-headers: line {line}: expected NAME: VALUE")]
    Header {
        /// Number of the line, from 1.
        line: usize,
    },
    /// A header that the protocol sets.
    #[error(
        "--remote-write-headers: {0} cannot be set (a token is given with \
         --remote-write-token-file)"
    )]
    OwnHeader(String),
    /// The name of a label.
    #[error("--remote-write-label: {0:?} is no name of a label: letters, digits and _")]
    Label(String),
}

impl RemoteWriteOptions {
    /// Classic histograms to `url` every 15 s, without labels, token or headers.
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            every: Duration::from_secs(15),
            token_file: None,
            headers: Vec::new(),
            labels: BTreeMap::new(),
            native: false,
        }
    }

    /// Reads headers: one to a line, `NAME: VALUE`. Empty lines and those with `#` in front are
    /// skipped.
    ///
    /// # Errors
    /// [`RemoteWriteError::Header`] and [`RemoteWriteError::OwnHeader`] for the first wrong line.
    pub fn parse_headers(text: &str) -> Result<Vec<(String, String)>, RemoteWriteError> {
        let mut headers = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = || RemoteWriteError::Header { line: index + 1 };
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            let name = HeaderName::from_bytes(name.trim().as_bytes()).map_err(|_| wrong())?;
            let value = HeaderValue::from_str(value.trim()).map_err(|_| wrong())?;
            // A value that is not visible ASCII cannot be sent by all clients.
            let value = value.to_str().map_err(|_| wrong())?;
            if OWN_HEADERS.contains(&name.as_str()) && name != "authorization" {
                return Err(RemoteWriteError::OwnHeader(name.to_string()));
            }
            headers.push((name.to_string(), value.to_owned()));
        }
        Ok(headers)
    }

    /// Refuses what cannot be done.
    pub(crate) fn check(&self) -> Result<(), RemoteWriteError> {
        let uri = self.url.parse::<Uri>().ok();
        let is_receiver = |uri: &Uri| {
            matches!(uri.scheme_str(), Some("http" | "https"))
                && uri.authority().is_some_and(|host| !host.as_str().contains('@'))
        };
        if !uri.as_ref().is_some_and(is_receiver) {
            return Err(RemoteWriteError::Url(self.url.clone()));
        }
        if self.every < EVERY_MIN {
            return Err(RemoteWriteError::Interval);
        }
        let has_token = self.token_file.is_some();
        if has_token && self.headers.iter().any(|(name, _)| name == "authorization") {
            return Err(RemoteWriteError::OwnHeader("authorization".to_owned()));
        }
        match self.labels.keys().find(|name| !is_label(name)) {
            Some(name) => Err(RemoteWriteError::Label(name.clone())),
            None => Ok(()),
        }
    }
}

/// Names that begin with two underscores are the receiver's own.
fn is_label(name: &str) -> bool {
    let may = |(index, c): (usize, char)| {
        c == '_' || c.is_ascii_alphabetic() || index > 0 && c.is_ascii_digit()
    };
    !name.is_empty() && !name.starts_with("__") && name.chars().enumerate().all(may)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut RemoteWriteOptions)) -> Option<String> {
        let mut options = RemoteWriteOptions::new("http://127.0.0.1:9090/api/v1/write");
        change(&mut options);
        options.check().err().map(|error| error.to_string())
    }

    #[test]
    fn wrong_options_are_refused_by_name() {
        assert_eq!(refusal(|_| ()), None);
        for url in ["", "prometheus", "file:///x", "http://me:secret@host/write", "http:/x"] {
            assert!(
                refusal(|o| o.url = url.to_owned()).unwrap().contains("--remote-write "),
                "{url}"
            );
        }
        let short = refusal(|options| options.every = Duration::from_millis(999)).unwrap();
        assert!(short.contains("1 s"), "{short}");
        for name in ["", "1a", "__name__", "a-b", "ä"] {
            let change = |o: &mut RemoteWriteOptions| {
                o.labels.insert(name.to_owned(), "x".to_owned());
            };
            assert!(refusal(change).unwrap().contains("--remote-write-label"), "{name}");
        }
        let two = refusal(|options| {
            options.token_file = Some("t".into());
            options.headers = vec![("authorization".to_owned(), "Basic x".to_owned())];
        });
        assert!(two.unwrap().contains("authorization"));
    }

    #[test]
    fn headers_are_lines() {
        let text = "# of the tenant\nX-Scope-OrgID: radar\n\nAuthorization: Basic YTpi\n";
        let headers = RemoteWriteOptions::parse_headers(text).unwrap();
        let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(
            headers,
            [header("x-scope-orgid", "radar"), header("authorization", "Basic YTpi")]
        );
        for (text, expected) in [
            ("a: b\nnonsense", "line 2"),
            ("a b: c", "line 1"),
            ("a: \u{1}", "line 1"),
            ("Content-Type: text/plain", "content-type"),
        ] {
            let error = RemoteWriteOptions::parse_headers(text).unwrap_err().to_string();
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
