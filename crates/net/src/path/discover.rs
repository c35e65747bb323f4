//! A topology to start from, by what traces say.
//!
//! Traces see gateways only, each by one of its addresses: bridges, the links themselves and
//! gateways that do not answer are for people to fill in. What two ways have in common up to a
//! gateway is one part of the network; a gateway that did not answer is the same one where all
//! before it are.

use super::topology::{ElementKind, ElementType, Host, Joint, Segment, Topology, Utilisation};
use super::trace::Trace;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

/// A host that was traced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Traced {
    /// Name of the host in the question.
    pub name: String,
    /// Address of the host.
    pub address: Ipv4Addr,
    /// The way to it.
    pub trace: Trace,
}

/// Merges traces from the host `from` into a topology. Hosts that were not reached are left out;
/// the known part of the way to them is included.
#[must_use]
pub fn topology(from: &str, traced: &[Traced]) -> Topology {
    let mut found = Topology::default();
    for (name, kind) in [
        ("link", ElementKind::Link),
        ("gateway", ElementKind::Gateway),
        ("unknown", ElementKind::Gateway),
        ("host", ElementKind::Host),
    ] {
        found.types.insert(name.to_owned(), ElementType::new(kind));
    }
    let start = "here".to_owned();
    found.segments.insert(start.clone(), segment());
    found.hosts.insert(from.to_owned(), host(&start, None));
    // Unknown gateways by what lies before them.
    let mut unknown: BTreeMap<String, String> = BTreeMap::new();
    for one in traced {
        let mut at = start.clone();
        for hop in &one.trace.gateways {
            let (name, type_name) = match hop {
                Some(hop) => (hop.address.to_string(), "gateway"),
                None => {
                    let next = format!("unknown-{}", unknown.len() + 1);
                    (unknown.entry(at.clone()).or_insert(next).clone(), "unknown")
                }
            };
            let behind = format!("behind {name}");
            found.segments.entry(behind.clone()).or_insert_with(segment);
            let joint = found.joints.entry(name).or_insert_with(|| Joint {
                type_name: type_name.to_owned(),
                joins: vec![at.clone(), behind.clone()],
                utilisation: Utilisation::Idle,
                utilisation_error: 0.0,
                scanned: Vec::new(),
            });
            // Reached by another way, too.
            if !joint.joins.contains(&at) {
                joint.joins.push(at);
            }
            at = behind;
        }
        if one.trace.host.is_some() && one.name != from {
            found.hosts.insert(one.name.clone(), host(&at, Some(one.address)));
        }
    }
    found
}

fn segment() -> Segment {
    Segment {
        type_name: "link".to_owned(),
        utilisation: Utilisation::Idle,
        utilisation_error: 0.0,
        scanned: Vec::new(),
    }
}

/// A host without port: whether `net answer` listens there has to be entered by a person.
fn host(segment: &str, address: Option<Ipv4Addr>) -> Host {
    Host {
        type_name: "host".to_owned(),
        segment: segment.to_owned(),
        address: address.map(|address| address.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::topology::PathStep;
    use super::super::trace::Hop;
    use super::*;

    fn address(n: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, 0, 0, n)
    }

    /// A host behind these gateways; 0 is one that did not answer.
    fn traced(name: &str, gateways: &[u8], reached: bool) -> Traced {
        let hop = |n: u8| (n > 0).then(|| Hop { address: address(n), took_ns: 1 });
        let trace = Trace {
            gateways: gateways.iter().map(|n| hop(*n)).collect(),
            host: reached.then(|| Hop { address: address(200), took_ns: 1 }),
        };
        Traced { name: name.to_owned(), address: address(200), trace }
    }

    #[test]
    fn ways_are_put_together() {
        let all = [
            traced("near", &[], true),
            traced("a", &[1, 2], true),
            traced("b", &[1, 0, 3], true),
            traced("c", &[1, 0, 4], true),
            traced("d", &[5, 2], true),
            traced("lost", &[1, 6], false),
        ];
        let found = topology("me", &all);
        assert_eq!(found.check(), Ok(()));
        let text = toml::to_string(&found).unwrap();
        assert_eq!(Topology::read(&text, None).unwrap(), found, "{text}");
        let joints = |to: &str| -> Vec<String> {
            let way = found.way("me", to).unwrap();
            let joint = |step: &PathStep<'_>| match step {
                PathStep::Joint(name) => Some((*name).to_owned()),
                PathStep::Segment(_) => None,
            };
            way.iter().filter_map(joint).collect()
        };
        assert_eq!(joints("near"), [""; 0]);
        assert_eq!(joints("a"), ["10.0.0.1", "10.0.0.2"]);
        assert_eq!(joints("b"), ["10.0.0.1", "unknown-1", "10.0.0.3"]);
        assert_eq!(joints("c"), ["10.0.0.1", "unknown-1", "10.0.0.4"]);
        assert!(!found.hosts.contains_key("lost"));
        assert!(found.joints.contains_key("10.0.0.6"), "what is known of the way is kept");
        assert_eq!(found.joints["10.0.0.2"].joins.len(), 3, "reached by two ways");
    }
}
