//! The user application profile of category 062: every item's layout, and its octets.

use super::super::values::{Callsign, DataSource, TimeOfDay};
use super::super::wire::{
    Field, Fields, Layout, bit, decode_compound, encode_fields, fits, flag, pair_of, put,
    put_explicit, put_pair, put_parts, signed_quantity, skip_compound, some, to_signed, u16_of,
    u24_of, unsigned,
};
use super::super::{AsterixError, EncodeRecord, Record, sealed};
use super::Position;
use super::derived::{self, DERIVED};
use super::flight_plan::FLIGHT_PLAN;
use super::items::{
    Acceleration, BarometricAltitude, Cartesian, ModeA, ModeOfMovement, Status,
    TargetIdentification, Velocity,
};
use super::quality::{ACCURACY, UPDATE_AGES};
use super::track::Track;

const POSITION_LSB: f64 = 180.0 / 33_554_432.0;

impl sealed::Category for Track {
    fn fields() -> &'static Fields<Self> {
        &PROFILE
    }

    fn into_record(self) -> Record {
        Record::Track(self)
    }
}

impl EncodeRecord for Track {
    const CATEGORY: u8 = 62;
    const NAME: &'static str = "I062";
    const SOURCE: &'static str = "I062/010";
}

/// By field reference number, from 1; 2 and 29 to 33 are spare.
static PROFILE: [Option<Field<Track>>; 35] = [
    Some(Field {
        name: "I062/010",
        layout: Layout::Fixed(2),
        decode: |t, o| t.source = DataSource { sac: o[0], sic: o[1] },
        encode: |t, out| some(Some(t.source), |s| Ok(out.extend_from_slice(&[s.sac, s.sic]))),
    }),
    None,
    Some(Field {
        name: "I062/015",
        layout: Layout::Fixed(1),
        decode: |t, o| t.service_id = Some(o[0]),
        encode: |t, out| some(t.service_id, |id| Ok(out.push(id))),
    }),
    Some(Field {
        name: "I062/070",
        layout: Layout::Fixed(3),
        decode: |t, o| t.time_of_day = Some(TimeOfDay::from_ticks(u24_of(o))),
        encode: |t, out| some(t.time_of_day, |time| Ok(put(out, time.ticks().into(), 3))),
    }),
    Some(Field {
        name: "I062/105",
        layout: Layout::Fixed(8),
        decode: |t, o| {
            let (lat_deg, lon_deg) = pair_of(o, POSITION_LSB);
            t.position = Some(Position { lat_deg, lon_deg });
        },
        encode: |t, out| {
            some(t.position, |p| put_pair("I062/105", p.lat_deg, p.lon_deg, 4, POSITION_LSB, out))
        },
    }),
    Some(Field {
        name: "I062/100",
        layout: Layout::Fixed(6),
        decode: |t, o| {
            let (x_m, y_m) = pair_of(o, 0.5);
            t.cartesian = Some(Cartesian { x_m, y_m });
        },
        encode: |t, out| some(t.cartesian, |c| put_pair("I062/100", c.x_m, c.y_m, 3, 0.5, out)),
    }),
    Some(Field {
        name: "I062/185",
        layout: Layout::Fixed(4),
        decode: |t, o| {
            let (x_m_s, y_m_s) = pair_of(o, 0.25);
            t.velocity = Some(Velocity { x_m_s, y_m_s });
        },
        encode: |t, out| some(t.velocity, |v| put_pair("I062/185", v.x_m_s, v.y_m_s, 2, 0.25, out)),
    }),
    Some(Field {
        name: "I062/210",
        layout: Layout::Fixed(2),
        decode: |t, o| {
            let (x_m_s2, y_m_s2) = pair_of(o, 0.25);
            t.acceleration = Some(Acceleration { x_m_s2, y_m_s2 });
        },
        encode: |t, out| {
            some(t.acceleration, |a| put_pair("I062/210", a.x_m_s2, a.y_m_s2, 1, 0.25, out))
        },
    }),
    Some(Field {
        name: "I062/060",
        layout: Layout::Fixed(2),
        decode: |t, o| {
            t.mode_a = Some(ModeA {
                code: u16_of(o) & 0x0FFF,
                not_validated: bit(o[0], 7),
                garbled: bit(o[0], 6),
                changed: bit(o[0], 5),
            });
        },
        encode: |t, out| some(t.mode_a, |m| put_mode_a(m, out)),
    }),
    identification!("I062/245", target_identification),
    Some(Field {
        name: "I062/380",
        layout: Layout::Compound(|cursor| skip_compound(cursor, "I062/380", &DERIVED)),
        decode: |t, o| t.derived = Some(decode_compound("I062/380", &DERIVED, o)),
        encode: |t, out| match &t.derived {
            Some(derived) => encode_fields(&DERIVED, derived, out),
            None => Ok(false),
        },
    }),
    Some(Field {
        name: "I062/040",
        layout: Layout::Fixed(2),
        decode: |t, o| t.track_number = Some(u16_of(o)),
        encode: |t, out| some(t.track_number, |n| Ok(put(out, n.into(), 2))),
    }),
    Some(Field {
        name: "I062/080",
        layout: Layout::Extended(1),
        decode: |t, o| t.status = Some(status_of(o)),
        encode: |t, out| some(t.status, |s| put_status(s, out)),
    }),
    Some(Field {
        name: "I062/290",
        layout: Layout::Compound(|cursor| skip_compound(cursor, "I062/290", &UPDATE_AGES)),
        decode: |t, o| t.update_ages = Some(decode_compound("I062/290", &UPDATE_AGES, o)),
        encode: |t, out| match &t.update_ages {
            Some(ages) => encode_fields(&UPDATE_AGES, ages, out),
            None => Ok(false),
        },
    }),
    Some(Field {
        name: "I062/200",
        layout: Layout::Fixed(1),
        decode: |t, o| {
            t.mode_of_movement = Some(ModeOfMovement {
                transversal: o[0] >> 6,
                longitudinal: o[0] >> 4 & 3,
                vertical: o[0] >> 2 & 3,
                altitude_discrepancy: bit(o[0], 1),
            });
        },
        encode: |t, out| some(t.mode_of_movement, |m| put_mode_of_movement(m, out)),
    }),
    Field::skipped("I062/295", Layout::Compound(derived::skip_ages)),
    Some(Field {
        name: "I062/136",
        layout: Layout::Fixed(2),
        decode: |t, o| t.measured_flight_level = Some(signed_quantity(o, 16, 0.25)),
        encode: |t, out| {
            some(t.measured_flight_level, |l| Ok(put(out, to_signed("I062/136", l, 16, 0.25)?, 2)))
        },
    }),
    Some(Field {
        name: "I062/130",
        layout: Layout::Fixed(2),
        decode: |t, o| t.geometric_altitude_ft = Some(signed_quantity(o, 16, 6.25)),
        encode: |t, out| {
            some(t.geometric_altitude_ft, |a| Ok(put(out, to_signed("I062/130", a, 16, 6.25)?, 2)))
        },
    }),
    Some(Field {
        name: "I062/135",
        layout: Layout::Fixed(2),
        decode: |t, o| {
            t.barometric_altitude = Some(BarometricAltitude {
                qnh_corrected: bit(o[0], 7),
                level: signed_quantity(o, 15, 0.25),
            });
        },
        encode: |t, out| {
            some(t.barometric_altitude, |b| {
                let level = to_signed("I062/135", b.level, 15, 0.25)?;
                Ok(put(out, flag(b.qnh_corrected, 15) | level, 2))
            })
        },
    }),
    Some(Field {
        name: "I062/220",
        layout: Layout::Fixed(2),
        decode: |t, o| t.rate_of_climb_ft_min = Some(signed_quantity(o, 16, 6.25)),
        encode: |t, out| {
            some(t.rate_of_climb_ft_min, |r| Ok(put(out, to_signed("I062/220", r, 16, 6.25)?, 2)))
        },
    }),
    Some(Field {
        name: "I062/390",
        layout: Layout::Compound(|cursor| skip_compound(cursor, "I062/390", &FLIGHT_PLAN)),
        decode: |t, o| t.flight_plan = Some(decode_compound("I062/390", &FLIGHT_PLAN, o)),
        encode: |t, out| match &t.flight_plan {
            Some(plan) => encode_fields(&FLIGHT_PLAN, plan, out),
            None => Ok(false),
        },
    }),
    Field::skipped("I062/270", Layout::Extended(1)),
    Field::skipped("I062/300", Layout::Fixed(1)),
    Field::skipped("I062/110", Layout::Compound(skip_mode_5)),
    Field::skipped("I062/120", Layout::Fixed(2)),
    Field::skipped("I062/510", Layout::Extended(3)),
    Some(Field {
        name: "I062/500",
        layout: Layout::Compound(|cursor| skip_compound(cursor, "I062/500", &ACCURACY)),
        decode: |t, o| t.accuracy = Some(decode_compound("I062/500", &ACCURACY, o)),
        encode: |t, out| match &t.accuracy {
            Some(accuracy) => encode_fields(&ACCURACY, accuracy, out),
            None => Ok(false),
        },
    }),
    Field::skipped("I062/340", Layout::Compound(skip_measured)),
    None,
    None,
    None,
    None,
    None,
    Some(Field {
        name: "I062/RE",
        layout: Layout::Explicit,
        decode: |t, o| t.reserved_expansion = o[1..].to_vec(),
        encode: |t, out| put_explicit("I062/RE", &t.reserved_expansion, out),
    }),
    Some(Field {
        name: "I062/SP",
        layout: Layout::Explicit,
        decode: |t, o| t.special_purpose = o[1..].to_vec(),
        encode: |t, out| put_explicit("I062/SP", &t.special_purpose, out),
    }),
];

/// I062/110, Mode 5 data reports.
fn skip_mode_5(cursor: &mut super::super::wire::Cursor<'_>) -> Result<(), AsterixError> {
    static MODE_5: [Option<Field<()>>; 7] = [
        Field::skipped("I062/110/SUM", Layout::Fixed(1)),
        Field::skipped("I062/110/PMN", Layout::Fixed(4)),
        Field::skipped("I062/110/POS", Layout::Fixed(6)),
        Field::skipped("I062/110/GA", Layout::Fixed(2)),
        Field::skipped("I062/110/EM1", Layout::Fixed(2)),
        Field::skipped("I062/110/TOS", Layout::Fixed(1)),
        Field::skipped("I062/110/XP", Layout::Fixed(1)),
    ];
    skip_compound(cursor, "I062/110", &MODE_5)
}

/// I062/340, measured information.
fn skip_measured(cursor: &mut super::super::wire::Cursor<'_>) -> Result<(), AsterixError> {
    static MEASURED: [Option<Field<()>>; 7] = [
        Field::skipped("I062/340/SID", Layout::Fixed(2)),
        Field::skipped("I062/340/POS", Layout::Fixed(4)),
        Field::skipped("I062/340/HEIGHT", Layout::Fixed(2)),
        Field::skipped("I062/340/MDC", Layout::Fixed(2)),
        Field::skipped("I062/340/MDA", Layout::Fixed(2)),
        Field::skipped("I062/340/TYP", Layout::Fixed(1)),
        None,
    ];
    skip_compound(cursor, "I062/340", &MEASURED)
}

fn put_mode_a(m: ModeA, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let flags = flag(m.not_validated, 15) | flag(m.garbled, 14) | flag(m.changed, 13);
    put(out, flags | fits("I062/060", m.code.into(), 12)?, 2);
    Ok(())
}

pub(in super::super) fn identification_of(o: &[u8]) -> TargetIdentification {
    TargetIdentification { origin: o[0] >> 6, callsign: Callsign::from_bits(unsigned(&o[1..])) }
}

pub(in super::super) fn put_identification(
    item: &'static str,
    id: TargetIdentification,
    out: &mut Vec<u8>,
) -> Result<(), AsterixError> {
    put(out, fits(item, id.origin.into(), 2)? << 6, 1);
    put(out, id.callsign.bits(), 6);
    Ok(())
}

fn put_mode_of_movement(m: ModeOfMovement, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let octet = fits("I062/200", m.transversal.into(), 2)? << 6
        | fits("I062/200", m.longitudinal.into(), 2)? << 4
        | fits("I062/200", m.vertical.into(), 2)? << 2
        | flag(m.altitude_discrepancy, 1);
    put(out, octet, 1);
    Ok(())
}

/// The first octet and three extensions; what later ones say is not decoded.
fn status_of(o: &[u8]) -> Status {
    let part = |index: usize| o.get(index).copied().unwrap_or(0);
    Status {
        monosensor: bit(part(0), 7),
        special_position: bit(part(0), 6),
        geometric_height: bit(part(0), 5),
        altitude_source: part(0) >> 2 & 7,
        tentative: bit(part(0), 1),
        simulated: bit(part(1), 7),
        ends: bit(part(1), 6),
        begins: bit(part(1), 5),
        flight_plan_correlated: bit(part(1), 4),
        adsb_inconsistent: bit(part(1), 3),
        slave_promotion: bit(part(1), 2),
        background_service: bit(part(1), 1),
        amalgamated: bit(part(2), 7),
        mode_4: part(2) >> 5 & 3,
        military_emergency: bit(part(2), 4),
        military_identification: bit(part(2), 3),
        mode_5: part(2) >> 1 & 3,
        coasting: bit(part(3), 7),
        psr_old: bit(part(3), 6),
        ssr_old: bit(part(3), 5),
        mode_s_old: bit(part(3), 4),
        adsb_old: bit(part(3), 3),
        special_code: bit(part(3), 2),
        code_conflict: bit(part(3), 1),
    }
}

fn put_status(s: Status, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let parts = [
        flag(s.monosensor, 7)
            | flag(s.special_position, 6)
            | flag(s.geometric_height, 5)
            | fits("I062/080", s.altitude_source.into(), 3)? << 2
            | flag(s.tentative, 1),
        flag(s.simulated, 7)
            | flag(s.ends, 6)
            | flag(s.begins, 5)
            | flag(s.flight_plan_correlated, 4)
            | flag(s.adsb_inconsistent, 3)
            | flag(s.slave_promotion, 2)
            | flag(s.background_service, 1),
        flag(s.amalgamated, 7)
            | fits("I062/080", s.mode_4.into(), 2)? << 5
            | flag(s.military_emergency, 4)
            | flag(s.military_identification, 3)
            | fits("I062/080", s.mode_5.into(), 2)? << 1,
        flag(s.coasting, 7)
            | flag(s.psr_old, 6)
            | flag(s.ssr_old, 5)
            | flag(s.mode_s_old, 4)
            | flag(s.adsb_old, 3)
            | flag(s.special_code, 2)
            | flag(s.code_conflict, 1),
    ];
    put_parts(&parts, out);
    Ok(())
}
