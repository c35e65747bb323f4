//! Groups of hosts: the rings, segments or buildings of a network, and what each can carry.
//!
//! ```
//! use chronoscope_net::groups::Groups;
//!
//! let mut groups = Groups::default();
//! groups.add("PCR=aldev5,fsPCR,10.1.3.0/24")?;
//! groups.add_capacity("PCR=4M")?;
//! assert_eq!(groups.of("10.1.3.7"), Some("PCR"));
//! assert_eq!(groups.capacity(Some("PCR")), Some(4e6));
//! # Ok::<(), chronoscope_net::groups::GroupError>(())
//! ```
//!
//! Limit: a host is in one group at most.

use ipnet::Ipv4Net;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// Groups by the names of their hosts, and capacities in bits per second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Groups {
    hosts: BTreeMap<String, String>,
    networks: Vec<(Ipv4Net, String)>,
    capacities: BTreeMap<String, f64>,
    /// Of each group that has none of its own.
    capacity: Option<f64>,
}

/// A group or capacity that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// The text of a group has another form.
    #[error("{0:?}: NAME=HOST,HOST expected, such as ring3=aldev5,10.1.3.0/24")]
    Form(String),
    /// A host is in two groups.
    #[error("host {host:?} is in group {first:?} and in group {second:?}: one expected")]
    Twice {
        /// Name of the host.
        host: String,
        /// The group that it is in.
        first: String,
        /// The other one.
        second: String,
    },
    /// The text of a capacity has another form.
    #[error("{0:?}: bits per second expected, such as 4M or ring3=4M")]
    Capacity(String),
}

impl Groups {
    /// Adds a group's hosts: `NAME=HOST,HOST`; a network stands for all hosts that are named by an
    /// address in it.
    ///
    /// # Errors
    /// [`GroupError`]; the groups may have a part of the hosts then.
    pub fn add(&mut self, text: &str) -> Result<(), GroupError> {
        let form = || GroupError::Form(text.to_owned());
        let (name, members) = text.split_once('=').ok_or_else(form)?;
        let members: Vec<&str> = members.split(',').map(str::trim).collect();
        if name.trim().is_empty() || members.iter().any(|member| member.is_empty()) {
            return Err(form());
        }
        members.iter().try_for_each(|member| self.add_host(member, name.trim()))
    }

    /// Adds a host, or a network, to a group.
    ///
    /// # Errors
    /// [`GroupError::Twice`].
    pub fn add_host(&mut self, host: &str, group: &str) -> Result<(), GroupError> {
        let known = match host.parse::<Ipv4Net>() {
            Ok(network) => {
                let known = self.networks.iter().find(|(known, _)| *known == network);
                let known = known.map(|(_, group)| group.clone());
                if known.is_none() {
                    self.networks.push((network, group.to_owned()));
                }
                known
            }
            Err(_) => {
                let known = self.hosts.get(host).cloned();
                self.hosts.entry(host.to_owned()).or_insert_with(|| group.to_owned());
                known
            }
        };
        match known {
            Some(first) if first != group => {
                let (host, second) = (host.to_owned(), group.to_owned());
                Err(GroupError::Twice { host, first, second })
            }
            _ => Ok(()),
        }
    }

    /// Sets what links carry, in bits per second: `RATE` of every group, or `NAME=RATE` of one. A
    /// rate may end in k, M or G (thousands).
    ///
    /// # Errors
    /// [`GroupError::Capacity`].
    pub fn add_capacity(&mut self, text: &str) -> Result<(), GroupError> {
        let wrong = || GroupError::Capacity(text.to_owned());
        match text.split_once('=') {
            None => self.capacity = Some(rate(text).ok_or_else(wrong)?),
            Some((name, bits)) if !name.is_empty() => {
                self.capacities.insert(name.to_owned(), rate(bits).ok_or_else(wrong)?);
            }
            Some(_) => return Err(wrong()),
        }
        Ok(())
    }

    /// Whether there is no group.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty() && self.networks.is_empty()
    }

    /// The group of a host. A name counts before a network, and a small network before a large one.
    #[must_use]
    pub fn of(&self, host: &str) -> Option<&str> {
        if let Some(group) = self.hosts.get(host) {
            return Some(group);
        }
        let address: Ipv4Addr = host.parse().ok()?;
        let around = self.networks.iter().filter(|(network, _)| network.contains(&address));
        around.max_by_key(|(network, _)| network.prefix_len()).map(|(_, group)| group.as_str())
    }

    /// Bits per second that the links of a group carry; `None` is the hosts without a group.
    #[must_use]
    pub fn capacity(&self, group: Option<&str>) -> Option<f64> {
        group.and_then(|group| self.capacities.get(group)).copied().or(self.capacity)
    }
}

/// A rate in bits per second, above 0.
fn rate(text: &str) -> Option<f64> {
    let (digits, factor) = match text.strip_suffix(['k', 'M', 'G']) {
        Some(digits) if text.ends_with('k') => (digits, 1e3),
        Some(digits) if text.ends_with('M') => (digits, 1e6),
        Some(digits) => (digits, 1e9),
        None => (text, 1.0),
    };
    let bits = digits.parse::<f64>().ok()? * factor;
    (bits.is_finite() && bits > 0.0).then_some(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_groups_by_name_and_by_address() {
        let mut groups = Groups::default();
        groups.add("PCR=aldev5, fsPCR").unwrap();
        groups.add("lma=10.1.0.0/16,bile28").unwrap();
        groups.add("lsv=10.1.3.0/24").unwrap();
        let of = |host| groups.of(host);
        assert_eq!([of("fsPCR"), of("bile28"), of("nobody")], [Some("PCR"), Some("lma"), None]);
        assert_eq!([of("10.1.2.9"), of("10.1.3.9")], [Some("lma"), Some("lsv")]);
        assert_eq!(groups.clone().add("PCR=aldev5"), Ok(()), "twice in the same one");
        assert!(Groups::default().is_empty() && !groups.is_empty());
    }

    #[test]
    fn capacities_are_those_of_a_group_or_of_all() {
        let mut groups = Groups::default();
        assert_eq!(groups.capacity(Some("PCR")), None);
        groups.add_capacity("10M").unwrap();
        groups.add_capacity("PCR=4.225M").unwrap();
        let of = |group| groups.capacity(group);
        assert_eq!([of(Some("PCR")), of(Some("lma")), of(None)], [4.225e6, 1e7, 1e7].map(Some));
        assert_eq!(["9600", "1G", "56k"].map(rate), [9600.0, 1e9, 56e3].map(Some));
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        for text in ["PCR", "=a", "PCR=", "PCR=a,,b"] {
            let error = Groups::default().add(text).unwrap_err();
            assert!(error.to_string().contains("NAME=HOST,HOST expected"), "{error}");
        }
        for text in ["", "fast", "0", "-4M", "=4M", "PCR=", "infM", "4m"] {
            let error = Groups::default().add_capacity(text).unwrap_err();
            assert!(error.to_string().contains("bits per second expected"), "{text}: {error}");
        }
        let mut groups = Groups::default();
        groups.add("a=x,10.0.0.0/8").unwrap();
        let error = groups.add("b=x").unwrap_err();
        assert_eq!(
            error.to_string(),
            "host \"x\" is in group \"a\" and in group \"b\": one expected"
        );
        assert!(groups.add("b=10.0.0.0/8").is_err());
    }
}
