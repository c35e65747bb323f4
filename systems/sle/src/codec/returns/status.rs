//! STATUS-REPORT of RAF, RCF and ROCF.

use super::convert::{lock_in, production_in};
use crate::codec::common::{Credentials, read, write};
use crate::codec::{Codec, DecodeError, EncodeError};
use crate::pdu::{Message, Pdu, ReturnStatusReport, ServiceType};
use bytes::Bytes;
use rasn::prelude::*;

const TAG: u32 = 9;
const NAME: &str = "STATUS-REPORT";

/// `RafStatusReportInvocation`, `RocfStatusReportInvocation`: with what was received.
#[derive(AsnType, Decode, Encode)]
struct ReceivedReport {
    credentials: Credentials,
    /// `errorFreeFrameNumber` of RAF, `processedFrameNumber` of ROCF.
    processed: u32,
    delivered: u32,
    frame_sync: i64,
    symbol_sync: i64,
    subcarrier: i64,
    carrier: i64,
    production: i64,
}

/// `RcfStatusReportInvocation`: without.
#[derive(AsnType, Decode, Encode)]
struct DeliveredReport {
    credentials: Credentials,
    delivered: u32,
    frame_sync: i64,
    symbol_sync: i64,
    subcarrier: i64,
    carrier: i64,
    production: i64,
}

/// Decodes the operation.
pub(super) fn decode(codec: Codec, octets: &Bytes) -> Result<Message, DecodeError> {
    let (processed, report) = if codec.service == ServiceType::Rcf {
        (None, read::<DeliveredReport>(NAME, TAG, octets)?)
    } else {
        let whole: ReceivedReport = read(NAME, TAG, octets)?;
        (Some(whole.processed), without_processed(whole))
    };
    let pdu = Pdu::ReturnStatusReport(ReturnStatusReport {
        processed,
        delivered: report.delivered,
        frame_sync: lock_in(report.frame_sync)?,
        symbol_sync: lock_in(report.symbol_sync)?,
        subcarrier: lock_in(report.subcarrier)?,
        carrier: lock_in(report.carrier)?,
        production: production_in(report.production)?,
    });
    Ok(Message { credentials: report.credentials.into(), pdu })
}

fn without_processed(whole: ReceivedReport) -> DeliveredReport {
    DeliveredReport {
        credentials: whole.credentials,
        delivered: whole.delivered,
        frame_sync: whole.frame_sync,
        symbol_sync: whole.symbol_sync,
        subcarrier: whole.subcarrier,
        carrier: whole.carrier,
        production: whole.production,
    }
}

/// Appends the operation.
pub(super) fn encode(
    codec: Codec,
    credentials: Credentials,
    report: &ReturnStatusReport,
    out: &mut Vec<u8>,
) -> Result<(), EncodeError> {
    let delivered = report.delivered;
    let frame_sync = report.frame_sync as i64;
    let symbol_sync = report.symbol_sync as i64;
    let subcarrier = report.subcarrier as i64;
    let carrier = report.carrier as i64;
    let production = report.production as i64;
    match (codec.service == ServiceType::Rcf, report.processed) {
        (true, None) => {
            let report = DeliveredReport {
                credentials,
                delivered,
                frame_sync,
                symbol_sync,
                subcarrier,
                carrier,
                production,
            };
            write(NAME, TAG, &report, out)
        }
        (false, Some(processed)) => {
            let report = ReceivedReport {
                credentials,
                processed,
                delivered,
                frame_sync,
                symbol_sync,
                subcarrier,
                carrier,
                production,
            };
            write(NAME, TAG, &report, out)
        }
        (true, Some(_)) => Err(codec.not_in_version("a number of processed frames")),
        (false, None) => Err(codec.not_in_version("a report without processed frames")),
    }
}
