//! Sends the CLTUs of one association of a forward link, from START to UNBIND.

use super::control::{LinkControl, LinkState};
use super::flight::CltuFlight;
use super::ledger::CltuLedger;
use super::program::GivenCltu;
use super::programs::CltuIntake;
use super::session::SessionError;
use crate::client::{ClientError, CltuTransfer, SleOccurrence, User, notation};
use crate::config::NotifySetting;
use crate::journal::{FateWord, GivenEntry, JournalEntry, JournalFailed, JournalWriter};
use crate::pdu::{CltuNotification, Diagnostic, ReportRequest, UnbindReason};
use crate::service::fcltu::diagnostic::{TRANSFER_UNABLE_TO_PROCESS, TRANSFER_UNABLE_TO_STORE};
use crate::time::Time;
use chronoscope_clock as clock;
use std::collections::VecDeque;
use std::time::Duration;

/// Interval of the looks at returns and at the schedule.
const LOOK: Duration = Duration::from_millis(20);
/// CLTUs of a reservation at most.
const BATCH: usize = 1024;
/// A report of radiation is asked for with every so many CLTUs at least,
const REPORT_CLTUS: u32 = 64;
/// and after so much time, in ns.
const REPORT_NS: u64 = 100_000_000;
/// Without a report of radiation for so long, a status report is requested, in ns.
const SILENT_NS: u64 = 5_000_000_000;

/// The parts of a link that a sender works with.
#[derive(Clone, Copy)]
pub(super) struct SenderParts<'a> {
    pub(super) intake: &'a CltuIntake,
    pub(super) ledger: &'a CltuLedger,
    pub(super) notify: NotifySetting,
    /// How long reports are waited for before STOP, in ns.
    pub(super) settle_ns: u64,
}

/// Sends the CLTUs of a session.
pub(super) struct CltuSender<'a> {
    parts: SenderParts<'a>,
    user: &'a User,
    writer: &'a JournalWriter,
    flight: &'a CltuFlight<'a>,
    control: &'a LinkControl,
    /// Index at position 0.
    first: u64,
    /// Number of the next CLTU.
    next_number: u32,
    /// Positions that are reserved, and those whose CLTUs were sent at least once.
    reserved: u64,
    pub(super) handed: u64,
    /// Reserved and not sent yet.
    ready: VecDeque<GivenCltu>,
    /// Refused for want of room, or because one before was refused: they go first.
    again: VecDeque<GivenCltu>,
    /// Numbers of CLTUs without a return, oldest first.
    unreturned: VecDeque<u32>,
    acknowledged: u64,
    /// CLTUs since the last one whose radiation is reported, and when it was sent.
    unreported: u32,
    reported_ns: u64,
    /// Number of CLTUs without a report, and since when, in ns.
    silent: (u32, u64),
    /// Why a CLTU was refused last.
    refusal: Diagnostic,
    /// The station takes no CLTU before STOP and START.
    is_stuck: bool,
}

impl<'a> CltuSender<'a> {
    pub(super) fn new(
        parts: SenderParts<'a>,
        user: &'a User,
        writer: &'a JournalWriter,
        flight: &'a CltuFlight<'a>,
        first: u64,
        control: &'a LinkControl,
    ) -> Self {
        let now_ns = clock::monotonic_ns();
        Self {
            parts,
            user,
            writer,
            flight,
            control,
            first,
            #[allow(clippy::cast_possible_truncation)] // below 2^31
            next_number: first as u32,
            reserved: 0,
            handed: 0,
            ready: VecDeque::new(),
            again: VecDeque::new(),
            unreturned: VecDeque::new(),
            acknowledged: 0,
            unreported: 0,
            reported_ns: now_ns,
            silent: (0, now_ns),
            refusal: TRANSFER_UNABLE_TO_STORE,
            is_stuck: false,
        }
    }

    /// Sends until the pass or the association ends.
    pub(super) fn run(&mut self) -> Result<(), SessionError> {
        let ended = loop {
            self.returns();
            if self.user.ending().is_some() || self.control.is_over() {
                break Ok(());
            }
            if self.is_stuck || self.flight.has_loss() {
                break Err(SessionError::Lost);
            }
            let ready = match self.next() {
                Ok(ready) => ready,
                Err(error) => break Err(error.into()),
            };
            let Some((cltu, is_new)) = ready else {
                if let Err(error) = self.look() {
                    break Err(error);
                }
                self.parts.intake.wait(LOOK);
                continue;
            };
            if let Err(error) = self.send(cltu, is_new) {
                break Err(error);
            }
        };
        let ended = match ended {
            Err(SessionError::Client(ClientError::Interrupted)) => Ok(()),
            other => other,
        };
        if self.user.ending().is_none() {
            let finished = self.finish();
            return ended.and(finished);
        }
        ended.and_then(|()| Err(ClientError::Ended(self.ending()).into()))
    }

    fn ending(&self) -> String {
        self.user.ending().map_or_else(String::new, |ending| notation::ending(&ending))
    }

    /// The next CLTU, and whether it was not sent before. New ones are reserved, all that wait at once.
    fn next(&mut self) -> Result<Option<(GivenCltu, bool)>, JournalFailed> {
        if let Some(cltu) = self.again.pop_front() {
            return Ok(Some((cltu, false)));
        }
        if self.ready.is_empty() {
            let mut batch = self.parts.intake.next(BATCH);
            if batch.is_empty() {
                return Ok(None);
            }
            let mut entries = Vec::with_capacity(batch.len());
            for cltu in &mut batch {
                let index = self.first + self.reserved;
                cltu.index = Some(index);
                let request = &cltu.request;
                let given = GivenEntry::new(self.reserved, request.reference, &request.data);
                entries.push(JournalEntry::Given(given));
                self.parts.ledger.reserve(index, request.reference);
                self.reserved += 1;
            }
            self.ready.extend(batch);
            self.writer.reserve_exact(self.reserved, entries)?;
        }
        Ok(self.ready.pop_front().map(|cltu| (cltu, true)))
    }

    fn send(&mut self, cltu: GivenCltu, is_new: bool) -> Result<(), SessionError> {
        let time = |utc_ns: Option<u64>| utc_ns.map(Time::from_utc_ns);
        let transfer = CltuTransfer {
            data: cltu.request.data.clone(),
            earliest: time(cltu.request.earliest_utc_ns),
            latest: time(cltu.request.latest_utc_ns),
            delay_us: cltu.request.delay_us,
            notify_radiated: self.is_reported(),
        };
        let number = self.next_number;
        let sent = self.user.statistics().sent;
        // Before it is sent: its fate may be reported at once.
        self.flight.depart(number, cltu);
        let result = self.user.transfer(transfer);
        if self.user.statistics().sent > sent {
            self.next_number = number.wrapping_add(1);
            self.handed += u64::from(is_new);
            self.unreturned.push_back(number);
        } else if let Some(cltu) = self.flight.take_back(number) {
            let queue = if is_new { &mut self.ready } else { &mut self.again };
            queue.push_front(cltu);
        }
        match result {
            Ok(_) => Ok(()),
            Err(error @ ClientError::CltuRefused { .. }) => {
                self.all_returned(&error);
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the radiation of the next CLTU is to be reported: by the configuration, and often enough.
    fn is_reported(&mut self) -> bool {
        let now_ns = clock::monotonic_ns();
        self.unreported += 1;
        let is_due = self.parts.notify == NotifySetting::Every
            || self.again.is_empty() && self.ready.is_empty()
            || self.unreported >= REPORT_CLTUS
            || now_ns.saturating_sub(self.reported_ns) >= REPORT_NS;
        if is_due {
            (self.unreported, self.reported_ns) = (0, now_ns);
        }
        is_due
    }

    /// Takes the returns that have come.
    fn returns(&mut self) {
        self.acknowledgements();
        if let Some(error) = self.user.refused_cltu() {
            self.all_returned(&error);
        }
    }

    fn acknowledgements(&mut self) {
        let acknowledged = self.user.statistics().acknowledged;
        while self.acknowledged < acknowledged
            && let Some(one) = self.unreturned.pop_front()
        {
            self.flight.acknowledge(one);
            self.acknowledged += 1;
        }
    }

    /// A CLTU was refused, and all that was sent has its return.
    fn all_returned(&mut self, error: &ClientError) {
        let ClientError::CltuRefused { diagnostic, expected, .. } = error else { return };
        // If the association has ended, some have none, and the client tells the fate of each.
        if self.user.ending().is_none() {
            self.acknowledgements();
            self.refused(*diagnostic, *expected);
        }
    }

    /// A CLTU was refused, and with it all that were sent after it. What has no room is sent again, and
    /// so are those that were refused only because one before them was. When the station cannot process
    /// CLTUs, all are refused.
    fn refused(&mut self, diagnostic: Diagnostic, expected: u32) {
        self.refusal = diagnostic;
        self.is_stuck |= diagnostic == TRANSFER_UNABLE_TO_PROCESS;
        let mut is_first = diagnostic != TRANSFER_UNABLE_TO_STORE;
        let mut again = VecDeque::new();
        for number in self.unreturned.drain(..) {
            let Some(cltu) = self.flight.take_back(number) else { continue };
            if std::mem::take(&mut is_first) || self.is_stuck {
                self.flight.refuse(number, cltu, diagnostic);
            } else {
                again.push_back(cltu);
            }
        }
        again.append(&mut self.again);
        self.again = again;
        self.next_number = expected;
    }

    /// Looks at what the provider says, and asks for a status report after a silence.
    fn look(&mut self) -> Result<(), SessionError> {
        while let Some(happened) = self.user.next_occurrence(Duration::ZERO) {
            say(&happened, self.control);
        }
        let (unsettled, now_ns) = (self.user.statistics().unsettled, clock::monotonic_ns());
        if unsettled == 0 || unsettled != self.silent.0 {
            self.silent = (unsettled, now_ns);
        } else if now_ns.saturating_sub(self.silent.1) >= SILENT_NS {
            self.silent.1 = now_ns;
            self.report()?;
        }
        Ok(())
    }

    /// Requests a status report; a provider that refuses it is not asked again for a while.
    fn report(&self) -> Result<(), SessionError> {
        match self.user.schedule(ReportRequest::Immediately) {
            Err(error @ ClientError::Refused { .. }) => {
                self.control.say(&error.to_string());
                Ok(())
            }
            other => Ok(other?),
        }
    }

    /// The pass ends: waits for returns and reports, then stops and unbinds.
    fn finish(&mut self) -> Result<(), SessionError> {
        self.control.set(LinkState::Ending, String::new);
        let until_ns = clock::monotonic_ns().saturating_add(self.parts.settle_ns);
        let is_open = |sender: &Self| {
            let counts = sender.user.statistics();
            counts.unacknowledged > 0 || counts.unsettled > 0
        };
        while is_open(self) && clock::monotonic_ns() < until_ns && self.user.ending().is_none() {
            clock::sleep(LOOK);
            self.returns();
        }
        let stopped = self.user.stop();
        if stopped.is_ok() && self.user.statistics().unsettled > 0 {
            // After STOP nothing more is radiated: a last report says what was.
            self.report()?;
            let until_ns = clock::monotonic_ns() + SILENT_NS;
            while clock::monotonic_ns() < until_ns && self.user.ending().is_none() {
                if let Some(SleOccurrence::Report(_)) = self.user.next_occurrence(LOOK) {
                    break;
                }
            }
        }
        self.returns();
        self.user.unbind(UnbindReason::End)?;
        Ok(stopped?)
    }

    /// What was reserved and never sent is not sent; what was refused for want of room is refused.
    pub(super) fn give_up(&mut self) {
        self.returns();
        for cltu in std::mem::take(&mut self.again) {
            self.flight.refuse(self.next_number, cltu, self.refusal);
        }
        for mut cltu in std::mem::take(&mut self.ready) {
            if let Some(index) = cltu.index {
                self.parts.ledger.settle(index, FateWord::NotSent, None);
            }
            cltu.answer(None, FateWord::NotSent, Some("the link went down before"), true);
        }
    }
}

/// Logs changes of production and uplink, and what is wrong.
fn say(happened: &SleOccurrence, control: &LinkControl) {
    match happened {
        SleOccurrence::Notified(notify) => match notify.notification {
            CltuNotification::CltuRadiated | CltuNotification::BufferEmpty => {}
            _ => control.say(&notation::async_notify(notify).to_string()),
        },
        SleOccurrence::Ignored(why) => control.say(why),
        _ => {}
    }
}
