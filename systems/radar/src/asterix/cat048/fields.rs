//! The user application profile of category 048: every item's layout, and its octets.

use super::super::values::{Callsign, TimeOfDay};
use super::super::wire::{
    ANGLE_LSB, Field, Layout, bit, decode_compound, encode_fields, fits, flag, put, put_count,
    put_explicit, quantity, signed_quantity, skip_compound, some, to_angle, to_signed, to_unsigned,
    u16_of, u24_of, unsigned,
};
use super::super::{AsterixError, DataSource};
use super::{
    CalculatedDoppler, CalculatedPosition, Characteristics, Communications, Descriptor, Detection,
    FlightLevel, ModeA, ModeC, ModeSRegister, Plot, Position, RadialSpeed, RawDoppler,
    TrackQuality, TrackStatus, Velocity,
};

type Written = Result<bool, AsterixError>;

const SPEED_LSB: f64 = 1.0 / 16_384.0;
const RANGE_LSB: f64 = 1.0 / 256.0;
const GRID_LSB: f64 = 1.0 / 128.0;

/// By field reference number, from 1.
pub(super) static PROFILE: [Option<Field<Plot>>; 28] = [
    Some(Field {
        name: "I048/010",
        layout: Layout::Fixed(2),
        decode: |plot, o| plot.source = DataSource { sac: o[0], sic: o[1] },
        encode: |plot, out| {
            out.extend_from_slice(&[plot.source.sac, plot.source.sic]);
            Ok(true)
        },
    }),
    Some(Field {
        name: "I048/140",
        layout: Layout::Fixed(3),
        decode: |plot, o| plot.time_of_day = Some(TimeOfDay::from_ticks(u24_of(o))),
        encode: |plot, out| some(plot.time_of_day, |t| Ok(put(out, t.ticks().into(), 3))),
    }),
    Some(Field {
        name: "I048/020",
        layout: Layout::Extended(1),
        decode: |plot, o| plot.descriptor = Some(descriptor_of(o)),
        encode: |plot, out| some(plot.descriptor, |d| put_descriptor(d, out)),
    }),
    Some(Field {
        name: "I048/040",
        layout: Layout::Fixed(4),
        decode: |plot, o| {
            plot.position = Some(Position {
                range_nm: quantity(&o[..2], RANGE_LSB),
                azimuth_deg: quantity(&o[2..], ANGLE_LSB),
            });
        },
        encode: |plot, out| {
            some(plot.position, |p| {
                put(out, to_unsigned("I048/040", p.range_nm, 16, RANGE_LSB)?, 2);
                Ok(put(out, to_angle("I048/040", p.azimuth_deg)?, 2))
            })
        },
    }),
    Some(Field {
        name: "I048/070",
        layout: Layout::Fixed(2),
        decode: |plot, o| plot.mode_a = Some(code_of(o, 12)),
        encode: |plot, out| some(plot.mode_a, |m| put_code("I048/070", m, 12, out)),
    }),
    flight_level!("I048/090", flight_level),
    Some(Field {
        name: "I048/130",
        layout: Layout::Compound(|cursor| skip_compound(cursor, "I048/130", &CHARACTERISTICS)),
        decode: |plot, o| {
            plot.characteristics = Some(decode_compound("I048/130", &CHARACTERISTICS, o));
        },
        encode: |plot, out| match &plot.characteristics {
            Some(characteristics) => encode_fields(&CHARACTERISTICS, characteristics, out),
            None => Ok(false),
        },
    }),
    Some(Field {
        name: "I048/220",
        layout: Layout::Fixed(3),
        decode: |plot, o| plot.aircraft_address = Some(u24_of(o)),
        encode: |plot, out| {
            some(plot.aircraft_address, |a| Ok(put(out, fits("I048/220", a.into(), 24)?, 3)))
        },
    }),
    Some(Field {
        name: "I048/240",
        layout: Layout::Fixed(6),
        decode: |plot, o| plot.callsign = Some(Callsign::from_bits(unsigned(o))),
        encode: |plot, out| some(plot.callsign, |c| Ok(put(out, c.bits(), 6))),
    }),
    Some(Field {
        name: "I048/250",
        layout: Layout::Repetitive(8),
        decode: |plot, o| plot.mode_s_registers = o[1..].chunks_exact(8).map(register_of).collect(),
        encode: |plot, out| put_registers(&plot.mode_s_registers, out),
    }),
    Some(Field {
        name: "I048/161",
        layout: Layout::Fixed(2),
        decode: |plot, o| plot.track_number = Some(u16_of(o) & 0x0FFF),
        encode: |plot, out| {
            some(plot.track_number, |n| Ok(put(out, fits("I048/161", n.into(), 12)?, 2)))
        },
    }),
    Some(Field {
        name: "I048/042",
        layout: Layout::Fixed(4),
        decode: |plot, o| {
            plot.calculated_position = Some(CalculatedPosition {
                x_nm: signed_quantity(&o[..2], 16, GRID_LSB),
                y_nm: signed_quantity(&o[2..], 16, GRID_LSB),
            });
        },
        encode: |plot, out| {
            some(plot.calculated_position, |p| {
                put(out, to_signed("I048/042", p.x_nm, 16, GRID_LSB)?, 2);
                Ok(put(out, to_signed("I048/042", p.y_nm, 16, GRID_LSB)?, 2))
            })
        },
    }),
    Some(Field {
        name: "I048/200",
        layout: Layout::Fixed(4),
        decode: |plot, o| {
            plot.velocity = Some(Velocity {
                speed_nm_s: quantity(&o[..2], SPEED_LSB),
                heading_deg: quantity(&o[2..], ANGLE_LSB),
            });
        },
        encode: |plot, out| {
            some(plot.velocity, |v| {
                put(out, to_unsigned("I048/200", v.speed_nm_s, 16, SPEED_LSB)?, 2);
                Ok(put(out, to_angle("I048/200", v.heading_deg)?, 2))
            })
        },
    }),
    Some(Field {
        name: "I048/170",
        layout: Layout::Extended(1),
        decode: |plot, o| plot.track_status = Some(track_status_of(o)),
        encode: |plot, out| some(plot.track_status, |s| put_track_status(s, out)),
    }),
    Some(Field {
        name: "I048/210",
        layout: Layout::Fixed(4),
        decode: |plot, o| {
            plot.track_quality = Some(TrackQuality {
                x_nm: quantity(&o[..1], GRID_LSB),
                y_nm: quantity(&o[1..2], GRID_LSB),
                speed_nm_s: quantity(&o[2..3], SPEED_LSB),
                heading_deg: quantity(&o[3..], 360.0 / 4096.0),
            });
        },
        encode: |plot, out| {
            some(plot.track_quality, |q| {
                put(out, to_unsigned("I048/210", q.x_nm, 8, GRID_LSB)?, 1);
                put(out, to_unsigned("I048/210", q.y_nm, 8, GRID_LSB)?, 1);
                put(out, to_unsigned("I048/210", q.speed_nm_s, 8, SPEED_LSB)?, 1);
                Ok(put(out, to_unsigned("I048/210", q.heading_deg, 8, 360.0 / 4096.0)?, 1))
            })
        },
    }),
    sevens!("I048/030", warnings),
    Some(Field {
        name: "I048/080",
        layout: Layout::Fixed(2),
        decode: |plot, o| plot.mode_a_confidence = Some(u16_of(o) & 0x0FFF),
        encode: |plot, out| {
            some(plot.mode_a_confidence, |c| Ok(put(out, fits("I048/080", c.into(), 12)?, 2)))
        },
    }),
    named_item!("I048/100", Layout::Fixed(4), mode_c, mode_c_of, put_mode_c),
    Some(Field {
        name: "I048/110",
        layout: Layout::Fixed(2),
        decode: |plot, o| plot.height_3d_ft = Some(signed_quantity(o, 14, 25.0)),
        encode: |plot, out| {
            some(plot.height_3d_ft, |h| Ok(put(out, to_signed("I048/110", h, 14, 25.0)?, 2)))
        },
    }),
    Some(Field {
        name: "I048/120",
        layout: Layout::Compound(|cursor| skip_compound(cursor, "I048/120", &RADIAL_SPEED)),
        decode: |plot, o| plot.radial_speed = Some(decode_compound("I048/120", &RADIAL_SPEED, o)),
        encode: |plot, out| match &plot.radial_speed {
            Some(speed) => encode_fields(&RADIAL_SPEED, speed, out),
            None => Ok(false),
        },
    }),
    Some(Field {
        name: "I048/230",
        layout: Layout::Fixed(2),
        decode: |plot, o| {
            plot.communications = Some(Communications {
                capability: o[0] >> 5,
                flight_status: o[0] >> 2 & 7,
                interrogator_code_ii: bit(o[0], 1),
                specific_services: bit(o[1], 7),
                altitude_25_ft: bit(o[1], 6),
                identification: bit(o[1], 5),
                b1a: bit(o[1], 4),
                b1b: o[1] & 0x0F,
            });
        },
        encode: |plot, out| some(plot.communications, |c| put_communications(c, out)),
    }),
    Some(Field {
        name: "I048/260",
        layout: Layout::Fixed(7),
        decode: |plot, o| plot.resolution_advisory = o.try_into().ok(),
        encode: |plot, out| {
            some(plot.resolution_advisory, |report| Ok(out.extend_from_slice(&report)))
        },
    }),
    Some(Field {
        name: "I048/055",
        layout: Layout::Fixed(1),
        decode: |plot, o| plot.mode_1 = Some(code_of(o, 5)),
        encode: |plot, out| some(plot.mode_1, |m| put_code("I048/055", m, 5, out)),
    }),
    Some(Field {
        name: "I048/050",
        layout: Layout::Fixed(2),
        decode: |plot, o| plot.mode_2 = Some(code_of(o, 12)),
        encode: |plot, out| some(plot.mode_2, |m| put_code("I048/050", m, 12, out)),
    }),
    Some(Field {
        name: "I048/065",
        layout: Layout::Fixed(1),
        decode: |plot, o| plot.mode_1_confidence = Some(o[0] & 0x1F),
        encode: |plot, out| {
            some(plot.mode_1_confidence, |c| Ok(put(out, fits("I048/065", c.into(), 5)?, 1)))
        },
    }),
    Some(Field {
        name: "I048/060",
        layout: Layout::Fixed(2),
        decode: |plot, o| plot.mode_2_confidence = Some(u16_of(o) & 0x0FFF),
        encode: |plot, out| {
            some(plot.mode_2_confidence, |c| Ok(put(out, fits("I048/060", c.into(), 12)?, 2)))
        },
    }),
    Some(Field {
        name: "I048/SP",
        layout: Layout::Explicit,
        decode: |plot, o| plot.special_purpose = o[1..].to_vec(),
        encode: |plot, out| put_explicit("I048/SP", &plot.special_purpose, out),
    }),
    Some(Field {
        name: "I048/RE",
        layout: Layout::Explicit,
        decode: |plot, o| plot.reserved_expansion = o[1..].to_vec(),
        encode: |plot, out| put_explicit("I048/RE", &plot.reserved_expansion, out),
    }),
];

/// I048/130. The run lengths, amplitudes and differences are one octet each.
static CHARACTERISTICS: [Option<Field<Characteristics>>; 7] = [
    Some(Field {
        name: "I048/130/SRL",
        layout: Layout::Fixed(1),
        decode: |c, o| c.ssr_run_length_deg = Some(quantity(o, 360.0 / 8192.0)),
        encode: |c, out| unsigned_octet("I048/130/SRL", c.ssr_run_length_deg, 360.0 / 8192.0, out),
    }),
    Some(Field {
        name: "I048/130/SRR",
        layout: Layout::Fixed(1),
        decode: |c, o| c.ssr_replies = Some(o[0]),
        encode: |c, out| some(c.ssr_replies, |replies| Ok(out.push(replies))),
    }),
    Some(Field {
        name: "I048/130/SAM",
        layout: Layout::Fixed(1),
        decode: |c, o| c.ssr_amplitude_dbm = Some(signed_quantity(o, 8, 1.0)),
        encode: |c, out| signed_octet("I048/130/SAM", c.ssr_amplitude_dbm, 1.0, out),
    }),
    Some(Field {
        name: "I048/130/PRL",
        layout: Layout::Fixed(1),
        decode: |c, o| c.psr_run_length_deg = Some(quantity(o, 360.0 / 8192.0)),
        encode: |c, out| unsigned_octet("I048/130/PRL", c.psr_run_length_deg, 360.0 / 8192.0, out),
    }),
    Some(Field {
        name: "I048/130/PAM",
        layout: Layout::Fixed(1),
        decode: |c, o| c.psr_amplitude_dbm = Some(signed_quantity(o, 8, 1.0)),
        encode: |c, out| signed_octet("I048/130/PAM", c.psr_amplitude_dbm, 1.0, out),
    }),
    Some(Field {
        name: "I048/130/RPD",
        layout: Layout::Fixed(1),
        decode: |c, o| c.range_difference_nm = Some(signed_quantity(o, 8, RANGE_LSB)),
        encode: |c, out| signed_octet("I048/130/RPD", c.range_difference_nm, RANGE_LSB, out),
    }),
    Some(Field {
        name: "I048/130/APD",
        layout: Layout::Fixed(1),
        decode: |c, o| c.azimuth_difference_deg = Some(signed_quantity(o, 8, 360.0 / 16_384.0)),
        encode: |c, out| {
            signed_octet("I048/130/APD", c.azimuth_difference_deg, 360.0 / 16_384.0, out)
        },
    }),
];

/// Subfields of I048/120.
static RADIAL_SPEED: [Option<Field<RadialSpeed>>; 2] = [
    Some(Field {
        name: "I048/120/CAL",
        layout: Layout::Fixed(2),
        decode: |speed, o| {
            speed.calculated = Some(CalculatedDoppler {
                doubtful: bit(o[0], 7),
                speed_m_s: signed_quantity(o, 10, 1.0),
            });
        },
        encode: |speed, out| {
            some(speed.calculated, |c| {
                let speed = to_signed("I048/120/CAL", c.speed_m_s, 10, 1.0)?;
                Ok(put(out, flag(c.doubtful, 15) | speed, 2))
            })
        },
    }),
    Some(Field {
        name: "I048/120/RDS",
        layout: Layout::Repetitive(6),
        decode: |speed, o| {
            speed.raw = o[1..].chunks_exact(6).map(raw_doppler_of).collect();
        },
        encode: |speed, out| put_raw_dopplers(&speed.raw, out),
    }),
];

fn unsigned_octet(item: &'static str, value: Option<f64>, lsb: f64, out: &mut Vec<u8>) -> Written {
    some(value, |value| Ok(put(out, to_unsigned(item, value, 8, lsb)?, 1)))
}

fn signed_octet(item: &'static str, value: Option<f64>, lsb: f64, out: &mut Vec<u8>) -> Written {
    some(value, |value| Ok(put(out, to_signed(item, value, 8, lsb)?, 1)))
}

const DETECTIONS: [Detection; 8] = [
    Detection::None,
    Detection::Psr,
    Detection::Ssr,
    Detection::SsrPsr,
    Detection::ModeSAllCall,
    Detection::ModeSRollCall,
    Detection::ModeSAllCallPsr,
    Detection::ModeSRollCallPsr,
];

fn descriptor_of(o: &[u8]) -> Descriptor {
    let extension = o.get(1).copied().unwrap_or(0);
    Descriptor {
        detection: DETECTIONS[usize::from(o[0] >> 5)],
        simulated: bit(o[0], 4),
        chain_2: bit(o[0], 3),
        special_position: bit(o[0], 2),
        field_monitor: bit(o[0], 1),
        test: bit(extension, 7),
        extended_range: bit(extension, 6),
        x_pulse: bit(extension, 5),
        military_emergency: bit(extension, 4),
        military_identification: bit(extension, 3),
        friend_or_foe: extension >> 1 & 3,
    }
}

fn put_descriptor(d: Descriptor, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let typ = DETECTIONS.iter().position(|known| *known == d.detection).unwrap_or(0) as u64;
    let first = typ << 5
        | flag(d.simulated, 4)
        | flag(d.chain_2, 3)
        | flag(d.special_position, 2)
        | flag(d.field_monitor, 1);
    let extension = flag(d.test, 7)
        | flag(d.extended_range, 6)
        | flag(d.x_pulse, 5)
        | flag(d.military_emergency, 4)
        | flag(d.military_identification, 3)
        | fits("I048/020", d.friend_or_foe.into(), 2)? << 1;
    if extension == 0 {
        put(out, first, 1);
    } else {
        put(out, (first | 1) << 8 | extension, 2);
    }
    Ok(())
}

/// A code of `bits` under V, G and L at the top of all of `o`.
pub(in super::super) fn code_of(o: &[u8], bits: u32) -> ModeA {
    let all = if o.len() == 1 { u16::from(o[0]) } else { u16_of(o) };
    ModeA {
        code: all & ((1 << bits) - 1),
        not_validated: bit(o[0], 7),
        garbled: bit(o[0], 6),
        smoothed: bit(o[0], 5),
    }
}

pub(in super::super) fn put_code(
    item: &'static str,
    mode: ModeA,
    bits: u32,
    out: &mut Vec<u8>,
) -> Result<(), AsterixError> {
    let octets = if bits > 5 { 2 } else { 1 };
    let flags = flag(mode.not_validated, 7) | flag(mode.garbled, 6) | flag(mode.smoothed, 5);
    put(out, flags << (8 * (octets - 1)) | fits(item, mode.code.into(), bits)?, octets);
    Ok(())
}

pub(in super::super) fn flight_level_of(o: &[u8]) -> FlightLevel {
    FlightLevel {
        level: signed_quantity(o, 14, 0.25),
        not_validated: bit(o[0], 7),
        garbled: bit(o[0], 6),
    }
}

pub(in super::super) fn put_flight_level(
    item: &'static str,
    f: FlightLevel,
    out: &mut Vec<u8>,
) -> Result<(), AsterixError> {
    let level = to_signed(item, f.level, 14, 0.25)?;
    put(out, flag(f.not_validated, 15) | flag(f.garbled, 14) | level, 2);
    Ok(())
}

pub(in super::super) fn mode_c_of(o: &[u8]) -> ModeC {
    ModeC {
        not_validated: bit(o[0], 7),
        garbled: bit(o[0], 6),
        gray: u16_of(o) & 0x0FFF,
        confidence: u16_of(&o[2..]) & 0x0FFF,
    }
}

pub(in super::super) fn put_mode_c(
    item: &'static str,
    m: ModeC,
    out: &mut Vec<u8>,
) -> Result<(), AsterixError> {
    let gray = fits(item, m.gray.into(), 12)?;
    put(out, flag(m.not_validated, 15) | flag(m.garbled, 14) | gray, 2);
    put(out, fits(item, m.confidence.into(), 12)?, 2);
    Ok(())
}

fn register_of(o: &[u8]) -> ModeSRegister {
    ModeSRegister { message: o[..7].try_into().unwrap_or_default(), register: o[7] }
}

fn put_registers(registers: &[ModeSRegister], out: &mut Vec<u8>) -> Written {
    if registers.is_empty() {
        return Ok(false);
    }
    put_count("I048/250", registers.len(), out)?;
    for ModeSRegister { message, register } in registers {
        out.extend_from_slice(message);
        out.push(*register);
    }
    Ok(true)
}

fn track_status_of(o: &[u8]) -> TrackStatus {
    let extension = o.get(1).copied().unwrap_or(0);
    TrackStatus {
        tentative: bit(o[0], 7),
        sensors: o[0] >> 5 & 3,
        doubtful: bit(o[0], 4),
        manoeuvring: bit(o[0], 3),
        vertical: o[0] >> 1 & 3,
        ends: bit(extension, 7),
        ghost: bit(extension, 6),
        supplementary: bit(extension, 5),
        slant_corrected: bit(extension, 4),
    }
}

fn put_track_status(s: TrackStatus, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let first = flag(s.tentative, 7)
        | fits("I048/170", s.sensors.into(), 2)? << 5
        | flag(s.doubtful, 4)
        | flag(s.manoeuvring, 3)
        | fits("I048/170", s.vertical.into(), 2)? << 1;
    let extension =
        flag(s.ends, 7) | flag(s.ghost, 6) | flag(s.supplementary, 5) | flag(s.slant_corrected, 4);
    if extension == 0 {
        put(out, first, 1);
    } else {
        put(out, (first | 1) << 8 | extension, 2);
    }
    Ok(())
}

fn raw_doppler_of(o: &[u8]) -> RawDoppler {
    RawDoppler {
        speed_m_s: u16_of(o),
        ambiguity_m_s: u16_of(&o[2..]),
        frequency_mhz: u16_of(&o[4..]),
    }
}

fn put_raw_dopplers(raw: &[RawDoppler], out: &mut Vec<u8>) -> Written {
    if raw.is_empty() {
        return Ok(false);
    }
    put_count("I048/120/RDS", raw.len(), out)?;
    for RawDoppler { speed_m_s, ambiguity_m_s, frequency_mhz } in raw {
        for value in [speed_m_s, ambiguity_m_s, frequency_mhz] {
            out.extend_from_slice(&value.to_be_bytes());
        }
    }
    Ok(true)
}

fn put_communications(c: Communications, out: &mut Vec<u8>) -> Result<(), AsterixError> {
    let first = fits("I048/230", c.capability.into(), 3)? << 5
        | fits("I048/230", c.flight_status.into(), 3)? << 2
        | flag(c.interrogator_code_ii, 1);
    let second = flag(c.specific_services, 7)
        | flag(c.altitude_25_ft, 6)
        | flag(c.identification, 5)
        | flag(c.b1a, 4)
        | fits("I048/230", c.b1b.into(), 4)?;
    put(out, first << 8 | second, 2);
    Ok(())
}
