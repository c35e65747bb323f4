//! Data link continuity: how many frames are missing before one, from the frames' counters.
//!
//! Of a master channel of TM its own counter is looked at, of a virtual channel that channel's.
//! AOS counts virtual channels only, so that frames of a whole AOS master channel are compared
//! within their virtual channels. RAF compares as for master channels. A frame whose header cannot
//! be trusted (erred, or neither TM nor AOS) tells nothing and is told -1; frames of that kind are
//! taken off from the next gap, because they were there.

use crate::frame::FrameHeader;
use crate::pdu::FrameQuality;

/// Counters that are followed; of more, nothing is known. AOS has 64 of a spacecraft.
const COUNTERS_MAX: usize = 256;

/// Finds gaps in frame counters.
#[derive(Debug, Default)]
pub(super) struct FrameContinuity {
    counters: Vec<Counter>,
    /// Index of the counter that was last found: frames mostly come in runs.
    last: usize,
}

#[derive(Clone, Copy, Debug)]
struct Counter {
    key: u32,
    count: u32,
    /// Untrusted frames since.
    untrusted: u32,
}

impl FrameContinuity {
    /// Frames missing before this one, -1 where that is not known.
    ///
    /// `by_virtual_channel` where a virtual channel is asked for. To be told of every frame of the
    /// channel, also of those that are not delivered.
    pub(super) fn missing(
        &mut self,
        header: Option<&FrameHeader>,
        quality: FrameQuality,
        by_virtual_channel: bool,
    ) -> i32 {
        let Some(header) = header.filter(|_| quality != FrameQuality::Erred) else {
            for counter in &mut self.counters {
                counter.untrusted = counter.untrusted.saturating_add(1);
            }
            return -1;
        };
        let spacecraft = u32::from(header.version) << 16 | u32::from(header.spacecraft);
        let (key, count, modulus) = match header.master_count {
            Some(count) if !by_virtual_channel => (spacecraft << 8, u32::from(count), 1 << 8),
            _ => (
                spacecraft << 8 | 0x80 | u32::from(header.virtual_channel),
                header.virtual_count,
                if header.version == 0 { 1 << 8 } else { 1 << 24 },
            ),
        };
        let Some(counter) = self.find(key) else {
            if self.counters.len() < COUNTERS_MAX {
                self.last = self.counters.len();
                self.counters.push(Counter { key, count, untrusted: 0 });
            }
            return -1;
        };
        let step = count.wrapping_sub(counter.count).wrapping_sub(1) & (modulus - 1);
        let missing = step.saturating_sub(counter.untrusted);
        *counter = Counter { key, count, untrusted: 0 };
        i32::try_from(missing).unwrap_or(i32::MAX)
    }

    fn find(&mut self, key: u32) -> Option<&mut Counter> {
        if self.counters.get(self.last).is_none_or(|counter| counter.key != key) {
            self.last = self.counters.iter().position(|counter| counter.key == key)?;
        }
        self.counters.get_mut(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tm(virtual_channel: u8, master: u8, count: u8) -> FrameHeader {
        FrameHeader {
            version: 0,
            spacecraft: 7,
            virtual_channel,
            master_count: Some(master),
            virtual_count: u32::from(count),
            has_ocf: Some(false),
        }
    }

    #[test]
    fn a_master_channel_is_counted_across_its_virtual_channels() {
        let mut continuity = FrameContinuity::default();
        let mut seen = |virtual_channel, master| {
            continuity.missing(Some(&tm(virtual_channel, master, 9)), FrameQuality::Good, false)
        };
        assert_eq!(seen(0, 254), -1, "the first");
        assert_eq!(seen(1, 255), 0);
        assert_eq!(seen(0, 0), 0, "the counter wraps");
        assert_eq!(seen(0, 3), 2);
    }

    #[test]
    fn a_virtual_channel_is_counted_by_itself() {
        let mut continuity = FrameContinuity::default();
        let mut seen = |channel, count| {
            continuity.missing(Some(&tm(channel, 0, count)), FrameQuality::Good, true)
        };
        assert_eq!((seen(0, 5), seen(1, 9), seen(0, 6), seen(1, 12)), (-1, -1, 0, 2));
    }

    #[test]
    fn erred_frames_are_not_missing() {
        let mut continuity = FrameContinuity::default();
        let good = FrameQuality::Good;
        assert_eq!(continuity.missing(Some(&tm(0, 1, 0)), good, false), -1);
        assert_eq!(continuity.missing(Some(&tm(9, 99, 0)), FrameQuality::Erred, false), -1);
        assert_eq!(continuity.missing(None, good, false), -1);
        assert_eq!(continuity.missing(Some(&tm(0, 5, 0)), good, false), 1, "2, 3 and 4, two seen");
    }

    #[test]
    fn aos_counts_with_24_bits() {
        let mut continuity = FrameContinuity::default();
        let aos = |count| FrameHeader {
            version: 1,
            master_count: None,
            virtual_count: count,
            has_ocf: None,
            ..tm(63, 0, 0)
        };
        let good = FrameQuality::Good;
        assert_eq!(continuity.missing(Some(&aos(0xff_ffff)), good, false), -1);
        assert_eq!(continuity.missing(Some(&aos(0)), good, false), 0);
        assert_eq!(continuity.missing(Some(&aos(0)), good, false), 0xff_ffff);
    }
}
