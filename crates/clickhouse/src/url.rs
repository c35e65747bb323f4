//! The URL of a ClickHouse cluster.

use std::fmt;
use std::path::PathBuf;

/// Port of ClickHouse's HTTP interface, and the same over TLS.
const PORTS: (u16, u16) = (8123, 8443);

/// `clickhouse[s]://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]…]/DATABASE[?OPTION=VALUE&…]`: one
/// host for every shard, in the order of the shards.
///
/// Options: `cluster=NAME` (the servers' own name for these shards: a `Distributed` table over them
/// is made for people's SQL), `ca=FILE` (the PEM certificate that servers' certificates are signed
/// with; without it the Web's). User and password may be percent-encoded.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) tls: bool,
    pub(crate) user: Option<(String, String)>,
    /// `HOST:PORT` by shard.
    pub(crate) nodes: Vec<String>,
    pub(crate) database: String,
    pub(crate) cluster: Option<String>,
    pub(crate) ca: Option<PathBuf>,
}

impl Url {
    /// Reads a URL; the reason where it is none.
    pub(crate) fn parse(url: &str) -> Result<Self, String> {
        let (scheme, rest) = url.split_once("://").ok_or("it has no scheme")?;
        let tls = match scheme {
            "clickhouse" => false,
            "clickhouses" => true,
            other => return Err(format!("the scheme {other}: is not ClickHouse")),
        };
        let (rest, options) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, database) =
            rest.split_once('/').ok_or("it names no database: HOST/DATABASE")?;
        let (user, hosts) = match authority.rsplit_once('@') {
            None => (None, authority),
            Some((user, hosts)) => {
                let (name, password) = user.split_once(':').unwrap_or((user, ""));
                (Some((decode(name)?, decode(password)?)), hosts)
            }
        };
        let port = if tls { PORTS.1 } else { PORTS.0 };
        let nodes = hosts.split(',').map(|host| node(host, port)).collect::<Result<Vec<_>, _>>()?;
        for (index, node) in nodes.iter().enumerate() {
            if nodes[..index].contains(node) {
                return Err(format!("{node} is given twice"));
            }
        }
        let mut url =
            Self { tls, user, nodes, database: identifier(database)?, cluster: None, ca: None };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("cluster", name)) => url.cluster = Some(identifier(name)?),
                Some(("ca", path)) => url.ca = Some(PathBuf::from(decode(path)?)),
                _ => {
                    return Err(format!(
                        "{option}: unknown option (cluster=NAME or ca=FILE expected)"
                    ));
                }
            }
        }
        Ok(url)
    }
}

impl fmt::Display for Url {
    /// Without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "clickhouses" } else { "clickhouse" };
        write!(f, "{scheme}://{}/{}", self.nodes.join(","), self.database)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The URL with user and password left out, for error messages, whatever else is wrong with it.
pub(crate) fn without_password(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, hosts))) => format!("{scheme}://…@{hosts}"),
        _ => url.to_owned(),
    }
}

fn node(host: &str, port: u16) -> Result<String, String> {
    // An IPv6 address has colons of its own: [::1]:8123.
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    let name = host.rsplit_once(':').filter(|_| after.contains(':'));
    let (name, port) = match name {
        Some((name, digits)) => (
            name,
            digits
                .parse::<u16>()
                .map_err(|_| format!("{host}: {digits:?} is not a port number"))?,
        ),
        None => (host, port),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-._:[]".contains(c);
    if name.is_empty() || !name.chars().all(is_plain) {
        return Err(format!("{name:?} is not a host name"));
    }
    Ok(format!("{name}:{port}"))
}

/// A name that needs no quoting anywhere.
fn identifier(name: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let first_fits = name.chars().next().is_some_and(|c| !c.is_ascii_digit());
    if !first_fits || !name.chars().all(is_plain) || name.len() > 64 {
        return Err(format!("{name:?} is not a valid name: use letters, digits and _"));
    }
    Ok(name.to_owned())
}

fn decode(text: &str) -> Result<String, String> {
    let refuse = || "a % in it is not followed by two hexadecimal digits of UTF-8".to_owned();
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'%' {
            bytes.push(byte);
            rest = after;
            continue;
        }
        let (digits, after) = after.split_first_chunk::<2>().ok_or_else(refuse)?;
        if !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(refuse());
        }
        let digits = std::str::from_utf8(digits).map_err(|_| refuse())?;
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| refuse())?);
        rest = after;
    }
    String::from_utf8(bytes).map_err(|_| refuse())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_it() {
        let url = "clickhouses://me:p%40ss:w@a.example,b.example:9000,[::1]:1/traces?cluster=c1&ca=/x%20y";
        let url = Url::parse(url).unwrap();
        assert_eq!(url.user, Some(("me".to_owned(), "p@ss:w".to_owned())));
        assert_eq!(url.nodes, ["a.example:8443", "b.example:9000", "[::1]:1"]);
        assert_eq!((url.tls, &*url.database), (true, "traces"));
        assert_eq!(
            (url.cluster.as_deref(), url.ca.as_deref()),
            (Some("c1"), Some("/x y".as_ref()))
        );
        let said = format!("{url} {url:?}");
        assert!(!said.contains("p@ss") && !said.contains("me:"), "{said}");
        assert_eq!(Url::parse("clickhouse://h/d").unwrap().nodes, ["h:8123"]);
        assert_eq!(Url::parse("clickhouse://[::1]/d").unwrap().nodes, ["[::1]:8123"]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (url, reason) in [
            ("clickhouse://h", "no database"),
            ("clickhouse://h/", "is not a valid name"),
            ("clickhouse://h/a;drop", "is not a valid name"),
            ("clickhouse:///d", "is not a host name"),
            ("clickhouse://h:x/d", "is not a port number"),
            ("clickhouse://h,h:8123/d", "twice"),
            ("clickhouse://h/d?ttl=1", "unknown option"),
            ("clickhouse://u%4@h/d", "two hexadecimal"),
            ("clickhouse://u%+1@h/d", "two hexadecimal"),
            ("mysql://h/d", "is not ClickHouse"),
        ] {
            let said = Url::parse(url).unwrap_err();
            assert!(said.contains(reason), "{url}: {said}");
        }
        assert_eq!(without_password("clickhouse://u:secret@h:x/d"), "clickhouse://…@h:x/d");
    }
}
