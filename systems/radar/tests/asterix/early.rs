//! Category 021 before edition 2.0: round trips, and beside libasterix, which knows each edition.

use crate::check::encode;
use crate::flat::{Flat, Sheet};
use crate::flat_sensors::{code, place};
use crate::oracle::{Encoded, ask, assert_same, hex, python, scramble, unhex};
use crate::samples::{self, Raw};
use crate::{flat, samples_sensors};
use chronoscope_radar::asterix::cat021::{
    EarlyDescriptor, EarlyGroundVector, EarlyReport, Edition, Link, Merit,
};
use chronoscope_radar::asterix::{AsterixError, Editions, Record, decode_block_of};

/// The editions as libasterix names them, and as which ours are read.
const EDITIONS: [(&str, Edition); 4] = [
    ("0.23", Edition::Early23),
    ("0.24", Edition::Early26),
    ("0.25", Edition::Early26),
    ("0.26", Edition::Early26),
];

/// A report with any combination of an edition's items and any values.
fn report(edition: &str, r: &mut Raw) -> EarlyReport {
    let of_023 = edition == "0.23";
    let (bits, lsb) = if of_023 { (24, 8_388_608.0) } else { (32, 33_554_432.0) };
    let mut report = EarlyReport {
        of_023,
        source: r.source(),
        descriptor: r.maybe(|r| EarlyDescriptor {
            differential: r.flag(),
            on_ground: r.flag(),
            simulated: r.flag(),
            test: r.flag(),
            field_monitor: r.flag(),
            no_selected_altitude: r.flag(),
            special_position: r.flag(),
            address_type: r.u8(3),
            altitude_resolution: r.u8(2),
        }),
        time_of_day: r.maybe(Raw::time),
        position: r.maybe(|r| samples_sensors::place(r, bits, 180.0 / lsb)),
        address: r.maybe(|r| r.bits(24)),
        geometric_height_ft: r.maybe(|r| r.i(16, 6.25)),
        merit: r.maybe(|r| Merit {
            acas: r.u8(2),
            multiple_navigation: r.u8(2),
            differential: r.u8(2),
            position: r.u8(4),
        }),
        link: r.maybe(|r| Link {
            traffic_display: r.flag(),
            mode_s: r.flag(),
            uat: r.flag(),
            vdl4: r.flag(),
            other: r.flag(),
        }),
        flight_level: r.maybe(|r| r.i(16, 0.25)),
        barometric_rate_ft_min: r.maybe(|r| r.i(16, 6.25)),
        geometric_rate_ft_min: r.maybe(|r| r.i(16, 6.25)),
        ground_vector: r.maybe(|r| EarlyGroundVector {
            speed_nm_s: r.i(16, 1.0 / 16_384.0),
            track_deg: r.u(16, 360.0 / 65_536.0),
        }),
        callsign: r.maybe(Raw::callsign),
        velocity_accuracy: r.maybe(|r| r.u8(8)),
        time_accuracy_s: r.maybe(|r| r.u(8, 1.0 / 256.0)),
        status: r.maybe(|r| r.u8(8)),
        emitter_category: r.maybe(|r| r.u8(8)),
        selected_altitude: r.maybe(samples::selected_altitude),
        final_state: r.maybe(samples::final_state),
        reserved_expansion: r.octets(),
        special_purpose: r.octets(),
        ..EarlyReport::default()
    };
    if edition == "0.26" {
        report.mode_a = r.maybe(samples_sensors::code);
        report.amplitude = r.maybe(|r| r.u8(8));
    }
    report
}

/// The parts of a report as the specification names them.
pub(crate) fn parts(r: &EarlyReport, s: &mut Sheet) {
    s.source("I021/010", r.source);
    if let Some(d) = r.descriptor {
        s.at("I021/040").put("ATP", d.address_type).put("ARC", d.altitude_resolution).flags(&[
            ("DCR", d.differential),
            ("GBS", d.on_ground),
            ("SIM", d.simulated),
            ("TST", d.test),
            ("RAB", d.field_monitor),
            ("SAA", d.no_selected_altitude),
            ("SPI", d.special_position),
        ]);
    }
    s.opt("I021/030", r.time_of_day.map(|t| t.seconds()));
    place(s, "I021/130", r.position);
    s.opt("I021/080", r.address);
    s.opt("I021/140", r.geometric_height_ft);
    if let Some(m) = r.merit {
        s.at("I021/090").put("AC", m.acas).put("MN", m.multiple_navigation);
        // libasterix takes the category for a number in two's complement.
        s.put("DC", m.differential)
            .put("PA", i16::from(m.position) - i16::from(m.position & 8) * 2);
    }
    if let Some(l) = r.link {
        s.at("I021/210").flags(&[
            ("DTI", l.traffic_display),
            ("MDS", l.mode_s),
            ("UAT", l.uat),
            ("VDL", l.vdl4),
            ("OTR", l.other),
        ]);
    }
    s.opt("I021/145", r.flight_level);
    s.opt("I021/155", r.barometric_rate_ft_min);
    s.opt("I021/157", r.geometric_rate_ft_min);
    if let Some(v) = r.ground_vector {
        s.at("I021/160").put("GS", v.speed_nm_s).put("TA", v.track_deg);
    }
    s.opt("I021/170", r.callsign.map(|c| format!("{:x}", c.bits())));
    s.opt("I021/095", r.velocity_accuracy);
    s.opt("I021/032", r.time_accuracy_s);
    s.opt("I021/200", r.status);
    s.opt("I021/020", r.emitter_category);
    flat::selected(s, ("I021/146", r.selected_altitude), ("I021/148", r.final_state));
    // The same part under another name.
    if let Some(source) = s.flat.remove("I021/146/S") {
        s.at("I021/146").put("SRC", source);
    }
    code(s, "I021/070", "MODE3A", r.mode_a);
    s.opt("I021/131", r.amplitude);
    s.octets("I021/RE", &r.reserved_expansion);
    s.octets("I021/SP", &r.special_purpose);
}

fn read(octets: &[u8], adsb: Edition) -> Result<Vec<Record>, AsterixError> {
    decode_block_of(octets, Editions { adsb }).collect()
}

fn flats(octets: &[u8], adsb: Edition) -> Vec<Flat> {
    let records = read(octets, adsb).unwrap_or_else(|error| panic!("{error}: {}", hex(octets)));
    records.iter().filter_map(flat::flat).collect()
}

/// Reports and their octets, of one edition.
fn written(edition: &str) -> Vec<(Record, Vec<u8>)> {
    let mut next = scramble(21);
    (0..300)
        .map(|_| {
            let numbers = (0..17).map(|_| u32::try_from(next() & 0xFFFF_FFFF).unwrap()).collect();
            let octets = (0..1 + next() % 40).map(|i| u8::try_from(i).unwrap()).collect();
            let mut raw = Raw::new(next() ^ next() << 20, numbers, octets);
            let record = Record::EarlyAdsB(report(edition, &mut raw));
            let mut datagram = Vec::new();
            encode(&record, &mut datagram).unwrap();
            (record, datagram)
        })
        .collect()
}

#[test]
fn what_is_written_is_read() {
    for (edition, adsb) in EDITIONS {
        for (record, datagram) in written(edition) {
            assert_eq!(read(&datagram, adsb).unwrap(), [record], "{edition}");
        }
    }
}

#[test]
fn libasterix_reads_what_we_write_of_early_editions() {
    let Some(python) = python("asterix-libasterix") else { return };
    for (edition, adsb) in EDITIONS {
        let written = written(edition);
        let input: String = written.iter().map(|(_, datagram)| hex(datagram) + "\n").collect();
        let answers = ask(&python, "libasterix_oracle.py", &["decode", edition], &input);
        assert_eq!(answers.len(), written.len());
        for ((_, datagram), answer) in written.iter().zip(answers) {
            let theirs: Option<Vec<Flat>> = serde_json::from_str(&answer).unwrap();
            let theirs = theirs.unwrap_or_else(|| panic!("{edition} refuses {}", hex(datagram)));
            assert_same(&flats(datagram, adsb), &theirs, &format!("{edition} {}", hex(datagram)));
        }
    }
}

#[test]
fn we_read_what_libasterix_writes_of_early_editions() {
    let Some(python) = python("asterix-libasterix") else { return };
    for (edition, adsb) in EDITIONS {
        let mut records = 0;
        for line in ask(&python, "libasterix_oracle.py", &["encode", "7", "300", edition], "") {
            let Encoded { datagram, records: theirs } = serde_json::from_str(&line).unwrap();
            let own = flats(&unhex(&datagram), adsb);
            assert_same(&own, &theirs, &format!("{edition} {datagram}"));
            records += own.len();
        }
        assert!(records >= 300, "{edition}");
    }
}
