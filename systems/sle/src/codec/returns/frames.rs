//! The transfer buffer by declaration: for whatever is not in the usual form, and as the measure of
//! what `direct` does.

use super::asn::{AntennaId, PrivateAnnotation, SyncNotifyInvocation};
use super::convert::{
    annotation_in, annotation_out, antenna_in, antenna_out, notify_in, notify_out,
};
use crate::codec::common::{Credentials, WireTime, in_range, read, write};
use crate::codec::{Codec, DecodeError, EncodeError, PARTS_MAX};
use crate::pdu::{FrameOrNotification, FrameQuality, Message, Pdu, ServiceType, TransferData};
use bytes::Bytes;
use rasn::prelude::*;

const TAG: u32 = 8;
const NAME: &str = "TRANSFER-BUFFER";

/// `RafTransferDataInvocation`.
#[derive(AsnType, Decode, Encode)]
struct FrameWithQuality {
    credentials: Credentials,
    earth_receive_time: WireTime,
    antenna_id: AntennaId,
    #[rasn(value("-1..=16777215"))]
    data_link_continuity: i32,
    delivered_frame_quality: i64,
    private_annotation: PrivateAnnotation,
    #[rasn(size("1..=65536"))]
    data: OctetString,
}

/// `RcfTransferDataInvocation`, `RocfTransferDataInvocation`.
#[derive(AsnType, Decode, Encode)]
struct Frame {
    credentials: Credentials,
    earth_receive_time: WireTime,
    antenna_id: AntennaId,
    #[rasn(value("-1..=16777215"))]
    data_link_continuity: i32,
    private_annotation: PrivateAnnotation,
    #[rasn(size("1..=65536"))]
    data: OctetString,
}

/// `FrameOrNotification` of RAF.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum RafPart {
    #[rasn(tag(context, 0))]
    AnnotatedFrame(FrameWithQuality),
    #[rasn(tag(context, 1))]
    SyncNotification(SyncNotifyInvocation),
}

/// `FrameOrNotification` of RCF, `OcfOrNotification` of ROCF.
#[derive(AsnType, Decode, Encode)]
#[rasn(choice)]
enum RcfPart {
    #[rasn(tag(context, 0))]
    AnnotatedFrame(Frame),
    #[rasn(tag(context, 1))]
    SyncNotification(SyncNotifyInvocation),
}

/// Decodes the operation.
pub(super) fn decode(codec: Codec, octets: &Bytes) -> Result<Message, DecodeError> {
    let parts = if codec.service == ServiceType::Raf {
        read::<Vec<RafPart>>(NAME, TAG, octets)?
            .into_iter()
            .map(raf_part_in)
            .collect::<Result<Vec<_>, _>>()?
    } else {
        read::<Vec<RcfPart>>(NAME, TAG, octets)?
            .into_iter()
            .map(part_in)
            .collect::<Result<Vec<_>, _>>()?
    };
    Ok(Message { credentials: None, pdu: Pdu::TransferBuffer(parts) })
}

fn raf_part_in(part: RafPart) -> Result<FrameOrNotification, DecodeError> {
    match part {
        RafPart::AnnotatedFrame(frame) => {
            let quality = match frame.delivered_frame_quality {
                0 => FrameQuality::Good,
                1 => FrameQuality::Erred,
                2 => FrameQuality::Undetermined,
                value => return Err(DecodeError::Value { field: "deliveredFrameQuality", value }),
            };
            Ok(FrameOrNotification::Frame(TransferData {
                credentials: frame.credentials.into(),
                earth_receive_time: frame.earth_receive_time.into(),
                antenna: antenna_in(frame.antenna_id),
                data_link_continuity: frame.data_link_continuity,
                quality: Some(quality),
                private_annotation: annotation_in(frame.private_annotation),
                data: frame.data.into(),
            }))
        }
        RafPart::SyncNotification(notify) => {
            Ok(FrameOrNotification::Notification(notify_in(notify)?))
        }
    }
}

fn part_in(part: RcfPart) -> Result<FrameOrNotification, DecodeError> {
    match part {
        RcfPart::AnnotatedFrame(frame) => Ok(FrameOrNotification::Frame(TransferData {
            credentials: frame.credentials.into(),
            earth_receive_time: frame.earth_receive_time.into(),
            antenna: antenna_in(frame.antenna_id),
            data_link_continuity: frame.data_link_continuity,
            quality: None,
            private_annotation: annotation_in(frame.private_annotation),
            data: frame.data.into(),
        })),
        RcfPart::SyncNotification(notify) => {
            Ok(FrameOrNotification::Notification(notify_in(notify)?))
        }
    }
}

/// Appends the operation.
pub(super) fn encode(
    codec: Codec,
    parts: &[FrameOrNotification],
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    in_range("parts of a transfer buffer", parts.len(), 0, PARTS_MAX as u64)?;
    if codec.service == ServiceType::Raf {
        let parts = parts.iter().map(|part| raf_part_out(codec, part));
        write(NAME, TAG, &parts.collect::<Result<Vec<_>, _>>()?, out)
    } else {
        let parts = parts.iter().map(|part| part_out(codec, part));
        write(NAME, TAG, &parts.collect::<Result<Vec<_>, _>>()?, out)
    }
}

fn raf_part_out(codec: Codec, part: &FrameOrNotification) -> Result<RafPart, EncodeError> {
    match part {
        FrameOrNotification::Frame(frame) => {
            let quality =
                frame.quality.ok_or_else(|| codec.not_in_version("a frame of unsaid quality"))?;
            Ok(RafPart::AnnotatedFrame(FrameWithQuality {
                credentials: Credentials::new(frame.credentials.as_ref())?,
                earth_receive_time: frame.earth_receive_time.into(),
                antenna_id: antenna_out(&frame.antenna)?,
                data_link_continuity: frame.data_link_continuity,
                delivered_frame_quality: quality as i64,
                private_annotation: annotation_out(frame.private_annotation.as_ref()),
                data: frame.data.clone().into(),
            }))
        }
        FrameOrNotification::Notification(notify) => {
            Ok(RafPart::SyncNotification(notify_out(notify)?))
        }
    }
}

fn part_out(codec: Codec, part: &FrameOrNotification) -> Result<RcfPart, EncodeError> {
    match part {
        FrameOrNotification::Frame(frame) => {
            if frame.quality.is_some() {
                return Err(codec.not_in_version("a frame's quality"));
            }
            Ok(RcfPart::AnnotatedFrame(Frame {
                credentials: Credentials::new(frame.credentials.as_ref())?,
                earth_receive_time: frame.earth_receive_time.into(),
                antenna_id: antenna_out(&frame.antenna)?,
                data_link_continuity: frame.data_link_continuity,
                private_annotation: annotation_out(frame.private_annotation.as_ref()),
                data: frame.data.clone().into(),
            }))
        }
        FrameOrNotification::Notification(notify) => {
            Ok(RcfPart::SyncNotification(notify_out(notify)?))
        }
    }
}
