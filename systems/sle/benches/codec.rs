//! Cost of encoding and decoding the frequent operations, by the fast path and by the ASN.1
//! declarations alone.
//!
//! `cargo bench -p chronoscope-sle --bench codec`. CPU time of the thread, the least of several
//! rounds: what disturbs can only add. Operations are without credentials, which are the business of
//! `auth`.

use bytes::Bytes;
use chronoscope_clock as clock;
use chronoscope_sle::codec::Codec;
use chronoscope_sle::pdu::{
    AntennaId, AssociationRole, CltuTransferData, CltuTransferDataReturn, FrameOrNotification,
    FrameQuality, Message, Pdu, ServiceType, TransferData,
};
use chronoscope_sle::time::Time;
use std::hint::black_box;

const ROUNDS: u32 = 15;
/// Frames in a buffer of the document's series.
const FRAMES: usize = 80;

fn main() {
    println!("ns of CPU time       direct: encode  decode   declared: encode  decode");
    for octets in [100, 1000, 1544, 4096] {
        row(
            &format!("CLTU {octets} B"),
            AssociationRole::User,
            ServiceType::Fcltu,
            &cltu(octets),
            1,
        );
    }
    row("CLTU return", AssociationRole::Provider, ServiceType::Fcltu, &answer(), 1);
    for octets in [100, 1115] {
        let name = format!("frame {octets} B of {FRAMES}");
        row(&name, AssociationRole::Provider, ServiceType::Raf, &buffer(octets), FRAMES);
    }
}

/// One operation, four ways; figures for each of `parts`.
fn row(name: &str, sender: AssociationRole, service: ServiceType, message: &Message, parts: usize) {
    let codec = Codec { service, version: 5 };
    let mut out = Vec::new();
    let mut check = Vec::new();
    let encodes = codec.encode(message, &mut out).is_ok()
        && codec.encode_declared(message, &mut check).is_ok()
        && out == check;
    assert!(encodes, "{name}: both ways write the same");
    let octets = Bytes::from(std::mem::take(&mut check));
    let calls = u32::try_from(200_000 / parts / (1 + octets.len() / 4000)).unwrap_or(1);
    let mut encode = |run: &dyn Fn(&mut Vec<u8>)| {
        ns_each(calls, || {
            out.clear();
            run(black_box(&mut out));
        }) / parts as f64
    };
    let direct = encode(&|out| drop(black_box(codec.encode(black_box(message), out))));
    let declared = encode(&|out| drop(black_box(codec.encode_declared(black_box(message), out))));
    let decode = |run: &dyn Fn(&Bytes)| ns_each(calls, || run(black_box(&octets))) / parts as f64;
    let direct_in = decode(&|octets| drop(black_box(codec.decode(sender, octets))));
    let declared_in = decode(&|octets| drop(black_box(codec.decode_declared(sender, octets))));
    println!("{name:<21}{direct:>14.0}{direct_in:>8.0}{declared:>19.0}{declared_in:>8.0}");
}

/// Nanoseconds of CPU time for each call, in the best round.
fn ns_each(calls: u32, mut run: impl FnMut()) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let begin = clock::thread_cpu_ns();
        for _ in 0..calls {
            run();
        }
        least = least.min((clock::thread_cpu_ns() - begin) as f64 / f64::from(calls));
    }
    least
}

fn cltu(octets: usize) -> Message {
    let pdu = CltuTransferData {
        invoke_id: 4711,
        cltu: 1_000_000,
        earliest: None,
        latest: None,
        delay_us: 0,
        notify_radiated: false,
        data: Bytes::from(vec![0x5a; octets]),
    };
    Message { credentials: None, pdu: Pdu::CltuTransferData(pdu) }
}

fn answer() -> Message {
    let pdu = CltuTransferDataReturn {
        invoke_id: 4711,
        next_cltu: 1_000_001,
        buffer_available: 1_000_000,
        result: Ok(()),
    };
    Message { credentials: None, pdu: Pdu::CltuTransferDataReturn(pdu) }
}

fn buffer(octets: usize) -> Message {
    let frame = TransferData {
        credentials: None,
        earth_receive_time: Time::from_utc_ns(1_700_000_000_000_000_000),
        antenna: AntennaId::Local(Bytes::from_static(b"antenna")),
        data_link_continuity: 0,
        quality: Some(FrameQuality::Good),
        private_annotation: None,
        data: Bytes::from(vec![0x5a; octets]),
    };
    let parts = vec![FrameOrNotification::Frame(frame); FRAMES];
    Message { credentials: None, pdu: Pdu::TransferBuffer(parts) }
}
