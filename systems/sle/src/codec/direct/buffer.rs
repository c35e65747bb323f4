//! The transfer buffer of RAF, RCF and ROCF, with everything in it.

use super::read::BerReader;
use super::write::{
    arcs_contents, credentials_fit, integer_len, optional_len, put, put_arcs, put_head,
    put_integer, put_optional, put_time, time_len, value_len,
};
use crate::codec::PARTS_MAX;
use crate::pdu::{
    AntennaId, FrameOrNotification, FrameQuality, LockStatus, LockStatusReport, Message, Pdu,
    ReturnNotification, ReturnProductionStatus, ServiceType, SyncNotify, TransferData,
};
use bytes::Bytes;

/// Tag of the buffer.
pub(super) const BUFFER: u8 = 0xa8;
/// Tag of a TRANSFER-DATA invocation in it.
const FRAME: u8 = 0xa0;
/// Tag of a SYNC-NOTIFY invocation in it.
const NOTIFICATION: u8 = 0xa1;

/// Reads a buffer; frames, antennas, annotations and credentials are slices of `octets`.
pub(super) fn read(service: ServiceType, octets: &Bytes) -> Option<Message> {
    let mut whole = BerReader::new(octets);
    let mut parts = whole.inside(BUFFER)?;
    if !whole.is_done() {
        return None;
    }
    let mut buffer = Vec::with_capacity(count(parts)?);
    while !parts.is_done() {
        buffer.push(match parts.peek()? {
            FRAME => FrameOrNotification::Frame(read_frame(service, parts.inside(FRAME)?)?),
            NOTIFICATION => {
                FrameOrNotification::Notification(read_notification(parts.inside(NOTIFICATION)?)?)
            }
            _ => return None,
        });
    }
    Some(Message { credentials: None, pdu: Pdu::TransferBuffer(buffer) })
}

/// Number of parts. Reads a few octets of each, to allocate the right capacity.
fn count(mut parts: BerReader<'_>) -> Option<usize> {
    let mut count = 0;
    while !parts.is_done() {
        parts.contents(parts.peek()?)?;
        count += 1;
        if count > PARTS_MAX {
            return None;
        }
    }
    Some(count)
}

#[inline]
fn read_frame(service: ServiceType, mut fields: BerReader<'_>) -> Option<TransferData> {
    let frame = TransferData {
        credentials: fields.optional(8, 256)?,
        earth_receive_time: fields.time()?,
        antenna: match fields.peek()? {
            0x80 => AntennaId::Global(fields.arcs(0x80)?),
            0x81 => AntennaId::Local(fields.string(0x81, 1, 16)?),
            _ => return None,
        },
        data_link_continuity: match fields.number()? {
            frames @ -1..=16_777_215 => frames,
            _ => return None,
        },
        quality: match service {
            ServiceType::Raf => Some(match fields.integer(0x02)? {
                0 => FrameQuality::Good,
                1 => FrameQuality::Erred,
                2 => FrameQuality::Undetermined,
                _ => return None,
            }),
            ServiceType::Rcf | ServiceType::Rocf | ServiceType::Fcltu => None,
        },
        private_annotation: fields.optional(1, 128)?,
        data: fields.string(0x04, 1, 65_536)?,
    };
    fields.is_done().then_some(frame)
}

fn read_notification(mut fields: BerReader<'_>) -> Option<SyncNotify> {
    let credentials = fields.optional(8, 256)?;
    let notification = match fields.peek()? {
        0xa0 => {
            let mut report = fields.inside(0xa0)?;
            let lost = LockStatusReport {
                time: report.time()?,
                carrier: read_lock(&mut report)?,
                subcarrier: read_lock(&mut report)?,
                symbol_sync: read_lock(&mut report)?,
            };
            if !report.is_done() {
                return None;
            }
            ReturnNotification::LossFrameSync(lost)
        }
        0x81 => ReturnNotification::ProductionStatusChange(match fields.integer(0x81)? {
            0 => ReturnProductionStatus::Running,
            1 => ReturnProductionStatus::Interrupted,
            2 => ReturnProductionStatus::Halted,
            _ => return None,
        }),
        0x82 => {
            fields.null(0x82)?;
            ReturnNotification::ExcessiveDataBacklog
        }
        0x83 => {
            fields.null(0x83)?;
            ReturnNotification::EndOfData
        }
        _ => return None,
    };
    fields.is_done().then_some(SyncNotify { credentials, notification })
}

fn read_lock(fields: &mut BerReader<'_>) -> Option<LockStatus> {
    Some(match fields.integer(0x02)? {
        0 => LockStatus::InLock,
        1 => LockStatus::OutOfLock,
        2 => LockStatus::NotInUse,
        3 => LockStatus::Unknown,
        _ => return None,
    })
}

/// Writes a buffer; `false`, with nothing written, where the declarations have to say what is wrong
/// with it.
pub(super) fn write(
    service: ServiceType,
    parts: &[FrameOrNotification],
    out: &mut Vec<u8>,
) -> bool {
    if parts.len() > PARTS_MAX {
        return false;
    }
    let mut contents = 0;
    for part in parts {
        let Some(length) = part_contents(service, part) else { return false };
        contents += value_len(length);
    }
    if contents > 0xff_ffff {
        return false;
    }
    out.reserve(value_len(contents));
    put_head(BUFFER, contents, out);
    for part in parts {
        match part {
            FrameOrNotification::Frame(frame) => put_frame(frame, out),
            FrameOrNotification::Notification(notify) => put_notification(notify, out),
        }
    }
    true
}

/// Octets of a part's contents; `None` where it is none that is written here.
#[inline]
fn part_contents(service: ServiceType, part: &FrameOrNotification) -> Option<usize> {
    match part {
        FrameOrNotification::Frame(frame) => {
            let fits = (1..=65_536).contains(&frame.data.len())
                && (-1..=16_777_215).contains(&frame.data_link_continuity)
                && frame.quality.is_some() == (service == ServiceType::Raf)
                && credentials_fit(frame.credentials.as_ref())
                && frame.private_annotation.as_ref().is_none_or(|a| (1..=128).contains(&a.len()));
            if !fits {
                return None;
            }
            match &frame.antenna {
                AntennaId::Local(octets) if !(1..=16).contains(&octets.len()) => return None,
                AntennaId::Global(arcs) => {
                    arcs_contents(arcs)?;
                }
                AntennaId::Local(_) => {}
            }
            Some(frame_contents(frame))
        }
        FrameOrNotification::Notification(notify) => credentials_fit(notify.credentials.as_ref())
            .then(|| {
                optional_len(notify.credentials.as_ref()) + notification_len(&notify.notification)
            }),
    }
}

#[inline]
fn frame_contents(frame: &TransferData) -> usize {
    let antenna = match &frame.antenna {
        AntennaId::Local(octets) => value_len(octets.len()),
        AntennaId::Global(arcs) => value_len(arcs_contents(arcs).unwrap_or(0)),
    };
    optional_len(frame.credentials.as_ref())
        + time_len(&frame.earth_receive_time)
        + antenna
        + integer_len(frame.data_link_continuity.into())
        + frame.quality.map_or(0, |_| 3)
        + optional_len(frame.private_annotation.as_ref())
        + value_len(frame.data.len())
}

#[inline]
fn put_frame(frame: &TransferData, out: &mut Vec<u8>) {
    put_head(FRAME, frame_contents(frame), out);
    put_optional(frame.credentials.as_ref(), out);
    put_time(&frame.earth_receive_time, out);
    match &frame.antenna {
        AntennaId::Local(octets) => put(0x81, octets, out),
        AntennaId::Global(arcs) => put_arcs(0x80, arcs, out),
    }
    put_integer(frame.data_link_continuity.into(), out);
    if let Some(quality) = frame.quality {
        out.extend_from_slice(&[0x02, 1, quality as u8]);
    }
    put_optional(frame.private_annotation.as_ref(), out);
    put(0x04, &frame.data, out);
}

/// Octets of a notification, without its invocation's head and credentials.
fn notification_len(notification: &ReturnNotification) -> usize {
    match notification {
        ReturnNotification::LossFrameSync(lost) => 2 + time_len(&lost.time) + 9,
        ReturnNotification::ProductionStatusChange(_) => 3,
        ReturnNotification::ExcessiveDataBacklog | ReturnNotification::EndOfData => 2,
    }
}

fn put_notification(notify: &SyncNotify, out: &mut Vec<u8>) {
    let credentials = notify.credentials.as_ref();
    let contents = optional_len(credentials) + notification_len(&notify.notification);
    put_head(NOTIFICATION, contents, out);
    put_optional(credentials, out);
    match &notify.notification {
        ReturnNotification::LossFrameSync(lost) => {
            put_head(0xa0, time_len(&lost.time) + 9, out);
            put_time(&lost.time, out);
            for status in [lost.carrier, lost.subcarrier, lost.symbol_sync] {
                out.extend_from_slice(&[0x02, 1, status as u8]);
            }
        }
        ReturnNotification::ProductionStatusChange(status) => {
            out.extend_from_slice(&[0x81, 1, *status as u8]);
        }
        ReturnNotification::ExcessiveDataBacklog => out.extend_from_slice(&[0x82, 0]),
        ReturnNotification::EndOfData => out.extend_from_slice(&[0x83, 0]),
    }
}
