//! Findings of the report of a network.

use super::tables::Tables;
use chronoscope_net::groups::Groups;
use chronoscope_net::path::topology::ElementKind;
use chronoscope_net::probe::Timer;
use chronoscope_net::report::{Measured, Published, Reference, Speed};

/// Everything that is shown.
pub(super) struct Findings {
    pub(super) published: Published,
    /// Load by packets; `None` without a scan.
    pub(super) load: Option<Tables>,
    /// Rings, segments: groups of hosts.
    pub(super) groups: Groups,
    /// Round trips from one host to another, and within a host.
    pub(super) between: Vec<Measured>,
    pub(super) within: Vec<Measured>,
    pub(super) speeds: Vec<Speed>,
    pub(super) references: Vec<Reference>,
    /// The shortest and the longest first request, in nanoseconds.
    pub(super) activation_ns: Option<[u64; 2]>,
    pub(super) timer: Timer,
}

impl Findings {
    /// Missing measurements, each with the command that makes it.
    pub(super) fn missing(&self) -> Vec<(&'static str, &'static str)> {
        let has = |kind| self.references.iter().any(|reference| reference.kind == kind);
        let all = [
            (self.load.is_some(), "Tables 1 and 2", "chronoscope net scan --hosts FILE"),
            (!self.between.is_empty(), "Table 3", "chronoscope net rtt TARGET, net matrix"),
            (
                !self.within.is_empty() || has(ElementKind::Host),
                "round trips within a host",
                "chronoscope net matrix, or net measure and --topology",
            ),
            (
                has(ElementKind::Gateway) || has(ElementKind::Bridge),
                "delays of bridges and gateways",
                "chronoscope net measure --topology FILE --output TYPES, then net report \
                 --topology TYPES",
            ),
            (self.activation_ns.is_some(), "first requests", "chronoscope net rtt TARGET"),
            (!self.speeds.is_empty(), "bulk transfer", "chronoscope net bulk --to HOST:PORT"),
        ];
        all.into_iter().filter(|(there, ..)| !there).map(|(_, what, how)| (what, how)).collect()
    }
}
