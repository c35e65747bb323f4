//! Category 063: status of the sensors that a tracker uses, with the errors that it takes out.
//!
//! EUROCONTROL-SPEC-0149-10, edition 1.6.

use super::wire::{
    Field, Fields, Layout, bit, fits, flag, put, put_parts, signed_quantity, to_signed,
};
use super::{AsterixError, DataSource, EncodeRecord, Record, TimeOfDay, sealed};

/// A sensor's status. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SensorStatus {
    /// The tracker (I063/010).
    pub source: DataSource,
    /// I063/015: which service of the tracker.
    pub service_id: Option<u8>,
    /// Time of the message (I063/030).
    pub time_of_day: Option<TimeOfDay>,
    /// The sensor (I063/050).
    pub sensor: Option<DataSource>,
    /// Configuration and status (I063/060).
    pub status: Option<Status>,
    /// I063/070: error of stamps in milliseconds, whole, in [-32768, 32767].
    pub time_bias_ms: Option<f64>,
    /// I063/080, of secondary or Mode S ranges.
    pub ssr_range: Option<RangeBias>,
    /// I063/081: of secondary or Mode S azimuths, in degrees, in steps of 360/2^16.
    pub ssr_azimuth_deg: Option<f64>,
    /// I063/090, of primary ranges.
    pub psr_range: Option<RangeBias>,
    /// I063/091: of primary azimuths, in degrees.
    pub psr_azimuth_deg: Option<f64>,
    /// I063/092: of primary elevations, in degrees.
    pub psr_elevation_deg: Option<f64>,
    /// I063/RE without its length octet, at most 254 octets; empty for none.
    pub reserved_expansion: Vec<u8>,
    /// I063/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}

/// Configuration and status of a sensor (I063/060).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(clippy::struct_excessive_bools, reason = "the item is a row of flags")]
pub struct Status {
    /// CON: 0 operational, 1 degraded, 2 initialising, 3 not connected.
    pub connection: u8,
    /// PSR: primary radar is not good.
    pub psr_bad: bool,
    /// SSR: secondary radar is not good.
    pub ssr_bad: bool,
    /// MDS: Mode S is not good.
    pub mode_s_bad: bool,
    /// ADS: ADS-B is not good.
    pub adsb_bad: bool,
    /// MLT: multilateration is not good.
    pub multilateration_bad: bool,
    /// OPS: not to be used operationally.
    pub not_operational: bool,
    /// ODP: data processor overloaded.
    pub processor_overloaded: bool,
    /// OXT: transmission overloaded.
    pub transmission_overloaded: bool,
    /// MSC: monitoring system is disconnected.
    pub monitoring_disconnected: bool,
    /// TSV: time source is not valid.
    pub time_invalid: bool,
    /// NPW: no plots are being received although there should be.
    pub no_plots: bool,
}

/// Error of ranges (I063/080, 090).
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct RangeBias {
    /// Error of scale, in steps of 10^-5.
    pub gain: f64,
    /// Nautical miles, in steps of 1/128.
    pub bias_nm: f64,
}

impl sealed::Category for SensorStatus {
    fn fields() -> &'static Fields<Self> {
        &PROFILE
    }

    fn into_record(self) -> Record {
        Record::SensorStatus(self)
    }
}

impl EncodeRecord for SensorStatus {
    const CATEGORY: u8 = 63;
    const NAME: &'static str = "I063";
    const SOURCE: &'static str = "I063/010";
}

const ANGLE: f64 = 360.0 / 65_536.0;

/// By field reference number, from 1; 12 is spare.
static PROFILE: [Option<Field<SensorStatus>>; 14] = [
    source!("I063/010"),
    integer!("I063/015", service_id, 1, 8),
    time_of_day!("I063/030", time_of_day),
    item!(
        "I063/050",
        Layout::Fixed(2),
        sensor,
        |o: &[u8]| DataSource { sac: o[0], sic: o[1] },
        |s: DataSource, out: &mut Vec<u8>| Ok(out.extend_from_slice(&[s.sac, s.sic]))
    ),
    item!("I063/060", Layout::Extended(1), status, status_of, put_status),
    signed!("I063/070", time_bias_ms, 2, 1.0),
    named_item!("I063/080", Layout::Fixed(4), ssr_range, range_of, put_range),
    signed!("I063/081", ssr_azimuth_deg, 2, ANGLE),
    named_item!("I063/090", Layout::Fixed(4), psr_range, range_of, put_range),
    signed!("I063/091", psr_azimuth_deg, 2, ANGLE),
    signed!("I063/092", psr_elevation_deg, 2, ANGLE),
    None,
    explicit!("I063/RE", reserved_expansion),
    explicit!("I063/SP", special_purpose),
];

fn range_of(o: &[u8]) -> RangeBias {
    RangeBias {
        gain: signed_quantity(&o[..2], 16, 1e-5),
        bias_nm: signed_quantity(&o[2..], 16, 1.0 / 128.0),
    }
}

fn put_range(item: &'static str, r: RangeBias, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    put(out, to_signed(item, r.gain, 16, 1e-5)?, 2);
    put(out, to_signed(item, r.bias_nm, 16, 1.0 / 128.0)?, 2);
    Ok(())
}

fn status_of(o: &[u8]) -> Status {
    let extension = o.get(1).copied().unwrap_or(0);
    Status {
        connection: o[0] >> 6,
        psr_bad: bit(o[0], 5),
        ssr_bad: bit(o[0], 4),
        mode_s_bad: bit(o[0], 3),
        adsb_bad: bit(o[0], 2),
        multilateration_bad: bit(o[0], 1),
        not_operational: bit(extension, 7),
        processor_overloaded: bit(extension, 6),
        transmission_overloaded: bit(extension, 5),
        monitoring_disconnected: bit(extension, 4),
        time_invalid: bit(extension, 3),
        no_plots: bit(extension, 2),
    }
}

fn put_status(s: Status, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let first = fits("I063/060", s.connection.into(), 2)? << 6
        | flag(s.psr_bad, 5)
        | flag(s.ssr_bad, 4)
        | flag(s.mode_s_bad, 3)
        | flag(s.adsb_bad, 2)
        | flag(s.multilateration_bad, 1);
    let second = flag(s.not_operational, 7)
        | flag(s.processor_overloaded, 6)
        | flag(s.transmission_overloaded, 5)
        | flag(s.monitoring_disconnected, 4)
        | flag(s.time_invalid, 3)
        | flag(s.no_plots, 2);
    put_parts(&[first, second], out);
    Ok(())
}
