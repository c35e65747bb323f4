//! Names of aircraft: addresses, callsigns and codes. Aircraft that fly recorded paths have the
//! recorded ones where they stay unambiguous, else made-up ones.

use super::aircraft::{Aircraft, Composed, Motion};
use super::flights::Flight;
use crate::asterix::Callsign;
use std::collections::HashSet;

/// Codes that mean something by themselves and are therefore not given out: VFR, conspicuity and
/// the three emergencies.
const RESERVED_CODES: [u16; 8] = [0o0000, 0o1000, 0o1200, 0o2000, 0o7000, 0o7500, 0o7600, 0o7700];

/// The Mode 3/A codes that are given out, in order, again from the first after the last.
pub(super) fn codes() -> impl Iterator<Item = u16> {
    (0..0o10000).filter(|code| !RESERVED_CODES.contains(code)).cycle()
}

/// First of the addresses that ICAO keeps for temporary use (annex 10, volume III, table 9-1: 1111
/// 00...): no real aircraft has them.
pub(super) const COMPOSED_ADDRESSES_FROM: u32 = 0x00F0_0000;

/// Names that are taken.
pub(super) struct Names {
    addresses: HashSet<u32>,
    callsigns: HashSet<Callsign>,
    composed: u32,
    codes: Box<dyn Iterator<Item = u16>>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            addresses: HashSet::new(),
            callsigns: HashSet::new(),
            composed: 0,
            codes: Box::new(codes()),
        }
    }
}

impl Names {
    /// A Mode 3/A code.
    pub(super) fn code(&mut self) -> u16 {
        self.codes.next().unwrap_or(0o1000)
    }

    /// An aircraft of which everything is made up, with the callsign `callsign`, which is unique.
    pub(super) fn made_up(&mut self, callsign: &str, motion: Motion) -> Aircraft {
        let address = COMPOSED_ADDRESSES_FROM + self.composed;
        self.composed += 1;
        Aircraft {
            address,
            callsign: callsign.parse().unwrap_or_default(),
            mode_a: self.code(),
            composed: Composed { address: true, callsign: true, mode_a: true },
            motion,
        }
    }

    /// Address and callsign for one aircraft that flies as `flight` did.
    pub(super) fn give(&mut self, flight: &Flight) -> (u32, Callsign, Composed) {
        let mut composed = Composed { mode_a: true, ..Composed::default() };
        self.composed += 1;
        let mut address = flight.address;
        if address == 0 || !self.addresses.insert(address) {
            composed.address = true;
            address = COMPOSED_ADDRESSES_FROM + self.composed;
            self.addresses.insert(address);
        }
        let recorded = flight.callsign.parse().ok().filter(|callsign| {
            *callsign != Callsign::default() && self.callsigns.insert(*callsign)
        });
        let callsign = recorded.unwrap_or_else(|| {
            composed.callsign = true;
            format!("CMP{}", self.composed).parse().unwrap_or_default()
        });
        (address, callsign, composed)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_emergency_is_given_out() {
        let first: Vec<u16> = super::codes().take(4088).collect();
        assert!(!first.contains(&0o7700) && first.contains(&0o7777));
        assert_eq!(super::codes().nth(4088), Some(0o0001), "starts again");
    }
}
