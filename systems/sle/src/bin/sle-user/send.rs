//! `send`: sends CLTUs, with or without a rate, waits for their radiation, and prints the fate of each.

use super::args::{Args, SendArgs};
use super::delivery::{FateCollector, ask_for_fates, wait_for_fates};
use super::pieces::{DataSource, PROGRESS_NS, pace};
use super::say::UserOutput;
use super::send_plan::SendWork;
use super::send_report::{self, SessionResult};
use super::{bound, unbind};
use anyhow::bail;
use bytes::Bytes;
use chronoscope_clock as clock;
use chronoscope_sle::client::{ClientError, ClientSettings, CltuTransfer, User};
use chronoscope_sle::cltu;
use chronoscope_sle::config::{Config, NotifySetting, format_instance};
use chronoscope_sle::journal::{JournalFailed, JournalWriter, SendPlan, SessionEntry};
use chronoscope_sle::pdu::{BufferNotification, Diagnostic, ServiceType};
use chronoscope_sle::service::fcltu::diagnostic::TRANSFER_UNABLE_TO_STORE;
use chronoscope_sle::time::{Now, Time};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

/// Diagnostic of a full buffer: the only one after which a CLTU is sent again.
const UNABLE_TO_STORE: Diagnostic = TRANSFER_UNABLE_TO_STORE;
/// A report of radiation is asked for with at least every so many CLTUs,
const REPORT_CLTUS: u64 = 64;
/// and after so much time, in ns: the journal is not behind for longer than that.
const REPORT_NS: u64 = 100_000_000;

pub(crate) fn run(
    config: &Config,
    args: &Args,
    send: &SendArgs,
    mut settings: ClientSettings,
    say: UserOutput,
) -> anyhow::Result<ExitCode> {
    if settings.association.service != ServiceType::Fcltu {
        bail!(
            "the service instance is of {:?}: send needs one of FCLTU",
            settings.association.service
        );
    }
    let pieces = DataSource::open(send.file.as_deref(), send.generate, send.octets)?;
    settings.window = send.window.or(settings.window);
    let notify = config
        .find(args.instance.as_deref())
        .map_or(NotifySetting::None, |instance| instance.forward().notify);
    let instance = format_instance(&settings.association.instance);
    let work = SendWork::of(send, &pieces, &instance)?;
    let path = work.path.clone();
    if let Some(path) = &path {
        say.talk(&format!("journal {}", path.display()));
    }
    if work.plan.is_empty() {
        return nothing_left(&work, send.acknowledged, say);
    }
    let interrupt = Arc::clone(&settings.interrupt);
    let started = started(settings, work.first, say);
    if let (Err(_), Some(path), None) = (&started, &path, &send.resume) {
        // Nothing was sent, and a new journal says nothing.
        drop(std::fs::remove_file(path));
    }
    let user = started?;
    let session = SessionEntry { first: work.first, plan: work.plan.clone() };
    let journal = JournalWriter::begin(work.journal, pieces.count(), session)?;
    let start_ns = clock::monotonic_ns();
    let sending = Sending {
        send,
        pieces: &pieces,
        plan: &work.plan,
        first: work.first,
        notify,
        user: &user,
        journal: &journal,
        say,
        start_ns,
    };
    let mut collector = FateCollector::new(&user, work.first);
    let (answered_ns, ended) = std::thread::scope(|scope| {
        let writing = scope.spawn(|| journal.run(|entries| collector.collect(entries)));
        let (answered_ns, ended) = sending.session(&interrupt);
        let counts = user.statistics();
        journal.close(counts.sent - counts.resent);
        match writing.join() {
            Ok(Ok(())) => {}
            Ok(Err(error)) => say.fault(&error.to_string()),
            Err(panic) => std::panic::resume_unwind(panic),
        }
        (answered_ns, ended)
    });
    if let Err(error) = &ended {
        say.fault(&error.to_string());
    }
    let state = journal.state();
    let session = SessionResult { user: Some(&user), answered_ns, journal: path.as_deref() };
    send_report::print(&state, &session, say)?;
    Ok(send_report::exit_code(state.fates(), send.acknowledged))
}

/// Prints the fates of a transfer whose CLTUs all have one that is not to be sent again.
fn nothing_left(
    work: &SendWork,
    accepts_acknowledged: bool,
    say: UserOutput,
) -> anyhow::Result<ExitCode> {
    let Some(journal) = &work.journal else { bail!("there is no CLTU to send") };
    say.talk("nothing is left to be sent");
    let state = journal.state();
    let session = SessionResult { user: None, answered_ns: 0, journal: work.path.as_deref() };
    send_report::print(state, &session, say)?;
    Ok(send_report::exit_code(state.fates(), accepts_acknowledged))
}

/// Binds and starts.
fn started(settings: ClientSettings, first: u32, say: UserOutput) -> anyhow::Result<User> {
    let user = bound(settings, say)?;
    user.start_forward(first)?;
    Ok(user)
}

/// Why no further CLTU is sent.
#[derive(Debug, thiserror::Error)]
enum SendFailure {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(transparent)]
    Journal(#[from] JournalFailed),
}

struct Sending<'a> {
    send: &'a SendArgs,
    pieces: &'a DataSource,
    plan: &'a SendPlan,
    /// CLTU identification at position 0.
    first: u32,
    notify: NotifySetting,
    user: &'a User,
    journal: &'a JournalWriter,
    say: UserOutput,
    start_ns: u64,
}

/// Progress of a session.
#[derive(Clone, Copy)]
struct Progress {
    /// Position of the next CLTU.
    next: u64,
    told_ns: u64,
    /// Position behind the last CLTU whose radiation is reported, and when it was sent.
    reported: u64,
    reported_ns: u64,
}

impl Sending<'_> {
    /// The session from the first CLTU to UNBIND; the time until the last acknowledgement, in ns.
    fn session(&self, interrupt: &std::sync::atomic::AtomicBool) -> (u64, Result<(), SendFailure>) {
        let mut ended = self.all();
        let answered_ns = clock::monotonic_ns() - self.start_ns;
        let is_cut = matches!(&ended, Err(SendFailure::Client(ClientError::Interrupted)));
        if !self.send.acknowledged && !is_cut && self.user.ending().is_none() {
            // Also after a refusal: what was accepted before it is radiated, and STOP would discard it.
            let at_most = self.send.until_radiated.map(|s| Duration::from_secs(u64::from(s)));
            let waited = wait_for_fates(self.user, at_most, interrupt, self.say);
            ended = ended.and(waited.map_err(Into::into));
        }
        if self.user.ending().is_none() {
            // Even if interrupted: the returns of the CLTUs that were sent are still to come.
            let stopped = self.user.stop().and_then(|()| ask_for_fates(self.user, self.say));
            if let Err(error) = stopped {
                self.say.fault(&format!("STOP failed: {error}"));
            }
            unbind(self.user, self.say);
        }
        (answered_ns, ended)
    }

    /// Sends all CLTUs and waits for the returns. CLTUs that a full buffer refused are sent again,
    /// when there is room for them.
    fn all(&self) -> Result<(), SendFailure> {
        let start_ns = self.start_ns;
        let mut progress =
            Progress { next: 0, told_ns: start_ns, reported: 0, reported_ns: start_ns };
        loop {
            let sent = self.from(&mut progress);
            match sent.and_then(|()| self.user.drain().map_err(Into::into)) {
                Err(SendFailure::Client(ClientError::CltuRefused {
                    diagnostic, expected, ..
                })) if diagnostic == UNABLE_TO_STORE => {
                    progress.next = u64::from(expected.wrapping_sub(self.first));
                    progress.reported = progress.reported.min(progress.next);
                }
                other => return other,
            }
        }
    }

    fn from(&self, progress: &mut Progress) -> Result<(), SendFailure> {
        let blocked = u64::try_from(self.send.blocked.max(1)).unwrap_or(1);
        while progress.next < self.plan.len() {
            pace(self.send.rate, self.start_ns, progress.next);
            let end = self.plan.len().min(progress.next + blocked);
            self.journal.reserve(end)?;
            let notify = self.notification(progress, end);
            if blocked == 1 {
                self.user.transfer(CltuTransfer {
                    data: self.data(progress.next),
                    latest: self.latest(),
                    delay_us: self.send.delay_us,
                    notify_radiated: notify != BufferNotification::None,
                    ..CltuTransfer::default()
                })?;
            } else {
                let buffer = (progress.next..end).map(|position| self.data(position)).collect();
                self.user.transfer_buffer(buffer, notify)?;
            }
            progress.next = end;
            self.tell(progress);
        }
        Ok(())
    }

    /// Whether the radiation of the CLTUs before `end` is to be reported: by the configuration, and
    /// where their fates are waited for, often enough and of the last one.
    fn notification(&self, progress: &mut Progress, end: u64) -> BufferNotification {
        let is_last = end == self.plan.len();
        match self.notify {
            NotifySetting::Every => return BufferNotification::Every,
            NotifySetting::Last if is_last => return BufferNotification::Last,
            _ if self.send.acknowledged => return BufferNotification::None,
            _ => {}
        }
        let now_ns = clock::monotonic_ns();
        let is_due = end - progress.reported >= REPORT_CLTUS
            || now_ns.saturating_sub(progress.reported_ns) >= REPORT_NS;
        if is_last || is_due {
            (progress.reported, progress.reported_ns) = (end, now_ns);
            return BufferNotification::Last;
        }
        BufferNotification::None
    }

    fn latest(&self) -> Option<Time> {
        let latest = Duration::try_from_secs_f64(self.send.latest_s?).ok()?;
        let latest_ns = u64::try_from(latest.as_nanos()).ok()?;
        Some(Time::from_utc_ns(Now::read().utc_ns.saturating_add(latest_ns)))
    }

    fn data(&self, position: u64) -> Bytes {
        let piece = self.pieces.piece(self.plan.index(position).unwrap_or(u64::MAX));
        if self.send.encode { cltu::encode(&piece).into() } else { piece }
    }

    fn tell(&self, progress: &mut Progress) {
        let now_ns = clock::monotonic_ns();
        if now_ns - progress.told_ns >= PROGRESS_NS {
            progress.told_ns = now_ns;
            let counts = self.user.statistics();
            let (sent, acknowledged, radiated) =
                (counts.sent - counts.resent, counts.acknowledged, counts.radiated);
            let text = format!("{sent} sent, {acknowledged} acknowledged, {radiated} radiated");
            self.say.talk(&text);
        }
    }
}
