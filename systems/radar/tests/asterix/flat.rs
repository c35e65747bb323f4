//! Our records as the specification names their parts, for comparison with other decoders.

use crate::{early, flat_sensors};
use chronoscope_radar::asterix::cat034::{MessageType, ServiceMessage, SystemStates};
use chronoscope_radar::asterix::cat048::{self, Descriptor, Plot};
use chronoscope_radar::asterix::cat062::{self, Track};
use chronoscope_radar::asterix::{
    DataSource, FinalStateSelectedAltitude, Record, SelectedAltitude,
};
use serde_json::Value;
use std::collections::BTreeMap;

/// Values by path, as `I048/040/RHO`.
pub(crate) type Flat = BTreeMap<String, Value>;

/// Paths whose absence means 0: they are in extensions that need not be sent.
pub(crate) const EXTENSIONS: [&str; 10] = [
    "I048/020/",
    "I048/170/",
    "I062/080/",
    "I001/020/",
    "I001/170/",
    "I010/020/",
    "I020/020/",
    "I020/170/",
    "I021/040/",
    "I063/060/",
];

/// Items of the categories beside 034, 048 and 062 that are stepped over.
const SKIPPED_ITEMS: [&str; 41] = [
    "I010/200",
    "I010/170",
    "I010/250",
    "I010/300",
    "I010/270",
    "I010/550",
    "I010/310",
    "I010/280",
    "I010/131",
    "I010/210",
    "I020/100",
    "I020/210",
    "I020/300",
    "I020/310",
    "I020/400",
    "I020/250",
    "I020/230",
    "I020/260",
    "I020/030",
    "I020/055",
    "I020/050",
    "I021/040/TBC",
    "I021/040/MBC",
    "I021/072",
    "I021/075",
    "I021/076",
    "I021/150",
    "I021/151",
    "I021/230",
    "I021/152",
    "I021/165",
    "I021/220",
    "I021/110",
    "I021/016",
    "I021/008",
    "I021/271",
    "I021/132",
    "I021/250",
    "I021/260",
    "I021/400",
    "I021/295",
];

/// Paths that are stepped over, by what they begin with.
pub(crate) const SKIPPED: [&str; 48] = [
    "I048/020/ADSB",
    "I048/020/SCN",
    "I048/020/PAI",
    "I048/020/ACASXV",
    "I048/020/POXPR",
    "I048/020/POACT",
    "I048/020/DTFXPR",
    "I048/020/DTFACT",
    "I048/020/IRMXPR",
    "I048/020/IRMACT",
    "I062/080/SDS",
    "I062/080/EMS",
    "I062/080/PFT",
    "I062/080/FPLT",
    "I062/080/DUPT",
    "I062/080/DUPF",
    "I062/080/DUPM",
    "I062/080/SFC",
    "I062/080/IDD",
    "I062/080/IEC",
    "I062/080/MLAT",
    "I062/110/",
    "I062/120/",
    "I062/270/",
    "I062/295/",
    "I062/300",
    "I062/340/",
    "I062/510/",
    "I062/380/IAS/",
    "I062/380/TIS/",
    "I062/380/TID/",
    "I062/380/COM/",
    "I062/380/SAB/",
    "I062/380/ACS",
    "I062/380/GVR",
    "I062/380/RAN",
    "I062/380/TAR/",
    "I062/380/VUN",
    "I062/380/MET/",
    "I062/380/EMC",
    "I062/380/POS/",
    "I062/380/GAL",
    "I062/380/PUN",
    "I062/380/BDSDATA",
    "I062/390/IFI/",
    "I062/390/FCT/",
    "I062/390/RDS/",
    "I062/390/TOD/",
];

/// More of the same, whose names are prefixes of others' and so have to match whole.
pub(crate) const SKIPPED_WHOLE: [&str; 7] = [
    "I062/390/AST",
    "I062/390/STS/EMP",
    "I062/390/STS/AVL",
    "I062/390/STD",
    "I062/390/STA",
    "I062/390/PEC",
    "I062/390/CTL",
];

pub(crate) struct Sheet {
    item: &'static str,
    pub(crate) flat: Flat,
}

impl Sheet {
    pub(crate) fn at(&mut self, item: &'static str) -> &mut Self {
        self.item = item;
        self
    }

    pub(crate) fn put(&mut self, part: &str, value: impl Into<Value>) -> &mut Self {
        let path =
            if part.is_empty() { self.item.to_owned() } else { format!("{}/{part}", self.item) };
        self.flat.insert(path, value.into());
        self
    }

    pub(crate) fn flags(&mut self, flags: &[(&str, bool)]) -> &mut Self {
        for (part, set) in flags {
            self.put(part, u8::from(*set));
        }
        self
    }

    pub(crate) fn opt(&mut self, item: &'static str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.at(item).put("", value);
        }
    }

    pub(crate) fn part(&mut self, part: &str, value: Option<impl Into<Value>>) -> &mut Self {
        if let Some(value) = value {
            self.put(part, value);
        }
        self
    }

    pub(crate) fn source(&mut self, item: &'static str, source: DataSource) {
        self.at(item).put("SAC", source.sac).put("SIC", source.sic);
    }

    pub(crate) fn octets(&mut self, item: &'static str, octets: &[u8]) {
        if !octets.is_empty() {
            self.at(item).put("", octets.iter().map(|o| format!("{o:02x}")).collect::<String>());
        }
    }

    /// Bits of a confidence item, the first name the highest.
    pub(crate) fn bits(&mut self, item: &'static str, names: &[&str], value: Option<u16>) {
        let Some(value) = value else { return };
        for (index, name) in names.iter().rev().enumerate() {
            self.at(item).put(name, value >> index & 1);
        }
    }
}

/// The parts of a record; `None` for a block of another category.
pub(crate) fn flat(record: &Record) -> Option<Flat> {
    let mut sheet = Sheet { item: "", flat: Flat::new() };
    match record {
        Record::Plot(plot) => {
            plot_items(plot, &mut sheet);
            plot_states(plot, &mut sheet);
        }
        Record::Service(message) => service_items(message, &mut sheet),
        Record::Track(track) => {
            track_items(track, &mut sheet);
            track_states(track, &mut sheet);
        }
        Record::AdsB(report) => flat_sensors::adsb(report, &mut sheet),
        Record::EarlyAdsB(report) => early::parts(report, &mut sheet),
        Record::Multilateration(report) => flat_sensors::multilateration(report, &mut sheet),
        Record::Surface(report) => flat_sensors::surface(report, &mut sheet),
        Record::OldReport(report) => flat_sensors::old_report(report, &mut sheet),
        Record::OldService(message) => flat_sensors::old_service(message, &mut sheet),
        Record::SensorStatus(status) => flat_sensors::sensor_status(status, &mut sheet),
        Record::SystemStatus(status) => flat_sensors::system_status(status, &mut sheet),
        Record::Other { .. } | Record::Padding { .. } => return None,
    }
    Some(sheet.flat)
}

pub(crate) const PULSES: [&str; 12] =
    ["QA4", "QA2", "QA1", "QB4", "QB2", "QB1", "QC4", "QC2", "QC1", "QD4", "QD2", "QD1"];
pub(crate) const MODE_C_PULSES: [&str; 12] =
    ["QC1", "QA1", "QC2", "QA2", "QC4", "QA4", "QB1", "QD1", "QB2", "QD2", "QB4", "QD4"];

fn plot_items(plot: &Plot, s: &mut Sheet) {
    s.source("I048/010", plot.source);
    s.opt("I048/140", plot.time_of_day.map(|t| t.seconds()));
    if let Some(p) = plot.position {
        s.at("I048/040").put("RHO", p.range_nm).put("THETA", p.azimuth_deg);
    }
    for (item, name, mode) in [
        ("I048/070", "MODE3A", plot.mode_a),
        ("I048/055", "MODE1", plot.mode_1),
        ("I048/050", "MODE2", plot.mode_2),
    ] {
        let Some(m) = mode else { continue };
        s.at(item).put(name, m.code);
        s.flags(&[("V", m.not_validated), ("G", m.garbled), ("L", m.smoothed)]);
    }
    if let Some(f) = plot.flight_level {
        s.at("I048/090").put("FL", f.level);
        s.flags(&[("V", f.not_validated), ("G", f.garbled)]);
    }
    s.opt("I048/220", plot.aircraft_address);
    s.opt("I048/240", plot.callsign.map(|c| format!("{:x}", c.bits())));
    for (index, register) in plot.mode_s_registers.iter().enumerate() {
        let message = register.message.iter().fold(0_u64, |bits, o| bits << 8 | u64::from(*o));
        s.at("I048/250").put(&format!("{index}/MBDATA"), format!("{message:x}"));
        s.put(&format!("{index}/BDS1"), register.register >> 4);
        s.put(&format!("{index}/BDS2"), register.register & 15);
    }
    if let Some(number) = plot.track_number {
        s.at("I048/161").put("TRN", number);
    }
    if let Some(p) = plot.calculated_position {
        s.at("I048/042").put("X", p.x_nm).put("Y", p.y_nm);
    }
    if let Some(v) = plot.velocity {
        s.at("I048/200").put("GSP", v.speed_nm_s).put("HDG", v.heading_deg);
    }
    if let Some(q) = plot.track_quality {
        s.at("I048/210").put("SIGX", q.x_nm).put("SIGY", q.y_nm);
        s.put("SIGV", q.speed_nm_s).put("SIGH", q.heading_deg);
    }
    for (index, warning) in plot.warnings.iter().enumerate() {
        s.at("I048/030").put(&index.to_string(), *warning);
    }
    s.opt(
        "I048/260",
        plot.resolution_advisory.map(|report| {
            format!("{:x}", report.iter().fold(0_u64, |bits, o| bits << 8 | u64::from(*o)))
        }),
    );
    s.octets("I048/SP", &plot.special_purpose);
    s.octets("I048/RE", &plot.reserved_expansion);
}

fn plot_states(plot: &Plot, s: &mut Sheet) {
    if let Some(d) = plot.descriptor {
        descriptor(d, s);
    }
    if let Some(c) = plot.characteristics {
        s.at("I048/130").part("SRL", c.ssr_run_length_deg).part("SRR", c.ssr_replies);
        s.part("SAM", c.ssr_amplitude_dbm).part("PRL", c.psr_run_length_deg);
        s.part("PAM", c.psr_amplitude_dbm).part("RPD", c.range_difference_nm);
        s.part("APD", c.azimuth_difference_deg);
    }
    if let Some(t) = plot.track_status {
        s.at("I048/170").put("RAD", t.sensors).put("CDM", t.vertical).flags(&[
            ("CNF", t.tentative),
            ("DOU", t.doubtful),
            ("MAH", t.manoeuvring),
            ("TRE", t.ends),
            ("GHO", t.ghost),
            ("SUP", t.supplementary),
            ("TCC", t.slant_corrected),
        ]);
    }
    s.bits("I048/080", &PULSES, plot.mode_a_confidence);
    s.bits("I048/060", &PULSES, plot.mode_2_confidence);
    s.bits("I048/065", &["QA4", "QA2", "QA1", "QB2", "QB1"], plot.mode_1_confidence.map(u16::from));
    if let Some(m) = plot.mode_c {
        s.at("I048/100").put("MODEC", m.gray).flags(&[("V", m.not_validated), ("G", m.garbled)]);
        s.bits("I048/100", &MODE_C_PULSES, Some(m.confidence));
    }
    if let Some(height) = plot.height_3d_ft {
        s.at("I048/110").put("3DH", height);
    }
    if let Some(speed) = &plot.radial_speed {
        if let Some(c) = speed.calculated {
            s.at("I048/120").put("CAL/CAL", c.speed_m_s).flags(&[("CAL/D", c.doubtful)]);
        }
        for (index, raw) in speed.raw.iter().enumerate() {
            s.at("I048/120").put(&format!("RDS/{index}/DOP"), f64::from(raw.speed_m_s));
            s.put(&format!("RDS/{index}/AMB"), f64::from(raw.ambiguity_m_s));
            s.put(&format!("RDS/{index}/FRQ"), f64::from(raw.frequency_mhz));
        }
    }
    if let Some(c) = plot.communications {
        s.at("I048/230").put("COM", c.capability).put("STAT", c.flight_status).put("B1B", c.b1b);
        s.flags(&[
            ("SI", c.interrogator_code_ii),
            ("MSSC", c.specific_services),
            ("ARC", c.altitude_25_ft),
            ("AIC", c.identification),
            ("B1A", c.b1a),
        ]);
    }
}

fn descriptor(d: Descriptor, s: &mut Sheet) {
    use cat048::Detection as D;
    let typ = match d.detection {
        D::None => 0,
        D::Psr => 1,
        D::Ssr => 2,
        D::SsrPsr => 3,
        D::ModeSAllCall => 4,
        D::ModeSRollCall => 5,
        D::ModeSAllCallPsr => 6,
        D::ModeSRollCallPsr => 7,
    };
    s.at("I048/020").put("TYP", typ).put("FOEFRI", d.friend_or_foe).flags(&[
        ("SIM", d.simulated),
        ("RDP", d.chain_2),
        ("SPI", d.special_position),
        ("RAB", d.field_monitor),
        ("TST", d.test),
        ("ERR", d.extended_range),
        ("XPP", d.x_pulse),
        ("ME", d.military_emergency),
        ("MI", d.military_identification),
    ]);
}

fn service_items(m: &ServiceMessage, s: &mut Sheet) {
    s.source("I034/010", m.source);
    s.opt(
        "I034/000",
        m.kind.map(|kind| match kind {
            MessageType::NorthMarker => 1,
            MessageType::SectorCrossing => 2,
            MessageType::GeographicalFiltering => 3,
            MessageType::JammingStrobe => 4,
            MessageType::Other(number) => number,
        }),
    );
    s.opt("I034/030", m.time_of_day.map(|t| t.seconds()));
    s.opt("I034/020", m.sector_deg);
    s.opt("I034/041", m.antenna_period_s);
    if let Some(states) = m.configuration {
        configuration(states, s);
    }
    if let Some(states) = m.processing_mode {
        processing_mode(states, s);
    }
    for (index, count) in m.message_counts.iter().enumerate() {
        s.at("I034/070").put(&format!("{index}/TYP"), count.kind);
        s.put(&format!("{index}/COUNT"), count.count);
    }
    if let Some(w) = m.polar_window {
        s.at("I034/100").put("RHOST", w.range_start_nm).put("RHOEND", w.range_end_nm);
        s.put("THETAST", w.azimuth_start_deg).put("THETAEND", w.azimuth_end_deg);
    }
    s.opt("I034/110", m.data_filter);
    if let Some(p) = m.position {
        s.at("I034/120").put("HGT", p.height_m).put("LAT", p.lat_deg).put("LON", p.lon_deg);
    }
    if let Some(e) = m.collimation_error {
        s.at("I034/090").put("RNG", e.range_nm).put("AZM", e.azimuth_deg);
    }
    s.octets("I034/RE", &m.reserved_expansion);
    s.octets("I034/SP", &m.special_purpose);
}

/// Fields of `value`, by name and bits from the lowest of `width` bits upwards.
fn split(s: &mut Sheet, part: &str, value: Option<u16>, width: u32, names: &[(&str, u32)]) {
    let Some(value) = value else { return };
    let mut above = width;
    for (name, bits) in names {
        above -= bits;
        if *name != "-" {
            s.put(&format!("{part}/{name}"), value >> above & ((1 << bits) - 1));
        }
    }
}

fn configuration(c: SystemStates, s: &mut Sheet) {
    s.at("I034/050");
    let common = [
        ("NOGO", 1),
        ("RDPC", 1),
        ("RDPR", 1),
        ("OVLRDP", 1),
        ("OVLXMT", 1),
        ("MSC", 1),
        ("TSV", 1),
    ];
    split(s, "COM", c.common.map(u16::from), 8, &common);
    let sensor = [("ANT", 1), ("CHAB", 2), ("OVL", 1), ("MSC", 1)];
    split(s, "PSR", c.psr.map(u16::from), 8, &sensor);
    split(s, "SSR", c.ssr.map(u16::from), 8, &sensor);
    let mode_s = [
        ("ANT", 1),
        ("CHAB", 2),
        ("OVLSUR", 1),
        ("MSC", 1),
        ("SCF", 1),
        ("DLF", 1),
        ("OVLSCF", 1),
        ("OVLDLF", 1),
    ];
    split(s, "MDS", c.mode_s, 16, &mode_s);
}

fn processing_mode(c: SystemStates, s: &mut Sheet) {
    s.at("I034/060");
    split(s, "COM", c.common.map(u16::from), 8, &[("-", 1), ("REDRDP", 3), ("REDXMT", 3)]);
    split(s, "PSR", c.psr.map(u16::from), 8, &[("POL", 1), ("REDRAD", 3), ("STC", 2)]);
    split(s, "SSR", c.ssr.map(u16::from), 8, &[("REDRAD", 3)]);
    split(s, "MDS", c.mode_s, 8, &[("REDRAD", 3), ("CLU", 1)]);
}

fn track_items(t: &Track, s: &mut Sheet) {
    s.source("I062/010", t.source);
    s.opt("I062/015", t.service_id);
    s.opt("I062/070", t.time_of_day.map(|time| time.seconds()));
    if let Some(p) = t.position {
        s.at("I062/105").put("LAT", p.lat_deg).put("LON", p.lon_deg);
    }
    if let Some(c) = t.cartesian {
        s.at("I062/100").put("X", c.x_m).put("Y", c.y_m);
    }
    if let Some(v) = t.velocity {
        s.at("I062/185").put("VX", v.x_m_s).put("VY", v.y_m_s);
    }
    if let Some(a) = t.acceleration {
        s.at("I062/210").put("AX", a.x_m_s2).put("AY", a.y_m_s2);
    }
    if let Some(m) = t.mode_a {
        s.at("I062/060").put("MODE3A", m.code);
        s.flags(&[("V", m.not_validated), ("G", m.garbled), ("CH", m.changed)]);
    }
    if let Some(id) = t.target_identification {
        s.at("I062/245").put("STI", id.origin).put("CHR", format!("{:x}", id.callsign.bits()));
    }
    if let Some(d) = t.derived {
        s.at("I062/380").part("ADR", d.address);
        s.part("ID", d.callsign.map(|c| format!("{:x}", c.bits())));
        s.part("MHG", d.magnetic_heading_deg).part("TAS", d.true_airspeed_kt);
        s.part("BVR", d.barometric_rate_ft_min).part("TAN", d.track_angle_deg);
        s.part("GS", d.ground_speed_nm_s).part("IAR", d.indicated_airspeed_kt).part("MAC", d.mach);
        s.part("BPS/BPS", d.pressure_hpa.map(|hpa| hpa - 800.0));
        selected(s, ("I062/380/SAL", d.selected_altitude), ("I062/380/FSS", d.final_state));
    }
    s.opt("I062/040", t.track_number);
    s.opt("I062/136", t.measured_flight_level);
    s.opt("I062/130", t.geometric_altitude_ft);
    if let Some(b) = t.barometric_altitude {
        s.at("I062/135").put("CTB", b.level).flags(&[("QNH", b.qnh_corrected)]);
    }
    s.opt("I062/220", t.rate_of_climb_ft_min);
    s.octets("I062/RE", &t.reserved_expansion);
    s.octets("I062/SP", &t.special_purpose);
}

pub(crate) fn selected(
    s: &mut Sheet,
    (selected_item, selected): (&'static str, Option<SelectedAltitude>),
    (final_item, last): (&'static str, Option<FinalStateSelectedAltitude>),
) {
    // Its name is another one in each category.
    let source_name = if selected_item.starts_with("I021") { "S" } else { "SRC" };
    if let Some(a) = selected {
        s.at(selected_item).put(source_name, a.source).put("ALT", a.altitude_ft);
        s.flags(&[("SAS", a.source_provided)]);
    }
    if let Some(a) = last {
        s.at(final_item).put("ALT", a.altitude_ft);
        s.flags(&[("MV", a.managed_vertical), ("AH", a.altitude_hold), ("AM", a.approach)]);
    }
}

fn track_states(t: &Track, s: &mut Sheet) {
    if let Some(status) = t.status {
        track_status(status, s);
    }
    if let Some(a) = t.update_ages {
        s.at("I062/290").part("TRK", a.track_s).part("PSR", a.psr_s).part("SSR", a.ssr_s);
        s.part("MDS", a.mode_s_s).part("ADS", a.ads_c_s).part("ES", a.extended_squitter_s);
        s.part("VDL", a.vdl_s).part("UAT", a.uat_s).part("LOP", a.loop_s);
        s.part("MLT", a.multilateration_s);
    }
    if let Some(m) = t.mode_of_movement {
        s.at("I062/200").put("TRANS", m.transversal).put("LONG", m.longitudinal);
        s.put("VERT", m.vertical).flags(&[("ADF", m.altitude_discrepancy)]);
    }
    if let Some(p) = &t.flight_plan {
        s.at("I062/390").part("TAG/SAC", p.system.map(|system| system.sac));
        s.part("TAG/SIC", p.system.map(|system| system.sic)).part("CS", p.callsign.clone());
        s.part("TAC", p.aircraft_type.clone()).part("WTC", p.wake_category.clone());
        s.part("DEP", p.departure.clone()).part("DST", p.destination.clone());
        s.part("CFL", p.cleared_flight_level).part("CTL/CENTRE", p.control_position.map(|c| c.0));
        s.part("CTL/POSITION", p.control_position.map(|c| c.1));
        s.part("PEM/MODE3A", p.pre_emergency_mode_a.map(|m| m.code));
        s.part("PEM/VA", p.pre_emergency_mode_a.map(|m| u8::from(!m.not_validated)));
    }
    if let Some(a) = t.accuracy {
        let pairs = [
            ("APC", ["X", "Y"], a.cartesian_m),
            ("APW", ["LAT", "LON"], a.wgs84_deg),
            ("ATV", ["X", "Y"], a.velocity_m_s),
            ("AA", ["X", "Y"], a.acceleration_m_s2),
        ];
        s.at("I062/500");
        for (part, names, pair) in pairs {
            s.part(&format!("{part}/{}", names[0]), pair.map(|p| p.0));
            s.part(&format!("{part}/{}", names[1]), pair.map(|p| p.1));
        }
        s.part("COV", a.covariance_m).part("AGA", a.geometric_altitude_ft);
        s.part("ABA", a.barometric_altitude_fl).part("ARC", a.rate_of_climb_ft_min);
    }
}

fn track_status(t: cat062::Status, s: &mut Sheet) {
    s.at("I062/080").put("SRC", t.altitude_source).put("MD4", t.mode_4).put("MD5", t.mode_5);
    s.flags(&[
        ("MON", t.monosensor),
        ("SPI", t.special_position),
        ("MRH", t.geometric_height),
        ("CNF", t.tentative),
        ("SIM", t.simulated),
        ("TSE", t.ends),
        ("TSB", t.begins),
        ("FPC", t.flight_plan_correlated),
        ("AFF", t.adsb_inconsistent),
        ("STP", t.slave_promotion),
        ("KOS", t.background_service),
        ("AMA", t.amalgamated),
        ("ME", t.military_emergency),
        ("MI", t.military_identification),
        ("CST", t.coasting),
        ("PSR", t.psr_old),
        ("SSR", t.ssr_old),
        ("MDS", t.mode_s_old),
        ("ADS", t.adsb_old),
        ("SUC", t.special_code),
        ("AAC", t.code_conflict),
    ]);
}

/// Whether a path is of what is stepped over.
pub(crate) fn is_skipped(path: &str) -> bool {
    let mut items = SKIPPED.iter().chain(&SKIPPED_ITEMS);
    items.any(|prefix| path.starts_with(prefix)) || SKIPPED_WHOLE.contains(&path)
}

/// What differs between our parts of a record and another decoder's, one line each.
pub(crate) fn differences(ours: &Flat, theirs: &Flat) -> Vec<String> {
    let mut lines = Vec::new();
    for (path, value) in theirs.iter().filter(|(path, _)| !is_skipped(path)) {
        match ours.get(path) {
            None => lines.push(format!("{path}: theirs {value}, ours has none")),
            Some(own) if !same(own, value) => {
                lines.push(format!("{path}: theirs {value}, ours {own}"));
            }
            Some(_) => {}
        }
    }
    for (path, value) in ours.iter().filter(|(path, _)| !theirs.contains_key(*path)) {
        let extension = EXTENSIONS.iter().any(|prefix| path.starts_with(prefix));
        if !(extension && *value == 0) {
            lines.push(format!("{path}: ours {value}, theirs has none"));
        }
    }
    lines
}

fn same(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * a.abs().max(1.0),
        _ => a == b,
    }
}
