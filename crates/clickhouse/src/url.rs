//! The URL of a ClickHouse cluster.

use std::fmt;
use std::path::PathBuf;

/// Port of ClickHouse's HTTP interface, and the same over TLS.
const PORTS: (u16, u16) = (8123, 8443);

/// `clickhouse[s]://[USER[:PASSWORD]@]SHARD[,SHARD…]/DATABASE[?OPTION=VALUE&…]`, where a shard is
/// `HOST[:PORT]`, or `HOST[:PORT]|HOST[:PORT]…` for its copies; the shards in their order.
///
/// Options: `cluster=NAME` (the servers' own name for these shards: a `Distributed` table over them
/// is made for people's SQL), `ca=FILE` (the PEM certificate that servers' certificates are signed
/// with; without it the Web's), `quorum=N` or `quorum=auto` (copies that must have rows before they
/// are acknowledged), `missing=refuse` or `missing=say` (what a question does when a shard does not
/// answer), `cold_days=N` (older rows go to the volume `cold` of the servers' storage policy). User
/// and password may be percent-encoded.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Url {
    pub(crate) tls: bool,
    pub(crate) user: Option<(String, String)>,
    /// `HOST:PORT` of every copy, by shard; each shard has at least one.
    pub(crate) shards: Vec<Vec<String>>,
    pub(crate) database: String,
    pub(crate) cluster: Option<String>,
    pub(crate) ca: Option<PathBuf>,
    /// ClickHouse's setting `insert_quorum`; `None` leaves it to the server.
    pub(crate) quorum: Option<String>,
    pub(crate) missing: MissingShards,
    /// Age in days at which rows go to the volume `cold`; `None` leaves what the tables say.
    pub(crate) cold_days: Option<u32>,
}

/// What a question does when a shard does not answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum MissingShards {
    /// It fails.
    #[default]
    Refuse,
    /// It is answered from the others, and the answer says what is missing.
    Say,
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
        let copies = |shard: &str| shard.split('|').map(|host| node(host, port)).collect();
        let shards = hosts.split(',').map(copies).collect::<Result<Vec<Vec<_>>, _>>()?;
        let all: Vec<&String> = shards.iter().flatten().collect();
        for (index, node) in all.iter().enumerate() {
            if all[..index].contains(node) {
                return Err(format!("{node} is given twice"));
            }
        }
        // Acknowledged means durable: with copies, on most of them, unless it is said otherwise.
        let has_copies = shards.iter().any(|copies| copies.len() > 1);
        let mut url = Self {
            tls,
            user,
            shards,
            database: identifier(database)?,
            cluster: None,
            ca: None,
            quorum: has_copies.then(|| "auto".to_owned()),
            missing: MissingShards::default(),
            cold_days: None,
        };
        for option in options.split('&').filter(|option| !option.is_empty()) {
            url.set(option)?;
        }
        Ok(url)
    }

    fn set(&mut self, option: &str) -> Result<(), String> {
        let value = option.split_once('=').ok_or_else(|| unknown(option))?;
        match value {
            ("cluster", name) => self.cluster = Some(identifier(name)?),
            ("ca", path) => self.ca = Some(PathBuf::from(decode(path)?)),
            ("quorum", "auto") => self.quorum = Some("auto".to_owned()),
            ("quorum", count) => {
                let copies = self.shards.iter().map(Vec::len).min().unwrap_or(1);
                let count: usize = count.parse().map_err(|_| {
                    format!("quorum={count}: a number of copies, or auto, is expected")
                })?;
                if count == 0 || count > copies {
                    return Err(format!(
                        "quorum={count}: a shard of the URL has {copies} {}",
                        if copies == 1 { "copy" } else { "copies" }
                    ));
                }
                self.quorum = Some(count.to_string());
            }
            ("missing", "refuse") => self.missing = MissingShards::Refuse,
            ("missing", "say") => self.missing = MissingShards::Say,
            ("missing", other) => {
                return Err(format!("missing={other}: refuse or say is expected"));
            }
            ("cold_days", days) => {
                let parsed = days.parse().ok().filter(|days| *days > 0);
                let wanted = || format!("cold_days={days}: a number of days is expected");
                self.cold_days = Some(parsed.ok_or_else(wanted)?);
            }
            _ => return Err(unknown(option)),
        }
        Ok(())
    }
}

fn unknown(option: &str) -> String {
    format!("{option}: unknown option (cluster, ca, quorum, missing or cold_days expected)")
}

impl fmt::Display for Url {
    /// Without user and password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "clickhouses" } else { "clickhouse" };
        let shards: Vec<String> = self.shards.iter().map(|copies| copies.join("|")).collect();
        write!(f, "{scheme}://{}/{}", shards.join(","), self.database)
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
        assert_eq!(url.shards, [["a.example:8443"], ["b.example:9000"], ["[::1]:1"]]);
        assert_eq!((url.quorum.as_deref(), url.missing), (None, MissingShards::Refuse));
        assert_eq!((url.tls, &*url.database), (true, "traces"));
        assert_eq!(
            (url.cluster.as_deref(), url.ca.as_deref()),
            (Some("c1"), Some("/x y".as_ref()))
        );
        let said = format!("{url} {url:?}");
        assert!(!said.contains("p@ss") && !said.contains("me:"), "{said}");
        assert_eq!(Url::parse("clickhouse://h/d").unwrap().shards, [["h:8123"]]);
        assert_eq!(Url::parse("clickhouse://[::1]/d").unwrap().shards, [["[::1]:8123"]]);
    }

    #[test]
    fn copies_of_shards() {
        let url = Url::parse("clickhouse://a|b:9,c|d/x?missing=say").unwrap();
        assert_eq!(url.shards, [["a:8123", "b:9"], ["c:8123", "d:8123"]]);
        assert_eq!((url.quorum.as_deref(), url.missing), (Some("auto"), MissingShards::Say));
        assert_eq!(url.to_string(), "clickhouse://a:8123|b:9,c:8123|d:8123/x");
        let one = Url::parse("clickhouse://a|b,c|d/x?quorum=1").unwrap();
        assert_eq!(one.quorum.as_deref(), Some("1"));
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
            ("clickhouse://a|a/d", "twice"),
            ("clickhouse://a|/d", "is not a host name"),
            ("clickhouse://a|b,c/d?quorum=2", "has 1 copy"),
            ("clickhouse://a|b/d?quorum=0", "has 2 copies"),
            ("clickhouse://a|b/d?quorum=most", "a number of copies"),
            ("clickhouse://a,b/d?missing=skip", "refuse or say"),
            ("clickhouse://a/d?cold_days=0", "a number of days"),
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
