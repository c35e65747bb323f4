//! The radars: from what a radar measured to where that is in the tracker's plane.

use super::adsb_reference::{AdsbReference, Measured};
use super::clocks::{Clocks, RadarClock};
use super::identity::{Identity, Match};
use super::imm::MotionModel;
use super::linear::{Sym2, Vec2};
use super::measurement::{Measurement, Slant};
use super::precision::Precisions;
use super::registration::{Bias, Estimate, Reference, Registration, Stand};
use super::sensors::{Precision, Sensors};
use super::settings::Settings;
use super::sites::{Known, RadarSite};
use super::track::Track;
use crate::asterix::cat048::{Detection, Plot};
use crate::asterix::{DataSource, TimeOfDay};
use crate::geodesy::{
    Enu, LocalFrame, METRES_PER_NM, Plane, Stereographic, Wgs84, flight_level_to_m,
};
use std::collections::HashMap;

/// Reasons why a plot cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// The position of this radar is not known yet.
    #[error("radar {0}: position unknown until I034/120 is received (or give --radar)")]
    NoSite(DataSource),
    /// Too many different radars already.
    #[error("radar {0}: no room for another radar")]
    TooManyRadars(DataSource),
    /// The plot has no I048/040.
    #[error("radar {0}: plot without measured position (I048/040)")]
    NoPosition(DataSource),
    /// The plot has no I048/140.
    #[error("radar {0}: plot without time of day (I048/140)")]
    NoTime(DataSource),
    /// The plot's time does not go with the other plots'.
    #[error(
        "radar {source_id}: the plot's time differs by {off_s} s from that of the other radars \
         (I048/140)"
    )]
    OffTime {
        /// Data source of the radar.
        source_id: DataSource,
        /// By how many whole seconds.
        off_s: i64,
    },
    /// Range and height contradict each other.
    #[error("radar {0}: no point at the range of I048/040 has the height of I048/090")]
    NoGround(DataSource),
    /// A test target or field monitor: not an aircraft.
    #[error("radar {0}: test target or field monitor")]
    Test(DataSource),
    /// A report of ADS-B or multilateration without a position.
    #[error("sensor {0}: report without a position (I021/130, 131; I020/041, 042; I010/041, 042)")]
    NoPlace(DataSource),
    /// The target is on the ground, or a vehicle.
    #[error("sensor {0}: target on the ground (GBS)")]
    OnGround(DataSource),
    /// The sensor itself doubts the report.
    #[error("sensor {0}: report that the sensor marks as doubtful, corrupted or extrapolated")]
    Doubtful(DataSource),
    /// The precision of the position is too low, or unknown by the aircraft's own word.
    #[error("sensor {0}: position of too low precision (I021/090 NACp, I020/500, I010/500)")]
    Imprecise(DataSource),
}

impl Unusable {
    /// The reason without the radar, to count by.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NoSite(_) => "radar position unknown",
            Self::TooManyRadars(_) => "too many radars",
            Self::NoPosition(_) => "no measured position",
            Self::NoTime(_) => "no time of day",
            Self::OffTime { .. } => "off time",
            Self::NoGround(_) => "range below height",
            Self::Test(_) => "test target",
            Self::NoPlace(_) => "no position",
            Self::OnGround(_) => "on the ground",
            Self::Doubtful(_) => "doubtful",
            Self::Imprecise(_) => "imprecise",
        }
    }
}

/// Levels that an aircraft may have; Mode C is outside them only when it is garbled.
pub(super) const LEVELS: std::ops::RangeInclusive<f64> = -15.0..=700.0;
/// Registration learns nothing from a plot whose level is further off its track's, hundreds of
/// feet.
const LEVEL_OFF_MAX: f64 = 5.0;
/// Height taken where none is known, m, and its standard deviation.
const HEIGHT_GUESS_M: f64 = 6_000.0;
const HEIGHT_GUESS_SIGMA_M: f64 = 3_500.0;

#[derive(Clone, Copy, Debug)]
struct Radar {
    source: DataSource,
    site: Option<Site>,
    /// Whether the operator of the tracker gave the site: then the radar's own message does not
    /// count.
    surveyed: bool,
    /// Errors that the operator gave.
    known: Bias,
    /// Value subtracted from its reports: known, and estimated beside.
    correction: Bias,
    /// Precision that the operator gave.
    precision: Option<Precision>,
    /// Precision estimated from its plots.
    learnt: Option<Precision>,
    /// Where its field monitor is seen: slant range, m, and azimuth, radians.
    monitor: Option<(f64, f64)>,
}

#[derive(Clone, Copy, Debug)]
struct Site {
    frame: LocalFrame,
    stand: Stand,
}

/// Estimate of a radar's systematic errors, for people and summaries.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct RadarBias {
    /// System area code.
    pub sac: u8,
    /// System identification code.
    pub sic: u8,
    /// Error of slant ranges, m: reported value less true value.
    pub range_m: f64,
    /// Standard deviation of that, m.
    pub range_sd_m: f64,
    /// Error of azimuths, degrees, clockwise.
    pub azimuth_deg: f64,
    /// Standard deviation of that, degrees.
    pub azimuth_sd_deg: f64,
    /// Error of stamps against the mean of all radars, s, or against ADS-B where that is heard;
    /// positive when they are late.
    pub time_s: f64,
    /// Standard deviation of that, s.
    pub time_sd_s: f64,
    /// Differences to other radars' plots that this was learnt from.
    pub differences: u64,
    /// Plots of its field monitor or test target, and of aircraft whose position ADS-B tells, that
    /// this was learnt from.
    pub references: u64,
    /// Standard deviation of its ranges, m: given or estimated; absent while it is assumed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range_sigma_m: Option<f64>,
    /// Standard deviation of its azimuths, degrees.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub azimuth_sigma_deg: Option<f64>,
}

/// All radars that ever reported, and the plane they share.
#[derive(Debug)]
pub struct Radars {
    plane: Stereographic,
    sensors: Sensors,
    radars: Vec<Radar>,
    by_source: HashMap<DataSource, u8>,
    clocks: Clocks,
    /// `None` where precisions are not estimated.
    precisions: Option<Precisions>,
    /// `None` where radars are taken to have no systematic errors.
    registration: Option<Registration>,
}

impl Radars {
    /// No radars yet, in the plane that touches the earth at `origin`.
    pub fn new(origin: Wgs84, precision: Precision) -> Self {
        Self {
            plane: Stereographic::new(origin),
            sensors: Sensors::all(precision),
            radars: Vec::new(),
            by_source: HashMap::new(),
            clocks: Clocks::default(),
            precisions: Some(Precisions::default()),
            registration: Some(Registration::default()),
        }
    }

    /// The same radars, taken to have no systematic errors.
    #[must_use]
    pub fn without_registration(mut self) -> Self {
        self.registration = None;
        self.radars.iter_mut().for_each(|radar| radar.correction = radar.known);
        self
    }

    /// The same radars with these precisions by kind of sensor.
    #[must_use]
    pub fn with_sensors(mut self, sensors: Sensors) -> Self {
        self.sensors = sensors;
        self
    }

    /// Applies what the settings say of clocks and precisions.
    pub(super) fn configure(&mut self, settings: &Settings) {
        self.clocks = Clocks::new(settings.clocks);
        self.precisions = settings.learn_precision.then(Precisions::default);
    }

    /// The shared plane.
    pub fn plane(&self) -> &Stereographic {
        &self.plane
    }

    /// Radars known, with or without a position.
    pub fn count(&self) -> usize {
        self.radars.len()
    }

    /// Tells where a radar stands, better than it knows itself; returns its index.
    ///
    /// # Errors
    /// [`Unusable::TooManyRadars`].
    pub fn place(&mut self, source: DataSource, at: Wgs84) -> Result<u8, Unusable> {
        let index = self.index(source)?;
        let site = self.site(at);
        let radar = &mut self.radars[usize::from(index)];
        (radar.site, radar.surveyed) = (Some(site), true);
        Ok(index)
    }

    /// Accepts a radar's own position message, unless [`Radars::place`] gave its site; returns its
    /// index.
    ///
    /// # Errors
    /// [`Unusable::TooManyRadars`].
    pub fn hear_place(&mut self, source: DataSource, at: Wgs84) -> Result<u8, Unusable> {
        let index = self.index(source)?;
        if !self.radars[usize::from(index)].surveyed {
            self.radars[usize::from(index)].site = Some(self.site(at));
        }
        Ok(index)
    }

    /// Takes in all that is known of a radar beforehand; returns its index.
    ///
    /// # Errors
    /// [`Unusable::TooManyRadars`].
    pub fn know(&mut self, site: &RadarSite) -> Result<u8, Unusable> {
        let Known { range_m, azimuth_deg, time_s, east_m, north_m } = site.known;
        let error = Enu { east_m: -east_m, north_m: -north_m, up_m: 0.0 };
        let mut at = site.at;
        if (east_m, north_m) != (0.0, 0.0) {
            at = LocalFrame::new(site.at).to_wgs84(error);
            at.height_m = site.at.height_m;
        }
        let index = self.place(site.source, at)?;
        let monitor = site.monitor.map(|monitor| {
            let polar = LocalFrame::new(at).to_polar(monitor);
            (polar.range_m, polar.azimuth_rad)
        });
        let radar = &mut self.radars[usize::from(index)];
        radar.known = Bias { range_m, azimuth_rad: azimuth_deg.to_radians(), time_s };
        (radar.correction, radar.precision, radar.monitor) = (radar.known, site.precision, monitor);
        Ok(index)
    }

    fn site(&self, at: Wgs84) -> Site {
        let plane = self.plane.project(at);
        let stand = Stand { position: Vec2::new(plane.x_m, plane.y_m), height_m: at.height_m };
        Site { frame: LocalFrame::new(at), stand }
    }

    /// The index of a radar, a new one for one not heard of before.
    ///
    /// # Errors
    /// [`Unusable::TooManyRadars`].
    pub fn index(&mut self, source: DataSource) -> Result<u8, Unusable> {
        if let Some(&index) = self.by_source.get(&source) {
            return Ok(index);
        }
        let index = u8::try_from(self.radars.len()).map_err(|_| Unusable::TooManyRadars(source))?;
        self.radars.push(Radar {
            source,
            site: None,
            surveyed: false,
            known: Bias::default(),
            correction: Bias::default(),
            precision: None,
            learnt: None,
            monitor: None,
        });
        self.by_source.insert(source, index);
        Ok(index)
    }

    /// The time now on the tracker's scale, s, when `utc_ns` is now here: that of plots that arrive
    /// now.
    pub fn plot_time_s(&self, utc_ns: i64) -> f64 {
        seconds(utc_ns) + self.clocks.delay_s()
    }

    /// A time of the tracker's scale as most radars stamp it, s.
    pub fn stamp_s(&self, time_s: f64) -> f64 {
        time_s + self.clocks.origin_s()
    }

    /// The reverse of [`Radars::stamp_s`].
    pub(super) fn tracker_s(&self, stamp_s: f64) -> f64 {
        stamp_s - self.clocks.origin_s()
    }

    /// What has become of clocks since the last call, with the radar.
    pub(super) fn clock_news(&mut self) -> Vec<(DataSource, String)> {
        let news = self.clocks.take_news();
        let named = |radar: usize| self.radars.get(radar).map(|radar| radar.source);
        news.iter().filter_map(|news| Some((named(news.radar)?, news.to_string()))).collect()
    }

    /// Judgement on the clock of each radar heard, by SAC and SIC.
    pub fn clocks(&self) -> Vec<RadarClock> {
        let mut all: Vec<RadarClock> = self
            .radars
            .iter()
            .enumerate()
            .map(|(index, radar)| {
                let (verdict, offset_s, retimed, refused) = self.clocks.of(index);
                let DataSource { sac, sic } = radar.source;
                RadarClock { sac, sic, verdict, offset_s, retimed, refused }
            })
            .collect();
        all.sort_by_key(|clock| (clock.sac, clock.sic));
        all
    }

    /// A stamp of a radar, received at `utc_ns`, on the tracker's scale, s.
    pub(super) fn time_s(
        &mut self,
        radar: u8,
        time: TimeOfDay,
        utc_ns: i64,
    ) -> Result<f64, Unusable> {
        let stamp_s = seconds(time.to_utc_ns(utc_ns));
        let source_id = self.radars[usize::from(radar)].source;
        #[allow(clippy::cast_possible_truncation)] // at most a day
        let off = |off_s: f64| Unusable::OffTime { source_id, off_s: off_s as i64 };
        self.clocks.time(usize::from(radar), stamp_s, seconds(utc_ns)).map_err(off)
    }

    /// Where a sensor measures from, if that is known.
    pub(super) fn frame(&self, radar: u8) -> Option<&LocalFrame> {
        Some(&self.radars.get(usize::from(radar))?.site.as_ref()?.frame)
    }

    /// Learns a radar's errors from a plot, converted to `m`, of an aircraft that says where it is.
    pub(super) fn refer_to_adsb(&mut self, plot: &Plot, m: &Measurement, adsb: &AdsbReference) {
        let radar = usize::from(m.radar);
        let (Some(address), Some((range_m, azimuth_rad))) =
            (plot.aircraft_address, Measured::polar(plot))
        else {
            return;
        };
        let precision = self.precision(m.radar, plot);
        let Radar { site: Some(Site { frame, .. }), known, correction, .. } = self.radars[radar]
        else {
            return;
        };
        let measured = Measured {
            range_m: range_m - known.range_m,
            azimuth_rad: azimuth_rad - known.azimuth_rad,
            // The equations are about the whole error but the known one.
            time_s: m.time_s + correction.time_s - known.time_s,
            range_sigma_m: precision.range_sigma_m,
            azimuth_sigma_rad: precision.azimuth_sigma_deg.to_radians(),
        };
        let Some(registration) = self.registration.as_mut() else { return };
        if let Some(reference) = adsb.compare(address, &frame, &measured)
            && registration.refer(radar, &reference, m.time_s)
        {
            self.correct();
        }
    }

    /// Projects a plot received at `utc_ns` into the tracker's plane.
    ///
    /// # Errors
    /// [`Unusable`] with the reason.
    pub fn convert(&mut self, plot: &Plot, utc_ns: i64) -> Result<Measurement, Unusable> {
        let source = plot.source;
        let radar = self.index(source)?;
        if plot.descriptor.is_some_and(|d| d.test || d.field_monitor) {
            self.monitor(radar, plot, utc_ns);
            return Err(Unusable::Test(source));
        }
        let Radar { site, correction, .. } = self.radars[usize::from(radar)];
        let site = site.ok_or(Unusable::NoSite(source))?;
        let polar = plot.position.ok_or(Unusable::NoPosition(source))?;
        let time = plot.time_of_day.ok_or(Unusable::NoTime(source))?;
        let time_s = self.time_s(radar, time, utc_ns)? - correction.time_s;
        let flight_level = plot
            .flight_level
            .filter(|l| !l.garbled && !l.not_validated && LEVELS.contains(&l.level))
            .map(|l| l.level);

        let range_m = polar.range_nm * METRES_PER_NM - correction.range_m;
        let azimuth = polar.azimuth_deg.to_radians() - correction.azimuth_rad;
        let height = flight_level.map_or(HEIGHT_GUESS_M.min(0.3 * range_m), flight_level_to_m);
        let at = site
            .frame
            .polar_to_wgs84(range_m, azimuth, height)
            .ok_or(Unusable::NoGround(source))?;
        let Plane { x_m, y_m } = self.plane.project(at);
        let position = Vec2::new(x_m, y_m);
        let height_sigma = if flight_level.is_some() { 0.0 } else { HEIGHT_GUESS_SIGMA_M };
        let precision = self.precision(radar, plot);
        let covariance = covariance(&site, precision, position, range_m, (height, height_sigma));
        let mode_3a = plot.mode_a.filter(|a| !a.garbled && !a.not_validated).map(|a| a.code);
        let identity =
            Identity { address: plot.aircraft_address, mode_3a, callsign: plot.callsign };
        let slant = Some(Slant {
            from: site.stand.position,
            from_m: site.stand.height_m,
            range_m,
            height_m: height,
            height_sigma_m: height_sigma,
        });
        Ok(Measurement { radar, time_s, position, covariance, identity, flight_level, slant })
    }

    /// Updates the estimates of the radars' systematic errors with a plot that updated `track`,
    /// which lives in `slot`. Later plots are corrected by the new estimates.
    pub fn observe(&mut self, m: &Measurement, track: &Track, slot: usize, motion: &MotionModel) {
        let radar = usize::from(m.radar);
        let Some(Some(site)) = self.radars.get(radar).map(|radar| radar.site) else { return };
        if let (Some(precisions), None) = (&mut self.precisions, self.radars[radar].precision)
            && precisions.observe((slot, track.number), m, site.stand.position)
        {
            self.radars[radar].learnt = precisions.of(radar);
        }
        let Some(registration) = &mut self.registration else { return };
        // The height has to be known, and the aircraft.
        let Some(level) = m.flight_level else { return };
        if track.vertical.is_some_and(|v| (v.level_at(m.time_s) - level).abs() > LEVEL_OFF_MAX) {
            return;
        }
        if !matches!(track.identity.compare(&m.identity), Match::Same | Match::Alike) {
            return;
        }
        let named = (slot, track.number);
        let height_m = flight_level_to_m(level);
        let q = motion.q(track.filter.manoeuvring());
        if registration.observe(named, m, height_m, site.stand, (track.estimate().velocity, q)) {
            self.correct();
        }
    }

    /// Estimates of each radar's systematic errors, where there are any, by SAC and SIC.
    pub fn registration(&self) -> Vec<RadarBias> {
        let Some(registration) = &self.registration else { return Vec::new() };
        let known = self.radars.iter().enumerate().map(|(i, r)| (r, registration.estimate(i)));
        let mut found: Vec<RadarBias> = known
            .filter(|(_, estimate)| estimate.differences + estimate.references > 0)
            .map(|(radar, Estimate { bias, sigma, differences, references })| {
                let bias = radar.known.plus(bias);
                let precision = radar.precision.or(radar.learnt);
                RadarBias {
                    sac: radar.source.sac,
                    sic: radar.source.sic,
                    range_sigma_m: precision.map(|p| p.range_sigma_m),
                    azimuth_sigma_deg: precision.map(|p| p.azimuth_sigma_deg),
                    references,
                    range_m: bias.range_m,
                    range_sd_m: sigma.range_m,
                    azimuth_deg: bias.azimuth_rad.to_degrees(),
                    azimuth_sd_deg: sigma.azimuth_rad.to_degrees(),
                    time_s: bias.time_s,
                    time_sd_s: sigma.time_s,
                    differences,
                }
            })
            .collect();
        found.sort_by_key(|radar| (radar.sac, radar.sic));
        found
    }

    /// How precisely a plot was measured.
    fn precision(&self, radar: u8, plot: &Plot) -> Precision {
        let Radar { precision, learnt, .. } = self.radars[usize::from(radar)];
        let kind = plot.descriptor.map_or(Detection::None, |d| d.detection);
        let assumed = match kind {
            Detection::Psr => self.sensors.primary,
            Detection::None | Detection::Ssr | Detection::SsrPsr => self.sensors.secondary,
            Detection::ModeSAllCall
            | Detection::ModeSRollCall
            | Detection::ModeSAllCallPsr
            | Detection::ModeSRollCallPsr => self.sensors.mode_s,
        };
        precision.or(learnt).unwrap_or(assumed)
    }

    /// Learns a radar's errors from a plot of its field monitor or test target, where it is known
    /// where that is.
    fn monitor(&mut self, radar: u8, plot: &Plot, utc_ns: i64) {
        let Some(at) = plot.position else { return };
        let precision = self.precision(radar, plot);
        let Radar { known, monitor, .. } = self.radars[usize::from(radar)];
        let Some(((range_m, azimuth_rad), registration)) = monitor.zip(self.registration.as_mut())
        else {
            return;
        };
        let turned = at.azimuth_deg.to_radians() - known.azimuth_rad - azimuth_rad;
        let reference = Reference {
            range_m: at.range_nm * METRES_PER_NM - known.range_m - range_m,
            azimuth_rad: turned.sin().atan2(turned.cos()),
            // It stands: its plots tell nothing of stamps.
            range_rate_m_s: 0.0,
            azimuth_rate_rad_s: 0.0,
            range_sigma_m: precision.range_sigma_m,
            azimuth_sigma_rad: precision.azimuth_sigma_deg.to_radians(),
        };
        if registration.refer(usize::from(radar), &reference, seconds(utc_ns)) {
            self.correct();
        }
    }

    /// Applies the estimates of the radars' errors.
    fn correct(&mut self) {
        let Some(registration) = &self.registration else { return };
        for (index, radar) in self.radars.iter_mut().enumerate() {
            radar.correction = radar.known.plus(registration.correction(index));
        }
    }

    /// The data source of radar `index`.
    pub fn source(&self, index: u8) -> Option<DataSource> {
        self.radars.get(usize::from(index)).map(|r| r.source)
    }
}

/// Range and azimuth errors, seen in the plane. The plane is conformal, so the direction to the
/// radar in it is the direction on the ground.
fn covariance(
    site: &Site,
    precision: Precision,
    position: Vec2,
    range_m: f64,
    (height_m, height_sigma_m): (f64, f64),
) -> Sym2 {
    let offset = position - site.stand.position;
    let ground_m = offset.norm().max(100.0);
    // d(ground)/d(range) and d(ground)/d(height) of ground² = range² - height².
    let stretch = (range_m / ground_m).min(10.0);
    let lean = (height_m / ground_m).clamp(-10.0, 10.0);
    let along = (precision.range_sigma_m * stretch).powi(2) + (lean * height_sigma_m).powi(2);
    let across = (ground_m * precision.azimuth_sigma_deg.to_radians()).powi(2).max(1.0);
    Sym2::along(offset * (1.0 / offset.norm().max(1e-6)), along, across)
}

/// Nanoseconds as seconds; UTC stays exact to a microsecond until the year 2100.
pub(super) fn seconds(ns: i64) -> f64 {
    #[allow(clippy::cast_precision_loss)]
    let ns = ns as f64;
    ns * 1e-9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::TimeOfDay;
    use crate::asterix::cat048::{FlightLevel, Position};

    const NOW_NS: i64 = 1_700_000_000_000_000_000;
    const SOURCE: DataSource = DataSource { sac: 25, sic: 7 };
    const SITE: Wgs84 = Wgs84 { lat_deg: 50.0, lon_deg: 8.0, height_m: 300.0 };

    fn radars() -> Radars {
        Radars::new(Wgs84::new(51.0, 10.0, 0.0), Precision::default())
    }

    fn plot() -> Plot {
        Plot {
            source: SOURCE,
            time_of_day: Some(TimeOfDay::from_utc_ns(NOW_NS)),
            position: Some(Position { range_nm: 60.0, azimuth_deg: 90.0 }),
            flight_level: Some(FlightLevel { level: 330.0, ..FlightLevel::default() }),
            ..Plot::default()
        }
    }

    #[test]
    fn a_plot_due_east_is_uncertain_mostly_north_and_south() {
        let mut radars = radars();
        radars.place(SOURCE, SITE).unwrap();
        let m = radars.convert(&plot(), NOW_NS).unwrap();
        let at = radars.plane().unproject(Plane { x_m: m.position.x, y_m: m.position.y }, 0.0);
        // 60 NM of slant range at FL330 are 110.7 km over ground: 1.544° of longitude at 50° N.
        assert!((at.lon_deg - 9.544).abs() < 0.003, "{at:?}");
        // 111 km × 0.08° = 155 m across the beam, 70 m along it.
        assert!((m.covariance.yy.sqrt() - 155.0).abs() < 3.0, "{:?}", m.covariance);
        assert!((m.covariance.xx.sqrt() - 70.0).abs() < 3.0, "{:?}", m.covariance);
    }

    #[test]
    fn what_a_plot_lacks_is_named() {
        let mut radars = radars();
        assert_eq!(radars.convert(&plot(), NOW_NS), Err(Unusable::NoSite(SOURCE)));
        radars.place(SOURCE, SITE).unwrap();
        let without = Plot { position: None, ..plot() };
        assert_eq!(radars.convert(&without, NOW_NS), Err(Unusable::NoPosition(SOURCE)));
        let without = Plot { time_of_day: None, ..plot() };
        assert_eq!(radars.convert(&without, NOW_NS), Err(Unusable::NoTime(SOURCE)));
        let above =
            Plot { position: Some(Position { range_nm: 4.0, azimuth_deg: 90.0 }), ..plot() };
        assert_eq!(radars.convert(&above, NOW_NS), Err(Unusable::NoGround(SOURCE)));
    }

    #[test]
    fn one_plot_of_another_hour_is_refused_and_a_new_hour_for_all_is_followed() {
        let mut radars = radars();
        radars.place(SOURCE, SITE).unwrap();
        radars.convert(&plot(), NOW_NS).unwrap();
        let hour_ns = 3_600_000_000_000;
        let off = Plot { time_of_day: Some(TimeOfDay::from_utc_ns(NOW_NS - hour_ns)), ..plot() };
        assert_eq!(
            radars.convert(&off, NOW_NS),
            Err(Unusable::OffTime { source_id: SOURCE, off_s: -3600 })
        );
        radars.convert(&plot(), NOW_NS).unwrap();
        let refused = (0..1000).take_while(|_| radars.convert(&off, NOW_NS).is_err()).count();
        assert_eq!(refused, 19);
        assert!((radars.stamp_s(radars.plot_time_s(NOW_NS)) - (1.7e9 - 3600.0)).abs() < 0.01);
    }

    /// What is known of a radar is taken out of its plots: where they are, and when.
    #[test]
    fn known_errors_are_taken_out() {
        let mut right = radars();
        right.place(SOURCE, SITE).unwrap();
        let real = right.convert(&plot(), NOW_NS).unwrap();
        let mut radars = radars();
        let known = Known { range_m: 130.0, azimuth_deg: 0.5, time_s: 0.25, ..Known::default() };
        radars.know(&RadarSite { known, ..RadarSite::new(SOURCE, SITE) }).unwrap();
        let wrong = Plot {
            time_of_day: Some(TimeOfDay::from_utc_ns(NOW_NS + 250_000_000)),
            position: Some(Position { range_nm: 60.0 + 130.0 / METRES_PER_NM, azimuth_deg: 90.5 }),
            ..plot()
        };
        let found = radars.convert(&wrong, NOW_NS).unwrap();
        assert!((found.position - real.position).norm() < 0.1, "{found:?} {real:?}");
        assert!((found.time_s - real.time_s).abs() < 0.01);
        // A station that is said to be 100 m too far east and stands 100 m further west.
        let known = Known { east_m: 100.0, ..Known::default() };
        radars.know(&RadarSite { known, ..RadarSite::new(SOURCE, SITE) }).unwrap();
        let moved = radars.convert(&plot(), NOW_NS).unwrap().position - real.position;
        assert!((moved.x + 100.0).abs() < 1.0 && moved.y.abs() < 5.0, "{moved:?}");
    }

    /// One radar alone, with a field monitor 30 km away that it sees every turn.
    #[test]
    fn a_field_monitor_tells_the_errors_of_a_single_radar() {
        let mut radars = radars();
        let frame = LocalFrame::new(SITE);
        let at = frame.to_wgs84(Enu { east_m: 0.0, north_m: 30_000.0, up_m: 200.0 });
        let site = RadarSite { monitor: Some(at), ..RadarSite::new(SOURCE, SITE) };
        radars.know(&site).unwrap();
        let polar = frame.to_polar(at);
        for turn in 0..100 {
            let off = f64::from(turn % 5 - 2);
            let seen = Plot {
                descriptor: Some(crate::asterix::cat048::Descriptor {
                    field_monitor: true,
                    ..Default::default()
                }),
                position: Some(Position {
                    range_nm: (polar.range_m + 130.0 + 20.0 * off) / METRES_PER_NM,
                    azimuth_deg: (polar.azimuth_rad.to_degrees() + 0.5 - 0.03 * off)
                        .rem_euclid(360.0),
                }),
                ..plot()
            };
            let now_ns = NOW_NS + i64::from(turn) * 4_000_000_000;
            assert_eq!(radars.convert(&seen, now_ns), Err(Unusable::Test(SOURCE)));
        }
        let found = radars.registration()[0];
        assert!((found.range_m - 130.0).abs() < 10.0, "{found:?}");
        assert!((found.azimuth_deg - 0.5).abs() < 0.01, "{found:?}");
        assert!(found.references == 100 && found.differences == 0, "{found:?}");
        assert!(radars.radars[0].correction.range_m > 100.0, "and they are corrected");
    }
}
