//! The fast path decodes and encodes as the declarations do.

use super::{decode, encode};
use crate::codec::Codec;
use crate::codec::returns::tests::{buffer, credentials, indefinite, octets, returning, time};
use crate::pdu::{
    AntennaId, AssociationRole, CltuTransferData, CltuTransferDataReturn, Diagnostic,
    FrameOrNotification, Message, Pdu, ServiceType, TransferData,
};
use bytes::Bytes;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::strategy::ValueTree;

/// Octets by the declarations alone.
fn declare(codec: Codec, message: &Message) -> Vec<u8> {
    let mut out = Vec::new();
    codec.encode_declared(message, &mut out).unwrap();
    out
}

fn invocation() -> impl Strategy<Value = Message> {
    let data = prop_oneof![octets(1, 300), Just(Bytes::from(vec![0x5a; 65_536]))];
    let times = (of(time()), of(time()));
    (credentials(), any::<u16>(), any::<u32>(), times, any::<u32>(), any::<bool>(), data).prop_map(
        |(credentials, invoke_id, cltu, (earliest, latest), delay_us, notify_radiated, data)| {
            let pdu = CltuTransferData {
                invoke_id,
                cltu,
                earliest,
                latest,
                delay_us,
                notify_radiated,
                data,
            };
            Message { credentials, pdu: Pdu::CltuTransferData(pdu) }
        },
    )
}

fn answer() -> impl Strategy<Value = Message> {
    let result = prop_oneof![
        Just(Ok(())),
        Just(Err(Diagnostic::DuplicateInvokeId)),
        Just(Err(Diagnostic::OtherReason)),
        (0..8u8).prop_map(|number| Err(Diagnostic::Specific(number))),
    ];
    (credentials(), any::<u16>(), any::<u32>(), any::<u32>(), result).prop_map(
        |(credentials, invoke_id, next_cltu, buffer_available, result)| {
            let pdu = CltuTransferDataReturn { invoke_id, next_cltu, buffer_available, result };
            Message { credentials, pdu: Pdu::CltuTransferDataReturn(pdu) }
        },
    )
}

/// One of the three operations, with who sends it.
fn hot() -> impl Strategy<Value = (Codec, AssociationRole, Message)> {
    let buffers = returning().prop_flat_map(|service| {
        buffer(service).prop_map(move |message| (service, AssociationRole::Provider, message))
    });
    let any = prop_oneof![
        1 => invocation().prop_map(|message| (ServiceType::Fcltu, AssociationRole::User, message)),
        1 => answer().prop_map(|message| (ServiceType::Fcltu, AssociationRole::Provider, message)),
        2 => buffers,
    ];
    (any, 1..=5u16).prop_map(|((service, sender, message), version)| {
        (Codec { service, version }, sender, message)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn the_same_octets_and_the_same_meaning((codec, sender, message) in hot()) {
        let by_declaration = declare(codec, &message);
        let mut direct = Vec::new();
        prop_assert!(encode(codec, &message, &mut direct), "usual, and declined");
        prop_assert_eq!(&direct, &by_declaration);
        let octets = Bytes::from(direct);
        prop_assert_eq!(decode(codec, sender, &octets), Some(message.clone()));
        prop_assert_eq!(codec.decode_declared(sender, &octets), Ok(message.clone()));
        // The unusual forms are for the declarations.
        let unusual = Bytes::from(indefinite(&octets));
        prop_assert_eq!(decode(codec, sender, &unusual), None);
        prop_assert_eq!(codec.decode(sender, &unusual), Ok(message));
    }

    /// Octets changed, left out and put in between: what is understood is understood alike.
    #[test]
    fn no_octets_are_understood_otherwise(
        (codec, sender, message) in hot(),
        changes in vec((any::<Index>(), 0..4u8, any::<u8>()), 1..4),
    ) {
        let mut octets = declare(codec, &message);
        for (index, kind, octet) in changes {
            // Near the beginning, where identifiers and lengths are.
            let at = index.index(octets.len().clamp(1, 120)).min(octets.len().saturating_sub(1));
            match kind {
                0 | 1 if !octets.is_empty() => octets[at] = octet,
                2 if !octets.is_empty() => drop(octets.remove(at)),
                _ => octets.insert(at, octet),
            }
        }
        let octets = Bytes::from(octets);
        if let Some(message) = decode(codec, sender, &octets) {
            prop_assert_eq!(codec.decode_declared(sender, &octets), Ok(message));
        }
    }

    #[test]
    fn chance_octets(
        service in returning(),
        cltu in any::<bool>(),
        tail in vec(any::<u8>(), 0..40),
        tag in 0u8..3,
    ) {
        let (service, sender, tag) = match (cltu, tag) {
            (true, 0) => (ServiceType::Fcltu, AssociationRole::User, 0xaa),
            (true, _) => (ServiceType::Fcltu, AssociationRole::Provider, 0xab),
            _ => (service, AssociationRole::Provider, 0xa8),
        };
        let mut octets = vec![tag, u8::try_from(tail.len()).unwrap()];
        octets.extend(tail);
        let (octets, codec) = (Bytes::from(octets), Codec { service, version: 5 });
        if let Some(message) = decode(codec, sender, &octets) {
            prop_assert_eq!(codec.decode_declared(sender, &octets), Ok(message));
        }
    }
}

type Change = fn(&mut TransferData);

/// One thing at a time beyond what the books allow: declined here, an error there.
#[test]
fn what_the_books_do_not_allow_is_declined() {
    let runner = &mut proptest::test_runner::TestRunner::deterministic();
    let mut sample = |service| loop {
        let tree = buffer(service).new_tree(runner).unwrap().current();
        if let Pdu::TransferBuffer(parts) = tree.pdu
            && let Some(FrameOrNotification::Frame(frame)) = parts.first()
        {
            return frame.clone();
        }
    };
    let frame = sample(ServiceType::Raf);
    let changes: [(&str, Change); 9] = [
        ("no data", |frame| frame.data = Bytes::new()),
        ("65,537 octets", |frame| frame.data = Bytes::from(vec![0; 65_537])),
        ("-2 frames missing", |frame| frame.data_link_continuity = -2),
        ("too many missing", |frame| frame.data_link_continuity = 16_777_216),
        ("no quality", |frame| frame.quality = None),
        ("no annotation", |frame| frame.private_annotation = Some(Bytes::new())),
        ("short credentials", |frame| frame.credentials = Some(Bytes::from_static(b"1234567"))),
        ("no antenna", |frame| frame.antenna = AntennaId::Local(Bytes::new())),
        ("arcs of none", |frame| frame.antenna = AntennaId::Global(vec![1, 40])),
    ];
    let codec = Codec { service: ServiceType::Raf, version: 5 };
    for (what, change) in changes {
        let mut frame = frame.clone();
        change(&mut frame);
        let pdu = Pdu::TransferBuffer(vec![FrameOrNotification::Frame(frame)]);
        let message = Message { credentials: None, pdu };
        let mut out = Vec::new();
        assert!(!encode(codec, &message, &mut out), "{what}");
        assert!(out.is_empty(), "{what}");
        assert!(codec.encode(&message, &mut out).is_err(), "{what}");
        assert!(out.is_empty(), "{what}");
    }
}

/// Decoded data are slices of the received octets, without a copy.
#[test]
fn data_is_a_slice_of_what_came() {
    let octets = Bytes::from_static(&[
        0xaa, 0x19, 0x80, 0, 2, 1, 7, 2, 1, 9, 0x80, 0, 0x80, 0, 2, 1, 0, 2, 1, 1, 4, 5, 1, 2, 3,
        4, 5,
    ]);
    let message =
        decode(Codec { service: ServiceType::Fcltu, version: 5 }, AssociationRole::User, &octets);
    let Some(Message { pdu: Pdu::CltuTransferData(pdu), .. }) = message else { panic!() };
    assert_eq!((pdu.invoke_id, pdu.cltu, &pdu.data[..]), (7, 9, &[1, 2, 3, 4, 5][..]));
    assert_eq!(pdu.data.as_ptr(), octets[22..].as_ptr());
}
