//! Targets of probes as text: `udp:HOST:PORT`, `http://HOST/PATH`, `dns:SERVER/NAME` and the like.

use super::rpc::{PORT_MAPPER, Program};
use std::fmt;
use std::str::FromStr;

/// Target of a probe: address and protocol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// Our own echo, by datagrams ([`super::echo`]).
    Udp(Peer),
    /// Our own echo, over a connection that is kept.
    Tcp(Peer),
    /// Only the making of a TCP connection, each time a new one.
    Connect(Peer),
    /// GET of a path over HTTP/1.1, on a kept connection.
    Http(Peer, String),
    /// Query of a name's IPv4 address, by UDP.
    Dns(Peer, String),
    /// Get of `sysUpTime.0` by SNMP version 2c, with a community.
    Snmp(Peer, String),
    /// Retrieval of a file by FTP, as anonymous, on a kept control connection.
    Ftp(Peer, String),
    /// Call of procedure 0 of a program by Sun's remote procedure calls, by UDP; at the port mapper's
    /// port, that is asked for the program's first.
    Rpc(Peer, Program),
    /// ICMP echo of a host.
    Icmp(String),
    /// A program with its arguments, which asks in our place (its protocol:
    /// `docs/net-rtt.md`). Only for a command line: whoever writes it runs programs here.
    Exec(String),
}

/// A host, by name or address, and its port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// A name, an IPv4 address, or an IPv6 address without its brackets.
    pub host: String,
    /// In [1, 65535].
    pub port: u16,
}

/// The text is not a target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not a valid target: {why}")]
pub struct TargetError {
    /// The text.
    pub text: String,
    /// The fault, and the expected form.
    pub why: String,
}

/// Longest host name, in octets (RFC 1035 §2.3.4).
const NAME_OCTETS_MAX: usize = 255;
/// Longest path of a GET, in octets.
const PATH_OCTETS_MAX: usize = 2048;
/// Longest community, in octets.
const COMMUNITY_OCTETS_MAX: usize = 64;

impl Target {
    /// Name of the kind, as stored and shown.
    #[must_use]
    pub const fn by(&self) -> &'static str {
        match self {
            Self::Udp(_) => "udp",
            Self::Tcp(_) => "tcp",
            Self::Connect(_) => "connect",
            Self::Http(..) => "http",
            Self::Dns(..) => "dns",
            Self::Snmp(..) => "snmp",
            Self::Ftp(..) => "ftp",
            Self::Rpc(..) => "rpc",
            Self::Icmp(_) => "icmp",
            Self::Exec(_) => "exec",
        }
    }

    /// Whether a connection is kept from one request to the next.
    #[must_use]
    pub const fn keeps_connection(&self) -> bool {
        matches!(self, Self::Tcp(_) | Self::Http(..) | Self::Ftp(..))
    }

    /// Host of the target, as written; for a program its file name.
    #[must_use]
    pub fn host(&self) -> &str {
        match self {
            Self::Udp(peer)
            | Self::Tcp(peer)
            | Self::Connect(peer)
            | Self::Http(peer, _)
            | Self::Dns(peer, _)
            | Self::Snmp(peer, _)
            | Self::Ftp(peer, _)
            | Self::Rpc(peer, _) => &peer.host,
            Self::Icmp(host) => host,
            Self::Exec(line) => {
                let program = line.split_whitespace().next().unwrap_or(line);
                program.rsplit('/').next().unwrap_or(program)
            }
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
            "http" => http(rest),
            "dns" => dns(rest),
            "snmp" => snmp(rest),
            "ftp" => ftp(rest),
            "rpc" => rpc(rest),
            "icmp" => host(rest).map(Self::Icmp),
            "exec" => super::exec::words(rest).map(|_| Self::Exec(rest.trim().to_owned())),
            "https" => Err("TLS is not supported: connect:HOST:443 measures the TCP connection; \
             exec:PROGRAM measures any request that a program can make"
                .to_owned()),
            _ => Err(kinds()),
        }
        .map_err(wrong)
    }
}

fn kinds() -> String {
    "expected udp:HOST:PORT, tcp:HOST:PORT, connect:HOST:PORT, http://HOST/PATH, dns:SERVER/NAME, \
     snmp:HOST?community=WORD, ftp://HOST/PATH, rpc:HOST/PROGRAM/VERSION, icmp:HOST or exec:PROGRAM"
        .to_owned()
}

/// A host with or without its port.
fn peer_or(text: &str, port: u16) -> Result<Peer, String> {
    let has_port = text.rsplit_once(':').is_some_and(|(_, rest)| !rest.contains(']'));
    if has_port { text.parse() } else { Ok(Peer { host: host(text)?, port }) }
}

fn http(rest: &str) -> Result<Target, String> {
    let rest = rest.strip_prefix("//").ok_or("expected http://HOST/PATH")?;
    let at = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(at);
    let path = path.split_once('#').map_or(path, |(path, _)| path);
    if path.len() > PATH_OCTETS_MAX || !path.bytes().all(|octet| octet.is_ascii_graphic()) {
        return Err(format!("the path must have at most {PATH_OCTETS_MAX} printable octets"));
    }
    let path = if path.starts_with('/') { path.to_owned() } else { format!("/{path}") };
    Ok(Target::Http(peer_or(authority, 80)?, path))
}

fn ftp(rest: &str) -> Result<Target, String> {
    let rest = rest.strip_prefix("//").ok_or("expected ftp://HOST/PATH")?;
    let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    if authority.contains('@') {
        return Err("files are retrieved as anonymous: no user expected".to_owned());
    }
    let is_path = |path: &str| path.bytes().all(|octet| octet == b' ' || octet.is_ascii_graphic());
    if path.len() < 2 || path.len() > PATH_OCTETS_MAX || !is_path(path) {
        return Err(format!("the path must have 1 to {PATH_OCTETS_MAX} printable octets"));
    }
    Ok(Target::Ftp(peer_or(authority, 21)?, path.to_owned()))
}

fn rpc(rest: &str) -> Result<Target, String> {
    let words: Vec<&str> = rest.split('/').collect();
    let [server, number, version] = words[..] else {
        return Err("expected rpc:HOST/PROGRAM/VERSION, such as rpc:HOST/100003/3 (NFS)".to_owned());
    };
    let number_of = |what: &str, text: &str| {
        text.parse().map_err(|_| format!("{what} {text:?}: a number of 32 bits expected"))
    };
    let program =
        Program { number: number_of("program", number)?, version: number_of("version", version)? };
    Ok(Target::Rpc(peer_or(server, PORT_MAPPER)?, program))
}

fn dns(rest: &str) -> Result<Target, String> {
    let (server, name) =
        rest.split_once('/').ok_or("the name is missing: expected dns:SERVER/NAME")?;
    let is_printable = name.bytes().all(|octet| octet.is_ascii_graphic());
    if !is_printable {
        return Err("the name must have printable octets only".to_owned());
    }
    super::dns::query(name)?;
    Ok(Target::Dns(peer_or(server, 53)?, name.to_owned()))
}

fn snmp(rest: &str) -> Result<Target, String> {
    let (agent, community) = match rest.split_once('?') {
        None => (rest, "public"),
        Some((agent, options)) => {
            let community = options.strip_prefix("community=");
            (agent, community.ok_or("expected snmp:HOST?community=WORD")?)
        }
    };
    let is_word = (1..=COMMUNITY_OCTETS_MAX).contains(&community.len())
        && community.bytes().all(|octet| octet.is_ascii_graphic());
    if !is_word {
        let most = COMMUNITY_OCTETS_MAX;
        return Err(format!("the community must have 1 to {most} printable octets"));
    }
    Ok(Target::Snmp(peer_or(agent, 161)?, community.to_owned()))
}

/// A host, IPv6 in brackets or not.
fn host(text: &str) -> Result<String, String> {
    let inner = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    if inner.is_none() && text.parse::<std::net::Ipv6Addr>().is_ok() {
        return Ok(text.to_owned());
    }
    host_of(inner.unwrap_or(text), inner.is_some())
}

impl FromStr for Peer {
    /// Description of the fault.
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (host, port) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((host, rest)) => (host, rest.strip_prefix(':')),
            None => text.rsplit_once(':').map_or((text, None), |(host, port)| (host, Some(port))),
        };
        let port = port.ok_or("the port is missing: expected HOST:PORT")?;
        let port = port.parse().ok().filter(|port| *port > 0);
        let port = port.ok_or("the port must be a number from 1 to 65535")?;
        Ok(Self { host: host_of(host, text.starts_with('['))?, port })
    }
}

/// A host without its port.
fn host_of(host: &str, bracketed: bool) -> Result<String, String> {
    if host.is_empty() {
        return Err("the host is missing".to_owned());
    }
    if bracketed || host.contains(':') {
        let address = host.parse::<std::net::Ipv6Addr>();
        let is_written_so = bracketed && address.is_ok();
        return is_written_so
            .then(|| host.to_owned())
            .ok_or_else(|| format!("{host} is not an IPv6 address in brackets, such as [::1]"));
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if host.len() > NAME_OCTETS_MAX || !host.chars().all(is_name) {
        return Err(format!("{host:?} is not a host name or address"));
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
    /// The form that is parsed, except that a community is not shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Udp(peer) | Self::Tcp(peer) | Self::Connect(peer) | Self::Snmp(peer, _) => {
                write!(f, "{}:{peer}", self.by())
            }
            Self::Http(peer, path) => write!(f, "http://{peer}{path}"),
            Self::Dns(peer, name) => write!(f, "dns:{peer}/{name}"),
            Self::Ftp(peer, path) => write!(f, "ftp://{peer}{path}"),
            Self::Rpc(peer, Program { number, version }) => {
                write!(f, "rpc:{peer}/{number}/{version}")
            }
            Self::Icmp(host) => write!(f, "icmp:{host}"),
            Self::Exec(line) => write!(f, "exec:{line}"),
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
        for (text, whole) in [
            ("http://host", "http://host:80/"),
            ("http://[::1]:8080?a=b#c", "http://[::1]:8080/?a=b"),
            ("http://[::1]/x/y", "http://[::1]:80/x/y"),
            ("dns:10.0.0.1/a.example", "dns:10.0.0.1:53/a.example"),
            ("dns:[::1]:5353/a.example", "dns:[::1]:5353/a.example"),
            ("snmp:host", "snmp:host:161"),
            ("snmp:host:1161?community=secret", "snmp:host:1161"),
            ("ftp://host/pub/a b", "ftp://host:21/pub/a b"),
            ("ftp://[::1]:2121/x", "ftp://[::1]:2121/x"),
            ("rpc:host/100003/3", "rpc:host:111/100003/3"),
            ("rpc:host:2049/100003/3", "rpc:host:2049/100003/3"),
            ("icmp:::1", "icmp:::1"),
            ("icmp:host", "icmp:host"),
            ("exec: /opt/bin/ask 'a b' c", "exec:/opt/bin/ask 'a b' c"),
        ] {
            let target: Target = text.parse().unwrap();
            assert_eq!(target.to_string(), whole);
        }
        let target: Target = "snmp:host?community=secret".parse().unwrap();
        assert!(matches!(target, Target::Snmp(_, community) if community == "secret"));
        assert_eq!("exec:/opt/bin/ask x".parse::<Target>().unwrap().host(), "ask");
        let target: Target = "tcp:[fe80::1]:7".parse().unwrap();
        assert_eq!((target.by(), target.host()), ("tcp", "fe80::1"));
    }

    #[test]
    fn what_is_no_target_is_said() {
        let said = |text: &str| text.parse::<Target>().unwrap_err().to_string();
        assert!(
            said("host")
                .starts_with("\"host\" is not a valid target: expected udp:HOST:PORT, tcp:")
        );
        assert!(said("sftp:host:21").contains("expected udp:"));
        assert!(said("ftp:host:21").contains("ftp://HOST/PATH"));
        assert!(said("ftp://host").contains("the path must have"));
        assert!(said("ftp://host/a\r\nDELE b").contains("printable"));
        assert!(said("ftp://me@host/a").contains("anonymous"));
        assert!(said("rpc:host/nfs/3").contains("program \"nfs\""));
        assert!(said("rpc:host/100003").contains("rpc:HOST/PROGRAM/VERSION"));
        assert!(said("rpc:host/100003/4294967296").contains("version"));
        assert!(said("udp:host").contains("port is missing"));
        for port in ["0", "65536", "x", "", "-1", "+"] {
            assert!(said(&format!("udp:host:{port}")).contains("1 to 65535"), "{port}");
        }
        assert!(said("udp::9").contains("host is missing"));
        assert!(said("udp:::1:9").contains("in brackets"));
        assert!(said("udp:[host]:9").contains("in brackets"));
        assert!(said("udp:a b:9").contains("is not a host name"));
        assert!(said("https://host/").contains("connect:HOST:443"));
        assert!(said("http:host").contains("http://HOST"));
        assert!(said("http:///x").contains("host is missing"));
        assert!(said("http://host/a b").contains("printable"));
        assert!(said("http://host/a\r\nX: y").contains("printable"));
        assert!(said("dns:host").contains("name is missing"));
        assert!(said("dns:host/a..b").contains("octets"));
        assert!(said("snmp:host?v=3").contains("community=WORD"));
        assert!(said("snmp:host?community=").contains("1 to 64"));
        assert!(said("icmp:").contains("host is missing"));
        assert!(said("exec:").contains("program is missing"));
        assert!(said("udp:[::1]9").contains("port is missing"));
        assert!(said(&format!("udp:{}:9", "a".repeat(256))).contains("is not a host name"));
    }
}
