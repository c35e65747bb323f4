//! The online frame buffer of complete online delivery: what was received and not delivered yet.
//!
//! Bounded in octets. When it is full its oldest frames are discarded, and where they were stands
//! a notification of excessive data backlog. A source that can wait should ask for room instead.

use crate::frame::ReceivedFrame;
use crate::pdu::ReturnNotification;
use std::collections::VecDeque;

/// Memory of a frame besides its octets.
const FRAME_OVERHEAD: usize = size_of::<BacklogEntry>();

/// A frame, or something to be told between frames.
#[derive(Debug)]
pub(super) enum BacklogEntry {
    Frame(ReceivedFrame),
    Notification(ReturnNotification),
}

/// Frames and notifications that wait for delivery.
#[derive(Debug)]
pub(super) struct FrameBacklog {
    entries: VecDeque<BacklogEntry>,
    octets: usize,
    octets_max: usize,
    /// Frames were discarded before the oldest entry.
    lost: bool,
    /// Number of discarded frames.
    pub(super) discarded: u64,
}

impl FrameBacklog {
    pub(super) fn new(octets_max: usize) -> Self {
        Self { entries: VecDeque::new(), octets: 0, octets_max, lost: false, discarded: 0 }
    }

    pub(super) fn push(&mut self, entry: BacklogEntry) {
        self.octets += cost(&entry);
        self.entries.push_back(entry);
        while self.octets > self.octets_max && self.entries.len() > 1 {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.octets -= cost(&oldest);
            if matches!(oldest, BacklogEntry::Frame(_)) {
                self.discarded += 1;
                self.lost = true;
            }
        }
    }

    pub(super) fn pop(&mut self) -> Option<BacklogEntry> {
        if std::mem::take(&mut self.lost) {
            return Some(BacklogEntry::Notification(ReturnNotification::ExcessiveDataBacklog));
        }
        let entry = self.entries.pop_front()?;
        self.octets -= cost(&entry);
        Some(entry)
    }

    /// When the next frame was received; `None` where what comes next is no frame.
    pub(super) fn next_utc_ns(&self) -> Option<u64> {
        match self.entries.front()? {
            BacklogEntry::Frame(frame) if !self.lost => Some(frame.received_utc_ns),
            _ => None,
        }
    }

    /// Forgets notifications: they were for a user who is gone.
    pub(super) fn drop_notifications(&mut self) {
        self.entries.retain(|entry| matches!(entry, BacklogEntry::Frame(_)));
        self.octets = self.entries.iter().map(cost).sum();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty() && !self.lost
    }

    /// Frames of this many octets that can be put into it without discarding any.
    pub(super) fn room(&self, frame_octets: usize) -> usize {
        self.octets_max.saturating_sub(self.octets) / (frame_octets + FRAME_OVERHEAD)
    }
}

fn cost(entry: &BacklogEntry) -> usize {
    match entry {
        BacklogEntry::Frame(frame) => FRAME_OVERHEAD + frame.data.len(),
        BacklogEntry::Notification(_) => FRAME_OVERHEAD,
    }
}
