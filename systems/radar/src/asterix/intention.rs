//! What an aircraft is set to do in the vertical: Mode S register 4,0, and the items of categories 021
//! and 062 that carry the same.

use super::AsterixError;
use super::cat048::ModeSRegister;
use super::wire::{bit, fits, flag, put, signed_quantity, to_signed, to_unsigned, unsigned};

/// A selected altitude (I021/146, I062/380 SAL).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct SelectedAltitude {
    /// SAS: `source` says where it is from.
    pub source_provided: bool,
    /// 0 unknown, 1 the aircraft's altitude, 2 the mode control panel (MCP/FCU), 3 the flight
    /// management system.
    pub source: u8,
    /// Feet, in steps of 25 in [-102400, 102375].
    pub altitude_ft: f64,
}

/// A final state selected altitude (I021/148, I062/380 FSS): the one that corresponds to the clearance,
/// as it is set on the mode control panel.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct FinalStateSelectedAltitude {
    /// MV: a managed vertical mode is active.
    pub managed_vertical: bool,
    /// AH: altitude hold is active.
    pub altitude_hold: bool,
    /// AM: an approach mode is active.
    pub approach: bool,
    /// Feet, in steps of 25 in [-102400, 102375].
    pub altitude_ft: f64,
}

/// Step of an altitude in categories 021 and 062, ft.
const ALTITUDE_FT: f64 = 25.0;

pub(super) fn selected_of(o: &[u8]) -> SelectedAltitude {
    SelectedAltitude {
        source_provided: bit(o[0], 7),
        source: o[0] >> 5 & 3,
        altitude_ft: signed_quantity(o, 13, ALTITUDE_FT),
    }
}

pub(super) fn put_selected(
    item: &'static str,
    selected: SelectedAltitude,
    out: &mut Vec<u8>,
) -> Result<(), AsterixError> {
    let about = flag(selected.source_provided, 15) | fits(item, selected.source.into(), 2)? << 13;
    put(out, about | to_signed(item, selected.altitude_ft, 13, ALTITUDE_FT)?, 2);
    Ok(())
}

pub(super) fn final_state_of(o: &[u8]) -> FinalStateSelectedAltitude {
    FinalStateSelectedAltitude {
        managed_vertical: bit(o[0], 7),
        altitude_hold: bit(o[0], 6),
        approach: bit(o[0], 5),
        altitude_ft: signed_quantity(o, 13, ALTITUDE_FT),
    }
}

pub(super) fn put_final_state(
    item: &'static str,
    selected: FinalStateSelectedAltitude,
    out: &mut Vec<u8>,
) -> Result<(), AsterixError> {
    let modes = flag(selected.managed_vertical, 15)
        | flag(selected.altitude_hold, 14)
        | flag(selected.approach, 13);
    put(out, modes | to_signed(item, selected.altitude_ft, 13, ALTITUDE_FT)?, 2);
    Ok(())
}

/// Mode S register 4,0, selected vertical intention (ICAO Doc 9871, table A-2-64), where I048/250
/// carries it.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct VerticalIntention {
    /// Altitude set on the mode control panel, feet, in steps of 16 in [0, 65520].
    pub selected_ft: Option<f64>,
    /// Altitude set in the flight management system, as `selected_ft`.
    pub managed_ft: Option<f64>,
    /// Pressure set on the altimeter, hPa, in steps of 0.1 in [800, 1209.5].
    pub pressure_hpa: Option<f64>,
    /// Modes of the mode control panel.
    pub modes: Option<VerticalModes>,
    /// Where the altitude is from at which the aircraft levels off, as [`SelectedAltitude::source`].
    pub target_source: Option<u8>,
}

/// Active modes of the mode control panel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct VerticalModes {
    /// Vertical navigation.
    pub managed_vertical: bool,
    /// Altitude hold.
    pub altitude_hold: bool,
    /// Approach.
    pub approach: bool,
}

/// The register's number.
const REGISTER: u8 = 0x40;
const NAME: &str = "I048/250 register 4,0";
const REGISTER_FT: f64 = 16.0;
const PRESSURE_HPA: f64 = 0.1;
const PRESSURE_HPA_MIN: f64 = 800.0;

impl VerticalIntention {
    /// What the first register 4,0 of `registers` says; `None` where there is none.
    #[must_use]
    pub fn among(registers: &[ModeSRegister]) -> Option<Self> {
        let found = registers.iter().find(|one| one.register == REGISTER)?;
        // The message's bits 1 to 56 are the lowest 56 of these.
        let all = unsigned(&found.message);
        let part = |last: u32, bits: u32| all >> (56 - last) & ((1 << bits) - 1);
        let set = |at: u32| part(at, 1) == 1;
        let value =
            |status: u32, last: u32, step: f64| set(status).then(|| part(last, 12) as f64 * step);
        Some(Self {
            selected_ft: value(1, 13, REGISTER_FT),
            managed_ft: value(14, 26, REGISTER_FT),
            pressure_hpa: value(27, 39, PRESSURE_HPA).map(|above| PRESSURE_HPA_MIN + above),
            modes: set(48).then(|| VerticalModes {
                managed_vertical: set(49),
                altitude_hold: set(50),
                approach: set(51),
            }),
            target_source: set(54).then(|| part(56, 2).to_be_bytes()[7]),
        })
    }

    /// The register that says this.
    ///
    /// # Errors
    /// [`AsterixError::OutOfRange`] when a value does not fit.
    pub fn register(&self) -> Result<ModeSRegister, AsterixError> {
        let mut all = 0_u64;
        let mut put = |status: u32, last: u32, bits: u64| {
            all |= 1_u64 << (56 - status) | bits << (56 - last);
        };
        if let Some(selected_ft) = self.selected_ft {
            put(1, 13, to_unsigned(NAME, selected_ft, 12, REGISTER_FT)?);
        }
        if let Some(managed_ft) = self.managed_ft {
            put(14, 26, to_unsigned(NAME, managed_ft, 12, REGISTER_FT)?);
        }
        if let Some(hpa) = self.pressure_hpa {
            put(27, 39, to_unsigned(NAME, hpa - PRESSURE_HPA_MIN, 12, PRESSURE_HPA)?);
        }
        if let Some(modes) = self.modes {
            let modes = flag(modes.managed_vertical, 2)
                | flag(modes.altitude_hold, 1)
                | flag(modes.approach, 0);
            put(48, 51, modes);
        }
        if let Some(source) = self.target_source {
            put(54, 56, fits(NAME, source.into(), 2)?);
        }
        let [_, message @ ..] = all.to_be_bytes();
        Ok(ModeSRegister { message, register: REGISTER })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A published message of an airliner and what it says: J. Sun, The 1090 Megahertz Riddle, 2nd ed.,
    /// chapter on BDS 4,0 (A000029C85E42F313000007047D3).
    #[test]
    fn a_message_off_the_air() {
        let message = [0x85, 0xE4, 0x2F, 0x31, 0x30, 0x00, 0x00];
        let registers = [ModeSRegister { message, register: REGISTER }];
        let said = VerticalIntention::among(&registers).unwrap();
        assert_eq!((said.selected_ft, said.managed_ft), (Some(3008.0), Some(3008.0)));
        assert!((said.pressure_hpa.unwrap() - 1020.0).abs() < 1e-9, "{said:?}");
        assert_eq!((said.modes, said.target_source), (None, None));
        assert_eq!(said.register(), Ok(registers[0]));
        assert_eq!(VerticalIntention::among(&[ModeSRegister::default()]), None);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let too_high = VerticalIntention { selected_ft: Some(65_536.0), ..Default::default() };
        assert_eq!(
            too_high.register().unwrap_err().to_string(),
            "I048/250 register 4,0 can hold values from 0 to 65520, not 65536"
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            selected in prop::option::of(0..4096_u16),
            managed in prop::option::of(0..4096_u16),
            pressure in prop::option::of(0..4096_u16),
            modes in prop::option::of(any::<(bool, bool, bool)>()),
            target_source in prop::option::of(0..4_u8),
        ) {
            let feet = |steps: Option<u16>| steps.map(|steps| f64::from(steps) * REGISTER_FT);
            let said = VerticalIntention {
                selected_ft: feet(selected),
                managed_ft: feet(managed),
                pressure_hpa: pressure.map(|steps| PRESSURE_HPA_MIN + f64::from(steps) * PRESSURE_HPA),
                modes: modes.map(|(managed_vertical, altitude_hold, approach)| VerticalModes {
                    managed_vertical,
                    altitude_hold,
                    approach,
                }),
                target_source,
            };
            prop_assert_eq!(VerticalIntention::among(&[said.register().unwrap()]), Some(said));
        }
    }
}
