//! Identity of an aircraft, and whether two reports can be of one aircraft.

use crate::asterix::Callsign;

/// Identity of an aircraft as its transponder sends it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// ICAO 24-bit address.
    pub address: Option<u32>,
    /// Mode 3/A code, in `[0, 0o7777]`.
    pub mode_3a: Option<u16>,
    /// Aircraft identification (callsign).
    pub callsign: Option<Callsign>,
}

/// Result of comparing two identities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// The same address: the same aircraft, unless the distance forbids it.
    Same,
    /// The same discrete Mode A code.
    Alike,
    /// Neither supports nor excludes that they are one aircraft.
    Open,
    /// Different Mode A codes: a change of code, or another aircraft.
    Unlike,
    /// Different addresses: not the same aircraft.
    Different,
}

/// Codes that many aircraft use at a time: they identify none (ICAO EUR Doc 023: 1000 is the Mode S
/// conspicuity code, 2000 no code assigned, 7000 VFR; 0000 not used).
const SHARED_CODES: [u16; 4] = [0, 0o1000, 0o2000, 0o7000];

impl Identity {
    /// Compares with another report.
    pub fn compare(&self, other: &Self) -> Match {
        if let (Some(a), Some(b)) = (self.address, other.address) {
            return if a == b { Match::Same } else { Match::Different };
        }
        match (self.mode_3a, other.mode_3a) {
            (Some(a), Some(b)) if a == b && SHARED_CODES.contains(&a) => Match::Open,
            (Some(a), Some(b)) if a == b => Match::Alike,
            (Some(_), Some(_)) => Match::Unlike,
            _ => Match::Open,
        }
    }

    /// Whether nothing came from a transponder that could tell who it is.
    pub fn is_empty(&self) -> bool {
        self.address.is_none() && self.mode_3a.is_none()
    }

    /// Takes over what a new report tells; a code that differs from the known one only when
    /// `doubt`, which belongs to the track, has heard it often enough.
    pub fn absorb(&mut self, newer: &Self, doubt: &mut CodeDoubt) {
        self.address = newer.address.or(self.address);
        self.callsign = newer.callsign.or(self.callsign);
        let Some(code) = newer.mode_3a else { return };
        if self.mode_3a.is_none_or(|known| known == code) || doubt.is_changed(code) {
            self.mode_3a = Some(code);
            *doubt = CodeDoubt::default();
        }
    }
}

/// Reports of one same code before it is believed to have changed. Two in a hundred codes are
/// wrong (ED-142's model radar), each in its own way.
const CODE_REPORTS: u8 = 2;

/// A code that an aircraft has been heard with once or more, and is not known by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CodeDoubt {
    code: u16,
    reports: u8,
}

impl CodeDoubt {
    fn is_changed(&mut self, code: u16) -> bool {
        *self = if self.code == code && self.reports > 0 {
            Self { code, reports: self.reports + 1 }
        } else {
            Self { code, reports: 1 }
        };
        self.reports >= CODE_REPORTS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(address: Option<u32>, mode_3a: Option<u16>) -> Identity {
        Identity { address, mode_3a, callsign: None }
    }

    #[test]
    fn the_address_outweighs_the_code() {
        let a = of(Some(0x3C_6444), Some(0o1234));
        assert_eq!(a.compare(&of(Some(0x3C_6444), Some(0o4321))), Match::Same);
        assert_eq!(a.compare(&of(Some(0x3C_6445), Some(0o1234))), Match::Different);
        assert_eq!(a.compare(&of(None, Some(0o1234))), Match::Alike);
        assert_eq!(a.compare(&of(None, Some(0o4321))), Match::Unlike);
        assert_eq!(a.compare(&of(None, None)), Match::Open);
    }

    #[test]
    fn one_wrong_code_is_ignored_and_a_new_one_is_taken_over() {
        let mut known = of(None, Some(0o1234));
        let mut doubt = CodeDoubt::default();
        let mut hear = |code| {
            known.absorb(&of(None, code), &mut doubt);
            known.mode_3a
        };
        assert_eq!(hear(Some(0o1634)), Some(0o1234));
        assert_eq!(hear(Some(0o1234)), Some(0o1234));
        assert_eq!(hear(Some(0o1634)), Some(0o1234));
        assert_eq!(hear(Some(0o1235)), Some(0o1234));
        assert_eq!(hear(None), Some(0o1234));
        assert_eq!(hear(Some(0o1235)), Some(0o1235));
    }

    #[test]
    fn a_code_that_many_share_identifies_nobody() {
        assert_eq!(of(None, Some(0o7000)).compare(&of(None, Some(0o7000))), Match::Open);
        assert_eq!(of(None, Some(0o7000)).compare(&of(None, Some(0o1000))), Match::Unlike);
    }
}
