//! Topology of a network: one TOML file.
//!
//! ```toml
//! [types.pc]              # a host type: a round trip between two programs on one such host
//! kind = "host"
//! delay_us = 60_000
//!
//! [types.ring]
//! kind = "link"
//! rate_bits = 4_000_000
//! mtu = 2_000             # octets of its largest packet
//!
//! [types.router]
//! kind = "gateway"
//! delay_us = 11_000
//! packet_us = 2_000       # of each packet, in either direction
//! service = { packet_us = 2_000, octet_us = 2, octets = 300, sizes = "exponential" }
//!
//! [segments.PCR]
//! type = "ring"
//!
//! [segments.LMA]
//! type = "ring"
//!
//! [joints.gw1]            # joins segments: a bridge or a gateway
//! type = "router"
//! joins = ["PCR", "LMA"]
//! utilisation = [0.3, 0.1] # entered; or by what scanned hosts counted, of which `net scan` asks:
//! # scanned = ["gw1"]
//!
//! [hosts.aldev5]
//! type = "pc"
//! segment = "PCR"
//!
//! [hosts.bile28]
//! type = "pc"
//! segment = "LMA"
//! address = "10.0.2.28:7007" # where `net answer` is reached, for probes
//! ```

use super::element::{AtSize, Characteristic, CharacteristicError, Entered};
use super::message::MTU_MIN;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;

/// Topology of a network.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topology {
    /// Properties of its elements, by name of the type.
    #[serde(default)]
    pub types: BTreeMap<String, ElementType>,
    /// Links that hosts and joints are on.
    #[serde(default)]
    pub segments: BTreeMap<String, Segment>,
    /// Bridges and gateways.
    #[serde(default)]
    pub joints: BTreeMap<String, Joint>,
    /// Hosts of the network.
    #[serde(default)]
    pub hosts: BTreeMap<String, Host>,
}

/// Kind of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ElementKind {
    /// A computer: its delay is a round trip between two programs on it.
    Host,
    /// A ring, a bus, a line.
    Link,
    /// Joins links without looking further than at addresses.
    Bridge,
    /// Joins links by a program.
    Gateway,
}

impl fmt::Display for ElementKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Host => "host",
            Self::Link => "link",
            Self::Bridge => "bridge",
            Self::Gateway => "gateway",
        })
    }
}

/// Properties of the elements of one type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ElementType {
    /// Kind of the elements.
    pub kind: ElementKind,
    /// Entered: added to a round trip whatever its size, in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_us: Option<f64>,
    /// Entered: each packet is passed on as a whole with so many bits a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bits: Option<f64>,
    /// Entered: octets that a link's frame adds to each packet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame_octets: Option<f64>,
    /// Time for which each packet occupies it in either direction, beside its octets, in
    /// microseconds. Entered: it is added to the delay; of a measured type it is a part of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet_us: Option<f64>,
    /// Largest packet that it passes, in octets; [`MTU`](super::message::MTU) without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mtu: Option<u32>,
    /// Measured, instead of both.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub measured: Vec<AtSize>,
    /// Service time of other traffic; without it there is no queueing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
}

/// Time for which a packet of other traffic occupies an element.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Service {
    /// Whatever its size, in microseconds.
    #[serde(default)]
    pub packet_us: f64,
    /// For each octet, in microseconds.
    #[serde(default)]
    pub octet_us: f64,
    /// Mean size of a packet, in octets.
    pub octets: f64,
    /// Distribution of packet sizes.
    #[serde(default)]
    pub sizes: Sizes,
}

/// Distribution of packet sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sizes {
    /// All are as long as the mean: the queue is M/D/1.
    Fixed,
    /// Sizes are distributed exponentially.
    #[default]
    Exponential,
}

/// A link that hosts are on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Segment {
    /// Name of a type of kind link.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Utilisation by other traffic.
    #[serde(default, skip_serializing_if = "Utilisation::is_idle")]
    pub utilisation: Utilisation,
    /// By how much the share may be wrong, with 95 % confidence.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub utilisation_error: f64,
    /// Hosts whose scanned counters say how busy it is ([`utilisation`](super::utilisation)).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<String>,
}

/// A bridge or gateway.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Joint {
    /// Name of a type of kind bridge or gateway.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Names of the segments that it joins, two or more.
    pub joins: Vec<String>,
    /// Utilisation by other traffic.
    #[serde(default, skip_serializing_if = "Utilisation::is_idle")]
    pub utilisation: Utilisation,
    /// By how much the share may be wrong, with 95 % confidence.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub utilisation_error: f64,
    /// Hosts whose scanned counters say how busy it is ([`utilisation`](super::utilisation)).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<String>,
}

/// A host of the network.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Host {
    /// Name of a type of kind host.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Name of the segment that it is on.
    pub segment: String,
    /// Address of `chronoscope net answer` there, for probes: `ADDRESS:PORT`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
}

/// Shares of the time that an element is busy, each in `[0, 1)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Utilisation {
    /// There is no other traffic.
    #[default]
    Idle,
    /// The same share in both directions.
    Both(f64),
    /// Share on the way of the request and of the reply, from the first to the second element that
    /// it joins.
    Each([f64; 2]),
}

impl Utilisation {
    /// Whether there is no other traffic.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.each() == [0.0; 2]
    }

    /// In each direction.
    #[must_use]
    pub const fn each(self) -> [f64; 2] {
        match self {
            Self::Idle => [0.0; 2],
            Self::Both(share) => [share; 2],
            Self::Each(shares) => shares,
        }
    }
}

/// One step of the way between two hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathStep<'a> {
    /// Over a segment.
    Segment(&'a str),
    /// Through a joint.
    Joint(&'a str),
}

/// Faults of a topology.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TopologyError {
    /// The text is not TOML, or has another form; with the position.
    #[error("{0}")]
    Form(String),
    /// Another fault, at a line of the file.
    #[error("line {line}: {error}")]
    Line {
        /// Line number, from 1.
        line: usize,
        /// The fault itself.
        error: Box<TopologyError>,
    },
    /// An error of a utilisation is none.
    #[error("{by}: utilisation_error = {error}: a number from 0 expected")]
    Error {
        /// Name of the entry.
        by: String,
        /// Value as entered.
        error: f64,
    },
    /// A name that is not there.
    #[error("{by} names {what} {name:?}, which does not exist{}", listed(.known))]
    Unknown {
        /// Name of the entry that refers to it.
        by: String,
        /// Expected kind of entry.
        what: &'static str,
        /// The unknown name.
        name: String,
        /// Names that are there.
        known: Vec<String>,
    },
    /// An element's type is of another kind.
    #[error("{by} is of type {name:?}, which is a {kind}")]
    Kind {
        /// Name of the entry.
        by: String,
        /// Name of the type.
        name: String,
        /// Kind of the type.
        kind: ElementKind,
    },
    /// A type's characteristic cannot be used.
    #[error("type {name:?}: {error}")]
    Characteristic {
        /// Name of the type.
        name: String,
        /// Fault of its characteristic.
        error: CharacteristicError,
    },
    /// Packets that no link may have.
    #[error("type {name:?}: mtu = {mtu}: octets of a packet from {MTU_MIN} to 65535 expected")]
    Mtu {
        /// Name of the type.
        name: String,
        /// Value as entered.
        mtu: u32,
    },
    /// A type is both entered and measured.
    #[error(
        "type {0:?} has `measured` beside `delay_us`, `rate_bits` or `frame_octets`: either \
         expected"
    )]
    Twice(String),
    /// A joint joins too few segments.
    #[error("joint {0:?} joins fewer than two segments")]
    Alone(String),
    /// A share of the time is none.
    #[error("{by}: utilisation {share} is not a share from 0 to 1")]
    Utilisation {
        /// Name of the entry.
        by: String,
        /// Value as entered.
        share: f64,
    },
    /// A service time is none.
    #[error("type {name:?}: service {what} = {value}: a number from 0 expected")]
    Service {
        /// Name of the type.
        name: String,
        /// Name of the value.
        what: &'static str,
        /// Value as entered.
        value: f64,
    },
    /// There is no path between two hosts.
    #[error("no path leads from {from:?} to {to:?}: their segments {segments:?} are not joined")]
    NoWay {
        /// First host.
        from: String,
        /// Second host.
        to: String,
        /// Segments of the two.
        segments: [String; 2],
    },
}

fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    match names {
        [] => " (there is none)".to_owned(),
        names if names.len() > MOST => {
            format!(" ({} and {} more)", names[..MOST].join(", "), names.len() - MOST)
        }
        names => format!(" (there is {})", names.join(", ")),
    }
}

impl Topology {
    /// Reads and checks a topology; `measured` are further types, which replace those of the same
    /// name (a file that probing wrote, without segments, joints and hosts).
    ///
    /// # Errors
    /// [`TopologyError`], the first that is found.
    pub fn read(text: &str, measured: Option<&str>) -> Result<Self, TopologyError> {
        let read = |text| toml::from_str(text).map_err(|e| TopologyError::Form(e.to_string()));
        let mut topology: Self = read(text)?;
        let measured_types =
            measured.map(read).transpose()?.map_or_else(BTreeMap::new, |m| m.types);
        let found = topology.types_check().and_then(|()| {
            topology.types.extend(measured_types);
            topology.check_all()
        });
        found.map(|()| topology).map_err(|wrong| {
            let files = [Some(text), measured];
            let line =
                files.into_iter().flatten().find_map(|file| line(file, wrong.table, &wrong.name));
            let error = wrong.error;
            match line {
                Some(line) => TopologyError::Line { line, error },
                None => *error,
            }
        })
    }

    /// The topology as text that [`read`](Self::read) accepts.
    ///
    /// # Errors
    /// [`TopologyError::Form`]: a value that TOML cannot express.
    pub fn written(&self) -> Result<String, TopologyError> {
        toml::to_string(self).map_err(|error| TopologyError::Form(error.to_string()))
    }

    /// Looks whether everything that is named is there and of the right kind.
    ///
    /// # Errors
    /// [`TopologyError`], the first that is found.
    pub fn check(&self) -> Result<(), TopologyError> {
        self.check_all().map_err(|wrong| *wrong.error)
    }

    fn types_check(&self) -> Result<(), Wrong> {
        self.types.iter().try_for_each(|(name, kind)| {
            kind.check(name).map_err(|error| Wrong {
                table: "types",
                name: name.clone(),
                error: Box::new(error),
            })
        })
    }

    fn check_all(&self) -> Result<(), Wrong> {
        self.types_check()?;
        let wrong = |table, name: &String| {
            let name = name.clone();
            move |error| Wrong { table, name, error: Box::new(error) }
        };
        for (name, segment) in &self.segments {
            self.check_segment(name, segment).map_err(wrong("segments", name))?;
        }
        for (name, joint) in &self.joints {
            self.check_joint(name, joint).map_err(wrong("joints", name))?;
        }
        for (name, host) in &self.hosts {
            let by = format!("host {name:?}");
            let checked = self.of_kind(&by, &host.type_name, &[ElementKind::Host]);
            let checked = checked
                .and_then(|()| find(&self.segments, &by, "segment", &host.segment).map(|_| ()));
            checked.map_err(wrong("hosts", name))?;
        }
        Ok(())
    }

    fn check_segment(&self, name: &str, segment: &Segment) -> Result<(), TopologyError> {
        let by = format!("segment {name:?}");
        self.of_kind(&by, &segment.type_name, &[ElementKind::Link])?;
        check_utilisation(&by, segment.utilisation, segment.utilisation_error)
    }

    fn check_joint(&self, name: &str, joint: &Joint) -> Result<(), TopologyError> {
        let by = format!("joint {name:?}");
        self.of_kind(&by, &joint.type_name, &[ElementKind::Bridge, ElementKind::Gateway])?;
        check_utilisation(&by, joint.utilisation, joint.utilisation_error)?;
        for segment in &joint.joins {
            find(&self.segments, &by, "segment", segment)?;
        }
        match joint.joins.iter().collect::<BTreeSet<_>>().len() < 2 {
            true => Err(TopologyError::Alone(name.to_owned())),
            false => Ok(()),
        }
    }

    /// The type of that name.
    ///
    /// # Errors
    /// [`TopologyError::Unknown`], in which `by` asked for it.
    pub fn type_of(&self, by: &str, name: &str) -> Result<&ElementType, TopologyError> {
        find(&self.types, by, "type", name)
    }

    fn of_kind(&self, by: &str, name: &str, kinds: &[ElementKind]) -> Result<(), TopologyError> {
        let kind = self.type_of(by, name)?.kind;
        match kinds.contains(&kind) {
            true => Ok(()),
            false => Err(TopologyError::Kind { by: by.to_owned(), name: name.to_owned(), kind }),
        }
    }

    /// The host of that name.
    ///
    /// # Errors
    /// [`TopologyError::Unknown`].
    pub fn host(&self, name: &str) -> Result<&Host, TopologyError> {
        find(&self.hosts, "the question", "host", name)
    }

    /// The way with the fewest joints between two hosts; the first by name where there are several.
    /// Nothing lies between a host and itself.
    ///
    /// # Errors
    /// [`TopologyError::Unknown`], [`TopologyError::NoWay`].
    pub fn way(&self, from: &str, to: &str) -> Result<Vec<PathStep<'_>>, TopologyError> {
        let ends = [self.host(from)?, self.host(to)?];
        if from == to {
            return Ok(Vec::new());
        }
        let [start, end] = ends.map(|host| host.segment.as_str());
        // How each segment was reached: from which other one, through which joint.
        let mut reached: BTreeMap<&str, Option<(&str, &str)>> = BTreeMap::from([(start, None)]);
        let mut next = VecDeque::from([start]);
        while let Some(segment) = next.pop_front().filter(|segment| *segment != end) {
            for (name, joint) in &self.joints {
                if !joint.joins.iter().any(|joined| joined == segment) {
                    continue;
                }
                for further in &joint.joins {
                    if !reached.contains_key(further.as_str()) {
                        reached.insert(further, Some((segment, name)));
                        next.push_back(further);
                    }
                }
            }
        }
        if !reached.contains_key(end) {
            let segments = [start, end].map(str::to_owned);
            return Err(TopologyError::NoWay {
                from: from.to_owned(),
                to: to.to_owned(),
                segments,
            });
        }
        // Names of the topology, not of the question.
        let own = |name: &str| self.segments.get_key_value(name).map(|(name, _)| name.as_str());
        let mut way = Vec::new();
        let mut at = end;
        loop {
            way.extend(own(at).map(PathStep::Segment));
            match reached.get(at).copied().flatten() {
                None => break,
                Some((before, joint)) => {
                    way.push(PathStep::Joint(joint));
                    at = before;
                }
            }
        }
        way.reverse();
        Ok(way)
    }
}

impl ElementType {
    /// A type of a kind, of which nothing is known yet.
    #[must_use]
    pub const fn new(kind: ElementKind) -> Self {
        Self {
            kind,
            delay_us: None,
            rate_bits: None,
            frame_octets: None,
            packet_us: None,
            mtu: None,
            measured: Vec::new(),
            service: None,
        }
    }

    /// Whether nothing says what it adds to a round trip.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        let entered = [self.delay_us, self.rate_bits, self.packet_us];
        self.measured.is_empty() && entered.iter().all(Option::is_none)
    }

    /// Characteristic of the type.
    #[must_use]
    pub fn characteristic(&self) -> Characteristic {
        if self.measured.is_empty() {
            Characteristic::Entered(Entered {
                delay_us: self.delay_us.unwrap_or(0.0),
                rate_bits: self.rate_bits.unwrap_or(0.0),
                packet_us: self.packet_us.unwrap_or(0.0),
                frame_octets: self.frame_octets.unwrap_or(0.0),
            })
        } else {
            Characteristic::Measured { measured: self.measured.clone() }
        }
    }

    fn check(&self, name: &str) -> Result<(), TopologyError> {
        let entered = [self.delay_us, self.rate_bits, self.frame_octets];
        if entered.iter().any(Option::is_some) && !self.measured.is_empty() {
            return Err(TopologyError::Twice(name.to_owned()));
        }
        let wrong = |error| TopologyError::Characteristic { name: name.to_owned(), error };
        self.characteristic().check().map_err(wrong)?;
        if let Some(value) = self.packet_us.filter(|us| !(us.is_finite() && *us >= 0.0)) {
            return Err(wrong(CharacteristicError::Number { what: "packet_us", value }));
        }
        if let Some(mtu) = self.mtu.filter(|mtu| !(MTU_MIN..=65_535).contains(mtu)) {
            return Err(TopologyError::Mtu { name: name.to_owned(), mtu });
        }
        let Some(service) = self.service else { return Ok(()) };
        let numbers = [
            ("packet_us", service.packet_us),
            ("octet_us", service.octet_us),
            ("octets", service.octets),
        ];
        let wrong = numbers.into_iter().find(|(_, n)| !(n.is_finite() && *n >= 0.0));
        wrong.map_or(Ok(()), |(what, value)| {
            Err(TopologyError::Service { name: name.to_owned(), what, value })
        })
    }
}

fn find<'a, T>(
    all: &'a BTreeMap<String, T>,
    by: &str,
    what: &'static str,
    name: &str,
) -> Result<&'a T, TopologyError> {
    all.get(name).ok_or_else(|| TopologyError::Unknown {
        by: by.to_owned(),
        what,
        name: name.to_owned(),
        known: all.keys().cloned().collect(),
    })
}

fn check_utilisation(by: &str, share: Utilisation, error: f64) -> Result<(), TopologyError> {
    let by = || by.to_owned();
    if !(error.is_finite() && error >= 0.0) {
        return Err(TopologyError::Error { by: by(), error });
    }
    let wrong = share.each().into_iter().find(|share| !(0.0..=1.0).contains(share));
    wrong.map_or(Ok(()), |share| Err(TopologyError::Utilisation { by: by(), share }))
}

#[allow(clippy::trivially_copy_pass_by_ref)] // as serde calls it
fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

/// A fault, and the table and entry that have it.
struct Wrong {
    table: &'static str,
    name: String,
    error: Box<TopologyError>,
}

/// The line, from 1, on which an entry of a table begins.
fn line(text: &str, table: &str, name: &str) -> Option<usize> {
    let document = toml::de::DeTable::parse(text).ok()?;
    let entries = document.get_ref().get(table)?.get_ref().as_table()?;
    let (key, _) = entries.get_key_value(name)?;
    Some(text.get(..key.span().start)?.matches('\n').count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The network of the module's documentation, with one ring more.
    const TEXT: &str = r#"
        [types]
        pc = { kind = "host", delay_us = 60_000 }
        ring = { kind = "link", rate_bits = 4e6 }
        router = { kind = "gateway", delay_us = 15_000 }
        bridge = { kind = "bridge" }
        [segments]
        PCR = { type = "ring" }
        LMA = { type = "ring" }
        LSV = { type = "ring" }
        far = { type = "ring" }
        [joints]
        gw1 = { type = "router", joins = ["PCR", "LMA"], utilisation = 0.3 }
        gw2 = { type = "router", joins = ["LMA", "LSV"], utilisation = [0.3, 0.1] }
        br = { type = "bridge", joins = ["PCR", "LMA", "LSV"] }
        [hosts]
        a = { type = "pc", segment = "PCR" }
        b = { type = "pc", segment = "LSV" }
        c = { type = "pc", segment = "PCR" }
        d = { type = "pc", segment = "far" }
    "#;

    #[test]
    fn the_shortest_way() {
        let topology = Topology::read(TEXT, None).unwrap();
        use PathStep::{Joint, Segment};
        let way = |from, to| topology.way(from, to).unwrap();
        assert_eq!(way("a", "b"), [Segment("PCR"), Joint("br"), Segment("LSV")]);
        assert_eq!(way("b", "a"), [Segment("LSV"), Joint("br"), Segment("PCR")]);
        assert_eq!(way("a", "c"), [Segment("PCR")]);
        assert_eq!(way("a", "a"), []);
        let mut topology = topology.clone();
        topology.joints.remove("br");
        let way = topology.way("a", "b").unwrap();
        let expected = [Segment("PCR"), Joint("gw1"), Segment("LMA"), Joint("gw2"), Segment("LSV")];
        assert_eq!(way, expected);
        let error = topology.way("a", "d").unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"no path leads from "a" to "d": their segments ["PCR", "far"] are not joined"#
        );
        let error = topology.way("a", "z").unwrap_err();
        assert_eq!(
            error.to_string(),
            r#"the question names host "z", which does not exist (there is a, b, c, d)"#
        );
    }

    #[test]
    fn measured_types_replace_entered_ones() {
        let measured = "[[types.router.measured]]\noctets = 64\nwith_ns = [5, 6]\nwithout_ns = [1]\n\
                        [types.router]\nkind = \"gateway\"\n";
        let read = Topology::read(TEXT, Some(measured));
        let topology = match read {
            Ok(topology) => topology,
            Err(error) => panic!("{error}"),
        };
        assert_eq!(topology.types["router"].characteristic().delay(64).fixed_ns, 4.0);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |from: &str, to: &str| {
            let error = Topology::read(&TEXT.replace(from, to), None).unwrap_err();
            error.to_string()
        };
        let said = [
            (
                wrong("far = { type = \"ring\"", "far = { type = \"rong\""),
                r#"line 11: segment "far" names type "rong""#,
            ),
            (
                wrong("far = { type = \"ring\"", "far = { type = \"pc\""),
                r#"segment "far" is of type "pc", which is a host"#,
            ),
            (wrong("segment = \"far\"", "segment = \"near\""), r#"host "d" names segment "near""#),
            (
                wrong("[\"PCR\", \"LMA\"]", "[\"PCR\", \"PCR\"]"),
                r#"joint "gw1" joins fewer than two"#,
            ),
            (wrong("0.3,", "3,"), r#"joint "gw2": utilisation 3 is not a share"#),
            (wrong("delay_us = 15_000", "delay_us = nan"), r#"type "router": delay_us = NaN"#),
            (wrong("delay_us = 15_000", "latency = 15_000"), "unknown field `latency`"),
            (wrong("delay_us = 15_000", "service = { octets = -1 }"), "service octets = -1"),
            (wrong("delay_us = 15_000", "packet_us = -1"), r#"type "router": packet_us = -1"#),
            (wrong("delay_us = 15_000", "frame_octets = -1"), "frame_octets = -1"),
            (wrong("delay_us = 15_000", "mtu = 60"), "mtu = 60: octets of a packet from 68 to"),
            (wrong("[0.3, 0.1]", "0.3, utilisation_error = -1"), "utilisation_error = -1"),
        ];
        for (said, expected) in said {
            assert!(said.contains(expected), "{said}\nexpected: {expected}");
        }
    }
}
