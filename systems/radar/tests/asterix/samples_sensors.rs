//! Records of ADS-B, multilateration, older radars and status with any combination of items and any
//! values that these can carry.

use crate::samples::{self, Raw};
use chronoscope_radar::asterix::{
    LatLon, Record, cat001, cat002, cat010, cat020, cat021, cat034, cat048, cat062, cat063, cat065,
};

const ANGLE: f64 = 360.0 / 65_536.0;
/// Categories of [`record`].
pub(crate) const CATEGORIES: [u8; 7] = [1, 2, 10, 20, 21, 63, 65];

/// A record of a category.
pub(crate) fn record(category: u8, r: &mut Raw) -> Record {
    match category {
        1 => Record::OldReport(old_report(r)),
        2 => Record::OldService(old_service(r)),
        10 => Record::Surface(surface(r)),
        20 => Record::Multilateration(multilateration(r)),
        21 => Record::AdsB(adsb(r)),
        63 => Record::SensorStatus(sensor_status(r)),
        65 => Record::SystemStatus(system_status(r)),
        other => panic!("category {other}"),
    }
}

pub(crate) fn place(r: &mut Raw, bits: u32, lsb: f64) -> LatLon {
    LatLon { lat_deg: r.i(bits, lsb), lon_deg: r.i(bits, lsb) }
}

pub(crate) fn code(r: &mut Raw) -> cat048::ModeA {
    cat048::ModeA {
        code: r.u16(12),
        not_validated: r.flag(),
        garbled: r.flag(),
        smoothed: r.flag(),
    }
}

fn level(r: &mut Raw) -> cat048::FlightLevel {
    let level = r.i(14, 0.25);
    cat048::FlightLevel { level, not_validated: r.flag(), garbled: r.flag() }
}

fn named(r: &mut Raw) -> cat062::TargetIdentification {
    cat062::TargetIdentification { origin: r.u8(2), callsign: r.callsign() }
}

fn sevens(r: &mut Raw) -> Vec<u8> {
    (0..r.u8(2)).map(|_| r.u8(7)).collect()
}

fn adsb(r: &mut Raw) -> cat021::Report {
    cat021::Report {
        source: r.source(),
        descriptor: r.maybe(|r| cat021::Descriptor {
            address_type: r.u8(3),
            altitude_resolution: r.u8(2),
            range_checked: r.flag(),
            field_monitor: r.flag(),
            differential: r.flag(),
            on_ground: r.flag(),
            simulated: r.flag(),
            test: r.flag(),
            no_selected_altitude: r.flag(),
            confidence: r.u8(2),
            lookup_differs: r.flag(),
            position_check_failed: r.flag(),
            no_go: r.flag(),
            cpr_failed: r.flag(),
            position_jump: r.flag(),
            range_check_failed: r.flag(),
        }),
        track_number: r.maybe(|r| r.u16(12)),
        service_id: r.maybe(|r| r.u8(8)),
        position_time: r.maybe(Raw::time),
        position: r.maybe(|r| place(r, 24, 180.0 / 8_388_608.0)),
        fine_position: r.maybe(|r| place(r, 32, 180.0 / 1_073_741_824.0)),
        address: r.maybe(|r| r.bits(24)),
        reception_time: r.maybe(Raw::time),
        fine_reception_time: r
            .maybe(|r| cat021::FineTime { second: r.u8(2), fraction: r.bits(30) }),
        geometric_height_ft: r.maybe(|r| r.i(16, 6.25)),
        quality: r.maybe(quality),
        mops: r.maybe(|r| cat021::Mops {
            not_supported: r.flag(),
            version: r.u8(3),
            link: r.u8(3),
        }),
        mode_a: r.maybe(|r| r.u16(12)),
        flight_level: r.maybe(|r| r.i(16, 0.25)),
        status: r.maybe(|r| cat021::TargetStatus {
            intent_changed: r.flag(),
            lateral_navigation_off: r.flag(),
            military_emergency: r.flag(),
            priority: r.u8(3),
            surveillance: r.u8(2),
        }),
        barometric_rate: r.maybe(|r| cat021::Rate { exceeds: r.flag(), ft_min: r.i(15, 6.25) }),
        geometric_rate: r.maybe(|r| cat021::Rate { exceeds: r.flag(), ft_min: r.i(15, 6.25) }),
        ground_vector: r.maybe(|r| cat021::GroundVector {
            exceeds: r.flag(),
            speed_nm_s: r.u(15, 1.0 / 16_384.0),
            track_deg: r.u(16, ANGLE),
        }),
        report_time: r.maybe(Raw::time),
        callsign: r.maybe(Raw::callsign),
        emitter_category: r.maybe(|r| r.u8(8)),
        selected_altitude: r.maybe(samples::selected_altitude),
        final_state: r.maybe(samples::final_state),
        reserved_expansion: r.octets(),
        special_purpose: r.octets(),
    }
}

/// Each extension needs the one before.
fn quality(r: &mut Raw) -> cat021::Quality {
    let extensions = r.u8(2);
    cat021::Quality {
        velocity: r.u8(3),
        integrity: r.u8(4),
        accuracy: (extensions > 0).then(|| cat021::PositionAccuracy {
            barometric_checked: r.flag(),
            integrity_level: r.u8(2),
            category: r.u8(4),
        }),
        design: (extensions > 1).then(|| cat021::Design {
            per_sample: r.flag(),
            assurance: r.u8(2),
            altitude_accuracy: r.u8(2),
        }),
        containment: (extensions > 2).then(|| r.u8(4)),
    }
}

fn multilateration(r: &mut Raw) -> cat020::Report {
    let triple = |r: &mut Raw| (r.u(16, 0.25), r.u(16, 0.25), r.i(16, 0.25));
    cat020::Report {
        source: r.source(),
        descriptor: r.maybe(|r| cat020::Descriptor {
            technologies: r.u8(7),
            field_monitor: r.flag(),
            special_position: r.flag(),
            chain_2: r.flag(),
            on_ground: r.flag(),
            corrupted: r.flag(),
            simulated: r.flag(),
            test: r.flag(),
            confidence: r.u8(2),
        }),
        time_of_day: r.maybe(Raw::time),
        position: r.maybe(|r| place(r, 32, 180.0 / 33_554_432.0)),
        cartesian: r.maybe(|r| cat062::Cartesian { x_m: r.i(24, 0.5), y_m: r.i(24, 0.5) }),
        track_number: r.maybe(|r| r.u16(12)),
        track_status: r.maybe(|r| cat020::TrackStatus {
            tentative: r.flag(),
            ends: r.flag(),
            coasting: r.flag(),
            vertical: r.u8(2),
            manoeuvring: r.flag(),
            smoothed: r.flag(),
            ghost: r.flag(),
        }),
        mode_a: r.maybe(code),
        velocity: r.maybe(|r| cat062::Velocity { x_m_s: r.i(16, 0.25), y_m_s: r.i(16, 0.25) }),
        flight_level: r.maybe(level),
        address: r.maybe(|r| r.bits(24)),
        target_identification: r.maybe(named),
        measured_height_ft: r.maybe(|r| r.i(16, 6.25)),
        geometric_height_ft: r.maybe(|r| r.i(16, 6.25)),
        // A compound item without subfields is not sent, so one is always there.
        accuracy: r.maybe(|r| cat020::Accuracy {
            dilution: Some(triple(r)),
            sigma_m: r.maybe(triple),
            height_sigma_m: r.maybe(|r| r.u(16, 0.5)),
        }),
        reserved_expansion: r.octets(),
        special_purpose: r.octets(),
    }
}

fn surface(r: &mut Raw) -> cat010::Report {
    cat010::Report {
        source: r.source(),
        kind: r.maybe(|r| r.u8(8)),
        descriptor: r.maybe(|r| cat010::Descriptor {
            detection: r.u8(3),
            differential: r.flag(),
            chain_2: r.flag(),
            on_ground: r.flag(),
            corrupted: r.flag(),
            simulated: r.flag(),
            test: r.flag(),
            field_monitor: r.flag(),
            loop_state: r.u8(2),
            target: r.u8(2),
            special_position: r.flag(),
        }),
        time_of_day: r.maybe(Raw::time),
        position: r.maybe(|r| place(r, 32, 180.0 / 2_147_483_648.0)),
        polar: r.maybe(|r| cat010::Polar { range_m: r.u(16, 1.0), azimuth_deg: r.u(16, ANGLE) }),
        cartesian: r.maybe(|r| cat062::Cartesian { x_m: r.i(16, 1.0), y_m: r.i(16, 1.0) }),
        velocity: r.maybe(|r| cat062::Velocity { x_m_s: r.i(16, 0.25), y_m_s: r.i(16, 0.25) }),
        track_number: r.maybe(|r| r.u16(12)),
        mode_a: r.maybe(code),
        address: r.maybe(|r| r.bits(24)),
        target_identification: r.maybe(named),
        flight_level: r.maybe(level),
        measured_height_ft: r.maybe(|r| r.i(16, 6.25)),
        accuracy: r.maybe(|r| cat010::Accuracy {
            x_m: r.u(8, 0.25),
            y_m: r.u(8, 0.25),
            covariance_m: r.i(16, 0.25),
        }),
        reserved_expansion: r.octets(),
        special_purpose: r.octets(),
    }
}

fn old_report(r: &mut Raw) -> cat001::Report {
    let track = r.flag();
    let of_track = |r: &mut Raw| r.flag() && track;
    let plot = cat001::Report {
        source: r.source(),
        descriptor: Some(cat001::Descriptor {
            track,
            simulated: r.flag(),
            detection: r.u8(2),
            antenna_2: r.flag(),
            special_position: r.flag(),
            field_monitor: r.flag(),
            test: r.flag(),
            emergency: r.u8(2),
            military_emergency: r.flag(),
            military_identification: r.flag(),
        }),
        position: r.maybe(|r| cat001::Position {
            range_nm: r.u(16, 1.0 / 128.0),
            azimuth_deg: r.u(16, ANGLE),
        }),
        mode_a: r.maybe(code),
        flight_level: r.maybe(level),
        truncated_time: r.maybe(|r| cat001::TruncatedTime(r.u16(16))),
        characteristics: sevens(r),
        power_dbm: r.maybe(|r| r.i(8, 1.0)),
        radial_speed_nm_s: r.maybe(|r| r.i(8, 1.0 / 256.0)),
        mode_2: r.maybe(code),
        mode_a_confidence: r.maybe(|r| r.u16(12)),
        mode_c: r.maybe(|r| cat048::ModeC {
            not_validated: r.flag(),
            garbled: r.flag(),
            gray: r.u16(12),
            confidence: r.u16(12),
        }),
        mode_2_confidence: r.maybe(|r| r.u16(12)),
        warnings: sevens(r),
        x_pulses: r.maybe(|r| r.u8(8) & 0b1010_0100),
        special_purpose: r.octets(),
        ..cat001::Report::default()
    };
    cat001::Report {
        track_number: of_track(r).then(|| r.u16(16)),
        calculated_position: of_track(r).then(|| cat001::CalculatedPosition {
            x_nm: r.i(16, 1.0 / 64.0),
            y_nm: r.i(16, 1.0 / 64.0),
        }),
        velocity: of_track(r).then(|| cat048::Velocity {
            speed_nm_s: r.u(16, 1.0 / 16_384.0),
            heading_deg: r.u(16, ANGLE),
        }),
        track_status: of_track(r).then(|| cat001::TrackStatus {
            tentative: r.flag(),
            primary: r.flag(),
            manoeuvring: r.flag(),
            doubtful: r.flag(),
            chain_2: r.flag(),
            ghost: r.flag(),
            ends: r.flag(),
        }),
        track_quality: if track { sevens(r) } else { Vec::new() },
        ..plot
    }
}

fn old_service(r: &mut Raw) -> cat002::ServiceMessage {
    cat002::ServiceMessage {
        source: r.source(),
        kind: r.maybe(|r| r.u8(8)),
        sector_deg: r.maybe(|r| r.u(8, 360.0 / 256.0)),
        time_of_day: r.maybe(Raw::time),
        antenna_period_s: r.maybe(|r| r.u(16, 1.0 / 128.0)),
        configuration: sevens(r),
        processing_mode: sevens(r),
        plot_counts: (0..r.u8(2))
            .map(|_| cat002::PlotCount { antenna_2: r.flag(), kind: r.u8(5), count: r.u16(10) })
            .collect(),
        window: r.maybe(|r| cat034::PolarWindow {
            range_start_nm: r.u(16, 1.0 / 128.0),
            range_end_nm: r.u(16, 1.0 / 128.0),
            azimuth_start_deg: r.u(16, ANGLE),
            azimuth_end_deg: r.u(16, ANGLE),
        }),
        collimation_error: r.maybe(|r| cat034::CollimationError {
            range_nm: r.i(8, 1.0 / 128.0),
            azimuth_deg: r.i(8, 360.0 / 16_384.0),
        }),
        warnings: sevens(r),
        special_purpose: r.octets(),
    }
}

fn sensor_status(r: &mut Raw) -> cat063::SensorStatus {
    let range =
        |r: &mut Raw| cat063::RangeBias { gain: r.i(16, 1e-5), bias_nm: r.i(16, 1.0 / 128.0) };
    cat063::SensorStatus {
        source: r.source(),
        service_id: r.maybe(|r| r.u8(8)),
        time_of_day: r.maybe(Raw::time),
        sensor: r.maybe(Raw::source),
        status: r.maybe(|r| cat063::Status {
            connection: r.u8(2),
            psr_bad: r.flag(),
            ssr_bad: r.flag(),
            mode_s_bad: r.flag(),
            adsb_bad: r.flag(),
            multilateration_bad: r.flag(),
            not_operational: r.flag(),
            processor_overloaded: r.flag(),
            transmission_overloaded: r.flag(),
            monitoring_disconnected: r.flag(),
            time_invalid: r.flag(),
            no_plots: r.flag(),
        }),
        time_bias_ms: r.maybe(|r| r.i(16, 1.0)),
        ssr_range: r.maybe(range),
        ssr_azimuth_deg: r.maybe(|r| r.i(16, ANGLE)),
        psr_range: r.maybe(range),
        psr_azimuth_deg: r.maybe(|r| r.i(16, ANGLE)),
        psr_elevation_deg: r.maybe(|r| r.i(16, ANGLE)),
        reserved_expansion: r.octets(),
        special_purpose: r.octets(),
    }
}

fn system_status(r: &mut Raw) -> cat065::SystemStatus {
    cat065::SystemStatus {
        source: r.source(),
        kind: r.maybe(|r| r.u8(8)),
        service_id: r.maybe(|r| r.u8(8)),
        time_of_day: r.maybe(Raw::time),
        batch: r.maybe(|r| r.u8(8)),
        status: r.maybe(|r| cat065::Status {
            operation: r.u8(2),
            overloaded: r.flag(),
            time_invalid: r.flag(),
            selected: r.u8(2),
            numbers_anew: r.flag(),
        }),
        service_report: r.maybe(|r| r.u8(8)),
        reserved_expansion: r.octets(),
        special_purpose: r.octets(),
    }
}
