//! Selection of the frames, or parts of frames, that START requested.

use super::config::{ServiceOffer, permits};
use super::continuity::FrameContinuity;
use super::diagnostic;
use crate::frame::{FrameHeader, FrameTrailer, ReceivedFrame, clcw_virtual_channel};
use crate::pdu::{
    ControlWordType, FrameQuality, GvcId, RequestedFrameQuality, ReturnSelection, ReturnStart,
    UpdateMode,
};
use bytes::Bytes;

/// The delivered part of a frame.
pub(super) struct SelectedFrame {
    /// The frame, or its operational control field.
    pub(super) data: Bytes,
    /// Frames missing before it, -1 where that is not known.
    pub(super) continuity: i32,
}

/// A START's choice at work.
#[derive(Debug)]
pub(super) struct FrameSelection {
    /// The request of START.
    pub(super) select: ReturnSelection,
    /// RCF, ROCF: frames of the channel that were looked at.
    pub(super) processed: u64,
    continuity: FrameContinuity,
    /// ROCF, change based: what was last delivered, by the virtual channel of telecommand; the
    /// last for words that are none.
    delivered: Vec<(Option<u8>, Bytes)>,
}

impl FrameSelection {
    /// Checks what is asked for against what is offered.
    ///
    /// # Errors
    /// START's specific diagnostic.
    pub(super) fn new(offer: &ServiceOffer, start: &ReturnStart) -> Result<Self, u8> {
        match (offer, start.select) {
            // A quality that is not permitted has no diagnostic of its own.
            (ServiceOffer::Raf { permitted }, ReturnSelection::Frames(quality))
                if permitted.contains(&quality) => {}
            (ServiceOffer::Rcf { channels }, ReturnSelection::Channel(channel)) => {
                if !permits(channels, channel) {
                    return Err(diagnostic::INVALID_GVCID);
                }
            }
            (
                ServiceOffer::Rocf { channels, control_words, tc_channels, updates },
                ReturnSelection::Ocf { channel, control_word, update },
            ) => {
                if !permits(channels, channel) {
                    return Err(diagnostic::INVALID_GVCID);
                }
                if !control_words.contains(&number(control_word)) {
                    return Err(diagnostic::INVALID_CONTROL_WORD_TYPE);
                }
                if let ControlWordType::Clcw(Some(asked)) = control_word
                    && !tc_channels.as_ref().is_some_and(|list| list.contains(&asked))
                {
                    return Err(diagnostic::INVALID_TC_VCID);
                }
                if !updates.contains(&update) {
                    return Err(diagnostic::INVALID_UPDATE_MODE);
                }
            }
            _ => return Err(diagnostic::UNABLE_TO_COMPLY),
        }
        Ok(Self {
            select: start.select,
            processed: 0,
            continuity: FrameContinuity::default(),
            delivered: Vec::new(),
        })
    }

    /// The delivered part of the frame, or `None`. Must be called for every frame, in their order.
    pub(super) fn take(
        &mut self,
        frame: &ReceivedFrame,
        trailer: FrameTrailer,
    ) -> Option<SelectedFrame> {
        let header = FrameHeader::read(&frame.data);
        match self.select {
            ReturnSelection::Frames(wanted) => {
                let continuity = self.continuity.missing(header.as_ref(), frame.quality, false);
                let taken = match wanted {
                    RequestedFrameQuality::Good => frame.quality == FrameQuality::Good,
                    RequestedFrameQuality::Erred => frame.quality == FrameQuality::Erred,
                    RequestedFrameQuality::All => true,
                };
                taken.then(|| SelectedFrame { data: frame.data.clone(), continuity })
            }
            ReturnSelection::Channel(channel) => {
                let continuity = self.of_channel(header.as_ref(), frame, channel)?;
                Some(SelectedFrame { data: frame.data.clone(), continuity })
            }
            ReturnSelection::Ocf { channel, control_word, update } => {
                let continuity = self.of_channel(header.as_ref(), frame, channel)?;
                let data = trailer.ocf(&header?, &frame.data)?;
                let kind = clcw_virtual_channel(&data);
                let taken = match control_word {
                    ControlWordType::All => true,
                    ControlWordType::Clcw(None) => kind.is_some(),
                    ControlWordType::Clcw(wanted) => kind == wanted,
                    ControlWordType::NotClcw => kind.is_none(),
                };
                let fresh =
                    taken && (update == UpdateMode::Continuous || self.has_changed(kind, &data));
                fresh.then_some(SelectedFrame { data, continuity })
            }
        }
    }

    /// Frames missing before this one, where it is a good one of the channel: from erred frames
    /// nobody knows their channel.
    fn of_channel(
        &mut self,
        header: Option<&FrameHeader>,
        frame: &ReceivedFrame,
        channel: GvcId,
    ) -> Option<i32> {
        let header = header
            .filter(|header| frame.quality != FrameQuality::Erred && header.is_of(channel))?;
        self.processed += 1;
        let by_virtual_channel = channel.virtual_channel.is_some();
        Some(self.continuity.missing(Some(header), frame.quality, by_virtual_channel))
    }

    /// Whether a control word differs from the last of its kind. At most 65 kinds are kept.
    fn has_changed(&mut self, kind: Option<u8>, data: &Bytes) -> bool {
        match self.delivered.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, last)) if last == data => false,
            Some((_, last)) => {
                *last = Bytes::copy_from_slice(data);
                true
            }
            None => {
                self.delivered.push((kind, Bytes::copy_from_slice(data)));
                true
            }
        }
    }
}

/// Number of a control word type in the books' sets.
pub(super) fn number(control_word: ControlWordType) -> u8 {
    match control_word {
        ControlWordType::All => 0,
        ControlWordType::Clcw(_) => 1,
        ControlWordType::NotClcw => 2,
    }
}
