//! Reports whose position is known without a radar: ADS-B (category 021), where the aircraft says
//! it, and multilateration (020, 010), where several stations find it.
//!
//! The three are brought to one form here, and to a measurement in the tracker's plane by
//! [`Radars::locate`]. The source of such reports is a sensor like a radar, with a clock that is
//! judged like theirs; its period is that of its reports of one target.

use super::identity::Identity;
use super::linear::{Sym2, Vec2};
use super::measurement::Measurement;
use super::radars::{LEVELS, Radars, Unusable};
use super::surveillance::Surveillance;
use crate::asterix::cat048::{FlightLevel, ModeA};
use crate::asterix::{DataSource, LatLon, TimeOfDay, cat010, cat020, cat021};
use crate::geodesy::{Enu, Plane, Wgs84, flight_level_to_m};

/// Where a report says that the target is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Wgs84(LatLon),
    /// From the sensor's reference point, m.
    Local(Enu),
}

/// What a report says of the precision of its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Precise {
    /// Nothing.
    Unstated,
    /// That it is not known, or the worst there is.
    Unknown,
    /// Standard deviations of the two axes, m.
    Sigma(f64, f64),
}

/// A report in one form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TargetReport {
    pub(super) source: DataSource,
    pub(super) adsb: bool,
    pub(super) time: Option<TimeOfDay>,
    pub(super) place: Option<Place>,
    pub(super) precise: Precise,
    pub(super) identity: Identity,
    /// Hundreds of feet, when it is neither garbled nor doubtful.
    pub(super) flight_level: Option<f64>,
    /// Height over the ellipsoid, m.
    pub(super) height_m: Option<f64>,
    pub(super) on_ground: bool,
    /// A field monitor, a test target or a simulated one.
    pub(super) test: bool,
    /// The ground station or the system itself doubts it.
    pub(super) doubtful: bool,
}

const FEET_M: f64 = 0.3048;

impl From<&cat021::Report> for TargetReport {
    fn from(r: &cat021::Report) -> Self {
        let d = r.descriptor.unwrap_or_default();
        let precise = match r.quality.map(|quality| quality.sigma_m()) {
            None => Precise::Unstated,
            Some(None) => Precise::Unknown,
            Some(Some(sigma_m)) => Precise::Sigma(sigma_m, sigma_m),
        };
        // Addresses that are not the aircraft's own name nobody.
        let address = r.address.filter(|_| d.address_type == 0);
        Self {
            source: r.source,
            adsb: true,
            time: r.position_time.or(r.reception_time).or(r.report_time),
            place: r.fine_position.or(r.position).map(Place::Wgs84),
            precise,
            identity: Identity { address, mode_3a: r.mode_a, callsign: r.callsign },
            flight_level: r.flight_level,
            height_m: r.geometric_height_ft.map(|ft| ft * FEET_M),
            on_ground: d.on_ground || d.address_type == 2,
            test: d.field_monitor || d.test || d.simulated,
            doubtful: d.no_go
                || d.position_check_failed
                || d.cpr_failed
                || d.range_check_failed
                || d.position_jump
                || d.confidence == 1,
        }
    }
}

impl From<&cat021::EarlyReport> for TargetReport {
    fn from(r: &cat021::EarlyReport) -> Self {
        let d = r.descriptor.unwrap_or_default();
        let precise = match r.merit.map(|merit| merit.sigma_m()) {
            None => Precise::Unstated,
            Some(None) => Precise::Unknown,
            Some(Some(sigma_m)) => Precise::Sigma(sigma_m, sigma_m),
        };
        Self {
            source: r.source,
            adsb: true,
            time: r.time_of_day,
            place: r.position.map(Place::Wgs84),
            precise,
            identity: Identity {
                // 1 is an ICAO address here, where later editions have 0.
                address: r.address.filter(|_| d.address_type == 1),
                mode_3a: code(r.mode_a),
                callsign: r.callsign,
            },
            flight_level: r.flight_level,
            height_m: r.geometric_height_ft.map(|ft| ft * FEET_M),
            on_ground: d.on_ground || d.address_type == 2,
            test: d.field_monitor || d.test || d.simulated,
            // These editions have no checks of the station.
            doubtful: false,
        }
    }
}

impl From<&cat020::Report> for TargetReport {
    fn from(r: &cat020::Report) -> Self {
        let d = r.descriptor.unwrap_or_default();
        let local =
            r.cartesian.map(|c| Place::Local(Enu { east_m: c.x_m, north_m: c.y_m, up_m: 0.0 }));
        let sigma_m = r.accuracy.and_then(|accuracy| accuracy.sigma_m);
        let status = r.track_status.unwrap_or_default();
        Self {
            source: r.source,
            adsb: false,
            time: r.time_of_day,
            place: r.position.map(Place::Wgs84).or(local),
            precise: sigma_m.map_or(Precise::Unstated, |(x, y, _)| Precise::Sigma(x, y)),
            identity: Identity {
                address: r.address,
                mode_3a: code(r.mode_a),
                callsign: r.target_identification.map(|id| id.callsign),
            },
            flight_level: level(r.flight_level),
            height_m: r.geometric_height_ft.map(|ft| ft * FEET_M),
            on_ground: d.on_ground,
            test: d.field_monitor || d.test || d.simulated,
            // An extrapolation is no measurement.
            doubtful: d.corrupted || status.coasting || status.ghost,
        }
    }
}

impl From<&cat010::Report> for TargetReport {
    fn from(r: &cat010::Report) -> Self {
        let d = r.descriptor.unwrap_or_default();
        let local = r.cartesian.map(|c| (c.x_m, c.y_m)).or(r.polar.map(|p| {
            let (sin, cos) = p.azimuth_deg.to_radians().sin_cos();
            (p.range_m * sin, p.range_m * cos)
        }));
        let local = local.map(|(east_m, north_m)| Place::Local(Enu { east_m, north_m, up_m: 0.0 }));
        Self {
            source: r.source,
            adsb: d.detection == 2,
            time: r.time_of_day,
            place: r.position.map(Place::Wgs84).or(local),
            precise: r.accuracy.map_or(Precise::Unstated, |a| Precise::Sigma(a.x_m, a.y_m)),
            identity: Identity {
                address: r.address,
                mode_3a: code(r.mode_a),
                callsign: r.target_identification.map(|id| id.callsign),
            },
            flight_level: level(r.flight_level),
            height_m: None,
            on_ground: d.on_ground || d.target == 2,
            test: d.field_monitor || d.test || d.simulated,
            doubtful: d.corrupted,
        }
    }
}

fn code(mode_a: Option<ModeA>) -> Option<u16> {
    mode_a.filter(|a| !a.garbled && !a.not_validated).map(|a| a.code)
}

fn level(level: Option<FlightLevel>) -> Option<f64> {
    level.filter(|l| !l.garbled && !l.not_validated).map(|l| l.level)
}

/// A report in the plane, and in space where the height is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Located {
    pub(super) measurement: Measurement,
    pub(super) at: Wgs84,
    /// Whether the height is over the ellipsoid, not one by pressure.
    pub(super) geometric: bool,
}

impl Radars {
    /// Projects a report received at `utc_ns` into the tracker's plane.
    ///
    /// # Errors
    /// [`Unusable`] with the reason.
    pub(super) fn locate(
        &mut self,
        report: &TargetReport,
        utc_ns: i64,
        settings: &Surveillance,
    ) -> Result<Located, Unusable> {
        let source = report.source;
        let sensor = self.index(source)?;
        if report.test {
            return Err(Unusable::Test(source));
        }
        if report.on_ground {
            return Err(Unusable::OnGround(source));
        }
        if report.doubtful {
            return Err(Unusable::Doubtful(source));
        }
        let assumed_m =
            if report.adsb { settings.adsb_sigma_m } else { settings.multilateration_sigma_m };
        let (east_m, north_m) = match report.precise {
            Precise::Unstated => (assumed_m, assumed_m),
            Precise::Sigma(x, y) if x.max(y) <= settings.sigma_m_max => (x, y),
            Precise::Sigma(..) | Precise::Unknown => return Err(Unusable::Imprecise(source)),
        };
        let place = report.place.ok_or(Unusable::NoPlace(source))?;
        let time = report.time.ok_or(Unusable::NoTime(source))?;
        let time_s = self.time_s(sensor, time, utc_ns)?;
        let flight_level = report.flight_level.filter(|level| LEVELS.contains(level));
        let height_m = report.height_m.or(flight_level.map(flight_level_to_m)).unwrap_or(0.0);
        let at = match place {
            Place::Wgs84(LatLon { lat_deg, lon_deg }) => Wgs84::new(lat_deg, lon_deg, height_m),
            Place::Local(local) => {
                let frame = self.frame(sensor).ok_or(Unusable::NoSite(source))?;
                Wgs84 { height_m, ..frame.to_wgs84(local) }
            }
        };
        let Plane { x_m, y_m } = self.plane().project(at);
        let variance = |sigma_m: f64| sigma_m.max(settings.sigma_m_min).powi(2);
        let measurement = Measurement {
            radar: sensor,
            time_s,
            position: Vec2::new(x_m, y_m),
            covariance: Sym2 { xx: variance(east_m), xy: 0.0, yy: variance(north_m) },
            identity: report.identity,
            flight_level,
            slant: None,
        };
        Ok(Located { measurement, at, geometric: report.height_m.is_some() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::cat062::Cartesian;
    use crate::tracker::Precision;

    const NOW_NS: i64 = 1_700_000_000_000_000_000;
    const SOURCE: DataSource = DataSource { sac: 25, sic: 80 };

    fn radars() -> Radars {
        Radars::new(Wgs84::new(51.0, 10.0, 0.0), Precision::default())
    }

    fn adsb() -> cat021::Report {
        cat021::Report {
            source: SOURCE,
            position_time: Some(TimeOfDay::from_utc_ns(NOW_NS)),
            fine_position: Some(LatLon { lat_deg: 51.0, lon_deg: 10.0 }),
            address: Some(0x3C_6444),
            quality: Some(cat021::Quality {
                accuracy: Some(cat021::PositionAccuracy { category: 8, ..Default::default() }),
                ..Default::default()
            }),
            flight_level: Some(330.0),
            ..cat021::Report::default()
        }
    }

    fn locate(report: &TargetReport) -> Result<Located, Unusable> {
        radars().locate(report, NOW_NS, &Surveillance::default())
    }

    #[test]
    fn an_adsb_report_is_where_it_says_as_precisely_as_it_says() {
        let found = locate(&(&adsb()).into()).unwrap().measurement;
        assert!(found.position.norm() < 0.01, "the plane's origin: {found:?}");
        // NACp 8: 92.6 m with 95 %.
        assert!((found.covariance.xx.sqrt() - 37.8).abs() < 0.1, "{found:?}");
        assert_eq!(found.identity.address, Some(0x3C_6444));
        assert_eq!((found.flight_level, found.slant), (Some(330.0), None));
    }

    #[test]
    fn reports_that_cannot_be_used_say_why() {
        let why = |change: fn(&mut cat021::Report)| {
            let mut report = adsb();
            change(&mut report);
            locate(&(&report).into()).unwrap_err().reason()
        };
        assert_eq!(why(|r| r.fine_position = None), "no position");
        assert_eq!(why(|r| r.position_time = None), "no time of day");
        assert_eq!(why(|r| r.quality = Some(cat021::Quality::default())), "imprecise");
        assert_eq!(why(|r| r.descriptor.get_or_insert_default().on_ground = true), "on the ground");
        assert_eq!(why(|r| r.descriptor.get_or_insert_default().test = true), "test target");
        assert_eq!(why(|r| r.descriptor.get_or_insert_default().cpr_failed = true), "doubtful");
    }

    #[test]
    fn a_report_of_an_early_edition_is_used_in_the_same_way() {
        let early = |address_type, position| cat021::EarlyReport {
            source: SOURCE,
            time_of_day: Some(TimeOfDay::from_utc_ns(NOW_NS)),
            position: Some(LatLon { lat_deg: 51.0, lon_deg: 10.0 }),
            address: Some(0x3C_6444),
            descriptor: Some(cat021::EarlyDescriptor { address_type, ..Default::default() }),
            merit: Some(cat021::Merit { position, ..Default::default() }),
            flight_level: Some(330.0),
            ..cat021::EarlyReport::default()
        };
        let found = locate(&(&early(1, 7)).into()).unwrap().measurement;
        let later = locate(&(&adsb()).into()).unwrap().measurement;
        assert!((found.position - later.position).norm() < 0.01);
        // NUCp 7 is as good as NACp 8.
        assert!((found.covariance.xx - later.covariance.xx).abs() < 0.1);
        assert_eq!(found.identity, later.identity);
        let not_unique = locate(&(&early(0, 7)).into()).unwrap().measurement;
        assert_eq!(not_unique.identity.address, None);
        assert_eq!(locate(&(&early(1, 0)).into()).unwrap_err().reason(), "imprecise");
    }

    /// Multilateration in its own plane needs to know where that is.
    #[test]
    fn a_local_position_is_placed_by_the_sensors_site() {
        let report = cat020::Report {
            source: SOURCE,
            time_of_day: Some(TimeOfDay::from_utc_ns(NOW_NS)),
            cartesian: Some(Cartesian { x_m: 3_000.0, y_m: -4_000.0 }),
            accuracy: Some(cat020::Accuracy {
                sigma_m: Some((20.0, 40.0, 0.0)),
                ..Default::default()
            }),
            ..cat020::Report::default()
        };
        let target = TargetReport::from(&report);
        assert_eq!(locate(&target), Err(Unusable::NoSite(SOURCE)));
        let mut radars = radars();
        radars.place(SOURCE, Wgs84::new(51.0, 10.0, 100.0)).unwrap();
        let found = radars.locate(&target, NOW_NS, &Surveillance::default()).unwrap().measurement;
        assert!((found.position - Vec2::new(3_000.0, -4_000.0)).norm() < 5.0, "{found:?}");
        let sigmas = (found.covariance.xx.sqrt(), found.covariance.yy.sqrt());
        assert!((sigmas.0 - 20.0).abs() < 1e-9 && (sigmas.1 - 40.0).abs() < 1e-9, "{sigmas:?}");
    }
}
