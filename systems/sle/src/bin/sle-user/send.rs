//! `send`: sends CLTUs, with or without a rate, and prints the fate of each.

use super::args::{Args, SendArgs};
use super::pieces::{DataSource, FULL, PROGRESS_NS, pace};
use super::say::UserOutput;
use super::{bound, unbind};
use anyhow::bail;
use bytes::Bytes;
use chronoscope_clock as clock;
use chronoscope_sle::client::{
    ClientError, ClientSettings, CltuFate, CltuTransfer, User, notation,
};
use chronoscope_sle::cltu;
use chronoscope_sle::config::{Config, NotifySetting};
use chronoscope_sle::pdu::{BufferNotification, Diagnostic, ServiceType};
use serde_json::json;
use std::time::Duration;

/// Diagnostic of a full buffer: the only one after which a CLTU is sent again.
const UNABLE_TO_STORE: Diagnostic =
    chronoscope_sle::service::fcltu::diagnostic::TRANSFER_UNABLE_TO_STORE;

pub(crate) fn run(
    config: &Config,
    args: &Args,
    send: &SendArgs,
    mut settings: ClientSettings,
    say: UserOutput,
) -> anyhow::Result<bool> {
    if settings.association.service != ServiceType::Fcltu {
        bail!(
            "the service instance is of {:?}: send needs one of FCLTU",
            settings.association.service
        );
    }
    let pieces = DataSource::open(send.file.as_deref(), send.generate, send.octets)?;
    settings.window = send.window.unwrap_or(settings.window);
    let notify = config
        .find(args.instance.as_deref())
        .map_or(NotifySetting::None, |instance| instance.forward().notify);
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
        // Even if interrupted: the returns of the CLTUs that were sent are still to come.
        if let Err(error) = user.stop() {
            say.fault(&format!("STOP failed: {error}"));
        }
        unbind(&user, say);
    }
    sending.summary(answered_ns)?;
    let counts = user.statistics();
    Ok(ended.is_ok() && counts.acknowledged == pieces.count())
}

struct Sending<'a> {
    send: &'a SendArgs,
    pieces: &'a DataSource,
    notify: NotifySetting,
    user: &'a User,
    say: UserOutput,
    start_ns: u64,
}

impl Sending<'_> {
    /// Sends all CLTUs and waits for the returns. CLTUs that a full buffer refused are sent again.
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
            pace(self.send.rate, self.start_ns, *next);
            if blocked == 1 {
                let is_last = *next + 1 == count;
                self.user.transfer(CltuTransfer {
                    data: self.data(*next),
                    delay_us: self.send.delay_us,
                    notify_radiated: match self.notify {
                        NotifySetting::None => false,
                        NotifySetting::Last => is_last,
                        NotifySetting::Every => true,
                    },
                    ..CltuTransfer::default()
                })?;
                *next += 1;
            } else {
                let end = count.min(*next + blocked);
                let notify = match self.notify {
                    NotifySetting::None => BufferNotification::None,
                    NotifySetting::Last => BufferNotification::Last,
                    NotifySetting::Every => BufferNotification::Every,
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

    fn progress(&self, told_ns: &mut u64) {
        let now_ns = clock::monotonic_ns();
        if now_ns - *told_ns >= PROGRESS_NS {
            *told_ns = now_ns;
            let counts = self.user.statistics();
            self.say.talk(&format!("{} sent, {} acknowledged", counts.sent, counts.acknowledged));
        }
    }

    /// Waits until all CLTUs whose radiation is notified were radiated.
    fn until_radiated(&self, at_most: Duration) -> Result<(), ClientError> {
        let until_ns =
            clock::monotonic_ns() + u64::try_from(at_most.as_nanos()).unwrap_or(u64::MAX / 2);
        let wanted = self.user.statistics().acknowledged;
        while self.user.statistics().radiated < wanted {
            let left_ns = until_ns.saturating_sub(clock::monotonic_ns());
            if left_ns == 0 {
                let radiated = self.user.statistics().radiated;
                let said = format!(
                    "the provider notified the radiation of {radiated} of {wanted} CLTUs in time"
                );
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

    /// Prints the fates and the totals.
    fn summary(&self, answered_ns: u64) -> anyhow::Result<()> {
        let counts = self.user.statistics();
        for settled in self.user.fates() {
            let diagnostic = match settled.fate {
                CltuFate::Refused(diagnostic) => {
                    Some(notation::diagnostic(ServiceType::Fcltu, "TRANSFER-DATA", diagnostic))
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
        #[allow(clippy::cast_precision_loss)] // for display only
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
