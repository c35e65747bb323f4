//! Hosts to scan and their protocols: a list with one host a line, or a network.
//!
//! ```text
//! # address [name] [key=value …]
//! 10.0.1.4   fsPCR   group=PCR community=control
//! 10.0.1.9   cons11  group=PCR by=node_exporter port=9100
//! 10.0.2.1   gw1     by=snmp3 user=monitor auth=sha256:long-password priv=aes128:other-password
//! aldev5             by=agent
//! 10.1.0.0/24        community=public
//! ```

use ipnet::Ipv4Net;
use std::collections::HashSet;
use std::fmt;

/// A host to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Name in tables.
    pub name: String,
    /// Address, or name that the system resolves.
    pub address: String,
    /// Protocol of the query.
    pub by: By,
    /// Group of the host ([`crate::groups`]).
    pub group: Option<String>,
}

/// Protocol by which a host is queried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// SNMP version 2c.
    Snmp {
        /// UDP port of the agent.
        port: u16,
        /// Community, which serves as a password.
        community: Secret,
    },
    /// SNMP version 3 with the user-based security model (RFC 3414).
    Snmp3 {
        /// UDP port of the agent.
        port: u16,
        /// Name of the user.
        user: String,
        /// Authentication of messages.
        auth: Option<(Auth, Secret)>,
        /// Whether and with what they are encrypted.
        privacy: Option<Secret>,
    },
    /// The host runs our agent, which sends its counters by itself.
    Agent,
    /// The host runs Prometheus' `node_exporter`.
    NodeExporter {
        /// TCP port of the exporter.
        port: u16,
    },
}

/// Authentication protocol of SNMP messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Auth {
    /// HMAC-SHA-96, RFC 3414.
    Sha1,
    /// HMAC-192-SHA-256, RFC 7860.
    Sha256,
}

/// Words that are not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

/// Most hosts of one list.
pub const HOSTS_MAX: usize = 65_536;

/// A line that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct HostsError {
    /// Line number, from 1.
    pub line: usize,
    /// Fault of the line.
    pub reason: String,
}

/// The community of hosts whose line has none.
pub const COMMUNITY: &str = "public";

/// Reads a list.
///
/// # Errors
/// [`HostsError`]: the first line that cannot be used.
pub fn read(text: &str) -> Result<Vec<Target>, HostsError> {
    read_with(text, COMMUNITY)
}

/// Reads a list; `community` is that of hosts whose line has none.
///
/// # Errors
/// [`HostsError`]: the first line that cannot be used.
pub fn read_with(text: &str, community: &str) -> Result<Vec<Target>, HostsError> {
    let mut targets = Vec::new();
    let mut names = HashSet::new();
    for (number, line) in (1..).zip(text.lines()) {
        let refuse = |reason| HostsError { line: number, reason };
        let line = line.split('#').next().unwrap_or_default();
        for target in line_targets(line, community).map_err(refuse)? {
            if !names.insert(target.name.clone()) {
                let name = target.name;
                return Err(refuse(format!("{name:?} is given twice")));
            }
            if targets.len() == HOSTS_MAX {
                return Err(refuse(format!("more than {HOSTS_MAX} hosts")));
            }
            targets.push(target);
        }
    }
    Ok(targets)
}

/// Hosts of a line: none where it is empty, many where it is a network.
fn line_targets(line: &str, community: &str) -> Result<Vec<Target>, String> {
    let mut words = line.split_ascii_whitespace().peekable();
    let Some(address) = words.next() else { return Ok(Vec::new()) };
    let name = words.next_if(|word| !word.contains('='));
    let keys = Keys::read(words)?;
    let (by, group) = (keys.by(community)?, keys.group.map(str::to_owned));
    if !address.contains('/') {
        let name = name.unwrap_or(address).to_owned();
        return Ok(vec![Target { name, address: address.to_owned(), by, group }]);
    }
    let network: Ipv4Net = address
        .parse()
        .map_err(|_| format!("{address:?} is not an IPv4 network such as 10.1.0.0/24"))?;
    if let Some(name) = name {
        return Err(format!("a network has no name: {name:?}"));
    }
    let hosts = network.hosts();
    if network.prefix_len() < 16 {
        return Err(format!("{address} has more than {HOSTS_MAX} hosts"));
    }
    Ok(hosts
        .map(|host| Target {
            name: host.to_string(),
            address: host.to_string(),
            by: by.clone(),
            group: group.clone(),
        })
        .collect())
}

/// Values of a line's keys.
#[derive(Default)]
struct Keys<'a> {
    group: Option<&'a str>,
    by: Option<&'a str>,
    port: Option<&'a str>,
    community: Option<&'a str>,
    user: Option<&'a str>,
    auth: Option<&'a str>,
    privacy: Option<&'a str>,
}

impl<'a> Keys<'a> {
    fn read(words: impl Iterator<Item = &'a str>) -> Result<Self, String> {
        let mut keys = Self::default();
        for word in words {
            let (key, value) =
                word.split_once('=').ok_or_else(|| format!("{word:?}: key=value expected"))?;
            let slot = match key {
                "group" => &mut keys.group,
                "by" => &mut keys.by,
                "port" => &mut keys.port,
                "community" => &mut keys.community,
                "user" => &mut keys.user,
                "auth" => &mut keys.auth,
                "priv" => &mut keys.privacy,
                _ => {
                    return Err(format!(
                        "{key:?} is not a known key: group, by, port, community, user, auth or priv \
                         expected"
                    ));
                }
            };
            if slot.replace(value).is_some() {
                return Err(format!("{key} is given twice"));
            }
        }
        match keys.group {
            Some("") => Err("group=: a name expected".to_owned()),
            _ => Ok(keys),
        }
    }

    fn by(&self, community: &str) -> Result<By, String> {
        let by = self.by.unwrap_or("snmp");
        let given = [
            ("port", self.port, &["snmp", "snmp3", "node_exporter"][..]),
            ("community", self.community, &["snmp"]),
            ("user", self.user, &["snmp3"]),
            ("auth", self.auth, &["snmp3"]),
            ("priv", self.privacy, &["snmp3"]),
        ];
        for (key, value, used) in given {
            if value.is_some() && !used.contains(&by) {
                return Err(format!("{key} cannot be used with by={by}"));
            }
        }
        match by {
            "snmp" => Ok(By::Snmp {
                port: self.port(161)?,
                community: Secret(self.community.unwrap_or(community).to_owned()),
            }),
            "snmp3" => self.snmp3(),
            "agent" => Ok(By::Agent),
            "node_exporter" => Ok(By::NodeExporter { port: self.port(9100)? }),
            _ => Err(format!("by={by}: snmp, snmp3, agent or node_exporter expected")),
        }
    }

    fn port(&self, usual: u16) -> Result<u16, String> {
        let Some(text) = self.port else { return Ok(usual) };
        let port = text.parse().ok().filter(|port| *port != 0);
        port.ok_or_else(|| format!("port={text}: a number from 1 to 65535 expected"))
    }

    fn snmp3(&self) -> Result<By, String> {
        let user = self.user.ok_or("by=snmp3 needs user=NAME")?.to_owned();
        let auth = match self.auth {
            None => None,
            Some(text) => match text.split_once(':') {
                Some(("sha", word)) => Some((Auth::Sha1, password("auth", word)?)),
                Some(("sha256", word)) => Some((Auth::Sha256, password("auth", word)?)),
                _ => return Err("auth: sha:PASSWORD or sha256:PASSWORD expected".to_owned()),
            },
        };
        let privacy = match self.privacy.map(|text| text.split_once(':')) {
            None => None,
            Some(Some(("aes128", word))) => Some(password("priv", word)?),
            Some(_) => return Err("priv: aes128:PASSWORD expected".to_owned()),
        };
        if privacy.is_some() && auth.is_none() {
            return Err("priv needs auth".to_owned());
        }
        Ok(By::Snmp3 { port: self.port(161)?, user, auth, privacy })
    }
}

/// Whether a text is a network instead of a list's name.
#[must_use]
pub fn is_network(text: &str) -> bool {
    text.parse::<Ipv4Net>().is_ok()
}

/// A password has eight octets at least (RFC 3414, 11.2).
fn password(key: &str, word: &str) -> Result<Secret, String> {
    match word.len() {
        0..8 => Err(format!("{key}: a password of at least 8 octets expected")),
        _ => Ok(Secret(word.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_list_of_the_documentation() {
        let text = "# address [name]\n\
            10.0.1.4   fsPCR   group=PCR community=control\n\
            10.0.1.9   cons11  by=node_exporter port=9101 # at the console\n\
            10.0.2.1   gw1     by=snmp3 user=monitor auth=sha256:long-password priv=aes128:other-password\n\n\
            aldev5             by=agent\n\
            10.1.0.0/29        group=lma\n";
        let found = read(text).unwrap();
        assert_eq!(found.len(), 4 + 6);
        assert_eq!(found[0].name, "fsPCR");
        let groups: Vec<Option<&str>> = found.iter().map(|host| host.group.as_deref()).collect();
        assert_eq!(groups[..5], [Some("PCR"), None, None, None, Some("lma")]);
        assert_eq!(found[1].by, By::NodeExporter { port: 9101 });
        assert!(matches!(
            &found[2].by,
            By::Snmp3 { auth: Some((Auth::Sha256, _)), privacy: Some(_), .. }
        ));
        assert_eq!((found[3].address.as_str(), &found[3].by), ("aldev5", &By::Agent));
        assert_eq!((found[4].name.as_str(), found[9].name.as_str()), ("10.1.0.1", "10.1.0.6"));
        let word = |target: &Target| match &target.by {
            By::Snmp { community, .. } => community.0.clone(),
            other => panic!("{other:?}"),
        };
        let given = read_with(text, "secret").unwrap();
        assert_eq!((word(&given[0]), word(&given[4])), ("control".to_owned(), "secret".to_owned()));
        assert_eq!(word(&found[4]), COMMUNITY);
        let shown = format!("{found:?}");
        assert!(!shown.contains("password") && !shown.contains("control"), "{shown}");
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let wrong = [
            ("a b c", "line 1: \"c\": key=value expected"),
            ("\na\na", "line 3: \"a\" is given twice"),
            ("a by=ftp", "line 1: by=ftp: snmp, snmp3, agent or node_exporter expected"),
            ("a by=agent port=5", "line 1: port cannot be used with by=agent"),
            ("a port=0", "line 1: port=0: a number from 1 to 65535 expected"),
            ("a port=1 port=2", "line 1: port is given twice"),
            (
                "a colour=red",
                "line 1: \"colour\" is not a known key: group, by, port, community, user, auth or priv expected",
            ),
            ("a group=", "line 1: group=: a name expected"),
            ("a by=snmp3", "line 1: by=snmp3 needs user=NAME"),
            (
                "a by=snmp3 user=u auth=sha:short",
                "line 1: auth: a password of at least 8 octets expected",
            ),
            ("a by=snmp3 user=u priv=aes128:long-enough", "line 1: priv needs auth"),
            ("10.0.0.0/8", "line 1: 10.0.0.0/8 has more than 65536 hosts"),
            ("10.0.0.0/33", "line 1: \"10.0.0.0/33\" is not an IPv4 network such as 10.1.0.0/24"),
            ("10.0.0.0/30 name", "line 1: a network has no name: \"name\""),
        ];
        for (text, expected) in wrong {
            assert_eq!(read(text).unwrap_err().to_string(), expected);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([a-z0-9./=: #]{0,30}\n){0,5}") {
            let _ = read(&text);
        }
    }
}
