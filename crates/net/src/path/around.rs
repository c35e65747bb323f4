//! Choice of probes that characterise an element: two around it, with and without it.
//!
//! From one host, round trips to all others of the topology that have an address are compared. Two
//! of them that differ in one element characterise it. A gateway is never passed without the
//! segment behind it, so that segment's own part has to be known (entered, or measured first) and
//! is taken off. Elements that are only ever passed together cannot be told apart.

use super::topology::{ElementKind, PathStep, Topology, TopologyError};
use std::collections::BTreeSet;

/// Two probes around an element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Around {
    /// Name of the element; of a host's own round trip the host's.
    pub element: String,
    /// Kind of the element.
    pub kind: ElementKind,
    /// Name of its type.
    pub type_name: String,
    /// The host whose round trip passes it.
    pub with: String,
    /// The host whose round trip differs by not passing it; `None`: the element is all there is.
    pub without: Option<String>,
    /// Segments that the one passes and the other does not, to be taken off.
    pub besides: Vec<String>,
}

/// Measurements that are possible from a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The host that probes.
    pub from: String,
    /// Measurements, ordered so that parts to be subtracted are measured before.
    pub around: Vec<Around>,
    /// Elements that cannot be measured, with the reason in words.
    pub not: Vec<String>,
}

impl Plan {
    /// Hosts that have to be probed.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        let hosts = self.around.iter().flat_map(|a| std::iter::once(&a.with).chain(&a.without));
        hosts.cloned().collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// A host that can be probed, and what lies between.
struct Reached<'a> {
    host: &'a str,
    type_name: &'a str,
    segments: BTreeSet<&'a str>,
    joints: BTreeSet<&'a str>,
}

impl Reached<'_> {
    fn elements(&self) -> usize {
        self.segments.len() + self.joints.len()
    }
}

/// Finds the probes around each element, from the host `from`; only around `only` where that is
/// given.
///
/// # Errors
/// [`TopologyError::Unknown`]: `from` or `only` is not there.
pub fn plan(topology: &Topology, from: &str, only: Option<&str>) -> Result<Plan, TopologyError> {
    topology.host(from)?;
    if let Some(name) = only {
        known(topology, name)?;
    }
    let reached = reached(topology, from);
    let mut plan = Plan { from: from.to_owned(), ..Plan::default() };
    let own = topology.host(from)?;
    if own.address.is_some() {
        plan.around.push(Around {
            element: from.to_owned(),
            kind: ElementKind::Host,
            type_name: own.type_name.clone(),
            with: from.to_owned(),
            without: None,
            besides: Vec::new(),
        });
    } else {
        plan.not.push(format!(
            "host {from:?} has no address: its own round trip, which is in all others, is not \
             measured"
        ));
    }
    for (name, segment) in &topology.segments {
        let found = pair(&reached, &segment.type_name, ElementKind::Link, name);
        plan.around.extend(found);
    }
    for (name, joint) in &topology.joints {
        let kind = topology.types.get(&joint.type_name).map_or(ElementKind::Gateway, |t| t.kind);
        match pair(&reached, &joint.type_name, kind, name) {
            Some(found) => plan.around.push(found),
            None => plan.not.push(why_not(&reached, name)),
        }
    }
    if let Some(name) = only {
        let needed: BTreeSet<String> = plan
            .around
            .iter()
            .filter(|around| around.element == name)
            .flat_map(|around| around.besides.iter().cloned().chain([name.to_owned()]))
            .collect();
        plan.around.retain(|around| needed.contains(&around.element));
        plan.not.retain(|why| why.contains(&format!("{name:?}")));
    }
    Ok(plan)
}

fn known(topology: &Topology, name: &str) -> Result<(), TopologyError> {
    let there = topology.segments.contains_key(name)
        || topology.joints.contains_key(name)
        || topology.hosts.contains_key(name);
    let all = topology.joints.keys().chain(topology.segments.keys()).chain(topology.hosts.keys());
    match there {
        true => Ok(()),
        false => Err(TopologyError::Unknown {
            by: "the question".to_owned(),
            what: "element",
            name: name.to_owned(),
            known: all.cloned().collect(),
        }),
    }
}

/// Hosts with an address to which a way leads, those with the fewest elements between first.
fn reached<'a>(topology: &'a Topology, from: &str) -> Vec<Reached<'a>> {
    let mut reached = Vec::new();
    for (name, host) in topology.hosts.iter().filter(|(_, host)| host.address.is_some()) {
        let Ok(way) = topology.way(from, name) else { continue };
        let (mut segments, mut joints) = (BTreeSet::new(), BTreeSet::new());
        for step in way {
            match step {
                PathStep::Segment(name) => segments.insert(name),
                PathStep::Joint(name) => joints.insert(name),
            };
        }
        reached.push(Reached { host: name, type_name: &host.type_name, segments, joints });
    }
    reached.sort_by_key(Reached::elements);
    reached
}

/// The two round trips that differ least and in this element: a joint with the segments behind it,
/// or one segment alone.
fn pair(reached: &[Reached<'_>], type_name: &str, kind: ElementKind, name: &str) -> Option<Around> {
    let mut best: Option<(usize, usize, Around)> = None;
    for with in
        reached.iter().filter(|with| with.joints.contains(name) || with.segments.contains(name))
    {
        for without in reached.iter().filter(|without| without.type_name == with.type_name) {
            let is_part = without.segments.is_subset(&with.segments)
                && without.joints.is_subset(&with.joints);
            let joints: Vec<&str> = with.joints.difference(&without.joints).copied().collect();
            let segments: Vec<&str> =
                with.segments.difference(&without.segments).copied().collect();
            let fits = match kind {
                ElementKind::Link => joints.is_empty() && segments == [name],
                _ => joints == [name],
            };
            if !is_part || !fits {
                continue;
            }
            let besides: Vec<String> =
                segments.iter().filter(|s| **s != name).map(|s| (*s).to_owned()).collect();
            let rank = (besides.len(), with.elements());
            if best.as_ref().is_none_or(|(more, longer, _)| rank < (*more, *longer)) {
                let around = Around {
                    element: name.to_owned(),
                    kind,
                    type_name: type_name.to_owned(),
                    with: with.host.to_owned(),
                    without: Some(without.host.to_owned()),
                    besides,
                };
                best = Some((rank.0, rank.1, around));
            }
        }
    }
    best.map(|(_, _, around)| around)
}

/// Reason why no two round trips characterise a joint.
fn why_not(reached: &[Reached<'_>], name: &str) -> String {
    let mut through = reached.iter().filter(|one| one.joints.contains(name));
    let Some(first) = through.next() else {
        return format!(
            "{name:?} is on the way to no host that has an address: give one behind it an address"
        );
    };
    let always = through.fold(first.joints.clone(), |always, one| {
        always.intersection(&one.joints).copied().collect()
    });
    let others: Vec<&str> = always.into_iter().filter(|joint| *joint != name).collect();
    if others.is_empty() {
        format!("{name:?}: no host before it and one behind it are of one type and have an address")
    } else {
        format!(
            "{name:?} cannot be told apart from {}, with which it is always passed: give a host \
             between them an address, of the same type as one behind them",
            others.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        types = { pc = { kind = "host" }, ring = { kind = "link" }, router = { kind = "gateway" }, other = { kind = "host" } }
        [segments]
        s0 = { type = "ring" }
        s1 = { type = "ring" }
        s2 = { type = "ring" }
        s3 = { type = "ring" }
        [joints]
        g1 = { type = "router", joins = ["s0", "s1"] }
        g2 = { type = "router", joins = ["s1", "s2"] }
        g3 = { type = "router", joins = ["s2", "s3"] }
        [hosts]
        here = { type = "pc", segment = "s0", address = "10.0.0.1:7" }
        near = { type = "pc", segment = "s0", address = "10.0.0.2:7" }
        one = { type = "pc", segment = "s1", address = "10.0.1.1:7" }
        mute = { type = "pc", segment = "s2" }
        far = { type = "pc", segment = "s3", address = "10.0.3.1:7" }
    "#;

    fn found(plan: &Plan) -> Vec<(&str, &str, Option<&str>, Vec<String>)> {
        let each = plan.around.iter();
        each.map(|a| (&*a.element, &*a.with, a.without.as_deref(), a.besides.clone())).collect()
    }

    #[test]
    fn pairs_are_found_and_what_has_none_is_named() {
        let topology = Topology::read(TEXT, None).unwrap();
        let plan = plan(&topology, "here", None).unwrap();
        let s1 = || vec!["s1".to_owned()];
        let expected = [
            ("here", "here", None, vec![]),
            ("s0", "near", Some("here"), vec![]),
            ("g1", "one", Some("near"), s1()),
        ];
        assert_eq!(found(&plan), expected);
        assert_eq!(plan.hosts(), ["here", "near", "one"]);
        assert_eq!(plan.not.len(), 2, "{:?}", plan.not);
        assert!(
            plan.not[0].starts_with("\"g2\" cannot be told apart from g1, g3,"),
            "{:?}",
            plan.not
        );
    }

    #[test]
    fn a_host_between_tells_them_apart() {
        let text = TEXT.replace(
            r#"mute = { type = "pc", segment = "s2" }"#,
            r#"mute = { type = "pc", segment = "s2", address = "10.0.2.1:7" }"#,
        );
        let topology = Topology::read(&text, None).unwrap();
        let all = plan(&topology, "here", None).unwrap();
        assert_eq!(all.not, [""; 0]);
        let only = plan(&topology, "here", Some("g3")).unwrap();
        assert_eq!(found(&only), [("g3", "far", Some("mute"), vec!["s3".to_owned()])]);
        let error = plan(&topology, "here", Some("g9")).unwrap_err();
        assert!(error.to_string().contains(r#"element "g9", which does not exist (there is g1"#));
    }

    /// Round trips that end on another kind of host differ in more than the gateway.
    #[test]
    fn hosts_of_another_type_are_not_compared() {
        let text = TEXT.replace(r#"one = { type = "pc""#, r#"one = { type = "other""#);
        let topology = Topology::read(&text, None).unwrap();
        let plan = plan(&topology, "here", Some("g1")).unwrap();
        assert_eq!(plan.around, []);
        assert!(plan.not[0].contains("\"g1\""), "{:?}", plan.not);
    }
}
