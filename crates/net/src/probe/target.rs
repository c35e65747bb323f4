//! What is asked, in words: `udp:HOST:PORT`, `tcp:HOST:PORT`, `connect:HOST:PORT`.

use std::fmt;
use std::str::FromStr;

/// What is asked, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Our own echo, by datagrams ([`super::echo`]).
    Udp(Peer),
    /// Our own echo, over a connection that is kept.
    Tcp(Peer),
    /// Only the making of a TCP connection, each time a new one.
    Connect(Peer),
}

/// A host, by name or address, and its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// A name, an IPv4 address, or an IPv6 address without its brackets.
    pub host: String,
    /// In [1, 65535].
    pub port: u16,
}

/// Why words name no target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no target: {why}")]
pub struct TargetError {
    /// What was written.
    pub text: String,
    /// What is wrong with it, and what is expected.
    pub why: String,
}

/// Longest host name, in octets (RFC 1035 §2.3.4).
const NAME_OCTETS_MAX: usize = 255;

impl Target {
    /// The kind, as it is stored and shown.
    #[must_use]
    pub const fn by(&self) -> &'static str {
        match self {
            Self::Udp(_) => "udp",
            Self::Tcp(_) => "tcp",
            Self::Connect(_) => "connect",
        }
    }

    /// The host that is asked, as it was written.
    #[must_use]
    pub fn host(&self) -> &str {
        match self {
            Self::Udp(peer) | Self::Tcp(peer) | Self::Connect(peer) => &peer.host,
        }
    }
}

impl FromStr for Target {
    type Err = TargetError;

    fn from_str(text: &str) -> Result<Self, TargetError> {
        let wrong = |why: String| TargetError { text: text.to_owned(), why };
        let (kind, rest) = text.split_once(':').ok_or_else(|| wrong(kinds()))?;
        match kind {
            "udp" => rest.parse().map(Self::Udp),
            "tcp" => rest.parse().map(Self::Tcp),
            "connect" => rest.parse().map(Self::Connect),
            _ => Err(kinds()),
        }
        .map_err(wrong)
    }
}

fn kinds() -> String {
    "expected udp:HOST:PORT, tcp:HOST:PORT or connect:HOST:PORT".to_owned()
}

impl FromStr for Peer {
    /// What is wrong with it.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, rest)) => (host, rest.strip_prefix(':')),
            None => text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        let port = port.ok_or("its port is missing: expected HOST:PORT")?;
        let port = port.parse().ok().filter(|port| *port > 0);
        let port = port.ok_or("its port is no number from 1 to 65535")?;
        Ok(Self { host: host_of(host, text.starts_with('['))?, port })
    }
}

/// A host without its port.
fn host_of(host: &str, bracketed: bool) -> Result<String, String> {
    if host.is_empty() {
        return Err("its host is missing".to_owned());
    }
    if bracketed || host.contains(':') {
        let address = host.parse::<std::net::Ipv6Addr>();
        let is_written_so = bracketed && address.is_ok();
        return is_written_so
            .then(|| host.to_owned())
            .ok_or_else(|| format!("{host} is no IPv6 address in brackets, such as [::1]"));
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if host.len() > NAME_OCTETS_MAX || !host.chars().all(is_name) {
        return Err(format!("{host:?} is no host name or address"));
    }
    Ok(host.to_owned())
}

impl fmt::Display for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(peer) | Self::Tcp(peer) | Self::Connect(peer) => {
                write!(f, "{}:{peer}", self.by())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_and_written_again() {
        for text in ["udp:host:9", "tcp:10.0.0.1:65535", "connect:[::1]:80", "udp:a.b-c_d:1"] {
            assert_eq!(text.parse::<Target>().unwrap().to_string(), text);
        }
        let target: Target = "tcp:[fe80::1]:7".parse().unwrap();
        assert_eq!((target.by(), target.host()), ("tcp", "fe80::1"));
    }

    #[test]
    fn what_is_no_target_is_said() {
        let said = |text: &str| text.parse::<Target>().unwrap_err().to_string();
        assert_eq!(
            said("host"),
            "\"host\" is no target: expected udp:HOST:PORT, tcp:HOST:PORT or connect:HOST:PORT"
        );
        assert!(said("ftp:host:21").contains("expected udp:"));
        assert!(said("udp:host").contains("port is missing"));
        for port in ["0", "65536", "x", "", "-1", "+"] {
            assert!(said(&format!("udp:host:{port}")).contains("1 to 65535"), "{port}");
        }
        assert!(said("udp::9").contains("host is missing"));
        assert!(said("udp:::1:9").contains("in brackets"));
        assert!(said("udp:[host]:9").contains("in brackets"));
        assert!(said("udp:a b:9").contains("no host name"));
        assert!(said("udp:[::1]9").contains("port is missing"));
        assert!(said(&format!("udp:{}:9", "a".repeat(256))).contains("no host name"));
    }
}
