//! CPU of encoding and of decoding one operation by itself.

use anyhow::{Context, Result};
use bytes::Bytes;
use chronoscope_clock::thread_cpu_ns;
use chronoscope_sle::codec::Codec;
use chronoscope_sle::pdu::{
    AntennaId, AssociationRole, FrameOrNotification, FrameQuality, Message, Pdu, TransferData,
};
use chronoscope_sle::time::Time;
use std::hint::black_box;

const NOW_NS: u64 = 1_700_000_000_000_000_000;

pub(super) fn message(pdu: Pdu) -> Message {
    Message { credentials: None, pdu }
}

pub(super) fn buffer(frames: u32, octets: usize) -> Message {
    let data = Bytes::from(vec![0x5a; octets]);
    let antenna = AntennaId::Local(Bytes::from_static(b"ANTENNA"));
    let frame = |_| {
        FrameOrNotification::Frame(TransferData {
            credentials: None,
            earth_receive_time: Time::from_utc_ns(NOW_NS),
            antenna: antenna.clone(),
            data_link_continuity: 0,
            quality: Some(FrameQuality::Good),
            private_annotation: None,
            data: data.clone(),
        })
    };
    message(Pdu::TransferBuffer((0..frames).map(frame).collect()))
}

/// CPU of encoding and of decoding it, in ns: the least of 5 runs.
pub(super) fn cost(codec: Codec, sender: AssociationRole, message: &Message) -> Result<[f64; 2]> {
    const TIMES: u32 = 3_000;
    let mut octets = Vec::new();
    codec.encode(message, &mut octets).context("encoding")?;
    let encoded = Bytes::from(octets.clone());
    let mut least = [f64::MAX; 2];
    for _ in 0..5 {
        let before_ns = thread_cpu_ns();
        for _ in 0..TIMES {
            octets.clear();
            codec.encode(black_box(message), &mut octets).context("encoding")?;
            black_box(&octets);
        }
        let between_ns = thread_cpu_ns();
        for _ in 0..TIMES {
            black_box(codec.decode(sender, black_box(&encoded)).context("decoding")?);
        }
        let after_ns = thread_cpu_ns();
        let each = |ns: u64| ns as f64 / f64::from(TIMES);
        least[0] = least[0].min(each(between_ns - before_ns));
        least[1] = least[1].min(each(after_ns - between_ns));
    }
    Ok(least)
}
