//! Records of sensors as the tracker takes them: plots of radars of two generations, reports of
//! ADS-B and multilateration, service messages.

use super::super::adsb_reference::Fix;
use super::super::identity::Identity;
use super::super::linear::Vec2;
use super::super::radars::seconds;
use super::super::reports::TargetReport;
use super::super::sensor_state::SensorState;
use super::Processor;
use crate::asterix::cat048::Plot;
use crate::asterix::{
    AsterixError, DataSource, Editions, FinalStateSelectedAltitude, Record, SelectedAltitude,
    cat002, cat062,
};
use crate::geodesy::Wgs84;
use crate::tracker::{Foreign, Measurement, Outcome, Unusable};

impl Processor {
    /// Takes in a record of a block of targets: its source, and the measurement where it is usable.
    pub(super) fn target(
        &mut self,
        record: Result<Record, AsterixError>,
        utc_ns: i64,
    ) -> Option<(DataSource, Option<Measurement>)> {
        match record {
            Ok(Record::Plot(plot)) => Some((plot.source, self.plot(&plot, utc_ns))),
            Ok(Record::OldReport(report)) => {
                let near = self.truncated_times.near(report.source, utc_ns);
                Some((report.source, self.plot(&report.to_plot(near), utc_ns)))
            }
            Ok(Record::AdsB(report)) => {
                self.counts.adsb_reports += 1;
                let set = (report.selected_altitude, report.final_state);
                Some((report.source, self.report(&(&report).into(), set, utc_ns)))
            }
            Ok(Record::EarlyAdsB(report)) => {
                self.counts.adsb_reports += 1;
                let set = (report.selected_altitude, report.final_state);
                Some((report.source, self.report(&(&report).into(), set, utc_ns)))
            }
            Ok(Record::Multilateration(report)) => {
                self.counts.multilateration_reports += 1;
                Some((report.source, self.report(&(&report).into(), (None, None), utc_ns)))
            }
            // Other messages than target reports tell of the system's cycle and state.
            Ok(Record::Surface(report)) if report.kind.is_some_and(|kind| kind != 1) => {
                self.counts.service_messages += 1;
                None
            }
            Ok(Record::Surface(report)) => {
                self.counts.multilateration_reports += 1;
                Some((report.source, self.report(&(&report).into(), (None, None), utc_ns)))
            }
            other => {
                self.not_a_target(other, utc_ns);
                None
            }
        }
    }

    fn plot(&mut self, plot: &Plot, utc_ns: i64) -> Option<Measurement> {
        self.counts.plots += 1;
        let radar = self.radars.index(plot.source);
        if let Ok(index) = radar {
            self.regularity.plot(index, plot, utc_ns);
        }
        self.stamped(plot.source, plot.time_of_day, utc_ns);
        if self.duplicates.is_copy(plot, utc_ns) {
            self.counts.duplicate_plots += 1;
            if let Ok(index) = radar {
                self.regularity.outcome(index, Outcome::Repeated);
            }
            return None;
        }
        self.intentions.plot(plot, utc_ns);
        match self.radars.convert(plot, utc_ns) {
            Ok(measurement) => {
                self.radars.refer_to_adsb(plot, &measurement, &self.adsb);
                Some(measurement)
            }
            Err(why) => {
                self.count_unusable(&why);
                None
            }
        }
    }

    fn report(
        &mut self,
        report: &TargetReport,
        set: (Option<SelectedAltitude>, Option<FinalStateSelectedAltitude>),
        utc_ns: i64,
    ) -> Option<Measurement> {
        self.stamped(report.source, report.time, utc_ns);
        if self.duplicates.is_copied_report(report, utc_ns) {
            self.counts.duplicate_plots += 1;
            return None;
        }
        self.intentions.report(report, set, utc_ns);
        let settings = self.tracker.settings().surveillance;
        let located = match self.radars.locate(report, utc_ns, &settings) {
            Ok(located) => located,
            Err(why) => {
                self.count_unusable(&why);
                return None;
            }
        };
        let sensor = located.measurement.radar;
        let period_s =
            if report.adsb { settings.adsb_period_s } else { settings.multilateration_period_s };
        self.tracker.set_period(sensor, period_s);
        if let (true, Some(address)) = (report.adsb && settings.reference, report.identity.address)
        {
            let sigma_m = located.measurement.covariance.xx.max(located.measurement.covariance.yy);
            let fix = Fix {
                time_s: located.measurement.time_s,
                at: located.at,
                sigma_m: sigma_m.sqrt(),
                geometric: located.geometric,
            };
            // Without any height a slant range cannot be expected.
            if located.geometric || located.measurement.flight_level.is_some() {
                self.adsb.add(address, fix);
            }
        }
        Some(located.measurement)
    }

    /// Gives the own track of an aircraft the number that another tracker has sent for it. False
    /// where none follows it.
    pub fn follow(&mut self, theirs: &cat062::Track, utc_ns: i64) -> bool {
        let (Some(number), Some(time), Some(at)) =
            (theirs.track_number, theirs.time_of_day, theirs.position)
        else {
            return false;
        };
        if theirs.status.is_some_and(|status| status.ends) {
            return false;
        }
        let stamp_s = seconds(time.to_utc_ns(utc_ns));
        let at = self.radars.plane().project(Wgs84::new(at.lat_deg, at.lon_deg, 0.0));
        let foreign = Foreign {
            number,
            time_s: self.radars.tracker_s(stamp_s),
            position: Vec2::new(at.x_m, at.y_m),
            identity: Identity {
                address: theirs.derived.as_ref().and_then(|derived| derived.address),
                mode_3a: theirs.mode_a.map(|mode| mode.code),
                callsign: None,
            },
            level: theirs.measured_flight_level,
        };
        self.tracker.follow(&foreign)
    }

    /// All sensors heard, by SAC and SIC.
    pub(in super::super) fn sensor_states(&self) -> Vec<SensorState> {
        let (clocks, biases) = (self.radars.clocks(), self.radars.registration());
        let states = self.heard_ns.iter().map(|(&source, &heard_ns)| {
            let is_it = |sac: u8, sic: u8| DataSource { sac, sic } == source;
            SensorState {
                source,
                heard_ns,
                clock: clocks.iter().find(|clock| is_it(clock.sac, clock.sic)).copied(),
                bias: biases.iter().find(|bias| is_it(bias.sac, bias.sic)).copied(),
            }
        });
        states.collect()
    }

    /// Takes in anything else that a datagram may have.
    pub(super) fn not_a_target(&mut self, record: Result<Record, AsterixError>, utc_ns: i64) {
        match record {
            Ok(Record::Service(message)) => self.service(&message, utc_ns),
            Ok(Record::OldService(message)) => self.old_service(&message, utc_ns),
            Ok(Record::Padding { octets }) => self.counts.padding_octets += octets as u64,
            Ok(Record::Other { category, .. }) => self.count_other(category),
            Ok(Record::Track(_)) => self.count_other(62),
            Ok(Record::SensorStatus(_)) => self.count_other(63),
            Ok(Record::SystemStatus(_)) => self.count_other(65),
            // A block has records of one category alone.
            Ok(_) => self.counts.other += 1,
            Err(e) => self.count_malformed(&e),
        }
    }

    fn old_service(&mut self, message: &cat002::ServiceMessage, utc_ns: i64) {
        if let Some(time) = message.time_of_day {
            self.truncated_times.heard(message.source, time, utc_ns);
        }
        self.service(&message.to_service(), utc_ns);
    }

    /// Names each category that is not used once, counts it always.
    fn count_other(&mut self, category: u8) {
        self.counts.other += 1;
        let count = self.counts.categories_not_used.entry(category).or_default();
        if *count == 0 {
            say!("ASTERIX category {category:03} is not used (its blocks are counted)");
        }
        *count += 1;
    }

    /// Says each reason once, counts it always.
    pub(super) fn count_unusable(&mut self, why: &Unusable) {
        let count = self.counts.unusable.entry(why.reason()).or_default();
        if *count == 0 {
            say!("unusable: {why} (further ones are counted)");
        }
        *count += 1;
    }

    pub(super) fn count_malformed(&mut self, why: &AsterixError) {
        if self.counts.malformed == 0 {
            let editions = self.tracker.settings().surveillance.editions();
            let hint = if editions == Editions::default() && why.to_string().contains("I021") {
                "; a station that sends category 021 of an edition before 2.0 needs adsb_edition: in the \
                 list of --radars, or for all stations in [surveillance] of --config"
            } else {
                ""
            };
            say!("malformed: {why} (further ones are counted){hint}");
        }
        self.counts.malformed += 1;
    }
}
