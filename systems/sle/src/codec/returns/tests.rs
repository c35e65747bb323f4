//! Operations of RAF, RCF and ROCF are the same after encoding and decoding, in every version.

use crate::codec::{BerFault, Codec, DecodeError, EncodeError};
use crate::pdu::{
    AntennaId, AssociationRole, ControlWordType, DeliveryMode, Diagnostic, FrameOrNotification,
    FrameQuality, GvcId, LockStatus, LockStatusReport, Message, Parameter, ParameterName, Pdu,
    PermittedChannel, PositiveStartReturn, ReportRequest, RequestedFrameQuality,
    ReturnNotification, ReturnProductionStatus, ReturnSelection, ReturnStart, ReturnStatusReport,
    ServiceType, StartRequest, SyncNotify, TransferData, UpdateMode,
};
use crate::time::Time;
use bytes::Bytes;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;

pub(in crate::codec) fn octets(min: usize, max: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), min..=max).prop_map(Bytes::from)
}

pub(in crate::codec) fn credentials() -> impl Strategy<Value = Option<Bytes>> {
    of(octets(8, 256))
}

pub(in crate::codec) fn time() -> impl Strategy<Value = Time> {
    prop_oneof![any::<[u8; 8]>().prop_map(Time::Micro), any::<[u8; 10]>().prop_map(Time::Pico)]
}

fn antenna() -> impl Strategy<Value = AntennaId> {
    prop_oneof![
        octets(1, 16).prop_map(AntennaId::Local),
        (0..=1u32, 0..40u32, vec(any::<u32>(), 0..6)).prop_map(|(root, second, rest)| {
            AntennaId::Global([vec![root, second], rest].concat())
        }),
        (0..1_000_000u32, vec(0..200u32, 0..6))
            .prop_map(|(second, rest)| { AntennaId::Global([vec![2, second], rest].concat()) }),
    ]
}

fn lock() -> impl Strategy<Value = LockStatus> {
    use LockStatus::{InLock, NotInUse, OutOfLock, Unknown};
    select(vec![InLock, OutOfLock, NotInUse, Unknown])
}

fn production() -> impl Strategy<Value = ReturnProductionStatus> {
    use ReturnProductionStatus::{Halted, Interrupted, Running};
    select(vec![Running, Interrupted, Halted])
}

fn notification() -> impl Strategy<Value = SyncNotify> {
    let what = prop_oneof![
        (time(), lock(), lock(), lock()).prop_map(|(time, carrier, subcarrier, symbol_sync)| {
            let report = LockStatusReport { time, carrier, subcarrier, symbol_sync };
            ReturnNotification::LossFrameSync(report)
        }),
        production().prop_map(ReturnNotification::ProductionStatusChange),
        Just(ReturnNotification::ExcessiveDataBacklog),
        Just(ReturnNotification::EndOfData),
    ];
    (credentials(), what)
        .prop_map(|(credentials, notification)| SyncNotify { credentials, notification })
}

fn frame(service: ServiceType) -> impl Strategy<Value = TransferData> {
    use FrameQuality::{Erred, Good, Undetermined};
    let quality = match service {
        ServiceType::Raf => select(vec![Some(Good), Some(Erred), Some(Undetermined)]),
        _ => select(vec![None]),
    };
    let data = prop_oneof![octets(1, 300), Just(Bytes::from(vec![0x5a; 65_536]))];
    (credentials(), time(), antenna(), -1..=16_777_215, quality, of(octets(1, 128)), data).prop_map(
        |(credentials, earth_receive_time, antenna, continuity, quality, annotation, data)| {
            TransferData {
                credentials,
                earth_receive_time,
                antenna,
                data_link_continuity: continuity,
                quality,
                private_annotation: annotation,
                data,
            }
        },
    )
}

/// A buffer as the service sends it.
pub(in crate::codec) fn buffer(service: ServiceType) -> impl Strategy<Value = Message> {
    let part = prop_oneof![
        4 => frame(service).prop_map(FrameOrNotification::Frame),
        1 => notification().prop_map(FrameOrNotification::Notification),
    ];
    vec(part, 0..6).prop_map(|parts| Message { credentials: None, pdu: Pdu::TransferBuffer(parts) })
}

pub(in crate::codec) fn returning() -> impl Strategy<Value = ServiceType> {
    select(vec![ServiceType::Raf, ServiceType::Rcf, ServiceType::Rocf])
}

fn gvcid() -> impl Strategy<Value = GvcId> {
    (0..1024u16, 0..4u8, of(0..64u8)).prop_map(|(spacecraft, version, virtual_channel)| GvcId {
        spacecraft,
        version,
        virtual_channel,
    })
}

fn quality() -> impl Strategy<Value = RequestedFrameQuality> {
    use RequestedFrameQuality::{All, Erred, Good};
    select(vec![Good, Erred, All])
}

fn update() -> impl Strategy<Value = UpdateMode> {
    select(vec![UpdateMode::Continuous, UpdateMode::ChangeBased])
}

fn control_word() -> impl Strategy<Value = ControlWordType> {
    prop_oneof![
        Just(ControlWordType::All),
        of(0..64u8).prop_map(ControlWordType::Clcw),
        Just(ControlWordType::NotClcw),
    ]
}

fn selection(service: ServiceType) -> BoxedStrategy<ReturnSelection> {
    match service {
        ServiceType::Raf => quality().prop_map(ReturnSelection::Frames).boxed(),
        ServiceType::Rcf => gvcid().prop_map(ReturnSelection::Channel).boxed(),
        _ => (gvcid(), control_word(), update())
            .prop_map(|(channel, control_word, update)| ReturnSelection::Ocf {
                channel,
                control_word,
                update,
            })
            .boxed(),
    }
}

/// Parameters that the service has in the version, with values that the version can tell.
fn parameter(service: ServiceType, version: u16) -> BoxedStrategy<Parameter> {
    use DeliveryMode::{CompleteOnline, Offline, TimelyOnline};
    let undefined = version < 5;
    let permitted = (0..1024u16, 0..4u8, of(vec(0..64u8, 0..9))).prop_map(
        |(spacecraft, version, virtual_channels)| PermittedChannel {
            spacecraft,
            version,
            virtual_channels,
        },
    );
    let mut all = vec![
        any::<u16>().prop_map(Parameter::BufferSize).boxed(),
        select(vec![TimelyOnline, CompleteOnline, Offline])
            .prop_map(Parameter::DeliveryMode)
            .boxed(),
        of(1..=u16::MAX).prop_map(Parameter::LatencyLimit).boxed(),
        of(2..=600u16).prop_map(Parameter::ReportingCycle).boxed(),
        any::<u16>().prop_map(Parameter::ReturnTimeoutPeriod).boxed(),
    ];
    if version >= 5 {
        all.push(any::<u16>().prop_map(Parameter::MinReportingCycle).boxed());
    }
    let some = move |value: bool| value || undefined;
    match service {
        ServiceType::Raf => {
            all.push(
                of(quality())
                    .prop_filter("defined", move |it| some(it.is_some()))
                    .prop_map(Parameter::RequestedFrameQuality)
                    .boxed(),
            );
            if version >= 5 {
                all.push(vec(quality(), 1..4).prop_map(Parameter::PermittedFrameQuality).boxed());
            }
        }
        ServiceType::Rcf => {
            all.push(vec(permitted, 0..5).prop_map(Parameter::PermittedGvcidSet).boxed());
            all.push(
                of(gvcid())
                    .prop_filter("defined", move |it| it.is_some() || version > 1)
                    .prop_map(Parameter::RequestedGvcid)
                    .boxed(),
            );
        }
        _ => all.extend([
            vec(permitted, 0..5).prop_map(Parameter::PermittedGvcidSet).boxed(),
            vec(0..3u8, 0..4).prop_map(Parameter::PermittedControlWordTypeSet).boxed(),
            of(vec(0..64u8, 0..9)).prop_map(Parameter::PermittedTcVcidSet).boxed(),
            vec(update(), 0..3).prop_map(Parameter::PermittedUpdateModeSet).boxed(),
            of(gvcid())
                .prop_filter("defined", move |it| some(it.is_some()))
                .prop_map(Parameter::RequestedGvcid)
                .boxed(),
            of(0..3u8)
                .prop_filter("defined", move |it| some(it.is_some()))
                .prop_map(Parameter::RequestedControlWordType)
                .boxed(),
            of(of(0..64u8))
                .prop_filter("defined", move |it| some(it.is_some()))
                .prop_map(Parameter::RequestedTcVcid)
                .boxed(),
            of(update())
                .prop_filter("defined", move |it| some(it.is_some()))
                .prop_map(Parameter::RequestedUpdateMode)
                .boxed(),
        ]),
    }
    proptest::strategy::Union::new(all).boxed()
}

fn diagnostic() -> impl Strategy<Value = Diagnostic> {
    prop_oneof![
        Just(Diagnostic::DuplicateInvokeId),
        Just(Diagnostic::OtherReason),
        any::<u8>().prop_map(Diagnostic::Specific),
    ]
}

/// `Err` in one of three cases.
fn result<T: Clone + std::fmt::Debug>(
    positive: impl Strategy<Value = T>,
) -> impl Strategy<Value = Result<T, Diagnostic>> {
    (positive, of(diagnostic())).prop_map(|(positive, negative)| match negative {
        Some(diagnostic) => Err(diagnostic),
        None => Ok(positive),
    })
}

fn report(service: ServiceType) -> impl Strategy<Value = ReturnStatusReport> {
    (any::<u32>(), any::<u32>(), [lock(), lock(), lock(), lock()], production()).prop_map(
        move |(
            processed,
            delivered,
            [frame_sync, symbol_sync, subcarrier, carrier],
            production,
        )| {
            ReturnStatusReport {
                processed: (service != ServiceType::Rcf).then_some(processed),
                delivered,
                frame_sync,
                symbol_sync,
                subcarrier,
                carrier,
                production,
            }
        },
    )
}

/// Every operation of the service but the transfer buffer, with who sends it.
fn operation(service: ServiceType, version: u16) -> BoxedStrategy<(AssociationRole, Pdu)> {
    let id = any::<u16>;
    let requests = prop_oneof![
        Just(ReportRequest::Immediately),
        any::<u16>().prop_map(ReportRequest::Periodically),
        Just(ReportRequest::Stop),
    ];
    let invocations = prop_oneof![
        (id(), of(time()), of(time()), selection(service)).prop_map(
            |(invoke_id, start, stop, select)| {
                let start = StartRequest::Return(ReturnStart { start, stop, select });
                Pdu::Start { invoke_id, start }
            }
        ),
        id().prop_map(|invoke_id| Pdu::Stop { invoke_id }),
        (id(), requests)
            .prop_map(|(invoke_id, request)| Pdu::ScheduleStatusReport { invoke_id, request }),
        (id(), any::<u16>()).prop_map(|(invoke_id, name)| {
            Pdu::GetParameter { invoke_id, name: ParameterName(name) }
        }),
    ];
    let common = prop_oneof![Just(Diagnostic::DuplicateInvokeId), Just(Diagnostic::OtherReason)];
    let answers = prop_oneof![
        1 => (id(), result(Just(PositiveStartReturn::Return)))
            .prop_map(|(invoke_id, result)| Pdu::StartReturn { invoke_id, result }),
        1 => (id(), of(common)).prop_map(|(invoke_id, refused)| {
            Pdu::StopReturn { invoke_id, result: refused.map_or(Ok(()), Err) }
        }),
        1 => (id(), result(Just(())))
            .prop_map(|(invoke_id, result)| Pdu::ScheduleStatusReportReturn { invoke_id, result }),
        4 => (id(), result(parameter(service, version)))
            .prop_map(|(invoke_id, result)| Pdu::GetParameterReturn { invoke_id, result }),
        1 => report(service).prop_map(Pdu::ReturnStatusReport),
    ];
    prop_oneof![
        invocations.prop_map(|pdu| (AssociationRole::User, pdu)),
        answers.prop_map(|pdu| (AssociationRole::Provider, pdu)),
    ]
    .boxed()
}

fn any_operation() -> impl Strategy<Value = (Codec, AssociationRole, Message)> {
    (returning(), 1..=5u16).prop_flat_map(|(service, version)| {
        (operation(service, version), credentials()).prop_map(move |((role, pdu), credentials)| {
            (Codec { service, version }, role, Message { credentials, pdu })
        })
    })
}

/// Definite lengths made indefinite, at every constructed value.
pub(in crate::codec) fn indefinite(octets: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut at = 0;
    while at < octets.len() {
        let tag = at;
        while octets[at] & 0x1f == 0x1f && octets[at + 1] & 0x80 != 0 {
            at += 1;
        }
        at += if octets[tag] & 0x1f == 0x1f { 2 } else { 1 };
        let head = &octets[tag..at];
        let mut length = usize::from(octets[at]);
        at += 1;
        if length > 0x80 {
            let count = length & 0x7f;
            length =
                octets[at..at + count].iter().fold(0, |sum, octet| sum << 8 | usize::from(*octet));
            at += count;
        }
        let contents = &octets[at..at + length];
        at += length;
        out.extend_from_slice(head);
        if head[0] & 0x20 != 0 {
            out.push(0x80);
            out.extend(indefinite(contents));
            out.extend([0, 0]);
        } else {
            // As long as a length can be said to be.
            out.push(0x88);
            out.extend((contents.len() as u64).to_be_bytes());
            out.extend_from_slice(contents);
        }
    }
    out
}

proptest! {
#![proptest_config(ProptestConfig::with_cases(2048))]

    /// The dump's tables have the same fields as the declarations here.
    #[test]
    fn the_dump_knows_every_field((codec, sender, message) in any_operation()) {
        let mut octets = vec![0; 8];
        if codec.encode(&message, &mut octets).is_ok() {
            let service = Some(crate::dump::DumpService::Sle(codec.service));
            let pdu = crate::dump::annotate(service, Some(codec.version), sender, &octets.into());
            prop_assert_eq!(pdu.fault, None, "{:?}", message);
            prop_assert!(!pdu.operation.starts_with('['), "{:?}", message);
        }
    }

    #[test]
    fn every_operation_there_and_back((codec, sender, message) in any_operation()) {
        let mut encoded = Vec::new();
        codec.encode(&message, &mut encoded).unwrap();
        let read = codec.decode(sender, &Bytes::from(encoded.clone()));
        prop_assert_eq!(read.as_ref(), Ok(&message));
        let read = codec.decode(sender, &Bytes::from(indefinite(&encoded)));
        prop_assert_eq!(read.as_ref(), Ok(&message));
        // The other side sends nothing of the kind.
        let other = if sender == AssociationRole::User { AssociationRole::Provider } else { AssociationRole::User };
        let refused = matches!(
            codec.decode(other, &Bytes::from(encoded)),
            Err(DecodeError::UnknownOperation { .. })
        );
        prop_assert!(refused);
    }

    /// A truncated operation, or one with octets after it, is refused without a panic.
    #[test]
    fn no_part_of_an_operation_is_one((codec, sender, message) in any_operation()) {
        let mut encoded = Vec::new();
        codec.encode(&message, &mut encoded).unwrap();
        for end in 0..encoded.len() {
            let part = Bytes::copy_from_slice(&encoded[..end]);
            let refused = matches!(codec.decode(sender, &part), Err(DecodeError::Structure { .. }));
            prop_assert!(refused, "{} octets", end);
        }
        encoded.push(0);
        prop_assert_eq!(codec.decode(sender, &Bytes::from(encoded.clone())), Err(
            DecodeError::Structure { position: encoded.len() - 1, fault: BerFault::TrailingOctets }
        ));
    }

    #[test]
    fn changed_octets_do_not_panic(
        (codec, sender, message) in any_operation(),
        changes in vec((any::<proptest::sample::Index>(), any::<u8>()), 1..4),
    ) {
        let mut encoded = Vec::new();
        codec.encode(&message, &mut encoded).unwrap();
        for (index, octet) in changes {
            let at = index.index(encoded.len());
            encoded[at] = octet;
        }
        if let Ok(message) = codec.decode(sender, &Bytes::from(encoded)) {
            let mut again = Vec::new();
            // What version 5 understands and does not say is all that cannot be said again.
            match codec.encode(&message, &mut again) {
                Ok(()) => prop_assert_eq!(codec.decode(sender, &Bytes::from(again)), Ok(message)),
                Err(EncodeError::NotInVersion { .. }) => {}
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
    }
}

fn from_hex(text: &str) -> Bytes {
    let digits: Vec<u8> = text.bytes().filter(|digit| !digit.is_ascii_whitespace()).collect();
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(pair).collect()
}

fn parameter_of(service: ServiceType, version: u16, text: &str) -> Result<Parameter, DecodeError> {
    let message = Codec { service, version }.decode(AssociationRole::Provider, &from_hex(text))?;
    match message.pdu {
        Pdu::GetParameterReturn { result: Ok(parameter), .. } => Ok(parameter),
        other => panic!("{other:?}"),
    }
}

/// 911.5-B-3 has tag [7] twice; implementations have [13].
#[test]
fn rocf_minimum_reporting_cycle_under_both_tags() {
    let least = Ok(Parameter::MinReportingCycle(10));
    let agreed = "a7 10 8000 020101 a0 09 ad 07 0202012d 02010a";
    assert_eq!(parameter_of(ServiceType::Rocf, 5, agreed), least);
    let book = "a7 10 8000 020101 a0 09 a7 07 0202012d 02010a";
    assert_eq!(parameter_of(ServiceType::Rocf, 5, book), least);
    let cycle = "a7 0f 8000 020101 a0 08 a7 06 02011a 81010a";
    assert_eq!(parameter_of(ServiceType::Rocf, 5, cycle), Ok(Parameter::ReportingCycle(Some(10))));
    let confused = "a7 0f 8000 020101 a0 08 a7 06 02011a 02010a";
    assert_eq!(
        parameter_of(ServiceType::Rocf, 5, confused),
        Err(DecodeError::Value { field: "parameterName", value: 26 })
    );
    let mut sent = Vec::new();
    let message = Message {
        credentials: None,
        pdu: Pdu::GetParameterReturn {
            invoke_id: 1,
            result: least.map_err(|_| Diagnostic::OtherReason),
        },
    };
    Codec { service: ServiceType::Rocf, version: 5 }.encode(&message, &mut sent).unwrap();
    assert_eq!(sent, from_hex(agreed));
}

/// The virtual channel of telecommand that was asked for has one form up to version 4, another in 5.
#[test]
fn rocf_requested_tc_vcid_in_both_forms() {
    let chosen = "a7 11 8000 020101 a0 0a aa 08 020169 a003 810105";
    let requested = |channel| Ok(Parameter::RequestedTcVcid(channel));
    assert_eq!(parameter_of(ServiceType::Rocf, 4, chosen), requested(Some(Some(5))));
    assert!(parameter_of(ServiceType::Rocf, 5, chosen).is_err());
    let undefined = "a7 0e 8000 020101 a0 07 aa 05 020169 8100";
    assert_eq!(parameter_of(ServiceType::Rocf, 4, undefined), requested(None));
    let bare = "a7 0f 8000 020101 a0 08 aa 06 020169 810105";
    assert_eq!(parameter_of(ServiceType::Rocf, 5, bare), requested(Some(Some(5))));
    assert!(parameter_of(ServiceType::Rocf, 4, bare).is_err());
}

/// RCF's requested channel, bare and as a choice, and the sets that are sequences before version 5.
#[test]
fn forms_of_channels() {
    let channel = GvcId { spacecraft: 100, version: 0, virtual_channel: Some(3) };
    let requested = |value| {
        let pdu =
            Pdu::GetParameterReturn { invoke_id: 1, result: Ok(Parameter::RequestedGvcid(value)) };
        Message { credentials: None, pdu }
    };
    let encoded = |version, value| {
        let mut out = Vec::new();
        Codec { service: ServiceType::Rcf, version }
            .encode(&requested(value), &mut out)
            .map(|()| out)
    };
    let bare = from_hex("a7 17 8000 020101 a0 10 a5 0e 02011c 30 09 020164 020100 810103");
    let chosen = from_hex("a7 17 8000 020101 a0 10 a5 0e 02011c a0 09 020164 020100 810103");
    assert_eq!(encoded(1, Some(channel)).unwrap(), bare);
    assert_eq!(encoded(2, Some(channel)).unwrap(), chosen);
    assert_eq!(encoded(5, Some(channel)).unwrap(), chosen);
    assert!(matches!(encoded(1, None), Err(EncodeError::NotInVersion { version: 1, .. })));
    for version in 1..=5 {
        for octets in [&bare, &chosen] {
            let read = Codec { service: ServiceType::Rcf, version }
                .decode(AssociationRole::Provider, octets);
            assert_eq!(read, Ok(requested(Some(channel))));
        }
    }
    let permitted =
        PermittedChannel { spacecraft: 100, version: 0, virtual_channels: Some(vec![3]) };
    let message = Message {
        credentials: None,
        pdu: Pdu::GetParameterReturn {
            invoke_id: 1,
            result: Ok(Parameter::PermittedGvcidSet(vec![permitted])),
        },
    };
    let mut sets = [Vec::new(), Vec::new()];
    for (version, out) in [4, 5].into_iter().zip(&mut sets) {
        Codec { service: ServiceType::Rcf, version }.encode(&message, out).unwrap();
    }
    let set = "a7 1b 8000 020101 a0 14 a3 12 020118 SS 0d 30 0b 020164 020100 a1 03 020103";
    assert_eq!(sets[0], from_hex(&set.replace("SS", "30")));
    assert_eq!(sets[1], from_hex(&set.replace("SS", "31")));
}

#[test]
fn what_the_version_lacks_is_not_sent() {
    let lacks = |service, version, parameter: Parameter| {
        let pdu = Pdu::GetParameterReturn { invoke_id: 1, result: Ok(parameter) };
        let message = Message { credentials: None, pdu };
        let mut out = vec![7];
        let result = Codec { service, version }.encode(&message, &mut out);
        assert_eq!(out, [7], "nothing is written");
        matches!(result, Err(EncodeError::NotInVersion { .. }))
    };
    assert!(lacks(ServiceType::Raf, 4, Parameter::MinReportingCycle(5)));
    assert!(lacks(ServiceType::Raf, 5, Parameter::RequestedFrameQuality(None)));
    assert!(lacks(ServiceType::Rcf, 5, Parameter::RequestedFrameQuality(None)));
    assert!(lacks(ServiceType::Rocf, 5, Parameter::RequestedUpdateMode(None)));
    assert!(lacks(ServiceType::Rocf, 5, Parameter::RequestedTcVcid(None)));
    assert!(lacks(ServiceType::Raf, 5, Parameter::PlopInEffect2(true)));
}

/// The other implementation's session, octet for octet.
#[test]
fn raf_session_of_another_implementation() {
    let codec = Codec { service: ServiceType::Raf, version: 5 };
    let start = StartRequest::Return(ReturnStart {
        start: None,
        stop: None,
        select: ReturnSelection::Frames(RequestedFrameQuality::All),
    });
    let session = [
        (AssociationRole::User, "a00c800002010180008000020102", Pdu::Start { invoke_id: 1, start }),
        (
            AssociationRole::Provider,
            "a10780000201018000",
            Pdu::StartReturn { invoke_id: 1, result: Ok(PositiveStartReturn::Return) },
        ),
        (AssociationRole::User, "a2058000020102", Pdu::Stop { invoke_id: 2 }),
        (
            AssociationRole::Provider,
            "a30780000201028000",
            Pdu::StopReturn { invoke_id: 2, result: Ok(()) },
        ),
    ];
    for (sender, text, pdu) in session {
        let message = Message { credentials: None, pdu };
        assert_eq!(codec.decode(sender, &from_hex(text)).as_ref(), Ok(&message));
        let mut out = Vec::new();
        codec.encode(&message, &mut out).unwrap();
        assert_eq!(out, from_hex(text));
    }
}

/// Parts of six octets, each of which would become hundreds.
#[test]
fn more_parts_than_any_buffer_holds_are_refused_before_anything_is_made_of_them() {
    let part = [0xa1, 0x04, 0x80, 0x00, 0x83, 0x00];
    let codec = Codec { service: ServiceType::Raf, version: 5 };
    let buffer = |parts: usize| {
        let mut octets = vec![0xa8, 0x80];
        octets.extend(part.repeat(parts));
        octets.extend([0, 0]);
        codec.decode(AssociationRole::Provider, &Bytes::from(octets))
    };
    let Ok(Message { pdu: Pdu::TransferBuffer(parts), .. }) = buffer(65_535) else { panic!() };
    assert_eq!(parts.len(), 65_535);
    let refused = DecodeError::TooManyParts { parts: 65_536, parts_max: 65_535 };
    assert_eq!(buffer(65_536), Err(refused));
}
