//! The transfer buffer: TRANSFER-DATA and SYNC-NOTIFY invocations on their way to the user.
//!
//! One is being filled. It is due when it is full, when its oldest part is as old as the latency
//! limit, or at once for what must not wait. A buffer that is due goes to the connection, unless
//! that takes nothing: then in timely online delivery it waits, and takes the place of the one
//! that waited before, whose frames are discarded and replaced by one notification of excessive
//! data backlog; in the other modes it stays, and no more is put into it when it is full.
//!
//! No buffer that is sent is empty, none is larger than the configured size.

use crate::pdu::{FrameOrNotification, FrameQuality, Pdu, ReturnNotification, SyncNotify};

/// Treatment of a due buffer while the connection accepts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferOverrun {
    /// It replaces the waiting buffer, whose frames are lost.
    Discard,
    /// It stays until the connection accepts it.
    Hold,
}

/// Frames counted, of one buffer or of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FrameTally {
    /// All frames.
    pub(super) frames: u64,
    /// Those whose quality is good.
    pub(super) good: u64,
}

impl FrameTally {
    fn of(parts: &[FrameOrNotification]) -> Self {
        let mut tally = Self::default();
        for part in parts {
            if let FrameOrNotification::Frame(frame) = part {
                tally.frames += 1;
                tally.good += u64::from(frame.quality.is_none_or(|it| it == FrameQuality::Good));
            }
        }
        tally
    }

    fn add(&mut self, other: Self) {
        self.frames += other.frames;
        self.good += other.good;
    }
}

/// The buffers of one association.
#[derive(Debug)]
pub(super) struct TransferBuffer {
    size: usize,
    latency_ns: Option<u64>,
    overrun: BufferOverrun,
    filling: Vec<FrameOrNotification>,
    /// Monotonic: when the buffer that is being filled is due at the latest.
    due_ns: u64,
    /// Whether the buffer that is being filled is due whatever its age.
    is_due: bool,
    waiting: Option<Vec<FrameOrNotification>>,
    blocked: bool,
    /// Sent to the connection.
    pub(super) sent: FrameTally,
    /// Frames discarded because the connection took nothing.
    pub(super) discarded: u64,
}

impl TransferBuffer {
    /// `size` in parts, at least 1; no latency limit offline.
    pub(super) fn new(size: u16, latency_ns: Option<u64>, overrun: BufferOverrun) -> Self {
        Self {
            size: usize::from(size.max(1)),
            latency_ns,
            overrun,
            filling: Vec::new(),
            due_ns: u64::MAX,
            is_due: false,
            waiting: None,
            blocked: false,
            sent: FrameTally::default(),
            discarded: 0,
        }
    }

    /// Discards what is in it.
    pub(super) fn clear(&mut self) {
        let waiting = self.waiting.as_deref().unwrap_or(&[]);
        self.discarded += FrameTally::of(&self.filling).frames + FrameTally::of(waiting).frames;
        self.filling.clear();
        self.waiting = None;
        self.is_due = false;
        self.due_ns = u64::MAX;
        self.blocked = false;
    }

    /// Parts that can be put into it without discarding any.
    pub(super) fn room(&self) -> usize {
        if self.blocked { self.size - self.filling.len() } else { usize::MAX }
    }

    /// Whether another part can be put into it.
    pub(super) fn has_room(&self) -> bool {
        self.filling.len() < self.size
    }

    /// Puts a part into it, which must have room, and sends it when that fills it.
    pub(super) fn push(
        &mut self,
        part: FrameOrNotification,
        monotonic_ns: u64,
        send: &mut impl FnMut(Pdu),
    ) {
        if self.filling.is_empty() {
            self.filling.reserve_exact(self.size.min(1024));
            if let Some(latency_ns) = self.latency_ns {
                self.due_ns = monotonic_ns.saturating_add(latency_ns);
            }
        }
        self.filling.push(part);
        if self.filling.len() >= self.size {
            self.release(send);
        }
    }

    /// Sends what is being filled, however little it is.
    pub(super) fn release(&mut self, send: &mut impl FnMut(Pdu)) {
        if self.filling.is_empty() {
            return;
        }
        if !self.blocked {
            self.send_filling(send);
            return;
        }
        self.is_due = true;
        if self.overrun == BufferOverrun::Discard {
            let due = self.take_filling();
            let lost = self.waiting.take();
            self.waiting = Some(match lost {
                None => due,
                Some(lost) => self.after_loss(&lost, due),
            });
        }
    }

    /// The connection takes something again, or no more.
    pub(super) fn block(&mut self, blocked: bool, send: &mut impl FnMut(Pdu)) {
        self.blocked = blocked;
        if blocked {
            return;
        }
        if let Some(parts) = self.waiting.take() {
            self.send(parts, send);
        }
        if self.is_due {
            self.send_filling(send);
        }
    }

    /// Sends everything, whether or not the connection takes it: before STOP's return.
    pub(super) fn flush(&mut self, send: &mut impl FnMut(Pdu)) {
        let blocked = self.blocked;
        self.is_due = true;
        self.block(false, send);
        self.blocked = blocked;
    }

    /// When it has to be sent at the latest, on the monotonic clock.
    pub(super) fn due(&self) -> Option<u64> {
        let waits = self.blocked && self.is_due;
        (!self.filling.is_empty() && !waits && self.due_ns != u64::MAX).then_some(self.due_ns)
    }

    /// Sends it if its latency limit has come.
    pub(super) fn tick(&mut self, monotonic_ns: u64, send: &mut impl FnMut(Pdu)) {
        if self.due().is_some_and(|due_ns| due_ns <= monotonic_ns) {
            self.release(send);
        }
    }

    /// The parts of a buffer that takes the place of one that was lost: a notification of that,
    /// then what was notified in the lost one, then its own. Where that is too much, its oldest
    /// frames are lost too, and then the oldest notifications.
    fn after_loss(
        &mut self,
        lost: &[FrameOrNotification],
        due: Vec<FrameOrNotification>,
    ) -> Vec<FrameOrNotification> {
        self.discarded += FrameTally::of(lost).frames;
        let backlog = notification(ReturnNotification::ExcessiveDataBacklog);
        let mut parts = vec![backlog.clone()];
        parts.extend(lost.iter().filter(|part| is_notification(part)).cloned());
        parts.extend(due);
        let mut known = false;
        parts.retain(|part| *part != backlog || !std::mem::replace(&mut known, true));
        let mut too_many = parts.len().saturating_sub(self.size);
        parts.retain(|part| {
            let drop = too_many > 0 && !is_notification(part);
            too_many -= usize::from(drop);
            self.discarded += u64::from(drop);
            !drop
        });
        parts.drain(..parts.len().saturating_sub(self.size));
        parts
    }

    fn take_filling(&mut self) -> Vec<FrameOrNotification> {
        self.is_due = false;
        self.due_ns = u64::MAX;
        std::mem::take(&mut self.filling)
    }

    fn send_filling(&mut self, send: &mut impl FnMut(Pdu)) {
        let parts = self.take_filling();
        self.send(parts, send);
    }

    fn send(&mut self, parts: Vec<FrameOrNotification>, send: &mut impl FnMut(Pdu)) {
        if parts.is_empty() {
            return;
        }
        self.sent.add(FrameTally::of(&parts));
        send(Pdu::TransferBuffer(parts));
    }
}

/// A SYNC-NOTIFY as a part.
pub(super) fn notification(notification: ReturnNotification) -> FrameOrNotification {
    FrameOrNotification::Notification(SyncNotify { credentials: None, notification })
}

fn is_notification(part: &FrameOrNotification) -> bool {
    matches!(part, FrameOrNotification::Notification(_))
}
