//! Counters of network interfaces, and how far they went.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Counters of one interface, or of a host's interfaces together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counters {
    /// Packets received.
    pub in_packets: u64,
    /// Packets that went out.
    pub out_packets: u64,
    /// Octets received.
    pub in_bytes: u64,
    /// Octets that went out.
    pub out_bytes: u64,
    /// Packets received with errors.
    pub in_errors: u64,
    /// Packets that could not go out because of errors.
    pub out_errors: u64,
    /// Valid packets that were received and discarded.
    pub in_drops: u64,
    /// Packets that were to go out and were thrown away.
    pub out_drops: u64,
}

/// Number of values in [`Counters`].
const VALUES: usize = 8;
/// Indices of the octet counters.
const OCTETS: [usize; 2] = [2, 3];

impl Counters {
    /// The values, in the order of the fields.
    #[must_use]
    pub const fn values(&self) -> [u64; VALUES] {
        [
            self.in_packets,
            self.out_packets,
            self.in_bytes,
            self.out_bytes,
            self.in_errors,
            self.out_errors,
            self.in_drops,
            self.out_drops,
        ]
    }

    /// Makes counters from values in the order of the fields.
    #[must_use]
    pub const fn from_values(values: [u64; VALUES]) -> Self {
        let [
            in_packets,
            out_packets,
            in_bytes,
            out_bytes,
            in_errors,
            out_errors,
            in_drops,
            out_drops,
        ] = values;
        Self {
            in_packets,
            out_packets,
            in_bytes,
            out_bytes,
            in_errors,
            out_errors,
            in_drops,
            out_drops,
        }
    }

    /// Difference between `earlier` and these counters.
    ///
    /// A 32-bit counter that is lower than before has wrapped once, if the count by that is less
    /// than half its range; a 64-bit one never wraps in practice. Otherwise a lower octet counter
    /// means that the interface restarted its counters: then the present values are the least that
    /// has happened since ([`Advance::Restarted`]). If another counter is lower while octets
    /// increased (net-snmp computes packets, and may be wrong), its difference is unknown.
    ///
    /// A host that reports a restart (`started_anew`) most often means only the answering program:
    /// net-snmp's counters are the kernel's, and continue. Where no counter is lower than before
    /// they are taken to have continued. (If they restarted and are beyond the earlier ones
    /// already, too little is counted.) Such a host's counters are not taken to wrap.
    #[must_use]
    pub fn since(&self, earlier: &Self, widths: Widths, started_anew: bool) -> Advance {
        let (now, before) = (self.values(), earlier.values());
        let mut advance = [0; VALUES];
        let mut fell = [false; VALUES];
        for (index, advance) in advance.iter_mut().enumerate() {
            let went = now[index].checked_sub(before[index]);
            let wrapped = || widths.wrapped(index, now[index], before[index]);
            let went = went.or_else(|| if started_anew { None } else { wrapped() });
            fell[index] = went.is_none();
            *advance = went.unwrap_or(0);
        }
        // Where octets went on, the interface did, and one of the others is counted wrongly.
        if OCTETS.into_iter().any(|index| fell[index]) {
            return Advance::Restarted(*self);
        }
        let advance = Self::from_values(advance);
        match fell.contains(&true) {
            true => Advance::Restarted(advance),
            false => Advance::Counted(advance),
        }
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        let other = other.values();
        let mut values = self.values();
        values
            .iter_mut()
            .zip(other)
            .for_each(|(value, other)| *value = value.saturating_add(other));
        *self = Self::from_values(values);
    }
}

/// Difference between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Advance {
    /// Counted difference.
    Counted(Counters),
    /// Counters went back: the interface began to count anew meanwhile, and counted at least so
    /// far. What was before that and after the earlier reading is not known.
    Restarted(Counters),
}

/// Width of a host's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Widths {
    /// All have 64 bits, as those of Linux.
    Wide,
    /// Packets and octets have 64 bits, errors and drops 32: IF-MIB with `ifXTable`.
    WideTraffic,
    /// All have 32 bits: IF-MIB without `ifXTable`.
    Narrow,
}

impl Widths {
    /// Difference of a counter that is lower than before, where it can only have wrapped.
    fn wrapped(self, index: usize, now: u64, before: u64) -> Option<u64> {
        const RANGE: u64 = 1 << 32;
        const TRAFFIC: usize = 4;
        let narrow = match self {
            Self::Wide => false,
            Self::WideTraffic => index >= TRAFFIC,
            Self::Narrow => true,
        };
        // A counter that is reset shows little; one that wrapped has come a short way since.
        let fits = narrow && before < RANGE && now < RANGE;
        let advance = (now.checked_add(RANGE)?).checked_sub(before).filter(|_| fits)?;
        (advance < RANGE / 2).then_some(advance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn octets(in_bytes: u64) -> Counters {
        Counters { in_bytes, ..Counters::default() }
    }

    #[test]
    fn a_narrow_counter_wraps_and_a_wide_one_does_not() {
        let (before, now) = (octets((1 << 32) - 10), octets(20));
        assert_eq!(now.since(&before, Widths::Narrow, false), Advance::Counted(octets(30)));
        assert_eq!(now.since(&before, Widths::WideTraffic, false), Advance::Restarted(now));
        assert_eq!(now.since(&before, Widths::Wide, false), Advance::Restarted(now));
        let drops = |in_drops| Counters { in_drops, ..Counters::default() };
        assert_eq!(
            drops(5).since(&drops((1 << 32) - 1), Widths::WideTraffic, false),
            Advance::Counted(drops(6))
        );
    }

    #[test]
    fn a_reset_is_no_traffic_of_gigabytes() {
        let (before, now) = (octets(1 << 30), octets(1000));
        assert_eq!(now.since(&before, Widths::Narrow, false), Advance::Restarted(now));
    }

    /// See <https://github.com/net-snmp/net-snmp/issues/1079>.
    #[test]
    fn packets_that_go_back_alone_are_not_counted() {
        let before = Counters { in_packets: 900, ..octets(1000) };
        let now = Counters { in_packets: 899, out_packets: 3, ..octets(1500) };
        let known = Counters { out_packets: 3, ..octets(500) };
        assert_eq!(now.since(&before, Widths::Wide, false), Advance::Restarted(known));
    }

    /// Only the program that answers is new where no counter went back.
    #[test]
    fn an_agent_that_started_anew_has_not_begun_to_count_anew() {
        let before = octets(1 << 40);
        let now = octets((1 << 40) + 500);
        assert_eq!(now.since(&before, Widths::Wide, true), Advance::Counted(octets(500)));
        assert_eq!(octets(7).since(&before, Widths::Wide, true), Advance::Restarted(octets(7)));
        let high = octets((1 << 32) - 1);
        assert_eq!(octets(7).since(&high, Widths::Narrow, true), Advance::Restarted(octets(7)));
    }

    proptest! {
        /// However far narrow counters went below half their range, it is found.
        #[test]
        fn narrow_advances_are_found(
            before in prop::array::uniform8(0u64..1 << 32),
            advance in prop::array::uniform8(0u64..1 << 31),
        ) {
            let mut now = before;
            now.iter_mut().zip(advance).for_each(|(now, by)| *now = (*now + by) % (1 << 32));
            let now = Counters::from_values(now);
            let found = now.since(&Counters::from_values(before), Widths::Narrow, false);
            prop_assert_eq!(found, Advance::Counted(Counters::from_values(advance)));
        }

        /// No counters at all make a difference that panics.
        #[test]
        fn any_counters_have_a_difference(
            before in prop::array::uniform8(any::<u64>()),
            now in prop::array::uniform8(any::<u64>()),
        ) {
            for widths in [Widths::Wide, Widths::WideTraffic, Widths::Narrow] {
                let _ = Counters::from_values(now).since(&Counters::from_values(before), widths, false);
            }
        }
    }
}
