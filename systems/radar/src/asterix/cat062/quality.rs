//! Ages of a track's updates (I062/290) and its estimated accuracies (I062/500).

use super::super::wire::{
    Field, Layout, put, quantity, signed_quantity, some, to_signed, to_unsigned,
};

/// Seconds since the last update by each kind of sensor (I062/290), in steps of 0.25; one octet
/// each but ADS-B, so at most 63.75, which the encoder refuses to exceed.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct UpdateAges {
    /// TRK: age of the track itself, since initiation.
    pub track_s: Option<f64>,
    /// Age of the last primary radar detection (PSR), seconds.
    pub psr_s: Option<f64>,
    /// Age of the last secondary radar detection (SSR), seconds.
    pub ssr_s: Option<f64>,
    /// MDS: Mode S.
    pub mode_s_s: Option<f64>,
    /// ADS: ADS-C; two octets, at most 16383.75.
    pub ads_c_s: Option<f64>,
    /// ES: ADS-B extended squitter.
    pub extended_squitter_s: Option<f64>,
    /// VDL: ADS-B VDL mode 4.
    pub vdl_s: Option<f64>,
    /// UAT: ADS-B UAT.
    pub uat_s: Option<f64>,
    /// Age of the last magnetic loop detection (LOP), seconds.
    pub loop_s: Option<f64>,
    /// Age of the last multilateration detection (MLT), seconds.
    pub multilateration_s: Option<f64>,
}

/// Estimated standard deviations (I062/500).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Accuracy {
    /// APC: metres in x and y, in steps of 0.5 in [0, 32767.5].
    pub cartesian_m: Option<(f64, f64)>,
    /// COV: root of the covariance of x and y in metres, with its sign, in steps of 0.5.
    pub covariance_m: Option<f64>,
    /// APW: degrees in latitude and longitude, in steps of 180/2^25.
    pub wgs84_deg: Option<(f64, f64)>,
    /// AGA: geometric altitude in feet, in steps of 6.25 in [0, 1593.75].
    pub geometric_altitude_ft: Option<f64>,
    /// ABA: barometric altitude in flight levels, in steps of 0.25 in [0, 63.75].
    pub barometric_altitude_fl: Option<f64>,
    /// ATV: velocity in metres a second in x and y, in steps of 0.25 in [0, 63.75].
    pub velocity_m_s: Option<(f64, f64)>,
    /// AA: acceleration in metres a second squared in x and y, in steps of 0.25 in [0, 63.75].
    pub acceleration_m_s2: Option<(f64, f64)>,
    /// ARC: rate of climb in feet a minute, in steps of 6.25 in [0, 1593.75].
    pub rate_of_climb_ft_min: Option<f64>,
}

/// A subfield of two unsigned quantities of `$octets` each.
macro_rules! two {
    ($name:literal, $field:ident, $octets:literal, $lsb:expr) => {
        Some(Field {
            name: $name,
            layout: Layout::Fixed(2 * $octets),
            decode: |value, o| {
                value.$field = Some((quantity(&o[..$octets], $lsb), quantity(&o[$octets..], $lsb)));
            },
            encode: |value, out| {
                some(value.$field, |(a, b)| {
                    put(out, to_unsigned($name, a, 8 * $octets, $lsb)?, $octets);
                    Ok(put(out, to_unsigned($name, b, 8 * $octets, $lsb)?, $octets))
                })
            },
        })
    };
}

/// Subfields of I062/290.
pub(super) static UPDATE_AGES: [Option<Field<UpdateAges>>; 10] = [
    quantity!("I062/290/TRK", track_s, 1, 0.25),
    quantity!("I062/290/PSR", psr_s, 1, 0.25),
    quantity!("I062/290/SSR", ssr_s, 1, 0.25),
    quantity!("I062/290/MDS", mode_s_s, 1, 0.25),
    quantity!("I062/290/ADS", ads_c_s, 2, 0.25),
    quantity!("I062/290/ES", extended_squitter_s, 1, 0.25),
    quantity!("I062/290/VDL", vdl_s, 1, 0.25),
    quantity!("I062/290/UAT", uat_s, 1, 0.25),
    quantity!("I062/290/LOP", loop_s, 1, 0.25),
    quantity!("I062/290/MLT", multilateration_s, 1, 0.25),
];

const POSITION_LSB: f64 = 180.0 / 33_554_432.0;

/// Subfields of I062/500.
pub(super) static ACCURACY: [Option<Field<Accuracy>>; 8] = [
    two!("I062/500/APC", cartesian_m, 2, 0.5),
    Some(Field {
        name: "I062/500/COV",
        layout: Layout::Fixed(2),
        decode: |a, o| a.covariance_m = Some(signed_quantity(o, 16, 0.5)),
        encode: |a, out| {
            some(a.covariance_m, |c| Ok(put(out, to_signed("I062/500/COV", c, 16, 0.5)?, 2)))
        },
    }),
    two!("I062/500/APW", wgs84_deg, 2, POSITION_LSB),
    quantity!("I062/500/AGA", geometric_altitude_ft, 1, 6.25),
    quantity!("I062/500/ABA", barometric_altitude_fl, 1, 0.25),
    two!("I062/500/ATV", velocity_m_s, 1, 0.25),
    two!("I062/500/AA", acceleration_m_s2, 1, 0.25),
    quantity!("I062/500/ARC", rate_of_climb_ft_min, 1, 6.25),
];
