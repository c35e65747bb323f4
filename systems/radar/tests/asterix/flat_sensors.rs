//! The records of ADS-B, multilateration, older radars and status as the specification names their
//! parts.

use crate::flat::{self, MODE_C_PULSES, PULSES, Sheet};
use chronoscope_radar::asterix::cat062::TargetIdentification;
use chronoscope_radar::asterix::{
    LatLon, cat001, cat002, cat010, cat020, cat021, cat048, cat063, cat065,
};

pub(crate) fn place(s: &mut Sheet, item: &'static str, place: Option<LatLon>) {
    if let Some(p) = place {
        s.at(item).put("LAT", p.lat_deg).put("LON", p.lon_deg);
    }
}

pub(crate) fn code(s: &mut Sheet, item: &'static str, name: &str, mode: Option<cat048::ModeA>) {
    if let Some(m) = mode {
        s.at(item).put(name, m.code);
        s.flags(&[("V", m.not_validated), ("G", m.garbled), ("L", m.smoothed)]);
    }
}

fn level(s: &mut Sheet, item: &'static str, name: &str, level: Option<cat048::FlightLevel>) {
    if let Some(f) = level {
        s.at(item).put(name, f.level).flags(&[("V", f.not_validated), ("G", f.garbled)]);
    }
}

fn named(s: &mut Sheet, item: &'static str, id: Option<TargetIdentification>) {
    if let Some(id) = id {
        s.at(item).put("STI", id.origin).put("CHR", format!("{:x}", id.callsign.bits()));
    }
}

fn sevens(s: &mut Sheet, item: &'static str, values: &[u8]) {
    for (index, value) in values.iter().enumerate() {
        s.at(item).put(&index.to_string(), *value);
    }
}

pub(crate) fn adsb(r: &cat021::Report, s: &mut Sheet) {
    s.source("I021/010", r.source);
    if let Some(number) = r.track_number {
        s.at("I021/161").put("TRNUM", number);
    }
    s.opt("I021/015", r.service_id);
    s.opt("I021/071", r.position_time.map(|t| t.seconds()));
    place(s, "I021/130", r.position);
    place(s, "I021/131", r.fine_position);
    s.opt("I021/080", r.address);
    s.opt("I021/073", r.reception_time.map(|t| t.seconds()));
    if let Some(t) = r.fine_reception_time {
        let fraction = f64::from(t.fraction) / f64::from(1 << 30);
        s.at("I021/074").put("FSI", t.second).put("TOMRP", fraction);
    }
    s.opt("I021/140", r.geometric_height_ft);
    if let Some(m) = r.mops {
        s.at("I021/210").put("VN", m.version).put("LTT", m.link).flags(&[("VNS", m.not_supported)]);
    }
    if let Some(mode_a) = r.mode_a {
        s.at("I021/070").put("MODE3A", mode_a);
    }
    s.opt("I021/145", r.flight_level);
    if let Some(t) = r.status {
        s.at("I021/200").put("PS", t.priority).put("SS", t.surveillance).flags(&[
            ("ICF", t.intent_changed),
            ("LNAV", t.lateral_navigation_off),
            ("ME", t.military_emergency),
        ]);
    }
    for (item, name, rate) in
        [("I021/155", "BVR", r.barometric_rate), ("I021/157", "GVR", r.geometric_rate)]
    {
        let Some(rate) = rate else { continue };
        s.at(item).put(name, rate.ft_min).flags(&[("RE", rate.exceeds)]);
    }
    if let Some(v) = r.ground_vector {
        s.at("I021/160").put("GS", v.speed_nm_s).put("TA", v.track_deg);
        s.flags(&[("RE", v.exceeds)]);
    }
    s.opt("I021/077", r.report_time.map(|t| t.seconds()));
    s.opt("I021/170", r.callsign.map(|c| format!("{:x}", c.bits())));
    s.opt("I021/020", r.emitter_category);
    flat::selected(s, ("I021/146", r.selected_altitude), ("I021/148", r.final_state));
    s.octets("I021/RE", &r.reserved_expansion);
    s.octets("I021/SP", &r.special_purpose);
    adsb_states(r, s);
}

fn adsb_states(r: &cat021::Report, s: &mut Sheet) {
    if let Some(d) = r.descriptor {
        s.at("I021/040").put("ATP", d.address_type).put("ARC", d.altitude_resolution);
        s.put("CL", d.confidence).flags(&[
            ("RC", d.range_checked),
            ("RAB", d.field_monitor),
            ("DCR", d.differential),
            ("GBS", d.on_ground),
            ("SIM", d.simulated),
            ("TST", d.test),
            ("SAA", d.no_selected_altitude),
            ("LLC", d.lookup_differs),
            ("IPC", d.position_check_failed),
            ("NOGO", d.no_go),
            ("CPR", d.cpr_failed),
            ("LDPJ", d.position_jump),
            ("RCF", d.range_check_failed),
        ]);
    }
    if let Some(q) = r.quality {
        s.at("I021/090").put("NUCRNACV", q.velocity).put("NUCPNIC", q.integrity);
        if let Some(a) = q.accuracy {
            s.put("SIL", a.integrity_level).put("NACP", a.category);
            s.flags(&[("NICBARO", a.barometric_checked)]);
        }
        if let Some(d) = q.design {
            s.put("SDA", d.assurance).put("GVA", d.altitude_accuracy);
            s.flags(&[("SILS", d.per_sample)]);
        }
        s.part("PIC", q.containment);
    }
}

pub(crate) fn multilateration(r: &cat020::Report, s: &mut Sheet) {
    s.source("I020/010", r.source);
    if let Some(d) = r.descriptor {
        s.at("I020/020").put("CF", d.confidence);
        for (index, name) in ["OT", "DME", "UAT", "VDL4", "HF", "MS", "SSR"].iter().enumerate() {
            s.put(name, d.technologies >> index & 1);
        }
        s.flags(&[
            ("RAB", d.field_monitor),
            ("SPI", d.special_position),
            ("CHN", d.chain_2),
            ("GBS", d.on_ground),
            ("CRT", d.corrupted),
            ("SIM", d.simulated),
            ("TST", d.test),
        ]);
    }
    s.opt("I020/140", r.time_of_day.map(|t| t.seconds()));
    place(s, "I020/041", r.position);
    if let Some(c) = r.cartesian {
        s.at("I020/042").put("X", c.x_m).put("Y", c.y_m);
    }
    if let Some(number) = r.track_number {
        s.at("I020/161").put("TRN", number);
    }
    if let Some(t) = r.track_status {
        s.at("I020/170").put("CDM", t.vertical).flags(&[
            ("CNF", t.tentative),
            ("TRE", t.ends),
            ("CST", t.coasting),
            ("MAH", t.manoeuvring),
            ("STH", t.smoothed),
            ("GHO", t.ghost),
        ]);
    }
    code(s, "I020/070", "MODE3A", r.mode_a);
    if let Some(v) = r.velocity {
        s.at("I020/202").put("VX", v.x_m_s).put("VY", v.y_m_s);
    }
    level(s, "I020/090", "FL", r.flight_level);
    s.opt("I020/220", r.address);
    named(s, "I020/245", r.target_identification);
    s.opt("I020/110", r.measured_height_ft);
    s.opt("I020/105", r.geometric_height_ft);
    if let Some(a) = r.accuracy {
        s.at("I020/500").part("SDH", a.height_sigma_m);
        for (part, triple) in [("DOP", a.dilution), ("SDP", a.sigma_m)] {
            let Some((x, y, xy)) = triple else { continue };
            s.put(&format!("{part}/X"), x).put(&format!("{part}/Y"), y);
            s.put(&format!("{part}/XY"), xy);
        }
    }
    s.octets("I020/RE", &r.reserved_expansion);
    s.octets("I020/SP", &r.special_purpose);
}

pub(crate) fn surface(r: &cat010::Report, s: &mut Sheet) {
    s.source("I010/010", r.source);
    s.opt("I010/000", r.kind);
    if let Some(d) = r.descriptor {
        s.at("I010/020").put("TYP", d.detection).put("LOP", d.loop_state).put("TOT", d.target);
        s.flags(&[
            ("DCR", d.differential),
            ("CHN", d.chain_2),
            ("GBS", d.on_ground),
            ("CRT", d.corrupted),
            ("SIM", d.simulated),
            ("TST", d.test),
            ("RAB", d.field_monitor),
            ("SPI", d.special_position),
        ]);
    }
    s.opt("I010/140", r.time_of_day.map(|t| t.seconds()));
    place(s, "I010/041", r.position);
    if let Some(p) = r.polar {
        s.at("I010/040").put("RHO", p.range_m).put("TH", p.azimuth_deg);
    }
    if let Some(c) = r.cartesian {
        s.at("I010/042").put("X", c.x_m).put("Y", c.y_m);
    }
    if let Some(v) = r.velocity {
        s.at("I010/202").put("VX", v.x_m_s).put("VY", v.y_m_s);
    }
    if let Some(number) = r.track_number {
        s.at("I010/161").put("TRK", number);
    }
    code(s, "I010/060", "MODE3A", r.mode_a);
    s.opt("I010/220", r.address);
    named(s, "I010/245", r.target_identification);
    level(s, "I010/090", "FL", r.flight_level);
    s.opt("I010/091", r.measured_height_ft);
    if let Some(a) = r.accuracy {
        s.at("I010/500").put("DEVX", a.x_m).put("DEVY", a.y_m).put("COVXY", a.covariance_m);
    }
    s.octets("I010/RE", &r.reserved_expansion);
    s.octets("I010/SP", &r.special_purpose);
}

pub(crate) fn old_report(r: &cat001::Report, s: &mut Sheet) {
    s.source("I001/010", r.source);
    if let Some(d) = r.descriptor {
        s.at("I001/020").put("SSRPSR", d.detection).put("DS1DS2", d.emergency).flags(&[
            ("TYP", d.track),
            ("SIM", d.simulated),
            ("ANT", d.antenna_2),
            ("SPI", d.special_position),
            ("RAB", d.field_monitor),
            ("TST", d.test),
            ("ME", d.military_emergency),
            ("MI", d.military_identification),
        ]);
    }
    s.opt("I001/161", r.track_number);
    if let Some(p) = r.position {
        s.at("I001/040").put("RHO", p.range_nm).put("THETA", p.azimuth_deg);
    }
    if let Some(p) = r.calculated_position {
        s.at("I001/042").put("X", p.x_nm).put("Y", p.y_nm);
    }
    if let Some(v) = r.velocity {
        s.at("I001/200").put("GSP", v.speed_nm_s).put("HDG", v.heading_deg);
    }
    code(s, "I001/070", "MODE3A", r.mode_a);
    code(s, "I001/050", "MODE2", r.mode_2);
    level(s, "I001/090", "HGT", r.flight_level);
    s.opt("I001/141", r.truncated_time.map(|t| f64::from(t.0) / 128.0));
    sevens(s, "I001/130", &r.characteristics);
    sevens(s, "I001/210", &r.track_quality);
    sevens(s, "I001/030", &r.warnings);
    s.opt("I001/131", r.power_dbm);
    s.opt("I001/120", r.radial_speed_nm_s);
    if let Some(t) = r.track_status {
        s.at("I001/170").flags(&[
            ("CON", t.tentative),
            ("RAD", t.primary),
            ("MAN", t.manoeuvring),
            ("DOU", t.doubtful),
            ("RDPC", t.chain_2),
            ("GHO", t.ghost),
            ("TRE", t.ends),
        ]);
    }
    s.bits("I001/080", &PULSES, r.mode_a_confidence);
    s.bits("I001/060", &PULSES, r.mode_2_confidence);
    if let Some(m) = r.mode_c {
        s.at("I001/100").put("MODEC", m.gray).flags(&[("V", m.not_validated), ("G", m.garbled)]);
        s.bits("I001/100", &MODE_C_PULSES, Some(m.confidence));
    }
    if let Some(x) = r.x_pulses {
        s.at("I001/150").put("XA", x >> 7).put("XC", x >> 5 & 1).put("X2", x >> 2 & 1);
    }
    s.octets("I001/SP", &r.special_purpose);
}

pub(crate) fn old_service(m: &cat002::ServiceMessage, s: &mut Sheet) {
    s.source("I002/010", m.source);
    s.opt("I002/000", m.kind);
    s.opt("I002/020", m.sector_deg);
    s.opt("I002/030", m.time_of_day.map(|t| t.seconds()));
    s.opt("I002/041", m.antenna_period_s);
    sevens(s, "I002/050", &m.configuration);
    sevens(s, "I002/060", &m.processing_mode);
    sevens(s, "I002/080", &m.warnings);
    for (index, count) in m.plot_counts.iter().enumerate() {
        s.at("I002/070").put(&format!("{index}/A"), u8::from(count.antenna_2));
        s.put(&format!("{index}/IDENT"), count.kind);
        s.put(&format!("{index}/COUNTER"), count.count);
    }
    if let Some(w) = m.window {
        s.at("I002/100").put("RS", w.range_start_nm).put("RE", w.range_end_nm);
        s.put("TS", w.azimuth_start_deg).put("TE", w.azimuth_end_deg);
    }
    if let Some(e) = m.collimation_error {
        s.at("I002/090").put("RE", e.range_nm).put("AE", e.azimuth_deg);
    }
    s.octets("I002/SP", &m.special_purpose);
}

pub(crate) fn sensor_status(m: &cat063::SensorStatus, s: &mut Sheet) {
    s.source("I063/010", m.source);
    s.opt("I063/015", m.service_id);
    s.opt("I063/030", m.time_of_day.map(|t| t.seconds()));
    if let Some(sensor) = m.sensor {
        s.source("I063/050", sensor);
    }
    if let Some(t) = m.status {
        s.at("I063/060").put("CON", t.connection).flags(&[
            ("PSR", t.psr_bad),
            ("SSR", t.ssr_bad),
            ("MDS", t.mode_s_bad),
            ("ADS", t.adsb_bad),
            ("MLT", t.multilateration_bad),
            ("OPS", t.not_operational),
            ("ODP", t.processor_overloaded),
            ("OXT", t.transmission_overloaded),
            ("MSC", t.monitoring_disconnected),
            ("TSV", t.time_invalid),
            ("NPW", t.no_plots),
        ]);
    }
    s.opt("I063/070", m.time_bias_ms);
    for (item, gain, bias, range) in
        [("I063/080", "SRG", "SRB", m.ssr_range), ("I063/090", "PRG", "PRB", m.psr_range)]
    {
        let Some(r) = range else { continue };
        s.at(item).put(gain, r.gain).put(bias, r.bias_nm);
    }
    s.opt("I063/081", m.ssr_azimuth_deg);
    s.opt("I063/091", m.psr_azimuth_deg);
    s.opt("I063/092", m.psr_elevation_deg);
    s.octets("I063/RE", &m.reserved_expansion);
    s.octets("I063/SP", &m.special_purpose);
}

pub(crate) fn system_status(m: &cat065::SystemStatus, s: &mut Sheet) {
    s.source("I065/010", m.source);
    s.opt("I065/000", m.kind);
    s.opt("I065/015", m.service_id);
    s.opt("I065/030", m.time_of_day.map(|t| t.seconds()));
    s.opt("I065/020", m.batch);
    if let Some(t) = m.status {
        s.at("I065/040").put("NOGO", t.operation).put("PSS", t.selected).flags(&[
            ("OVL", t.overloaded),
            ("TSV", t.time_invalid),
            ("STTN", t.numbers_anew),
        ]);
    }
    s.opt("I065/050", m.service_report);
    s.octets("I065/RE", &m.reserved_expansion);
    s.octets("I065/SP", &m.special_purpose);
}
