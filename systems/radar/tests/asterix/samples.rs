//! Records with any combination of items and any values that these can carry.

use chronoscope_radar::asterix::cat034::{self, ServiceMessage};
use chronoscope_radar::asterix::cat048::{self, Plot};
use chronoscope_radar::asterix::cat062::{self, Track};
use chronoscope_radar::asterix::{
    Callsign, DataSource, FinalStateSelectedAltitude, SelectedAltitude, TimeOfDay,
};

/// Raw material of a record: a bit for each item that may be there, and numbers.
pub(crate) struct Raw {
    mask: u64,
    numbers: Vec<u32>,
    next: usize,
    octets: Vec<u8>,
}

impl Raw {
    pub(crate) fn new(mask: u64, numbers: Vec<u32>, octets: Vec<u8>) -> Self {
        Self { mask, numbers, next: 0, octets }
    }

    fn number(&mut self) -> u32 {
        self.next += 1;
        self.numbers[self.next % self.numbers.len()].rotate_left(u32::try_from(self.next).unwrap())
    }

    pub(crate) fn u(&mut self, bits: u32, lsb: f64) -> f64 {
        f64::from(self.bits(bits)) * lsb
    }

    pub(crate) fn i(&mut self, bits: u32, lsb: f64) -> f64 {
        f64::from((self.number() << (32 - bits)).cast_signed() >> (32 - bits)) * lsb
    }

    pub(crate) fn bits(&mut self, bits: u32) -> u32 {
        if bits == 32 { self.number() } else { self.number() & ((1 << bits) - 1) }
    }

    pub(crate) fn u16(&mut self, bits: u32) -> u16 {
        u16::try_from(self.bits(bits)).unwrap()
    }

    pub(crate) fn u8(&mut self, bits: u32) -> u8 {
        u8::try_from(self.bits(bits)).unwrap()
    }

    pub(crate) fn flag(&mut self) -> bool {
        self.bits(1) == 1
    }

    pub(crate) fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let there = self.mask & 1 == 1;
        self.mask = self.mask.rotate_right(1);
        there.then(|| make(self))
    }

    pub(crate) fn octets(&mut self) -> Vec<u8> {
        self.maybe(|raw| raw.octets.clone()).unwrap_or_default()
    }

    fn text(&mut self, octets_max: usize) -> String {
        let letters = b"ABCXYZ0189";
        let count = self.number() as usize % (octets_max + 1);
        (0..count).map(|_| char::from(letters[self.number() as usize % letters.len()])).collect()
    }

    pub(crate) fn source(&mut self) -> DataSource {
        DataSource { sac: self.u8(8), sic: self.u8(8) }
    }

    pub(crate) fn time(&mut self) -> TimeOfDay {
        TimeOfDay::from_ticks(self.bits(24))
    }

    pub(crate) fn callsign(&mut self) -> Callsign {
        Callsign::from_bits(u64::from(self.number()) << 16 | u64::from(self.bits(16)))
    }
}

const ANGLE: f64 = 360.0 / 65_536.0;

pub(crate) fn plot(r: &mut Raw) -> Plot {
    let code = |r: &mut Raw, bits| cat048::ModeA {
        code: r.u16(bits),
        not_validated: r.flag(),
        garbled: r.flag(),
        smoothed: r.flag(),
    };
    Plot {
        source: r.source(),
        time_of_day: r.maybe(Raw::time),
        descriptor: r.maybe(|r| cat048::Descriptor {
            detection: [cat048::Detection::Psr, cat048::Detection::ModeSRollCallPsr]
                [r.u8(1) as usize],
            simulated: r.flag(),
            chain_2: r.flag(),
            special_position: r.flag(),
            field_monitor: r.flag(),
            test: r.flag(),
            extended_range: r.flag(),
            x_pulse: r.flag(),
            military_emergency: r.flag(),
            military_identification: r.flag(),
            friend_or_foe: r.u8(2),
        }),
        position: r.maybe(|r| cat048::Position {
            range_nm: r.u(16, 1.0 / 256.0),
            azimuth_deg: r.u(16, ANGLE),
        }),
        mode_a: r.maybe(|r| code(r, 12)),
        flight_level: r.maybe(|r| cat048::FlightLevel {
            level: r.i(14, 0.25),
            not_validated: r.flag(),
            garbled: r.flag(),
        }),
        // A compound item without subfields is not sent, so one is always there.
        characteristics: r.maybe(|r| cat048::Characteristics {
            ssr_run_length_deg: Some(r.u(8, 360.0 / 8192.0)),
            ssr_replies: r.maybe(|r| r.u8(8)),
            ssr_amplitude_dbm: r.maybe(|r| r.i(8, 1.0)),
            psr_run_length_deg: r.maybe(|r| r.u(8, 360.0 / 8192.0)),
            psr_amplitude_dbm: r.maybe(|r| r.i(8, 1.0)),
            range_difference_nm: r.maybe(|r| r.i(8, 1.0 / 256.0)),
            azimuth_difference_deg: r.maybe(|r| r.i(8, 360.0 / 16_384.0)),
        }),
        aircraft_address: r.maybe(|r| r.bits(24)),
        callsign: r.maybe(Raw::callsign),
        mode_s_registers: (0..r.u8(2))
            .map(|_| cat048::ModeSRegister { message: [r.u8(8); 7], register: r.u8(8) })
            .collect(),
        track_number: r.maybe(|r| r.u16(12)),
        calculated_position: r.maybe(|r| cat048::CalculatedPosition {
            x_nm: r.i(16, 1.0 / 128.0),
            y_nm: r.i(16, 1.0 / 128.0),
        }),
        velocity: r.maybe(|r| cat048::Velocity {
            speed_nm_s: r.u(16, 1.0 / 16_384.0),
            heading_deg: r.u(16, ANGLE),
        }),
        track_status: r.maybe(|r| cat048::TrackStatus {
            tentative: r.flag(),
            sensors: r.u8(2),
            doubtful: r.flag(),
            manoeuvring: r.flag(),
            vertical: r.u8(2),
            ends: r.flag(),
            ghost: r.flag(),
            supplementary: r.flag(),
            slant_corrected: r.flag(),
        }),
        track_quality: r.maybe(|r| cat048::TrackQuality {
            x_nm: r.u(8, 1.0 / 128.0),
            y_nm: r.u(8, 1.0 / 128.0),
            speed_nm_s: r.u(8, 1.0 / 16_384.0),
            heading_deg: r.u(8, 360.0 / 4096.0),
        }),
        warnings: (0..r.u8(2)).map(|_| r.u8(7)).collect(),
        mode_a_confidence: r.maybe(|r| r.u16(12)),
        mode_c: r.maybe(|r| cat048::ModeC {
            not_validated: r.flag(),
            garbled: r.flag(),
            gray: r.u16(12),
            confidence: r.u16(12),
        }),
        height_3d_ft: r.maybe(|r| r.i(14, 25.0)),
        radial_speed: r.maybe(|r| cat048::RadialSpeed {
            calculated: Some(cat048::CalculatedDoppler {
                doubtful: r.flag(),
                speed_m_s: r.i(10, 1.0),
            }),
            raw: (0..r.u8(2))
                .map(|_| cat048::RawDoppler {
                    speed_m_s: r.u16(16),
                    ambiguity_m_s: r.u16(16),
                    frequency_mhz: r.u16(16),
                })
                .collect(),
        }),
        communications: r.maybe(|r| cat048::Communications {
            capability: r.u8(3),
            flight_status: r.u8(3),
            interrogator_code_ii: r.flag(),
            specific_services: r.flag(),
            altitude_25_ft: r.flag(),
            identification: r.flag(),
            b1a: r.flag(),
            b1b: r.u8(4),
        }),
        resolution_advisory: r.maybe(|r| [r.u8(8), 1, 2, 3, 4, 5, r.u8(8)]),
        mode_1: r.maybe(|r| code(r, 5)),
        mode_2: r.maybe(|r| code(r, 12)),
        mode_1_confidence: r.maybe(|r| r.u8(5)),
        mode_2_confidence: r.maybe(|r| r.u16(12)),
        special_purpose: r.octets(),
        reserved_expansion: r.octets(),
    }
}

pub(crate) fn service(r: &mut Raw) -> ServiceMessage {
    let kinds = [
        cat034::MessageType::NorthMarker,
        cat034::MessageType::SectorCrossing,
        cat034::MessageType::GeographicalFiltering,
        cat034::MessageType::Other(7),
    ];
    // Spare bits are 0, or the independent decoder would not show what we sent.
    let mode_s = |r: &mut Raw, spare: u32, bits: u32| r.u16(bits) << spare;
    ServiceMessage {
        source: r.source(),
        kind: r.maybe(|r| kinds[r.u8(2) as usize]),
        time_of_day: r.maybe(Raw::time),
        sector_deg: r.maybe(|r| r.u(8, 360.0 / 256.0)),
        antenna_period_s: r.maybe(|r| r.u(16, 1.0 / 128.0)),
        configuration: r.maybe(|r| cat034::SystemStates {
            common: Some(r.u8(7) << 1),
            psr: r.maybe(|r| r.u8(5) << 3),
            ssr: r.maybe(|r| r.u8(5) << 3),
            mode_s: r.maybe(|r| mode_s(r, 7, 9)),
        }),
        processing_mode: r.maybe(|r| cat034::SystemStates {
            common: Some(r.u8(6) << 1),
            psr: r.maybe(|r| r.u8(6) << 2),
            ssr: r.maybe(|r| r.u8(3) << 5),
            mode_s: r.maybe(|r| mode_s(r, 4, 4)),
        }),
        message_counts: (0..r.u8(2))
            .map(|_| cat034::MessageCount { kind: r.u8(5), count: r.u16(11) })
            .collect(),
        polar_window: r.maybe(|r| cat034::PolarWindow {
            range_start_nm: r.u(16, 1.0 / 256.0),
            range_end_nm: r.u(16, 1.0 / 256.0),
            azimuth_start_deg: r.u(16, ANGLE),
            azimuth_end_deg: r.u(16, ANGLE),
        }),
        data_filter: r.maybe(|r| r.u8(8)),
        position: r.maybe(|r| cat034::RadarPosition {
            height_m: r.i(16, 1.0),
            lat_deg: r.i(24, 180.0 / 8_388_608.0),
            lon_deg: r.i(24, 180.0 / 8_388_608.0),
        }),
        collimation_error: r.maybe(|r| cat034::CollimationError {
            range_nm: r.i(8, 1.0 / 128.0),
            azimuth_deg: r.i(8, 360.0 / 16_384.0),
        }),
        reserved_expansion: r.octets(),
        special_purpose: r.octets(),
    }
}

pub(crate) fn track(r: &mut Raw) -> Track {
    let wgs84 = 180.0 / 33_554_432.0;
    Track {
        source: r.source(),
        service_id: r.maybe(|r| r.u8(8)),
        time_of_day: r.maybe(Raw::time),
        position: r
            .maybe(|r| cat062::Position { lat_deg: r.i(32, wgs84), lon_deg: r.i(32, wgs84) }),
        cartesian: r.maybe(|r| cat062::Cartesian { x_m: r.i(24, 0.5), y_m: r.i(24, 0.5) }),
        velocity: r.maybe(|r| cat062::Velocity { x_m_s: r.i(16, 0.25), y_m_s: r.i(16, 0.25) }),
        acceleration: r
            .maybe(|r| cat062::Acceleration { x_m_s2: r.i(8, 0.25), y_m_s2: r.i(8, 0.25) }),
        mode_a: r.maybe(|r| cat062::ModeA {
            code: r.u16(12),
            not_validated: r.flag(),
            garbled: r.flag(),
            changed: r.flag(),
        }),
        target_identification: r
            .maybe(|r| cat062::TargetIdentification { origin: r.u8(2), callsign: r.callsign() }),
        derived: r.maybe(|r| cat062::AircraftDerived {
            address: Some(r.bits(24)),
            callsign: r.maybe(Raw::callsign),
            magnetic_heading_deg: r.maybe(|r| r.u(16, ANGLE)),
            true_airspeed_kt: r.maybe(|r| r.u(16, 1.0)),
            selected_altitude: r.maybe(selected_altitude),
            final_state: r.maybe(final_state),
            barometric_rate_ft_min: r.maybe(|r| r.i(16, 6.25)),
            track_angle_deg: r.maybe(|r| r.u(16, ANGLE)),
            ground_speed_nm_s: r.maybe(|r| r.i(16, 1.0 / 16_384.0)),
            indicated_airspeed_kt: r.maybe(|r| r.u(16, 1.0)),
            mach: r.maybe(|r| r.u(16, 0.008)),
            pressure_hpa: r.maybe(|r| 800.0 + r.u(12, 0.1)),
        }),
        track_number: r.maybe(|r| r.u16(16)),
        status: r.maybe(status),
        update_ages: r.maybe(|r| cat062::UpdateAges {
            track_s: Some(r.u(8, 0.25)),
            psr_s: r.maybe(|r| r.u(8, 0.25)),
            ssr_s: r.maybe(|r| r.u(8, 0.25)),
            mode_s_s: r.maybe(|r| r.u(8, 0.25)),
            ads_c_s: r.maybe(|r| r.u(16, 0.25)),
            extended_squitter_s: r.maybe(|r| r.u(8, 0.25)),
            vdl_s: r.maybe(|r| r.u(8, 0.25)),
            uat_s: r.maybe(|r| r.u(8, 0.25)),
            loop_s: r.maybe(|r| r.u(8, 0.25)),
            multilateration_s: r.maybe(|r| r.u(8, 0.25)),
        }),
        mode_of_movement: r.maybe(|r| cat062::ModeOfMovement {
            transversal: r.u8(2),
            longitudinal: r.u8(2),
            vertical: r.u8(2),
            altitude_discrepancy: r.flag(),
        }),
        measured_flight_level: r.maybe(|r| r.i(16, 0.25)),
        geometric_altitude_ft: r.maybe(|r| r.i(16, 6.25)),
        barometric_altitude: r.maybe(|r| cat062::BarometricAltitude {
            qnh_corrected: r.flag(),
            level: r.i(15, 0.25),
        }),
        rate_of_climb_ft_min: r.maybe(|r| r.i(16, 6.25)),
        flight_plan: r.maybe(flight_plan),
        accuracy: r.maybe(|r| cat062::Accuracy {
            cartesian_m: Some((r.u(16, 0.5), r.u(16, 0.5))),
            covariance_m: r.maybe(|r| r.i(16, 0.5)),
            wgs84_deg: r.maybe(|r| (r.u(16, wgs84), r.u(16, wgs84))),
            geometric_altitude_ft: r.maybe(|r| r.u(8, 6.25)),
            barometric_altitude_fl: r.maybe(|r| r.u(8, 0.25)),
            velocity_m_s: r.maybe(|r| (r.u(8, 0.25), r.u(8, 0.25))),
            acceleration_m_s2: r.maybe(|r| (r.u(8, 0.25), r.u(8, 0.25))),
            rate_of_climb_ft_min: r.maybe(|r| r.u(8, 6.25)),
        }),
        reserved_expansion: r.octets(),
        special_purpose: r.octets(),
    }
}

pub(crate) fn selected_altitude(r: &mut Raw) -> SelectedAltitude {
    SelectedAltitude { source_provided: r.flag(), source: r.u8(2), altitude_ft: r.i(13, 25.0) }
}

pub(crate) fn final_state(r: &mut Raw) -> FinalStateSelectedAltitude {
    FinalStateSelectedAltitude {
        managed_vertical: r.flag(),
        altitude_hold: r.flag(),
        approach: r.flag(),
        altitude_ft: r.i(13, 25.0),
    }
}

fn status(r: &mut Raw) -> cat062::Status {
    cat062::Status {
        monosensor: r.flag(),
        special_position: r.flag(),
        geometric_height: r.flag(),
        altitude_source: r.u8(3),
        tentative: r.flag(),
        simulated: r.flag(),
        ends: r.flag(),
        begins: r.flag(),
        flight_plan_correlated: r.flag(),
        adsb_inconsistent: r.flag(),
        slave_promotion: r.flag(),
        background_service: r.flag(),
        amalgamated: r.flag(),
        mode_4: r.u8(2),
        military_emergency: r.flag(),
        military_identification: r.flag(),
        mode_5: r.u8(2),
        coasting: r.flag(),
        psr_old: r.flag(),
        ssr_old: r.flag(),
        mode_s_old: r.flag(),
        adsb_old: r.flag(),
        special_code: r.flag(),
        code_conflict: r.flag(),
    }
}

fn flight_plan(r: &mut Raw) -> cat062::FlightPlan {
    cat062::FlightPlan {
        system: Some(r.source()),
        callsign: r.maybe(|r| r.text(7)),
        aircraft_type: r.maybe(|r| r.text(4)),
        wake_category: r.maybe(|r| r.text(1)),
        departure: r.maybe(|r| r.text(4)),
        destination: r.maybe(|r| r.text(4)),
        cleared_flight_level: r.maybe(|r| r.u(16, 0.25)),
        control_position: r.maybe(|r| (r.u8(8), r.u8(8))),
        pre_emergency_mode_a: r.maybe(|r| cat062::ModeA {
            code: r.u16(12),
            not_validated: r.flag(),
            ..cat062::ModeA::default()
        }),
    }
}
