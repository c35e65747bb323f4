//! How good a reported position and velocity are (I021/090).

use super::super::AsterixError;
use super::super::wire::{bit, fits, flag, put_all_parts};

/// Quality indicators, as the aircraft reports them: numbers of the standards ED-102A (DO-260B).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Quality {
    /// NUCr or NACv: of the velocity, in [0, 7].
    pub velocity: u8,
    /// NUCp or NIC: of the position's integrity, in [0, 15].
    pub integrity: u8,
    /// NICbaro, SIL, NACp; absent in reports of older equipment.
    pub accuracy: Option<PositionAccuracy>,
    /// SIL supplement, SDA, GVA.
    pub design: Option<Design>,
    /// PIC: containment of the position as the ground station judges it, in [0, 15].
    pub containment: Option<u8>,
}

/// The first extension of I021/090.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct PositionAccuracy {
    /// NICbaro: Mode C was checked against a second source.
    pub barometric_checked: bool,
    /// SIL, in [0, 3].
    pub integrity_level: u8,
    /// NACp, in [0, 15].
    pub category: u8,
}

/// The second extension of I021/090.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Design {
    /// SILS: SIL is per sample, not per flight hour.
    pub per_sample: bool,
    /// SDA: system design assurance level, in [0, 3].
    pub assurance: u8,
    /// GVA: accuracy of the geometric altitude, in [0, 3].
    pub altitude_accuracy: u8,
}

/// 95 % of positions are within so many metres of the truth, by NACp.
const NACP_M: [f64; 12] = [
    f64::INFINITY,
    18_520.0,
    7_408.0,
    3_704.0,
    1_852.0,
    926.0,
    555.6,
    185.2,
    92.6,
    30.0,
    10.0,
    3.0,
];
/// The same by NUCp of equipment of version 0 (DO-260).
const NUCP_M: [f64; 10] =
    [f64::INFINITY, 18_520.0, 9_260.0, 1_852.0, 926.0, 463.0, 185.2, 92.6, 10.0, 3.0];
/// 95 % of a circular normal distribution are within so many standard deviations of each axis.
const SIGMAS_95: f64 = 2.4477;

impl Quality {
    /// Standard deviation of each horizontal axis, m; `None` where it is not known, and where the
    /// aircraft itself says that it knows nothing.
    #[must_use]
    pub fn sigma_m(&self) -> Option<f64> {
        let (table, index) = match self.accuracy {
            Some(PositionAccuracy { category, .. }) => (&NACP_M[..], category),
            None => (&NUCP_M[..], self.integrity),
        };
        let within_m = table.get(usize::from(index)).copied()?;
        within_m.is_finite().then_some(within_m / SIGMAS_95)
    }
}

pub(super) fn quality_of(o: &[u8]) -> Quality {
    Quality {
        velocity: o[0] >> 5,
        integrity: o[0] >> 1 & 15,
        accuracy: o.get(1).map(|part| PositionAccuracy {
            barometric_checked: bit(*part, 7),
            integrity_level: part >> 5 & 3,
            category: part >> 1 & 15,
        }),
        design: o.get(2).map(|part| Design {
            per_sample: bit(*part, 5),
            assurance: part >> 3 & 3,
            altitude_accuracy: part >> 1 & 3,
        }),
        containment: o.get(3).map(|part| part >> 4),
    }
}

pub(super) fn put_quality(q: Quality, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    const ITEM: &str = "I021/090";
    let first = fits(ITEM, q.velocity.into(), 3)? << 5 | fits(ITEM, q.integrity.into(), 4)? << 1;
    let accuracy = q.accuracy.unwrap_or_default();
    let second = flag(accuracy.barometric_checked, 7)
        | fits(ITEM, accuracy.integrity_level.into(), 2)? << 5
        | fits(ITEM, accuracy.category.into(), 4)? << 1;
    let design = q.design.unwrap_or_default();
    let third = flag(design.per_sample, 5)
        | fits(ITEM, design.assurance.into(), 2)? << 3
        | fits(ITEM, design.altitude_accuracy.into(), 2)? << 1;
    let fourth = fits(ITEM, q.containment.unwrap_or(0).into(), 4)? << 4;
    // A part that is there is sent although it is 0: absence has another meaning.
    let count = match (q.accuracy, q.design, q.containment) {
        (_, _, Some(_)) => 4,
        (_, Some(_), None) => 3,
        (Some(_), None, None) => 2,
        (None, None, None) => 1,
    };
    put_all_parts(&[first, second, third, fourth][..count], out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accuracy_by_the_aircrafts_own_word() {
        let nacp = |category| Quality {
            accuracy: Some(PositionAccuracy { category, ..PositionAccuracy::default() }),
            ..Quality::default()
        };
        // NACp 8: 95 % within 0.05 NM.
        assert!((nacp(8).sigma_m().unwrap() - 37.8).abs() < 0.1);
        assert_eq!(nacp(0).sigma_m(), None);
        assert_eq!(nacp(15).sigma_m(), None, "reserved");
        let nucp = |integrity| Quality { integrity, ..Quality::default() };
        assert!((nucp(7).sigma_m().unwrap() - 37.8).abs() < 0.1);
        assert_eq!(nucp(0).sigma_m(), None);
    }
}
