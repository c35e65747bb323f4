//! `send`: CLTUs, as fast as it goes or paced, and what became of each.

use super::args::{Args, Send};
use super::say::Say;
use super::{bound, unbind};
use anyhow::{Context, bail};
use bytes::Bytes;
use chronoscope_clock as clock;
use chronoscope_sle::client::{ClientError, Fate, Settings, Transfer, User, notation};
use chronoscope_sle::cltu;
use chronoscope_sle::config::{Config, Notify};
use chronoscope_sle::pdu::{BufferNotification, Diagnostic, Service};
use serde_json::json;
use std::time::Duration;

/// How often progress is told.
const PROGRESS_NS: u64 = 1_000_000_000;
/// How long it is waited where the provider's buffer is full.
const FULL: Duration = Duration::from_millis(5);
/// Diagnostic of a buffer that is full: the only one that time cures.
const UNABLE_TO_STORE: Diagnostic =
    chronoscope_sle::service::fcltu::diagnostic::TRANSFER_UNABLE_TO_STORE;

/// Where CLTUs come from.
enum Pieces {
    File { data: Bytes, octets: usize },
    Counter { count: u64, octets: usize },
}

impl Pieces {
    fn open(send: &Send) -> anyhow::Result<Self> {
        if let Some(path) = &send.file {
            let data = std::fs::read(path).with_context(|| path.display().to_string())?;
            let octets = send.octets.unwrap_or(data.len());
            if octets == 0 || data.is_empty() {
                bail!("{}: there is nothing to send", path.display());
            }
            return Ok(Self::File { data: data.into(), octets });
        }
        let octets = send.octets.unwrap_or(1000);
        if octets < 8 {
            bail!("--octets {octets}: at least 8, for the counter");
        }
        Ok(Self::Counter { count: send.generate.unwrap_or(0), octets })
    }

    fn count(&self) -> u64 {
        match self {
            Self::File { data, octets } => data.len().div_ceil(*octets) as u64,
            Self::Counter { count, .. } => *count,
        }
    }

    fn piece(&self, index: u64) -> Bytes {
        match self {
            Self::File { data, octets } => {
                let from = usize::try_from(index).unwrap_or(usize::MAX).saturating_mul(*octets);
                let from = from.min(data.len());
                data.slice(from..data.len().min(from + octets))
            }
            Self::Counter { octets, .. } => {
                let mut piece = vec![0; *octets];
                piece[..8].copy_from_slice(&index.to_be_bytes());
                piece.into()
            }
        }
    }
}

pub(crate) fn run(
    config: &Config,
    args: &Args,
    send: &Send,
    mut settings: Settings,
    say: Say,
) -> anyhow::Result<bool> {
    if settings.association.service != Service::Fcltu {
        bail!("that instance is of {:?}; CLTUs go to FCLTU", settings.association.service);
    }
    let pieces = Pieces::open(send)?;
    settings.window = send.window.unwrap_or(settings.window);
    let notify = config
        .find(args.instance.as_deref())
        .map_or(Notify::None, |instance| instance.forward().notify);
    let user = bound(settings, say)?;
    user.start_forward(send.first)?;
    let start_ns = clock::monotonic_ns();
    let sending = Sending { send, pieces: &pieces, notify, user: &user, say, start_ns };
    let mut ended = sending.all();
    let answered_ns = clock::monotonic_ns() - start_ns;
    if ended.is_ok()
        && let Some(seconds) = send.until_radiated
    {
        ended = sending.until_radiated(Duration::from_secs(u64::from(seconds)));
    }
    if let Err(error) = &ended {
        say.fault(&error.to_string());
    }
    let is_over = user.ending().is_some();
    if !is_over {
        // Interrupted or not: what was sent is to be answered.
        if let Err(error) = user.stop() {
            say.fault(&format!("not stopped: {error}"));
        }
        unbind(&user, say);
    }
    sending.summary(answered_ns)?;
    let counts = user.statistics();
    Ok(ended.is_ok() && counts.acknowledged == pieces.count())
}

struct Sending<'a> {
    send: &'a Send,
    pieces: &'a Pieces,
    notify: Notify,
    user: &'a User,
    say: Say,
    start_ns: u64,
}

impl Sending<'_> {
    /// Hands over everything, and waits for the answers. What a full buffer refused goes again.
    fn all(&self) -> Result<(), ClientError> {
        let mut next = 0;
        let mut told_ns = self.start_ns;
        loop {
            let ended = self.from(&mut next, &mut told_ns).and_then(|()| self.user.drain());
            match ended {
                Err(ClientError::CltuRefused { diagnostic, expected, .. })
                    if diagnostic == UNABLE_TO_STORE =>
                {
                    next = u64::from(expected.wrapping_sub(self.send.first));
                    clock::sleep(FULL);
                }
                other => return other,
            }
        }
    }

    fn from(&self, next: &mut u64, told_ns: &mut u64) -> Result<(), ClientError> {
        let count = self.pieces.count();
        let blocked = u64::try_from(self.send.blocked.max(1)).unwrap_or(1);
        while *next < count {
            self.pace(*next);
            if blocked == 1 {
                let is_last = *next + 1 == count;
                self.user.transfer(Transfer {
                    data: self.data(*next),
                    delay_us: self.send.delay_us,
                    notify_radiated: match self.notify {
                        Notify::None => false,
                        Notify::Last => is_last,
                        Notify::Every => true,
                    },
                    ..Transfer::default()
                })?;
                *next += 1;
            } else {
                let end = count.min(*next + blocked);
                let notify = match self.notify {
                    Notify::None => BufferNotification::None,
                    Notify::Last => BufferNotification::Last,
                    Notify::Every => BufferNotification::Every,
                };
                let buffer = (*next..end).map(|index| self.data(index)).collect();
                self.user.transfer_buffer(buffer, notify)?;
                *next = end;
            }
            self.progress(told_ns);
        }
        Ok(())
    }

    fn data(&self, index: u64) -> Bytes {
        let piece = self.pieces.piece(index);
        if self.send.encode { cltu::encode(&piece).into() } else { piece }
    }

    /// Waits until a CLTU's turn comes.
    fn pace(&self, index: u64) {
        let Some(rate) = self.send.rate.filter(|rate| *rate > 0) else { return };
        let due_ns = self.start_ns + index * 1_000_000_000 / u64::from(rate);
        let now_ns = clock::monotonic_ns();
        if due_ns > now_ns {
            clock::sleep(Duration::from_nanos(due_ns - now_ns));
        }
    }

    fn progress(&self, told_ns: &mut u64) {
        let now_ns = clock::monotonic_ns();
        if now_ns - *told_ns >= PROGRESS_NS {
            *told_ns = now_ns;
            let counts = self.user.statistics();
            self.say.talk(&format!("{} sent, {} acknowledged", counts.sent, counts.acknowledged));
        }
    }

    /// Waits until all that is to be told as radiated was.
    fn until_radiated(&self, at_most: Duration) -> Result<(), ClientError> {
        let until_ns =
            clock::monotonic_ns() + u64::try_from(at_most.as_nanos()).unwrap_or(u64::MAX / 2);
        let wanted = self.user.statistics().acknowledged;
        while self.user.statistics().radiated < wanted {
            let left_ns = until_ns.saturating_sub(clock::monotonic_ns());
            if left_ns == 0 {
                let radiated = self.user.statistics().radiated;
                let said = format!("{radiated} of {wanted} were told to be radiated");
                return Err(ClientError::Ended(said));
            }
            if self.user.next_occurrence(Duration::from_nanos(left_ns)).is_none()
                && self.user.ending().is_some()
            {
                return self.user.drain();
            }
        }
        Ok(())
    }

    /// What became of everything.
    fn summary(&self, answered_ns: u64) -> anyhow::Result<()> {
        let counts = self.user.statistics();
        for settled in self.user.fates() {
            let diagnostic = match settled.fate {
                Fate::Refused(diagnostic) => {
                    Some(notation::diagnostic(Service::Fcltu, "TRANSFER-DATA", diagnostic))
                }
                _ => None,
            };
            self.say.result(&json!({
                "cltu": settled.cltus.first,
                "count": settled.cltus.count,
                "fate": notation::fate(settled.fate),
                "diagnostic": diagnostic,
            }))?;
        }
        #[allow(clippy::cast_precision_loss)] // for people
        let (seconds, cltus, octets) =
            (answered_ns as f64 / 1e9, counts.acknowledged as f64, counts.sent_octets as f64);
        let unknown = counts.sent - counts.acknowledged - counts.refused;
        self.say.result(&json!({
            "sent": counts.sent,
            "acknowledged": counts.acknowledged,
            "refused": counts.refused,
            "unknown": unknown,
            "radiated": counts.radiated,
            "seconds": seconds,
            "cltu_per_s": cltus / seconds,
            "mbit_per_s": octets * 8.0 / seconds / 1e6,
            "not_sent": self.pieces.count().saturating_sub(counts.acknowledged + unknown),
            "ending": self.user.ending().map(|ending| notation::ending(&ending)),
        }))
    }
}
