//! The tracker from received to sent octets, without the sockets of its process.
//!
//! One block of plots is one chain: the root `decodePlots`, whose property `radar` is the SAC/SIC of
//! its first plot, in it `Conversion` (ASTERIX to
//! measurements in the plane) and one `Correlate` for each plot. The message about a track
//! carries the correlator of the `Correlate` that caused it in the Special Purpose field of its
//! record, marked asynchronous (nobody here waits for the displays) and independent (their
//! failures are not ours).
//!
//! Each datagram of a radar is a chain of its own as well: `receiveRadarData` lasts from the oldest stamp
//! in it to its arrival and has the property `radar`. Rules over it name a radar whose data come
//! irregularly or late (`dist/rules.toml`).
//!
//! A new track is not sent on before some plots have confirmed it. The `Correlate` that confirms it
//! has the plots before as inputs: it is linked to their `Correlate`s, so that durations over links
//! say how long each of these plots waited for its track to be believed.
//!
//! A track that coasts is sent on without a plot. Its cause is the passage of time, so each such
//! message begins a chain of its own, with the root `Extrapolate`: durations from `decodePlots`
//! remain those of plots, and the cost of an extrapolation is measured beside them.

mod intake;
mod not_used;

use self::not_used::NotUsed;
use super::adsb_reference::AdsbReference;
use super::duplicates::Duplicates;
use super::intentions::Intentions;
use super::output::{self, Moment};
use super::paths::Paths;
use super::regularity::{Irregularity, RadarReport, Regularity};
use super::sites::RadarSite;
use super::surveillance::StationEditions;
use super::truncated_times::TruncatedTimes;
use super::{
    Counts, Measurement, Outcome, Phase, RadarBias, RadarClock, Radars, Settings, Slot, Tracker,
};
use crate::asterix::cat034::ServiceMessage;
use crate::asterix::{DataSource, TimeOfDay, cat062, decode_block, decode_block_of, encode_block};
use crate::geodesy::Wgs84;
use chronoscope_clock as clock;
use chronoscope_record::{Class, Correlator, Status, class};
use std::collections::{BTreeMap, HashMap};
use std::io;

static RECEIVE: Class = class!("receiveRadarData");
static DECODE: Class = class!("decodePlots");
static CONVERSION: Class = class!("Conversion");
static CORRELATE: Class = class!("Correlate");
static EXTRAPOLATE: Class = class!("Extrapolate");

/// Most octets of content in a Special Purpose field: its length octet counts itself.
pub const SPECIAL_PURPOSE_OCTETS_MAX: usize = 254;
/// Plots of a track that is not confirmed, of which the correlators are kept: the first ones. A track
/// is confirmed by its third plot or given up, except in clutter.
const UNCONFIRMED_PLOTS_MAX: usize = 8;
/// Interval between two searches for tracks that coast or end, s.
const ADVANCE_S: f64 = 1.0;

/// Counts of the processor. All counts since the start.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct ProcessorCounts {
    /// Datagrams received.
    pub datagrams: u64,
    /// Blocks of targets: categories 048, 001, 021, 020 and 010.
    pub plot_blocks: u64,
    /// Service messages of categories 034, 002 and 010.
    pub service_messages: u64,
    /// Plots of radars decoded: categories 048 and 001.
    pub plots: u64,
    /// Copies of plots, dropped before all else: same radar, stamp and content.
    pub duplicate_plots: u64,
    /// Copies of service messages, dropped as well.
    pub duplicate_services: u64,
    /// Reports of category 021.
    pub adsb_reports: u64,
    /// Target reports of categories 020 and 010.
    pub multilateration_reports: u64,
    /// Blocks and records of other categories, passed over.
    pub other: u64,
    /// The same by category.
    pub categories_not_used: BTreeMap<u8, u64>,
    /// Octets of 0 that fill up blocks and datagrams.
    pub padding_octets: u64,
    /// Records or blocks that are not ASTERIX as specified.
    pub malformed: u64,
    /// Plots that could not be used, by reason.
    pub unusable: BTreeMap<&'static str, u64>,
    /// Messages about tracks.
    pub messages: u64,
    /// Messages that could not be encoded.
    pub encode_failures: u64,
    /// Ancestors left out of correlators because the Special Purpose field is too short.
    pub ancestors_dropped: u64,
}

/// Decoder, radars and tracker in one.
#[derive(Debug)]
pub struct Processor {
    radars: Radars,
    duplicates: Duplicates,
    truncated_times: TruncatedTimes,
    /// Where aircraft with ADS-B are.
    adsb: AdsbReference,
    intentions: Intentions,
    not_used: NotUsed,
    /// Plots of all tracks, where their smoothed paths are wanted.
    paths: Option<Paths>,
    editions: StationEditions,
    regularity: Regularity,
    tracker: Tracker,
    source: DataSource,
    counts: ProcessorCounts,
    block: Vec<Measurement>,
    /// When the latest data of each sensor arrived, UTC, ns.
    heard_ns: BTreeMap<DataSource, i64>,
    /// Source and oldest stamp (UTC, nanoseconds since 1970) in the datagram that is taken in.
    oldest: Option<(DataSource, i64)>,
    message: Vec<u8>,
    advanced_s: f64,
    /// Correlators of the plots of tracks that are not confirmed. A track that was given up leaves
    /// them to the next one in its slot, which replaces them.
    unconfirmed: HashMap<Slot, Vec<Correlator>>,
}

impl Processor {
    /// A tracker that calls itself `source` in its messages.
    pub fn new(mut radars: Radars, settings: Settings, source: DataSource) -> Self {
        radars.configure(&settings);
        let usual = settings.surveillance.editions();
        Self {
            radars,
            duplicates: Duplicates::default(),
            truncated_times: TruncatedTimes::default(),
            adsb: AdsbReference::default(),
            intentions: Intentions::default(),
            not_used: NotUsed::default(),
            paths: None,
            editions: StationEditions::new(usual, &[]),
            regularity: Regularity::default(),
            tracker: Tracker::new(settings),
            source,
            counts: ProcessorCounts::default(),
            block: Vec::new(),
            heard_ns: BTreeMap::new(),
            oldest: None,
            message: Vec::new(),
            advanced_s: f64::NEG_INFINITY,
            unconfirmed: HashMap::new(),
        }
    }

    /// Tells which edition of category 021 single stations send.
    pub fn set_editions(&mut self, sites: &[RadarSite]) {
        let usual = self.tracker.settings().surveillance.editions();
        self.editions = StationEditions::new(usual, sites);
    }

    /// Keeps the plots of all believed tracks from now on, for [`Processor::write_paths`]: 80 octets
    /// each.
    pub fn keep_paths(&mut self) {
        self.paths = Some(Paths::default());
    }

    /// Writes the path of each believed track, smoothed by earlier and later plots, as the
    /// generator writes true positions. Without [`Processor::keep_paths`] there is none.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write_paths(&self, out: impl io::Write) -> io::Result<()> {
        let motion = &self.tracker.motion();
        self.paths.as_ref().map_or(Ok(()), |paths| paths.write(out, &self.radars, motion))
    }

    /// The counts so far.
    pub fn counts(&self) -> &ProcessorCounts {
        &self.counts
    }

    /// The tracker's own counts so far.
    pub fn tracker_counts(&self) -> Counts {
        self.tracker.counts()
    }

    /// Believed tracks now.
    pub fn confirmed_count(&self) -> usize {
        self.tracker.confirmed_count()
    }

    /// Tells the antenna period of a radar that does not report it, s.
    pub fn set_period(&mut self, source: DataSource, period_s: f64) {
        if let Ok(radar) = self.radars.index(source) {
            self.tracker.set_period(radar, period_s);
        }
    }

    /// Radars heard of.
    pub fn radar_count(&self) -> usize {
        self.radars.count()
    }

    /// Estimates of the radars' systematic errors.
    pub fn registration(&self) -> Vec<RadarBias> {
        self.radars.registration()
    }

    /// Judgement on each radar's clock.
    pub fn clocks(&self) -> Vec<RadarClock> {
        self.radars.clocks()
    }

    /// Regularity of each radar's data.
    pub fn radar_reports(&self) -> Vec<RadarReport> {
        self.regularity.reports()
    }

    /// Takes in one datagram, received at `utc_ns`; `send` gets each message, a whole block of
    /// category 062.
    pub fn datagram(&mut self, octets: &[u8], utc_ns: i64, mut send: impl FnMut(&[u8])) {
        self.counts.datagrams += 1;
        // The recorder's clock: of a capture, `utc_ns` may be years ago.
        let arrived_ns = clock::utc_now_ns();
        self.oldest = None;
        let mut rest = octets;
        while let &[category, high, low, ..] = rest {
            let length = usize::from(u16::from_be_bytes([high, low]));
            // A length that cannot be is the decoder's to refuse, with its position.
            let end = if (3..=rest.len()).contains(&length) { length } else { rest.len() };
            let (block, later) = rest.split_at(end);
            let first = rest.len() == octets.len();
            rest = later;
            // Fill octets: no block begins with category 0.
            if !first && block.iter().chain(later).all(|octet| *octet == 0) {
                self.counts.padding_octets += (block.len() + later.len()) as u64;
                rest = &[];
            } else if has_targets(category) {
                self.plots(block, utc_ns, &mut send);
            } else {
                self.others(block, utc_ns);
            }
        }
        let filled = rest.len() < octets.len() && rest.iter().all(|octet| *octet == 0);
        self.counts.padding_octets += if filled { rest.len() as u64 } else { 0 };
        self.counts.malformed += u64::from(!rest.is_empty() && !filled);
        if let Some((source, stamp_ns)) = self.oldest {
            let mut receive = RECEIVE.start();
            receive.property("radar", &source.to_string());
            // A stamp of the future, by a radar whose clock is ahead, is no negative time.
            let age_ns = u64::try_from(utc_ns.saturating_sub(stamp_ns)).unwrap_or(0);
            receive.report(Status::Good, age_ns, arrived_ns);
        }
    }

    /// Takes in a stamp of the datagram.
    fn stamped(&mut self, source: DataSource, time: Option<TimeOfDay>, utc_ns: i64) {
        self.heard_ns.insert(source, utc_ns);
        let stamp_ns = time.map_or(utc_ns, |time| time.to_utc_ns(utc_ns));
        let (_, oldest_ns) = self.oldest.get_or_insert((source, stamp_ns));
        *oldest_ns = stamp_ns.min(*oldest_ns);
    }

    /// Ends tracks that are no longer seen and extrapolates those that coast; call about once a
    /// second, `utc_ns` being now.
    pub fn tick(&mut self, utc_ns: i64, mut send: impl FnMut(&[u8])) {
        let now_s = self.radars.plot_time_s(utc_ns);
        if (0.0..ADVANCE_S).contains(&(now_s - self.advanced_s)) {
            return;
        }
        self.advanced_s = now_s;
        self.regularity.tick(utc_ns, tell);
        for news in self.not_used.news(&self.counts.categories_not_used, clock::monotonic_ns()) {
            say!("{news}");
        }
        self.intentions.expire(utc_ns);
        let (radars, source, motion) = (&self.radars, self.source, self.tracker.motion());
        let mut records = Vec::new();
        self.tracker.advance(now_s, |track| {
            let coasting = track.extrapolated_s.is_some();
            let moment = Moment::extrapolated(track, now_s, &motion);
            let moment = Moment { ends: true, coasting, ..moment };
            records.push(output::record(track, radars, source, moment, Vec::new()));
        });
        for record in records {
            self.emit(record, &mut send);
        }
        let mut coasting = Vec::new();
        self.tracker.coast(now_s, |slot| coasting.push(slot));
        for slot in coasting {
            self.extrapolate(slot, now_s, &mut send);
        }
    }

    /// Tells subscribers where a track that coasts is probably now.
    fn extrapolate(&mut self, slot: Slot, now_s: f64, send: &mut impl FnMut(&[u8])) {
        let extrapolate = EXTRAPOLATE.begin();
        let token = self.token(&extrapolate.correlator());
        if let Some(track) = self.tracker.track(slot) {
            let motion = &self.tracker.motion();
            let moment = Moment::extrapolated(track, now_s, motion);
            let record = output::record(track, &self.radars, self.source, moment, token);
            self.emit(record, send);
        }
        extrapolate.stop(Status::Good);
    }

    fn plots(&mut self, octets: &[u8], utc_ns: i64, send: &mut impl FnMut(&[u8])) {
        self.counts.plot_blocks += 1;
        let mut decode = DECODE.begin();
        let conversion = CONVERSION.begin();
        let mut block = std::mem::take(&mut self.block);
        block.clear();
        let mut from = None;
        for record in decode_block_of(octets, self.editions.of(octets)) {
            let Some((source, measurement)) = self.target(record, utc_ns) else { continue };
            from.get_or_insert(source);
            block.extend(measurement);
        }
        conversion.stop(Status::Good);
        for (radar, news) in self.radars.clock_news() {
            say!("radar {radar}: {news}");
        }
        #[allow(clippy::cast_precision_loss)] // at most some thousand
        decode.metric("plots", block.len() as f64);
        if let Some(radar) = from {
            decode.property("radar", &radar.to_string());
        }

        self.tracker.begin_block(block.len());
        for index in 0..block.len() {
            self.correlate(&block, index, send);
        }
        self.block = block;
        decode.stop(Status::Good);
    }

    /// Gives a plot of a block to the tracker, and tells what comes of it.
    fn correlate(&mut self, block: &[Measurement], index: usize, send: &mut impl FnMut(&[u8])) {
        let mut correlate = CORRELATE.begin();
        let outcome = self.tracker.correlate(block, index);
        self.regularity.outcome(block[index].radar, outcome);
        match outcome {
            Outcome::Updated(slot) => {
                if let Some(track) = self.tracker.track(slot) {
                    let motion = &self.tracker.motion();
                    self.radars.observe(&block[index], track, slot as usize, motion);
                    if let Some(paths) = &mut self.paths {
                        paths.add(track, &block[index], motion);
                    }
                }
                for plot in self.unconfirmed.remove(&slot).unwrap_or_default() {
                    correlate.link(&plot);
                }
                self.announce(slot, &correlate.correlator(), send);
                correlate.stop(Status::Good);
            }
            Outcome::Initiated(slot) => {
                self.unconfirmed.insert(slot, vec![correlate.correlator()]);
                correlate.stop(Status::Good);
            }
            Outcome::Tentative(slot) => {
                let plots = self.unconfirmed.entry(slot).or_default();
                if plots.len() < UNCONFIRMED_PLOTS_MAX {
                    plots.push(correlate.correlator());
                }
                correlate.stop(Status::Good);
            }
            Outcome::Repeated => correlate.stop(Status::Good),
            Outcome::Late | Outcome::Broken | Outcome::Full => {
                correlate.stop(Status::Failed);
            }
        }
    }

    fn others(&mut self, octets: &[u8], utc_ns: i64) {
        for record in decode_block(octets) {
            self.not_a_target(record, utc_ns);
        }
    }

    fn service(&mut self, message: &ServiceMessage, utc_ns: i64) {
        self.counts.service_messages += 1;
        self.stamped(message.source, message.time_of_day, utc_ns);
        if self.duplicates.is_copied_service(message, utc_ns) {
            self.counts.duplicate_services += 1;
            return;
        }
        let radar = match message.position {
            Some(at) => {
                let at = Wgs84::new(at.lat_deg, at.lon_deg, at.height_m);
                self.radars.hear_place(message.source, at)
            }
            None => self.radars.index(message.source),
        };
        if let Ok(radar) = radar {
            self.regularity.service(radar, message, utc_ns);
        }
        match (radar, message.antenna_period_s) {
            (Ok(radar), Some(period_s)) => self.tracker.set_period(radar, period_s),
            (Ok(_), None) => {}
            (Err(why), _) => self.count_unusable(&why),
        }
    }

    fn announce(&mut self, slot: Slot, correlator: &Correlator, send: &mut impl FnMut(&[u8])) {
        let token = self.token(correlator);
        let Some(track) = self.tracker.track(slot) else { return };
        debug_assert_eq!(track.phase, Phase::Confirmed);
        let moment = Moment::of_plot(track);
        let record = output::record(track, &self.radars, self.source, moment, token);
        self.tracker.announce(slot);
        self.emit(record, send);
    }

    /// Correlator of the causing transaction, in the form that a message carries.
    fn token(&mut self, correlator: &Correlator) -> Vec<u8> {
        let token = correlator.clone().with_flags(true, true).to_bytes(SPECIAL_PURPOSE_OCTETS_MAX);
        self.counts.ancestors_dropped += u64::from(token.dropped());
        token.to_vec()
    }

    fn emit(&mut self, mut record: cat062::Track, send: &mut impl FnMut(&[u8])) {
        self.intentions.complete(&mut record);
        self.message.clear();
        match encode_block(&[record], &mut self.message) {
            Ok(()) => {
                self.counts.messages += 1;
                send(&self.message);
            }
            Err(e) => {
                if self.counts.encode_failures == 0 {
                    say!("a track could not be encoded: {e}");
                }
                self.counts.encode_failures += 1;
            }
        }
    }
}

/// Whether a block of this category has targets.
fn has_targets(category: u8) -> bool {
    matches!(category, 1 | 10 | 20 | 21 | 48)
}

/// Says what has become irregular about a radar, once.
fn tell(radar: DataSource, found: &Irregularity) {
    let others = found.others.map_or_else(String::new, |others| {
        format!(" (of the others half have at most {})", found.what.amount(others))
    });
    say!("radar {radar} is irregular: {}{others}", found.what.describe(found.value));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asterix::Record;
    use crate::asterix::cat034::RadarPosition;
    use crate::asterix::cat048::{Plot, Position};
    use crate::tracker::Precision;
    use chronoscope_model::{Batch, Extras};
    use chronoscope_record::read::{Cursors, Ring};

    const NOW_NS: i64 = 1_700_000_000_000_000_000;
    const RADAR: DataSource = DataSource { sac: 25, sic: 7 };

    fn processor() -> Processor {
        let radars = Radars::new(Wgs84::new(51.0, 10.0, 0.0), Precision::default());
        Processor::new(radars, Settings::default(), DataSource { sac: 25, sic: 100 })
    }

    fn service() -> Vec<u8> {
        let message = ServiceMessage {
            source: RADAR,
            antenna_period_s: Some(4.0),
            position: Some(RadarPosition { height_m: 100.0, lat_deg: 50.0, lon_deg: 8.0 }),
            ..ServiceMessage::default()
        };
        let mut octets = Vec::new();
        encode_block(&[message], &mut octets).unwrap();
        octets
    }

    /// A plot of an aircraft that flies north at about 230 m/s, at `turn` of the antenna.
    fn plot(turn: i64) -> Vec<u8> {
        let plot = Plot {
            source: RADAR,
            time_of_day: Some(TimeOfDay::from_utc_ns(NOW_NS + turn * 4_000_000_000)),
            position: Some(Position { range_nm: 50.0 + 0.5 * turn as f64, azimuth_deg: 0.0 }),
            aircraft_address: Some(0x3C_6444),
            callsign: Some("DLH4AB".parse().unwrap()),
            ..Plot::default()
        };
        let mut octets = Vec::new();
        encode_block(&[plot], &mut octets).unwrap();
        octets
    }

    fn tracks(messages: &[Vec<u8>]) -> Vec<cat062::Track> {
        messages
            .iter()
            .flat_map(|m| decode_block(m))
            .map(|r| match r.unwrap() {
                Record::Track(track) => track,
                other => panic!("{other:?}"),
            })
            .collect()
    }

    #[test]
    fn an_aircraft_is_announced_on_its_third_plot_and_ended_when_it_is_gone() {
        let mut processor = processor();
        let mut messages: Vec<Vec<u8>> = Vec::new();
        for turn in 0..4 {
            // Service message and plot in one datagram, as a radar may send them.
            let datagram = [service(), plot(turn)].concat();
            let now = NOW_NS + turn * 4_000_000_000;
            processor.datagram(&datagram, now, |m| messages.push(m.to_vec()));
        }
        processor.tick(NOW_NS + 12_000_000_000, |m| messages.push(m.to_vec()));
        let heard = tracks(&messages);
        assert_eq!(heard.len(), 2);
        assert!(heard[0].status.unwrap().begins && !heard[1].status.unwrap().begins);
        assert_eq!(heard[1].derived.as_ref().unwrap().address, Some(0x3C_6444));
        // 0.5 NM in 4 s.
        let speed = heard[1].velocity.unwrap();
        assert!((speed.y_m_s - 231.5).abs() < 8.0 && speed.x_m_s.abs() < 20.0, "{speed:?}");
        // The token is whole, and asks the receiver not to wait for anybody.
        let token = Correlator::decode(&heard[0].special_purpose).unwrap();
        assert!(token.is_asynchronous() && token.is_independent());

        messages.clear();
        processor.tick(NOW_NS + 80_000_000_000, |m| messages.push(m.to_vec()));
        let heard = tracks(&messages);
        assert!(heard.len() == 1 && heard[0].status.unwrap().ends, "{heard:?}");
        assert!(!heard[0].status.unwrap().coasting);
    }

    /// The first two plots wait for the third: it has them as inputs, which carry their roots.
    #[test]
    fn the_plot_that_confirms_a_track_is_linked_to_those_before() {
        let mut processor = processor();
        let mut messages: Vec<Vec<u8>> = Vec::new();
        for turn in 0..4 {
            let datagram = [service(), plot(turn)].concat();
            let now = NOW_NS + turn * 4_000_000_000;
            processor.datagram(&datagram, now, |m| messages.push(m.to_vec()));
        }
        let mut ring = Ring::open(&chronoscope_record::ring_path().unwrap()).unwrap();
        let mut batch = Batch::default();
        ring.drain(&mut Cursors::default(), usize::MAX, &mut batch).unwrap();
        ring.refresh_names().unwrap();
        let of = |message: &cat062::Track| {
            let token = Correlator::decode(&message.special_purpose).unwrap();
            let all = batch.records().iter();
            *all.clone().find(|record| record.id == token.parent()).unwrap()
        };
        let heard = tracks(&messages);
        let (confirming, next) = (of(&heard[0]), of(&heard[1]));
        let links = Extras::of(batch.context(&confirming)).further_parents;
        assert_eq!(links.len(), 2);
        for link in &links {
            let before = batch.records().iter().find(|record| record.id == link.id).unwrap();
            let root = link.root.unwrap();
            assert_eq!((before.class, before.chain()), (confirming.class, link.chain));
            assert_eq!((root.start_ns, root.level), (before.root_start_ns, 1));
            assert!(before.start_ns < confirming.start_ns && link.chain != confirming.chain());
        }
        assert_ne!(links[0].chain, links[1].chain);
        assert_eq!(Extras::of(batch.context(&next)).further_parents, []);
    }

    /// A plot every 4 s until second 12, and then none for three turns.
    #[test]
    fn a_track_without_plots_is_extrapolated_every_turn_until_a_plot_comes() {
        let mut processor = processor();
        let mut messages: Vec<Vec<u8>> = Vec::new();
        for turn in 0..=3 {
            let datagram = [service(), plot(turn)].concat();
            processor.datagram(&datagram, NOW_NS + turn * 4_000_000_000, |_| {});
        }
        for second in 12..=25 {
            processor.tick(NOW_NS + second * 1_000_000_000, |m| messages.push(m.to_vec()));
        }
        let heard = tracks(&messages);
        let at_s: Vec<i64> = heard
            .iter()
            .map(|t| (t.time_of_day.unwrap().to_utc_ns(NOW_NS) - NOW_NS) / 1_000_000_000)
            .collect();
        // More than one and a quarter turns after the last plot, and then every turn.
        assert_eq!(at_s, [18, 22]);
        for (track, at_s) in heard.iter().zip([18.0, 22.0]) {
            assert!(track.status.unwrap().coasting && !track.status.unwrap().ends, "{track:?}");
            // 0.5 NM in 4 s, of a first plot at 50 NM.
            let position = track.position.unwrap();
            let north_nm = 60.0 * (position.lat_deg - 50.0);
            assert!((north_nm - 50.0 - 0.125 * at_s).abs() < 0.3, "{north_nm}");
            // Its own chain, in which nobody waits either.
            let token = Correlator::decode(&track.special_purpose).unwrap();
            assert!(token.is_asynchronous() && token.is_independent());
        }
        let accuracy = |track: &cat062::Track| track.accuracy.unwrap().cartesian_m.unwrap().1;
        assert!(accuracy(&heard[1]) > accuracy(&heard[0]));
        assert_eq!(processor.tracker_counts().extrapolated, 2);

        messages.clear();
        processor.datagram(&plot(6), NOW_NS + 24_000_000_000, |m| messages.push(m.to_vec()));
        processor.tick(NOW_NS + 26_000_000_000, |m| messages.push(m.to_vec()));
        let heard = tracks(&messages);
        assert!(heard.len() == 1 && !heard[0].status.unwrap().coasting, "{heard:?}");
        for second in 27..=50 {
            processor.tick(NOW_NS + second * 1_000_000_000, |m| messages.push(m.to_vec()));
        }
        let last = tracks(&messages).pop().unwrap();
        assert!(last.status.unwrap().ends && last.status.unwrap().coasting, "{last:?}");
    }

    #[test]
    fn bad_input_is_counted_by_reason_and_what_follows_is_used() {
        let mut processor = processor();
        processor.datagram(&plot(0), NOW_NS, |_| {});
        assert_eq!(processor.counts().unusable["radar position unknown"], 1);
        let cut = &plot(0)[..9];
        processor.datagram(cut, NOW_NS, |_| {});
        processor.datagram(&[48, 0], NOW_NS, |_| {});
        processor.datagram(&[], NOW_NS, |_| {});
        assert_eq!(processor.counts().malformed, 2);
        let mut heard = 0;
        // The plot that came before the radar's position would be a copy.
        for turn in 1..4 {
            let datagram = [vec![240, 0, 4, 9], service(), plot(turn), vec![0; 6]].concat();
            processor.datagram(&datagram, NOW_NS + turn * 4_000_000_000, |_| heard += 1);
        }
        assert_eq!(heard, 1);
        assert_eq!(processor.counts().other, 3);
        assert_eq!(processor.counts().categories_not_used, BTreeMap::from([(240, 3)]));
        assert_eq!((processor.counts().padding_octets, processor.counts().malformed), (18, 2));
    }
}
