//! Names of aircraft that fly recorded paths: the recorded ones where they stay unambiguous, else
//! made-up ones.

use super::flights::Flight;
use super::{Aircraft, COMPOSED_ADDRESSES_FROM, Composed, Motion, codes};
use crate::asterix::Callsign;
use std::collections::HashSet;

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
