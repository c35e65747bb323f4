//! One radar: its turning antenna, and the plots that it produces.
//!
//! A turn has [`SECTORS`] sectors. When the antenna leaves a sector, the plots of that sector go
//! out together with the message that it entered the next one (or passed north), as a radar
//! sends them. Every aircraft is detected at the instant at which the antenna points at it, once
//! a turn, with probability [`DETECTION`].

use super::faults::Faults;
use super::noise::Noise;
use super::sector::{SECTORS, sector_of};
use super::sites::Site;
use crate::asterix::cat034::{MessageType, RadarPosition, ServiceMessage};
use crate::asterix::cat048::{
    Descriptor, Detection, FlightLevel, ModeA, ModeSRegister, Plot, Position,
};
use crate::asterix::{AsterixError, TimeOfDay, VerticalIntention, encode_block};
use crate::geodesy::{LocalFrame, METRES_PER_NM, Polar};
use crate::traffic::{Aircraft, AircraftState};
use std::f64::consts::TAU;

/// Probability that an aircraft in range is detected in a turn (ED-142's model radar).
pub const DETECTION: f64 = 0.97;
/// Standard deviation of ranges, in metres (ED-142's model radar).
pub const RANGE_NOISE_M: f64 = 70.0;
/// Standard deviation of azimuths, in degrees (ED-142's model radar).
pub const AZIMUTH_NOISE_DEG: f64 = 0.08;
/// Probability that a plot has its Mode 3/A code (ED-142's model radar has it right as often).
pub const MODE_A_PRESENT: f64 = 0.98;
/// Probability that a plot has its level (ED-142's model radar has it right as often).
pub const LEVEL_PRESENT: f64 = 0.96;

/// No detection above this elevation: the cone of silence, in degrees.
const ELEVATION_MAX_DEG: f64 = 45.0;
/// Faster than any aircraft here, in metres a second; bounds how far one gets in a turn.
const SPEED_MAX_M_S: f64 = 400.0;
/// Greatest size of a datagram's payload: an Ethernet frame holds it in one piece.
const DATAGRAM_OCTETS_MAX: usize = 1400;
/// Greatest size of a plot of ours: 28 octets and a register with its count. A block takes three more.
const PLOT_OCTETS_MAX: usize = 37;
/// Pressure that altimeters are set to above the transition level, hPa, as the register has it.
const STANDARD_HPA: f64 = 1013.2;

/// Systematic errors of a radar: reported value less true value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bias {
    /// Error of slant ranges, in metres.
    pub range_m: f64,
    /// Error of azimuths, in degrees, clockwise.
    pub azimuth_deg: f64,
    /// Error of the plots' stamps, in seconds; positive when they are late.
    pub time_s: f64,
}

/// One radar and the state of its antenna.
#[derive(Debug)]
pub struct Radar {
    site: Site,
    frame: LocalFrame,
    seed: u64,
    /// Last passage of north before the scenario began, in seconds of the scenario.
    first_north_s: f64,
    /// Sectors left so far since that north.
    sectors_left: u64,
    /// Whether the antenna has moved since the beginning: then the candidates exist.
    turning: bool,
    /// For each sector the aircraft that may be in it during this turn.
    candidates: Vec<Vec<u32>>,
    /// Probability that an aircraft in range is detected in a turn.
    pub(super) detection: f64,
    pub(super) bias: Bias,
    pub(super) faults: Faults,
    /// Number of plots sent.
    pub plots: u64,
}

impl Radar {
    /// A radar whose antenna starts somewhere, depending on the seed.
    #[must_use]
    pub fn new(site: Site, seed: u64) -> Self {
        let start = Noise::keyed([seed, site.source.sic.into(), u64::MAX, 0]).uniform();
        Self {
            site,
            frame: LocalFrame::new(site.position),
            seed,
            first_north_s: -site.period_s * start,
            sectors_left: (0..u64::from(SECTORS))
                .find(|sector| *sector as f64 >= start * f64::from(SECTORS))
                .unwrap_or(u64::from(SECTORS)),
            turning: false,
            candidates: vec![Vec::new(); SECTORS as usize],
            detection: DETECTION,
            bias: Bias::default(),
            faults: Faults::none(site.source, seed),
            plots: 0,
        }
    }

    /// The radar's site.
    #[must_use]
    pub fn site(&self) -> &Site {
        &self.site
    }

    /// Time when the antenna enters its next sector, in seconds of the scenario.
    #[must_use]
    pub fn next_s(&self) -> f64 {
        self.crossing_s(self.sectors_left)
    }

    fn crossing_s(&self, sector: u64) -> f64 {
        let even_s = self.first_north_s + sector as f64 * self.site.period_s / f64::from(SECTORS);
        let (turn, part) = (sector / u64::from(SECTORS), sector % u64::from(SECTORS));
        let (from, to) = (self.faults.wobble(turn), self.faults.wobble(turn + 1));
        let wobble = from + (to - from) * part as f64 / f64::from(SECTORS);
        even_s + wobble * self.site.period_s
    }

    /// Duration of a turn, s.
    fn turn_s(&self, turn: u64) -> f64 {
        self.site.period_s * (1.0 + self.faults.wobble(turn + 1) - self.faults.wobble(turn))
    }

    /// Turns the antenna to its next sector and returns the datagrams sent then.
    ///
    /// `aloft` are the indices of `aircraft` that may be in the air until the end of a turn that
    /// begins now; `utc_ns_of` converts a time of the scenario to UTC, for the stamps.
    ///
    /// # Errors
    /// [`AsterixError`] when a value does not fit its item, which no aircraft here can cause.
    pub fn step(
        &mut self,
        aircraft: &[Aircraft],
        aloft: &[u32],
        utc_ns_of: impl Fn(f64) -> i64,
    ) -> Result<Vec<Vec<u8>>, AsterixError> {
        let crossing = self.sectors_left;
        self.sectors_left += 1;
        let at_s = self.crossing_s(crossing);
        let entered = u32::try_from(crossing % u64::from(SECTORS)).unwrap_or(0);
        // Before its first crossing the antenna has passed no sector: no plots are due.
        let plots = match crossing.checked_sub(1) {
            Some(left) if self.turning => self.plots_of(left, aircraft, &utc_ns_of),
            _ => Vec::new(),
        };
        if entered == 0 || !self.turning {
            self.find_candidates(aircraft, aloft, at_s);
            self.turning = true;
        }
        if self.faults.is_silent(at_s) {
            return Ok(Vec::new());
        }
        let services = self.service_messages(entered, TimeOfDay::from_utc_ns(utc_ns_of(at_s)));
        let (plots, services) = self.faults.spoil(plots, services, at_s, crossing);
        let datagrams = self.datagrams(&plots, &services)?;
        let (datagrams, plots) = self.faults.deliver(datagrams, plots.len() as u64, at_s);
        self.plots += plots;
        Ok(datagrams)
    }

    /// Lists for every sector the aircraft that may be passed in it during the coming turn.
    fn find_candidates(&mut self, aircraft: &[Aircraft], aloft: &[u32], from_s: f64) {
        self.candidates.iter_mut().for_each(Vec::clear);
        let reach_m = SPEED_MAX_M_S * self.site.period_s;
        let middle_s = from_s + self.site.period_s / 2.0;
        let sector_rad = TAU / f64::from(SECTORS);
        for &index in aloft {
            let plane = &aircraft[index as usize];
            // An aircraft that comes or goes during the turn is looked at where it is then.
            let seen = [middle_s, from_s, from_s + self.site.period_s];
            let Some(state) = seen.iter().find_map(|at| plane.at(*at)) else { continue };
            let polar = self.frame.to_polar(state.position);
            if polar.range_m > self.site.range_nm * METRES_PER_NM + reach_m {
                continue;
            }
            let ground_m = polar.range_m * polar.elevation_rad.cos();
            if ground_m < 2.0 * reach_m {
                self.candidates.iter_mut().for_each(|sector| sector.push(index));
                continue;
            }
            let margin_rad = (reach_m / ground_m).asin();
            let first = ((polar.azimuth_rad - margin_rad) / sector_rad).floor();
            let last = ((polar.azimuth_rad + margin_rad) / sector_rad).floor();
            let mut sector = first;
            while sector <= last {
                #[allow(clippy::cast_possible_truncation, reason = "in [0, SECTORS)")]
                self.candidates[sector.rem_euclid(f64::from(SECTORS)) as usize].push(index);
                sector += 1.0;
            }
        }
    }

    /// The plots of the sector that began with crossing `left`, in the order of their azimuths.
    fn plots_of(
        &self,
        left: u64,
        aircraft: &[Aircraft],
        utc_ns_of: &impl Fn(f64) -> i64,
    ) -> Vec<Plot> {
        let sector = left % u64::from(SECTORS);
        let (from_s, to_s) = (self.crossing_s(left), self.crossing_s(left + 1));
        let turn = left / u64::from(SECTORS);
        let mut plots: Vec<(f64, Plot)> = Vec::new();
        #[allow(clippy::cast_possible_truncation, reason = "in [0, SECTORS)")]
        for index in &self.candidates[sector as usize] {
            let plane = &aircraft[*index as usize];
            let Some((at_s, polar, state)) = self.passed(plane, turn, from_s) else { continue };
            if !(from_s..to_s).contains(&at_s) || !self.visible(&polar, &state) {
                continue;
            }
            let keys = [self.seed, self.site.source.sic.into(), plane.address.into(), turn];
            let mut noise = Noise::keyed(keys);
            if noise.uniform() < self.detection {
                let stamp_s =
                    at_s + self.bias.time_s + self.faults.stamp_error_s(plane.address, turn);
                let time_of_day = TimeOfDay::from_utc_ns(utc_ns_of(stamp_s));
                let plot = self.plot(plane, &polar, &state, time_of_day, &mut noise);
                let mode_s_registers = selected(plane, at_s).into_iter().collect();
                plots.push((at_s, Plot { mode_s_registers, ..plot }));
            }
        }
        plots.extend(self.clutter_of(turn, sector, utc_ns_of));
        plots.sort_by(|a, b| a.0.total_cmp(&b.0));
        plots.into_iter().map(|(_, plot)| plot).collect()
    }

    /// The false plots of a sector and when the antenna passes them.
    fn clutter_of(
        &self,
        turn: u64,
        sector: u64,
        utc_ns_of: &impl Fn(f64) -> i64,
    ) -> Vec<(f64, Plot)> {
        let (north_s, turn_s) = (self.crossing_s(turn * u64::from(SECTORS)), self.turn_s(turn));
        let all = self.faults.clutter(turn, self.site.range_nm).into_iter();
        all.filter(|position| sector_of(position.azimuth_deg) == sector)
            .map(|position| {
                let at_s = north_s + turn_s * position.azimuth_deg / 360.0;
                let time_of_day = TimeOfDay::from_utc_ns(utc_ns_of(at_s + self.bias.time_s));
                (at_s, self.faults.false_plot(position, time_of_day))
            })
            .collect()
    }

    /// Time at which the antenna points at `plane` during `turn`, and the aircraft's position then.
    fn passed(
        &self,
        plane: &Aircraft,
        turn: u64,
        near_s: f64,
    ) -> Option<(f64, Polar, AircraftState)> {
        let north_s = self.crossing_s(turn * u64::from(SECTORS));
        let turn_s = self.turn_s(turn);
        let mut at_s = near_s;
        let mut found = None;
        // An antenna is a hundred times faster than an aircraft passes it: three steps leave
        // microseconds.
        for _ in 0..3 {
            let state = plane.at(at_s)?;
            let polar = self.frame.to_polar(state.position);
            at_s = north_s + turn_s * polar.azimuth_rad / TAU;
            found = Some((at_s, polar, state));
        }
        found
    }

    /// Whether an aircraft in `state` can be detected from the site.
    pub(crate) fn sees(&self, state: &AircraftState) -> bool {
        self.visible(&self.frame.to_polar(state.position), state)
    }

    /// In range, over the radio horizon of a 4/3 earth and outside the cone of silence.
    fn visible(&self, polar: &Polar, state: &AircraftState) -> bool {
        let heights =
            state.position.height_m.max(0.0).sqrt() + self.site.position.height_m.max(0.0).sqrt();
        polar.range_m <= self.site.range_nm * METRES_PER_NM
            && polar.range_m <= 4120.0 * heights
            && polar.elevation_rad.to_degrees() <= ELEVATION_MAX_DEG
    }

    fn plot(
        &self,
        plane: &Aircraft,
        polar: &Polar,
        state: &AircraftState,
        time_of_day: TimeOfDay,
        noise: &mut Noise,
    ) -> Plot {
        let Bias { range_m, azimuth_deg, .. } = self.bias;
        let range_nm = (polar.range_m + RANGE_NOISE_M * noise.normal() + range_m) / METRES_PER_NM;
        let azimuth_deg =
            polar.azimuth_rad.to_degrees() + AZIMUTH_NOISE_DEG * noise.normal() + azimuth_deg;
        let mode_a = noise.uniform() < MODE_A_PRESENT;
        let level = noise.uniform() < LEVEL_PRESENT;
        Plot {
            source: self.site.source,
            time_of_day: Some(time_of_day),
            descriptor: Some(Descriptor {
                detection: Detection::ModeSRollCall,
                simulated: true,
                ..Descriptor::default()
            }),
            position: Some(Position { range_nm: range_nm.max(0.0), azimuth_deg }),
            mode_a: mode_a.then(|| ModeA { code: plane.mode_a, ..ModeA::default() }),
            flight_level: level
                .then(|| FlightLevel { level: state.flight_level, ..FlightLevel::default() }),
            aircraft_address: Some(plane.address),
            callsign: Some(plane.callsign),
            ..Plot::default()
        }
    }

    /// The crossing of a sector, before which north is marked when it is the first.
    fn service_messages(&self, entered: u32, time_of_day: TimeOfDay) -> Vec<ServiceMessage> {
        let common = ServiceMessage {
            source: self.site.source,
            time_of_day: Some(time_of_day),
            ..ServiceMessage::default()
        };
        let crossing = ServiceMessage {
            kind: Some(MessageType::SectorCrossing),
            sector_deg: Some(360.0 / f64::from(SECTORS) * f64::from(entered)),
            ..common.clone()
        };
        if entered > 0 {
            return vec![crossing];
        }
        let position = self.site.position;
        let north = ServiceMessage {
            kind: Some(MessageType::NorthMarker),
            antenna_period_s: Some(self.site.period_s),
            position: Some(RadarPosition {
                height_m: position.height_m,
                lat_deg: position.lat_deg,
                lon_deg: position.lon_deg,
            }),
            ..common
        };
        vec![north, crossing]
    }

    /// Plots in blocks that fit a datagram, the service messages at the end of the last.
    fn datagrams(
        &self,
        plots: &[Plot],
        services: &[ServiceMessage],
    ) -> Result<Vec<Vec<u8>>, AsterixError> {
        let mut service_block = Vec::new();
        if !services.is_empty() {
            encode_block(services, &mut service_block)?;
        }
        let mut datagrams = Vec::new();
        let mut current = Vec::new();
        for some in plots.chunks((DATAGRAM_OCTETS_MAX - 3) / PLOT_OCTETS_MAX) {
            if !current.is_empty() {
                datagrams.push(std::mem::take(&mut current));
            }
            encode_block(some, &mut current)?;
        }
        if current.len() + service_block.len() > DATAGRAM_OCTETS_MAX {
            datagrams.push(std::mem::take(&mut current));
        }
        current.extend_from_slice(&service_block);
        if !current.is_empty() {
            datagrams.push(current);
        }
        Ok(datagrams)
    }
}
/// What an aircraft's crew has selected: the level to which it is cleared, as Mode S register 4,0.
fn selected(plane: &Aircraft, at_s: f64) -> Option<ModeSRegister> {
    let level = plane.cleared_level(at_s)?;
    let intention = VerticalIntention {
        selected_ft: Some(level.clamp(0.0, 600.0) * 100.0),
        pressure_hpa: Some(STANDARD_HPA),
        ..VerticalIntention::default()
    };
    // Every level within the clamp fits.
    intention.register().ok()
}
