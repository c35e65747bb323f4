//! Access list files: one rule a line, `allow` or `deny` and an address with or without prefix
//! length. `#` begins a comment anywhere. The first rule that matches decides; an address that no
//! rule matches may not connect. `all` matches every address, which aprsc does not have.

use super::fault::{Fault, Position};
use super::lines::{LocatedFault, Word, words};
use super::value::{self, Resolve};
use ipnet::IpNet;
use std::net::{IpAddr, Ipv6Addr};

/// Access list: the first rule that matches decides; an address that no rule matches is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Acl {
    /// Rules in the file's order: whether the rule allows, and for which addresses.
    pub rules: Vec<(bool, IpNet)>,
}

const USAGE: &str = "a line is allow or deny, and an address, perhaps with /PREFIX";

impl Acl {
    /// Whether `address` may connect. An IPv4 address within an IPv6 one is judged as IPv4.
    pub fn allows(&self, address: IpAddr) -> bool {
        let address = match address {
            IpAddr::V6(v6) => plain(v6),
            v4 @ IpAddr::V4(_) => v4,
        };
        self.rules.iter().find(|(_, net)| net.contains(&address)).is_some_and(|(allow, _)| *allow)
    }
}

/// `::ffff:a.b.c.d` and `::a.b.c.d` as the IPv4 addresses that they mean.
fn plain(address: Ipv6Addr) -> IpAddr {
    let compatible = address.segments()[..6] == [0; 6] && u128::from(address) > 1;
    match address.to_ipv4() {
        Some(v4) if compatible => IpAddr::V4(v4),
        _ => address.to_canonical(),
    }
}

/// Reads an ACL file.
pub(super) fn parse(bytes: &[u8], resolve: Resolve<'_>) -> Result<Acl, Vec<LocatedFault>> {
    let mut faults = Vec::new();
    let mut acl = Acl::default();
    // A comment may begin anywhere; lines are not continued.
    let mut bare: Vec<u8> = Vec::with_capacity(bytes.len());
    for line in bytes.split_inclusive(|octet| *octet == b'\n') {
        let end = line.iter().position(|octet| *octet == b'#');
        bare.extend(&line[..end.unwrap_or(line.len())]);
        if end.is_some() && line.ends_with(b"\n") {
            bare.push(b'\n');
        }
    }
    for line in words(&bare, &mut faults) {
        match rule(&line, resolve) {
            Ok(rules) => acl.rules.extend(rules),
            Err(fault) => faults.push(fault),
        }
    }
    if faults.is_empty() { Ok(acl) } else { Err(faults) }
}

fn rule(line: &[Word], resolve: Resolve<'_>) -> Result<Vec<(bool, IpNet)>, LocatedFault> {
    let at = |index: usize| line.get(index).map_or(Position { line: 0, column: 0 }, |w| w.at);
    let [verb, spec, rest @ ..] = line else {
        return Err((at(0), Fault::TooFew { directive: "a rule", usage: USAGE }));
    };
    if let [extra, ..] = rest {
        let word = extra.text.clone();
        return Err((extra.at, Fault::TooMany { word, usage: USAGE }));
    }
    let allow = match verb.text.to_ascii_lowercase().as_str() {
        "allow" => true,
        "deny" => false,
        _ => {
            let (value, what) = (verb.text.clone(), "rule");
            return Err((verb.at, Fault::BadValue { value, what, expected: "allow or deny" }));
        }
    };
    if spec.text.eq_ignore_ascii_case("all") {
        let everybody = [IpAddr::from([0u8; 4]), IpAddr::from([0u8; 16])];
        return Ok(everybody.into_iter().map(|any| (allow, network(any, 0))).collect());
    }
    let (host, prefix) = match spec.text.split_once('/') {
        Some((host, prefix)) => (host, Some(prefix)),
        None => (spec.text.as_str(), None),
    };
    let prefix = prefix.map(|prefix| value::number(prefix, 0, 128)).transpose();
    let prefix = prefix.map_err(|fault| (spec.at, fault))?.unwrap_or(128);
    let hosts = value::addresses(host, resolve).map_err(|fault| (spec.at, fault))?;
    Ok(hosts.into_iter().map(|address| (allow, network(address, prefix))).collect())
}

/// The network of an address; a prefix that is too long for IPv4 means the host, as in aprsc.
fn network(address: IpAddr, prefix: u64) -> IpNet {
    let longest = if address.is_ipv4() { 32 } else { 128 };
    let prefix = u8::try_from(prefix).unwrap_or(longest).min(longest);
    IpNet::new(address, prefix).unwrap_or_else(|_| IpNet::from(address)).trunc()
}

#[cfg(test)]
mod tests {
    use super::{Acl, parse};
    use std::io;

    fn acl(text: &str) -> Acl {
        parse(text.as_bytes(), &|_| Err(io::ErrorKind::NotFound.into())).unwrap()
    }

    fn allows(acl: &Acl, address: &str) -> bool {
        acl.allows(address.parse().unwrap())
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let acl = acl("deny  dead:beef:f00d::/48 # not these\n\
                       allow dead:beef::/32\nDENY 192.168.1.0/24\r\n\
                       allow 192.168.0.0/16\n#\nallow 10.52.42.3\n");
        assert!(allows(&acl, "dead:beef:1::1") && !allows(&acl, "dead:beef:f00d::1"));
        assert!(allows(&acl, "192.168.2.1") && !allows(&acl, "192.168.1.7"));
        assert!(allows(&acl, "10.52.42.3") && !allows(&acl, "10.52.42.4"));
        assert!(!allows(&acl, "::1"));
    }

    #[test]
    fn v4_in_v6_is_v4() {
        let acl = acl("allow 10.0.0.0/8\nallow ::1");
        assert!(allows(&acl, "::ffff:10.1.2.3") && allows(&acl, "::10.1.2.3"));
        assert!(!allows(&acl, "::ffff:11.1.2.3") && allows(&acl, "::1"));
    }

    #[test]
    fn host_bits_and_long_prefixes() {
        let acl = acl("allow 10.1.2.3/8\nallow 11.0.0.1/64\nallow fe80::1/10");
        assert!(allows(&acl, "10.200.0.1") && allows(&acl, "11.0.0.1"));
        assert!(!allows(&acl, "11.0.0.2") && allows(&acl, "fe80::2"));
        assert!(allows(&self::acl("allow 0.0.0.0/0\nallow ::/0"), "8.8.8.8"));
        assert!(!allows(&self::acl("allow 0.0.0.0/0"), "2001:db8::1"));
        let acl = self::acl("deny 127.0.0.0/8\nallow all");
        assert!(allows(&acl, "8.8.8.8") && allows(&acl, "::1") && !allows(&acl, "127.0.0.1"));
    }

    #[test]
    fn every_bad_rule_is_named() {
        let text = "allow\npermit 10.0.0.1\nallow 10.0.0.1 10.0.0.2\nallow 10.0.0.0/x\n\
                    allow 10.0.0.0/129\nallow nowhere.example";
        let faults = parse(text.as_bytes(), &|_| Err(io::ErrorKind::NotFound.into())).unwrap_err();
        let places: Vec<_> = faults.iter().map(|(at, _)| (at.line, at.column)).collect();
        assert_eq!(places, [(1, 1), (2, 1), (3, 16), (4, 7), (5, 7), (6, 7)]);
    }
}
