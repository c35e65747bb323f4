//! The user application profile of category 021: every item's layout, and its octets.

use super::super::intention::{final_state_of, put_final_state, put_selected, selected_of};
use super::super::wire::{
    ANGLE_LSB, Cursor, Field, Layout, bit, fits, flag, put, put_parts, quantity, signed_quantity,
    skip_compound, to_angle, to_signed, to_unsigned, u16_of,
};
use super::super::{AsterixError, LatLon};
use super::quality::{put_quality, quality_of};
use super::skipped::{skip_intent, skip_weather};
use super::{Descriptor, FineTime, GroundVector, Mops, Rate, Report, TargetStatus};

const SPEED_LSB: f64 = 1.0 / 16_384.0;

/// By field reference number, from 1; 43 to 47 are spare.
pub(super) static PROFILE: [Option<Field<Report>>; 49] = [
    source!("I021/010"),
    item!("I021/040", Layout::Extended(1), descriptor, descriptor_of, put_descriptor),
    integer!("I021/161", track_number, 2, 12),
    integer!("I021/015", service_id, 1, 8),
    time_of_day!("I021/071", position_time),
    pair!("I021/130", position, 3, 180.0 / 8_388_608.0, LatLon { lat_deg, lon_deg }),
    pair!("I021/131", fine_position, 4, 180.0 / 1_073_741_824.0, LatLon { lat_deg, lon_deg }),
    Field::skipped("I021/072", Layout::Fixed(3)),
    Field::skipped("I021/150", Layout::Fixed(2)),
    Field::skipped("I021/151", Layout::Fixed(2)),
    integer!("I021/080", address, 3, 24),
    time_of_day!("I021/073", reception_time),
    item!("I021/074", Layout::Fixed(4), fine_reception_time, fine_time_of, put_fine_time),
    Field::skipped("I021/075", Layout::Fixed(3)),
    Field::skipped("I021/076", Layout::Fixed(4)),
    signed!("I021/140", geometric_height_ft, 2, 6.25),
    item!("I021/090", Layout::Extended(1), quality, quality_of, put_quality),
    item!("I021/210", Layout::Fixed(1), mops, mops_of, put_mops),
    integer!("I021/070", mode_a, 2, 12),
    Field::skipped("I021/230", Layout::Fixed(2)),
    signed!("I021/145", flight_level, 2, 0.25),
    Field::skipped("I021/152", Layout::Fixed(2)),
    item!("I021/200", Layout::Fixed(1), status, status_of, put_status),
    named_item!("I021/155", Layout::Fixed(2), barometric_rate, rate_of, put_rate),
    named_item!("I021/157", Layout::Fixed(2), geometric_rate, rate_of, put_rate),
    item!("I021/160", Layout::Fixed(4), ground_vector, ground_vector_of, put_ground_vector),
    Field::skipped("I021/165", Layout::Fixed(2)),
    time_of_day!("I021/077", report_time),
    callsign!("I021/170", callsign),
    integer!("I021/020", emitter_category, 1, 8),
    Field::skipped("I021/220", Layout::Compound(skip_weather)),
    named_item!("I021/146", Layout::Fixed(2), selected_altitude, selected_of, put_selected),
    named_item!("I021/148", Layout::Fixed(2), final_state, final_state_of, put_final_state),
    Field::skipped("I021/110", Layout::Compound(skip_intent)),
    Field::skipped("I021/016", Layout::Fixed(1)),
    Field::skipped("I021/008", Layout::Fixed(1)),
    Field::skipped("I021/271", Layout::Extended(1)),
    Field::skipped("I021/132", Layout::Fixed(1)),
    Field::skipped("I021/250", Layout::Repetitive(8)),
    Field::skipped("I021/260", Layout::Fixed(7)),
    Field::skipped("I021/400", Layout::Fixed(1)),
    Field::skipped("I021/295", Layout::Compound(skip_ages)),
    None,
    None,
    None,
    None,
    None,
    explicit!("I021/RE", reserved_expansion),
    explicit!("I021/SP", special_purpose),
];

/// I021/295, ages of the data: one octet each.
fn skip_ages(cursor: &mut Cursor<'_>) -> Result<(), AsterixError> {
    static AGES: [Option<Field<()>>; 23] =
        [const { Field::skipped("I021/295", Layout::Fixed(1)) }; 23];
    skip_compound(cursor, "I021/295", &AGES)
}

fn descriptor_of(o: &[u8]) -> Descriptor {
    let part = |index: usize| o.get(index).copied().unwrap_or(0);
    Descriptor {
        address_type: o[0] >> 5,
        altitude_resolution: o[0] >> 3 & 3,
        range_checked: bit(o[0], 2),
        field_monitor: bit(o[0], 1),
        differential: bit(part(1), 7),
        on_ground: bit(part(1), 6),
        simulated: bit(part(1), 5),
        test: bit(part(1), 4),
        no_selected_altitude: bit(part(1), 3),
        confidence: part(1) >> 1 & 3,
        lookup_differs: bit(part(2), 6),
        position_check_failed: bit(part(2), 5),
        no_go: bit(part(2), 4),
        cpr_failed: bit(part(2), 3),
        position_jump: bit(part(2), 2),
        range_check_failed: bit(part(2), 1),
    }
}

fn put_descriptor(d: Descriptor, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let first = fits("I021/040", d.address_type.into(), 3)? << 5
        | fits("I021/040", d.altitude_resolution.into(), 2)? << 3
        | flag(d.range_checked, 2)
        | flag(d.field_monitor, 1);
    let second = flag(d.differential, 7)
        | flag(d.on_ground, 6)
        | flag(d.simulated, 5)
        | flag(d.test, 4)
        | flag(d.no_selected_altitude, 3)
        | fits("I021/040", d.confidence.into(), 2)? << 1;
    let third = flag(d.lookup_differs, 6)
        | flag(d.position_check_failed, 5)
        | flag(d.no_go, 4)
        | flag(d.cpr_failed, 3)
        | flag(d.position_jump, 2)
        | flag(d.range_check_failed, 1);
    put_parts(&[first, second, third], out);
    Ok(())
}

fn fine_time_of(o: &[u8]) -> FineTime {
    let all = u32::from_be_bytes([o[0], o[1], o[2], o[3]]);
    FineTime { second: o[0] >> 6, fraction: all & 0x3FFF_FFFF }
}

fn put_fine_time(t: FineTime, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let second = fits("I021/074", t.second.into(), 2)?;
    put(out, second << 30 | fits("I021/074", t.fraction.into(), 30)?, 4);
    Ok(())
}

fn mops_of(o: &[u8]) -> Mops {
    Mops { not_supported: bit(o[0], 6), version: o[0] >> 3 & 7, link: o[0] & 7 }
}

fn put_mops(m: Mops, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let version = fits("I021/210", m.version.into(), 3)?;
    let link = fits("I021/210", m.link.into(), 3)?;
    put(out, flag(m.not_supported, 6) | version << 3 | link, 1);
    Ok(())
}

fn status_of(o: &[u8]) -> TargetStatus {
    TargetStatus {
        intent_changed: bit(o[0], 7),
        lateral_navigation_off: bit(o[0], 6),
        military_emergency: bit(o[0], 5),
        priority: o[0] >> 2 & 7,
        surveillance: o[0] & 3,
    }
}

fn put_status(s: TargetStatus, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let octet = flag(s.intent_changed, 7)
        | flag(s.lateral_navigation_off, 6)
        | flag(s.military_emergency, 5)
        | fits("I021/200", s.priority.into(), 3)? << 2
        | fits("I021/200", s.surveillance.into(), 2)?;
    put(out, octet, 1);
    Ok(())
}

fn rate_of(o: &[u8]) -> Rate {
    Rate { exceeds: bit(o[0], 7), ft_min: signed_quantity(o, 15, 6.25) }
}

fn put_rate(item: &'static str, r: Rate, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    put(out, flag(r.exceeds, 15) | to_signed(item, r.ft_min, 15, 6.25)?, 2);
    Ok(())
}

fn ground_vector_of(o: &[u8]) -> GroundVector {
    GroundVector {
        exceeds: bit(o[0], 7),
        speed_nm_s: f64::from(u16_of(o) & 0x7FFF) * SPEED_LSB,
        track_deg: quantity(&o[2..], ANGLE_LSB),
    }
}

fn put_ground_vector(v: GroundVector, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let speed = to_unsigned("I021/160", v.speed_nm_s, 15, SPEED_LSB)?;
    put(out, flag(v.exceeds, 15) | speed, 2);
    put(out, to_angle("I021/160", v.track_deg)?, 2);
    Ok(())
}
