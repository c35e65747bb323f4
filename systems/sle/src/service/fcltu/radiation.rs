//! The buffer of CLTUs and their radiation, without thread or clock: which CLTU is next and when,
//! what becomes of it, and what the user is told of it. Source: CCSDS 912.1, ASYNC-NOTIFY and
//! TRANSFER-DATA; the operations' own rules are the provider's.
//!
//! A CLTU is in the buffer until its radiation starts. Radiation is in the order of numbers. A
//! CLTU that cannot be radiated (too late, interrupted) takes those behind it along: they are
//! discarded, and no more are taken until the user has stopped and started again, because a
//! spacecraft must not see telecommands with one missing in between. That is [`LossDiscipline::Sequence`];
//! with [`LossDiscipline::Each`], which is buffered data processing's (CCSDS 921.1), one that is lost is
//! lost alone, and interruptions only hold the others up.

use super::config::NotificationMode;
use super::limits::BufferLimits;
use super::step::{
    AwaitedCondition, CltuRefusal, LossDiscipline, QueuedCltu, RadiationConfig, RadiationStep,
};
use crate::pdu::{
    CltuAsyncNotify, CltuId, CltuLastOk, CltuLastProcessed, CltuNotification, CltuProductionStatus,
    CltuStatus, CltuStatusReport, UplinkStatus,
};
use crate::time::{Now, Time};
use std::collections::VecDeque;

/// A CLTU that is being radiated.
#[derive(Clone, Copy, Debug)]
struct OnAir {
    cltu: CltuId,
    notify: bool,
    /// End of its radiation, on the monotonic clock, in nanoseconds.
    ends_ns: u64,
    delay_ns: u64,
}

/// Notices that wait for the association before radiation waits for it.
const NOTICES_MAX: usize = 4096;

/// The buffer and what is done with it.
#[derive(Debug)]
pub struct Radiation {
    limits: BufferLimits,
    bit_rate: Option<u64>,
    mode: NotificationMode,
    notify_buffer_empty: bool,
    discipline: LossDiscipline,

    waiting: VecDeque<QueuedCltu>,
    octets: u32,
    on_air: Option<OnAir>,
    /// Silence until then, of the monotonic clock, ns.
    silent_until_ns: u64,

    status: CltuProductionStatus,
    uplink: UplinkStatus,
    /// The user was told that production is interrupted or halted, and not that it goes on
    /// ([`LossDiscipline::Each`]).
    told_of_stop: bool,
    awaited: Option<AwaitedCondition>,
    /// Between START and STOP.
    active: bool,
    /// No CLTU is taken before the next START.
    blocked: bool,
    /// A user is bound and is notified.
    bound: bool,
    closed: bool,

    received: u32,
    processed: u32,
    radiated: u32,
    discarded: u64,
    last_processed: Option<CltuLastProcessed>,
    last_ok: Option<CltuLastOk>,
    /// No time that is told is before this one, UTC in ns since 1970: a user tells sessions apart
    /// by times, and clocks are set back.
    told_utc_ns: u64,
    notices: VecDeque<CltuAsyncNotify>,
}

impl Radiation {
    /// An empty buffer.
    #[must_use]
    pub fn new(config: impl Into<RadiationConfig>) -> Self {
        let config = config.into();
        Self {
            limits: config.limits,
            bit_rate: config.bit_rate,
            mode: config.notification_mode,
            notify_buffer_empty: config.notify_buffer_empty,
            discipline: config.discipline,
            waiting: VecDeque::new(),
            octets: 0,
            on_air: None,
            silent_until_ns: 0,
            status: config.production,
            uplink: UplinkStatus::NotAvailable,
            told_of_stop: false,
            awaited: None,
            active: false,
            blocked: false,
            bound: false,
            closed: false,
            received: 0,
            processed: 0,
            radiated: 0,
            discarded: 0,
            last_processed: None,
            last_ok: None,
            told_utc_ns: 0,
            notices: VecDeque::new(),
        }
    }

    /// Whether a CLTU of so many octets can be taken.
    ///
    /// # Errors
    /// [`CltuRefusal`], in the order of the book's diagnostics.
    pub fn room(&self, octets: usize) -> Result<(), CltuRefusal> {
        let unable = match self.status {
            CltuProductionStatus::Halted => true,
            // Deferred: the user does not know yet, and need never know if it is over before a
            // CLTU's turn comes.
            CltuProductionStatus::Interrupted => self.mode == NotificationMode::Immediate,
            CltuProductionStatus::Operational | CltuProductionStatus::Configured => false,
        };
        if self.discipline == LossDiscipline::Sequence && (unable || self.blocked) {
            return Err(CltuRefusal::UnableToProcess);
        }
        if octets > self.available() as usize || self.waiting.len() >= self.limits.cltus {
            return Err(CltuRefusal::UnableToStore);
        }
        Ok(())
    }

    /// Takes a CLTU.
    ///
    /// # Errors
    /// As [`Radiation::room`].
    pub fn take(&mut self, cltu: QueuedCltu) -> Result<(), CltuRefusal> {
        self.room(cltu.data.len())?;
        // `room` has compared it with a u32.
        self.octets += u32::try_from(cltu.data.len()).unwrap_or(0);
        self.received = self.received.wrapping_add(1);
        self.waiting.push_back(cltu);
        if self.discipline == LossDiscipline::Each
            && self.status == CltuProductionStatus::Interrupted
            && !self.told_of_stop
        {
            // It is the first that is held up.
            self.told_of_stop = self.bound;
            self.notice(CltuNotification::ProductionInterrupted);
        }
        Ok(())
    }

    /// Throws away the oldest, until there is room for so many octets in so many data units (or
    /// nothing is left), and says how many that were.
    pub fn make_room(&mut self, octets: usize, units: usize) -> u32 {
        let mut thrown = 0;
        while !self.has_room(octets, units) && self.drop_first() {
            thrown += 1;
        }
        thrown
    }

    /// Whether so many octets in so many data units have room, whatever production is like.
    #[must_use]
    pub fn has_room(&self, octets: usize, units: usize) -> bool {
        octets <= self.available() as usize && self.waiting.len() + units <= self.limits.cltus
    }

    /// Throws away the first in the buffer, where there is one.
    fn drop_first(&mut self) -> bool {
        let Some(first) = self.waiting.pop_front() else { return false };
        self.octets -= u32::try_from(first.data.len()).unwrap_or(0);
        self.discarded += 1;
        true
    }

    /// The association wants to be woken for it, once; `None`: for nothing.
    pub fn wait_for(&mut self, awaited: Option<AwaitedCondition>) {
        self.awaited = awaited;
    }

    /// Whether there is something that the association waits for: notices, or what it said.
    #[must_use]
    pub fn has_word(&self) -> bool {
        self.has_notices()
            || match self.awaited {
                None => false,
                Some(AwaitedCondition::Room { octets, units }) => self.has_room(octets, units),
                Some(AwaitedCondition::Silence) => !self.is_radiating(),
            }
    }

    /// The end of what is being radiated is not told, because whoever asked for it is gone.
    pub(crate) fn mute(&mut self) {
        if let Some(on_air) = &mut self.on_air {
            on_air.notify = false;
        }
    }

    /// Whether one is being radiated.
    #[must_use]
    pub fn is_radiating(&self) -> bool {
        self.on_air.is_some()
    }

    /// Whether none is taken before the next START.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        self.blocked
    }

    /// The buffer is thrown away, and is as after START. What is being radiated is not in it.
    pub fn reset(&mut self) {
        self.discard();
        self.blocked = false;
    }

    /// Bounds of the buffer.
    #[must_use]
    pub fn limits(&self) -> BufferLimits {
        self.limits
    }

    /// Octets of the buffer that are free.
    #[must_use]
    pub fn available(&self) -> u32 {
        self.limits.octets - self.octets
    }

    /// CLTUs in the buffer.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// CLTUs that were taken and thrown away unradiated, all in all.
    #[must_use]
    pub fn discarded(&self) -> u64 {
        self.discarded
    }

    /// The production status.
    #[must_use]
    pub fn status(&self) -> CltuProductionStatus {
        self.status
    }

    /// Ends what has ended, and says what is next.
    pub fn next(&mut self, now: Now) -> RadiationStep {
        if let Some(on_air) = self.on_air {
            if now.monotonic_ns < on_air.ends_ns {
                return RadiationStep::Wait(on_air.ends_ns);
            }
            self.radiated(on_air, now);
        }
        if self.closed {
            return RadiationStep::Closed;
        }
        if self.notices.len() >= NOTICES_MAX {
            return RadiationStep::Idle; // until they are taken
        }
        self.start_next(now)
    }

    /// Next step while no CLTU is being radiated.
    fn start_next(&mut self, now: Now) -> RadiationStep {
        if self.discipline == LossDiscipline::Each {
            let is_over =
                |head: &QueuedCltu| head.latest_utc_ns.is_some_and(|latest| latest < now.utc_ns);
            while self.waiting.front().is_some_and(is_over) {
                self.drop_first();
            }
        }
        let Some(head) = self.waiting.front() else { return RadiationStep::Idle };
        let until = |utc_ns: u64| now.monotonic_ns + utc_ns.saturating_sub(now.utc_ns);
        if head.latest_utc_ns.is_some_and(|latest| latest < now.utc_ns) {
            let cltu = head.cltu;
            self.lose(cltu, CltuStatus::Expired, CltuNotification::SlduExpired);
            return RadiationStep::Idle;
        }
        // One nanosecond after its latest time a CLTU is too late: so long there is time.
        let expires_ns = head.latest_utc_ns.map(|latest| until(latest.saturating_add(1)));
        let mut starts_ns = self.silent_until_ns;
        if let Some(earliest) = head.earliest_utc_ns {
            starts_ns = starts_ns.max(until(earliest));
        }
        if now.monotonic_ns < starts_ns {
            return RadiationStep::Wait(expires_ns.map_or(starts_ns, |ns| ns.min(starts_ns)));
        }
        match self.status {
            CltuProductionStatus::Operational => self.start(now),
            _ if self.discipline == LossDiscipline::Each => {
                expires_ns.map_or(RadiationStep::Idle, RadiationStep::Wait)
            }
            CltuProductionStatus::Configured => {
                expires_ns.map_or(RadiationStep::Idle, RadiationStep::Wait)
            }
            CltuProductionStatus::Interrupted | CltuProductionStatus::Halted => {
                let (cltu, what) = (head.cltu, CltuNotification::ProductionInterrupted);
                self.lose(cltu, CltuStatus::RadiationNotStarted, what);
                RadiationStep::Idle
            }
        }
    }

    /// Radiation of the first in the buffer starts.
    fn start(&mut self, now: Now) -> RadiationStep {
        let Some(cltu) = self.waiting.pop_front() else { return RadiationStep::Idle };
        self.octets -= u32::try_from(cltu.data.len()).unwrap_or(0);
        let on_air_ns = self
            .bit_rate
            .map_or(0, |rate| cltu.data.len() as u64 * 8 * 1_000_000_000 / rate.max(1));
        self.on_air = Some(OnAir {
            cltu: cltu.cltu,
            notify: cltu.notify,
            ends_ns: now.monotonic_ns + on_air_ns,
            delay_ns: u64::from(cltu.delay_us) * 1000,
        });
        self.processed = self.processed.wrapping_add(1);
        let start_radiation = self.stamp(now.utc_ns);
        self.last_processed = Some(CltuLastProcessed {
            cltu: cltu.cltu,
            start_radiation: Some(start_radiation),
            status: CltuStatus::RadiationStarted,
        });
        RadiationStep::Radiate(cltu)
    }

    /// Radiation has ended well.
    fn radiated(&mut self, on_air: OnAir, now: Now) {
        self.on_air = None;
        self.radiated = self.radiated.wrapping_add(1);
        self.silent_until_ns = on_air.ends_ns + on_air.delay_ns;
        if let Some(last) = &mut self.last_processed {
            last.status = CltuStatus::Radiated;
        }
        // When it ended, though it may be seen later.
        let ended_utc_ns = now.utc_ns.saturating_sub(now.monotonic_ns - on_air.ends_ns);
        let stop_radiation = self.stamp(ended_utc_ns);
        self.last_ok = Some(CltuLastOk { cltu: on_air.cltu, stop_radiation });
        if on_air.notify {
            self.notice(CltuNotification::CltuRadiated);
        }
        if self.waiting.is_empty() && self.active && self.notify_buffer_empty {
            // One for all times that it became empty before the user could be told.
            if self.notices.back().is_some_and(|n| n.notification == CltuNotification::BufferEmpty)
            {
                self.notices.pop_back();
            }
            self.notice(CltuNotification::BufferEmpty);
        }
    }

    /// A time that is told.
    fn stamp(&mut self, utc_ns: u64) -> Time {
        self.told_utc_ns = self.told_utc_ns.max(utc_ns);
        Time::from_utc_ns(self.told_utc_ns)
    }

    /// The first in the buffer cannot be radiated, and so none can.
    fn lose(&mut self, cltu: CltuId, status: CltuStatus, what: CltuNotification) {
        self.processed = self.processed.wrapping_add(1);
        self.last_processed = Some(CltuLastProcessed { cltu, start_radiation: None, status });
        self.block();
        self.notice(what);
    }

    /// Throws the buffer away; nothing is taken until the next START.
    fn block(&mut self) {
        self.discard();
        self.blocked = self.active;
    }

    /// Throws the buffer away. What is being radiated is not in it.
    fn discard(&mut self) {
        self.discarded += self.waiting.len() as u64;
        self.waiting.clear();
        self.octets = 0;
    }

    fn notice(&mut self, notification: CltuNotification) {
        if self.bound {
            let notice = self.notify(notification);
            self.notices.push_back(notice);
        }
    }

    /// An ASYNC-NOTIFY as things are.
    pub(crate) fn notify(&self, notification: CltuNotification) -> CltuAsyncNotify {
        CltuAsyncNotify {
            notification,
            last_processed: self.last_processed,
            last_ok: self.last_ok,
            production: self.status,
            uplink: self.uplink,
        }
    }

    /// A STATUS-REPORT as things are.
    #[must_use]
    pub fn report(&self) -> CltuStatusReport {
        CltuStatusReport {
            last_processed: self.last_processed,
            last_ok: self.last_ok,
            production: self.status,
            uplink: self.uplink,
            received: self.received,
            processed: self.processed,
            radiated: self.radiated,
            buffer_available: self.available(),
        }
    }

    /// The oldest thing that the user has to be told.
    pub fn next_notice(&mut self) -> Option<CltuAsyncNotify> {
        self.notices.pop_front()
    }

    /// Whether there is something that the user has to be told.
    #[must_use]
    pub fn has_notices(&self) -> bool {
        !self.notices.is_empty()
    }

    /// Production is different from now on; nothing where it is not.
    pub fn set_status(&mut self, status: CltuProductionStatus, now: Now) {
        if self.on_air.is_some_and(|on_air| on_air.ends_ns <= now.monotonic_ns) {
            // It had ended before.
            if let Some(on_air) = self.on_air {
                self.radiated(on_air, now);
            }
        }
        if status == self.status {
            return;
        }
        self.status = status;
        match self.discipline {
            LossDiscipline::Sequence => self.sequence_stopped(status),
            LossDiscipline::Each => self.each_stopped(status),
        }
    }

    /// Effect of a production status on a sequence without a loss.
    fn sequence_stopped(&mut self, status: CltuProductionStatus) {
        match status {
            CltuProductionStatus::Configured => {}
            CltuProductionStatus::Operational => {
                self.notice(CltuNotification::ProductionOperational);
            }
            CltuProductionStatus::Interrupted => {
                let hit = self.cut();
                if hit || self.mode == NotificationMode::Immediate {
                    self.block();
                    self.notice(CltuNotification::ProductionInterrupted);
                }
            }
            CltuProductionStatus::Halted => {
                self.cut();
                self.block();
                self.notice(CltuNotification::ProductionHalted);
            }
        }
    }

    /// Effect of a production status on independent data units.
    fn each_stopped(&mut self, status: CltuProductionStatus) {
        let was_told = std::mem::take(&mut self.told_of_stop);
        match status {
            // The procedure tells of it: this has no notice.
            CltuProductionStatus::Configured => self.told_of_stop = self.bound,
            CltuProductionStatus::Operational => {
                if was_told {
                    self.notice(CltuNotification::ProductionOperational);
                }
            }
            CltuProductionStatus::Interrupted => {
                let hit = self.cut() || !self.waiting.is_empty();
                self.told_of_stop = was_told || hit && self.bound;
                if hit {
                    self.notice(CltuNotification::ProductionInterrupted);
                }
            }
            CltuProductionStatus::Halted => {
                self.cut();
                self.told_of_stop = self.bound;
                self.notice(CltuNotification::ProductionHalted);
            }
        }
    }

    /// Cuts the radiation short, and says whether there was one.
    fn cut(&mut self) -> bool {
        if self.on_air.take().is_none() {
            return false;
        }
        if let Some(last) = &mut self.last_processed {
            last.status = CltuStatus::Interrupted;
        }
        true
    }

    /// The uplink is so from now on.
    pub fn set_uplink(&mut self, uplink: UplinkStatus) {
        self.uplink = uplink;
    }

    /// A user has bound.
    pub fn bound(&mut self) {
        self.bound = true;
        self.told_of_stop = false;
        self.awaited = None;
        self.notices.clear();
    }

    /// No user is bound any more.
    pub(crate) fn unbound(&mut self, discard: bool) {
        if discard {
            self.discard();
        }
        self.bound = false;
        self.told_of_stop = false;
        self.awaited = None;
        self.active = false;
        self.blocked = false;
        self.notices.clear();
    }

    /// START was accepted, and its return names a time. It may be a microsecond ahead.
    pub(crate) fn started(&mut self, session: Time) {
        self.stamp(session.utc_ns().unwrap_or(0));
        self.active = true;
        self.blocked = false;
    }

    /// STOP: what is being radiated is radiated to its end, the rest is not.
    pub(crate) fn stopped(&mut self) {
        self.discard();
        self.active = false;
        self.blocked = false;
    }

    /// Ends the radiation: no further CLTU is radiated, not even one in the buffer.
    pub fn close(&mut self) {
        self.discard();
        self.closed = true;
    }
}
