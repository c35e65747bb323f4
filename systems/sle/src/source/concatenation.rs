//! Several frames as one data unit, back to back.
//!
//! Source: the CSTS prototyping (Boulder 2011, slide 17) hands 80 frames of 100 octets to RAF as one
//! frame of 8000. No specification has this: a user has to know the frames' length to separate
//! them. Not here: frames of one data unit with an annotation each; annotations are left out.

use super::progress::FRAME_OCTETS_MAX;
use crate::frame::ReceivedFrame;
use crate::pdu::FrameQuality;
use bytes::BytesMut;

/// Makes data units of a fixed number of frames.
#[derive(Debug)]
pub struct FrameConcatenation {
    /// Frames of a data unit, at least 1.
    count: usize,
    /// The frames of the data unit that is not complete: of the first its time, and the octets of
    /// all.
    waiting: Option<ReceivedFrame>,
    octets: BytesMut,
    frames: usize,
}

impl FrameConcatenation {
    /// Data units of `count` frames; 0 is taken as 1.
    #[must_use]
    pub fn new(count: u16) -> Self {
        let count = usize::from(count).max(1);
        Self { count, waiting: None, octets: BytesMut::new(), frames: 0 }
    }

    /// Frames of a data unit.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Copies the frame behind those that wait, and returns the data unit that is complete. That is
    /// also one of fewer frames, without this one, if this one would make it longer than 65,536
    /// octets.
    pub fn push(&mut self, frame: &ReceivedFrame) -> Option<ReceivedFrame> {
        let is_full = self.octets.len() + frame.data.len() > FRAME_OCTETS_MAX;
        let early = if is_full { self.finish() } else { None };
        match &mut self.waiting {
            Some(unit) if frame.quality != FrameQuality::Good => unit.quality = frame.quality,
            Some(_) => {}
            None => {
                // All data units have about the same length: one allocation for each.
                self.octets.reserve((frame.data.len() * self.count).min(FRAME_OCTETS_MAX));
                self.waiting = Some(ReceivedFrame { annotation: None, ..frame.clone() });
            }
        }
        self.octets.extend_from_slice(&frame.data);
        self.frames += 1;
        if early.is_none() && self.frames == self.count { self.finish() } else { early }
    }

    /// The data unit of the frames that wait; `None` if none does.
    pub fn finish(&mut self) -> Option<ReceivedFrame> {
        self.frames = 0;
        let data = self.octets.split().freeze();
        self.waiting.take().map(|unit| ReceivedFrame { data, ..unit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    fn frame(number: u8, octets: usize) -> ReceivedFrame {
        ReceivedFrame {
            data: vec![number; octets].into(),
            received_utc_ns: u64::from(number),
            quality: FrameQuality::Good,
            annotation: Some(Bytes::from_static(b"x")),
        }
    }

    #[test]
    fn a_unit_is_its_frames_one_behind_the_other() {
        let mut three = FrameConcatenation::new(3);
        assert_eq!(three.push(&frame(1, 2)), None);
        assert_eq!(three.push(&frame(2, 1)), None);
        let unit = three.push(&frame(3, 2)).unwrap();
        assert_eq!(unit.data[..], [1, 1, 2, 3, 3]);
        assert_eq!((unit.received_utc_ns, unit.annotation), (1, None));
        assert_eq!(unit.quality, FrameQuality::Good);
        let erred = ReceivedFrame { quality: FrameQuality::Erred, ..frame(5, 1) };
        assert_eq!(three.push(&frame(4, 1)), None);
        assert_eq!(three.push(&erred), None);
        let rest = three.finish().unwrap();
        assert_eq!((&rest.data[..], rest.quality), (&[4, 5][..], FrameQuality::Erred));
        assert_eq!(three.finish(), None);
    }

    #[test]
    fn a_unit_is_never_longer_than_a_frame_may_be() {
        let mut many = FrameConcatenation::new(80);
        assert_eq!(many.push(&frame(1, 40_000)), None);
        let early = many.push(&frame(2, 40_000)).unwrap();
        assert_eq!((early.data.len(), early.data[0]), (40_000, 1));
        assert_eq!(many.finish().unwrap().data[..3], [2, 2, 2]);
    }

    #[test]
    fn one_frame_is_a_unit() {
        let mut single = FrameConcatenation::new(0);
        assert_eq!(single.push(&frame(9, 3)).unwrap().data[..], [9, 9, 9]);
    }
}
