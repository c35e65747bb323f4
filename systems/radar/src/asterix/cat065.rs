//! Category 065: status of a tracker and its services.
//!
//! EUROCONTROL-SPEC-0149-15, edition 1.5 (1.6 has the same layouts).

use super::wire::{Field, Fields, Layout, bit, fits, flag, put};
use super::{AsterixError, DataSource, EncodeRecord, Record, TimeOfDay, sealed};

/// A status message. Every item but the data source is optional on the wire.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct SystemStatus {
    /// The tracker (I065/010).
    pub source: DataSource,
    /// I065/000: 1 status of the tracker, 2 end of batch, 3 service status.
    pub kind: Option<u8>,
    /// I065/015: which service of the tracker.
    pub service_id: Option<u8>,
    /// Time of the message (I065/030).
    pub time_of_day: Option<TimeOfDay>,
    /// Batch number (I065/020).
    pub batch: Option<u8>,
    /// Configuration and status (I065/040).
    pub status: Option<Status>,
    /// I065/050: what has become of a service, by the edition.
    pub service_report: Option<u8>,
    /// I065/RE without its length octet, at most 254 octets; empty for none.
    pub reserved_expansion: Vec<u8>,
    /// I065/SP without its length octet, at most 254 octets; empty for none.
    pub special_purpose: Vec<u8>,
}

/// Configuration and status of a tracker (I065/040).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Status {
    /// NOGO: 0 operational, 1 degraded, 2 not connected, 3 unknown.
    pub operation: u8,
    /// OVL: overloaded.
    pub overloaded: bool,
    /// TSV: time source is not valid.
    pub time_invalid: bool,
    /// PSS: the processing system in operation: 0 not applicable, else number 1 to 3.
    pub selected: u8,
    /// STTN: changes whenever track numbers are given anew.
    pub numbers_anew: bool,
}

impl sealed::Category for SystemStatus {
    fn fields() -> &'static Fields<Self> {
        &PROFILE
    }

    fn into_record(self) -> Record {
        Record::SystemStatus(self)
    }
}

impl EncodeRecord for SystemStatus {
    const CATEGORY: u8 = 65;
    const NAME: &'static str = "I065";
    const SOURCE: &'static str = "I065/010";
}

/// By field reference number, from 1; 8 to 12 are spare.
static PROFILE: [Option<Field<SystemStatus>>; 14] = [
    source!("I065/010"),
    integer!("I065/000", kind, 1, 8),
    integer!("I065/015", service_id, 1, 8),
    time_of_day!("I065/030", time_of_day),
    integer!("I065/020", batch, 1, 8),
    item!("I065/040", Layout::Fixed(1), status, status_of, put_status),
    integer!("I065/050", service_report, 1, 8),
    None,
    None,
    None,
    None,
    None,
    explicit!("I065/RE", reserved_expansion),
    explicit!("I065/SP", special_purpose),
];

fn status_of(o: &[u8]) -> Status {
    Status {
        operation: o[0] >> 6,
        overloaded: bit(o[0], 5),
        time_invalid: bit(o[0], 4),
        selected: o[0] >> 2 & 3,
        numbers_anew: bit(o[0], 1),
    }
}

fn put_status(s: Status, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let octet = fits("I065/040", s.operation.into(), 2)? << 6
        | flag(s.overloaded, 5)
        | flag(s.time_invalid, 4)
        | fits("I065/040", s.selected.into(), 2)? << 2
        | flag(s.numbers_anew, 1);
    put(out, octet, 1);
    Ok(())
}
