//! Octets of operations, put together by hand from the ASN.1 of CCSDS 921.1-B-2, annex F, tag by tag:
//! no implementation of the framework was to be had.
//!
//! An encoder of its own lineage (pycrate 0.8.1, from PyPI) was given the types of BIND, PROCESS-DATA,
//! their returns and the forward buffer, and wrote the same octets, with one difference: left to
//! itself it tags what is in an `EMBEDDED PDV` explicitly. X.680 §36.5 tags it automatically, so
//! implicitly, as does `BerEmbeddedPdv` of jasn1 1.11.3, on which the agencies' implementation stands.

use bytes::Bytes;
use chronoscope_sle::csts::codec::{decode, decode_declared, encode};
use chronoscope_sle::csts::pdu::*;
use chronoscope_sle::time::Time;

/// Name, sender, octets.
pub(crate) const ALL: &[(&str, AssociationRole, &str)] = &[
    (
        "bind",
        AssociationRole::User,
        "a04f30138000020101300c06082b7004040101030183001a0643454e5452451a06504f52542d \
        3106072b700404010204020101301a06052b7004070106052b7004060206072b700404010204 \
        0201038100",
    ),
    ("bind_return", AssociationRole::Provider, "a11430098000020101a00281001a0753544154494f4e"),
    (
        "bind_refused",
        AssociationRole::Provider,
        "a13130268000020101a11fbf641aa00c810a2b700404010103010201820a85086279204f5448 \
        455281001a0753544154494f4e",
    ),
    ("unbind", AssociationRole::User, "a2183014800002020100300c06082b7004040101030183008100"),
    ("unbind_return", AssociationRole::Provider, "a30a800002020100a0028100"),
    ("peer_abort", AssociationRole::User, "a403040146"),
    (
        "start",
        AssociationRole::User,
        "aa3630158000020102300e060a2b7004040101030401028100a01da00e810c2b700404010103 \
        0401020201820b3009020500ffffffff8100",
    ),
    ("stop", AssociationRole::User, "b41930158000020103300e060a2b70040401010304010281008100"),
    ("stop_return", AssociationRole::Provider, "b5098000020103a0028100"),
    (
        "process_data",
        AssociationRole::User,
        "bf3c3a3016800002020080300e060a2b700404010103040101810002010580056672616d65a0 \
        16a00c810a2b7004040101030402018206300481008100",
    ),
    (
        "process_data_sequence",
        AssociationRole::User,
        "bf3c8201383020810a00112233445566778899020104300f060a2b7004040101030401028201 \
        020201078081c878787878787878787878787878787878787878787878787878787878787878 \
        7878787878787878787878787878787878787878787878787878787878787878787878787878 \
        7878787878787878787878787878787878787878787878787878787878787878787878787878 \
        7878787878787878787878787878787878787878787878787878787878787878787878787878 \
        7878787878787878787878787878787878787878787878787878787878787878787878787878 \
        7878787878787878787878787878787878a046a00c810a2b7004040101030402018236303480 \
        00a030a00e810c2b7004040101030401020202821e301ca10a800862490448eea00000a10c81 \
        0a62490448eea0000000018100",
    ),
    (
        "process_data_return",
        AssociationRole::Provider,
        "bf3d228000020104a01ba019a00e810c2b7004040101030401020203820730050201078100",
    ),
    (
        "process_data_refused",
        AssociationRole::Provider,
        "bf3d398000020105a132bf6414a00e810c2b700404010103040102020482028200a019a00e81 \
        0c2b7004040101030401020205820730050201098100",
    ),
    (
        "forward_buffer",
        AssociationRole::User,
        "bf3e63303730158000020101300e060a2b700404010103040101810002010180036f6e65a016 \
        a00c810a2b70040401010304020182063004800081003028301f810a00112233445566778899 \
        020102300e060a2b700404010103040101810002010280008100",
    ),
    (
        "notify",
        AssociationRole::Provider,
        "bf327a3015800002010a300e060a2b7004040101030401018100800862490448eea00000301c \
        a10e060a2b7004040101030401018100060a2b7004040101040402018200a037a00c810a2b70 \
        040401010304020282273025a10f020106a20a800862490448eea00000a10d02010580086249 \
        0448eea000008101018100",
    ),
    (
        "get",
        AssociationRole::User,
        "bf28273013800002010b300c06082b700404010103058100a70e060a2b700404010103040101 \
        81008100",
    ),
    (
        "get_return",
        AssociationRole::Provider,
        "bf2956800002010ba04fa04da00b81092b7004040101020e01823e303c30383036301ca10e06 \
        0a2b7004040101030401018100060a2b7004040101040501023016a014a00c810a2b70040401 \
        01040501028204020210008100",
    ),
    (
        "reset",
        AssociationRole::User,
        "be3d3015800002010c300e060a2b7004040101030401028100060a2b700404010104060301a1 \
        16a214a00d810b2b70040401010406030101820302012a8100",
    ),
];

/// What is written so, blanks left out.
pub(crate) fn octets(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] << 4 | pair[1]).unwrap()).collect()
}

fn oid(text: &str) -> Oid {
    text.parse().unwrap()
}

fn buffered() -> ProcedureName {
    ProcedureName::prime(oid("1.3.112.4.4.1.1.3.4.1.1"))
}

fn sequence() -> ProcedureName {
    ProcedureName::prime(oid("1.3.112.4.4.1.1.3.4.1.2"))
}

const TIME: Time = Time::Micro([0x62, 0x49, 0x04, 0x48, 0xee, 0xa0, 0, 0]);
const PICO: Time = Time::Pico([0x62, 0x49, 0x04, 0x48, 0xee, 0xa0, 0, 0, 0, 1]);
const CREDENTIALS: Bytes =
    Bytes::from_static(&[0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99]);

fn unextended(invoke_id: InvokeId) -> PlainReturn {
    PlainReturn { invoke_id, result: Ok(()), extension: None }
}

/// In the order of [`ALL`].
fn session() -> Vec<Pdu> {
    let service_type = oid("1.3.112.4.4.1.2.4");
    let instance = ServiceInstanceId {
        spacecraft: oid("1.3.112.4.7.1"),
        facility: oid("1.3.112.4.6.2"),
        service_type: service_type.clone(),
        number: 3,
    };
    let bind = BindPdu {
        invoke_id: 1,
        procedure: ProcedureName::association_control(),
        initiator: "CENTRE".into(),
        responder_port: "PORT-1".into(),
        service_type,
        version: 1,
        instance,
        extension: None,
    };
    let taken = Diagnostic::Bind(BindDiagnostic::AlreadyBound("by OTHER".into()));
    let refused = PlainReturn { invoke_id: 1, result: Err(taken), extension: None };
    let procedure = ProcedureName::association_control();
    let responder = || "STATION".to_owned();
    vec![
        Pdu::Bind(bind),
        Pdu::BindReturn(BindReturn { answer: unextended(1), responder: responder() }),
        Pdu::BindReturn(BindReturn { answer: refused, responder: responder() }),
        Pdu::Unbind(PlainInvocation { invoke_id: 256, procedure, extension: None }),
        Pdu::UnbindReturn(unextended(256)),
        Pdu::PeerAbort(PeerAbortDiagnostic::ForwardBufferTooLarge),
        Pdu::Start(StartPdu {
            invoke_id: 2,
            procedure: sequence(),
            extension: StartExtension::SequenceControlled {
                first_data_unit: u32::MAX,
                extension: None,
            },
        }),
        Pdu::Stop(PlainInvocation { invoke_id: 3, procedure: sequence(), extension: None }),
        Pdu::StopReturn(unextended(3)),
    ]
}

fn processing() -> Vec<Pdu> {
    let plain = |invoke_id, data_unit, data: &'static [u8], extension| ProcessData {
        invoke_id,
        procedure: buffered(),
        data_unit,
        data: AbstractChoice::Opaque(Bytes::from_static(data)),
        extension,
    };
    let report = |report| ProcessDataExtension::DataProcessing { report, extension: None };
    let timed = ProcessData {
        invoke_id: 4,
        procedure: ProcedureName::secondary(sequence().procedure, 2),
        data_unit: 7,
        data: AbstractChoice::Opaque(Bytes::from(vec![b'x'; 200])),
        extension: ProcessDataExtension::SequenceControlled {
            report: false,
            earliest: Some(TIME),
            latest: Some(PICO),
            extension: None,
        },
    };
    let numbered =
        |data_unit| ProcessDataReturnExtension::SequenceControlled { data_unit, extension: None };
    let out_of_sequence =
        Diagnostic::SequenceControlled(SequenceControlledDiagnostic::OutOfSequence);
    let signed = BufferedOperation {
        credentials: Some(CREDENTIALS),
        operation: plain(2, 2, b"", ProcessDataExtension::NotUsed),
    };
    vec![
        Pdu::ProcessData(plain(128, 5, b"frame", report(true))),
        Pdu::ProcessData(timed),
        Pdu::ProcessDataReturn(ProcessDataReturn {
            invoke_id: 4,
            result: Ok(()),
            extension: numbered(7),
        }),
        Pdu::ProcessDataReturn(ProcessDataReturn {
            invoke_id: 5,
            result: Err(out_of_sequence),
            extension: numbered(9),
        }),
        Pdu::ForwardBuffer(vec![plain(1, 1, b"one", report(false)).into(), signed]),
    ]
}

fn others() -> Vec<Pdu> {
    let name = |id: &str| Name { owner: NameOwner::Procedure(buffered()), id: oid(id) };
    let status = ProcessingStatus::ProcessingStarted(TIME);
    let progress = ProcessingNotification {
        last_processed: Some(LastProcessed { data_unit: 6, status }),
        last_ok: Some(LastOk { data_unit: 5, stop_time: TIME }),
        production: Some(ProductionStatus::Operational),
        extension: None,
    };
    let size = oid("1.3.112.4.4.1.1.4.5.1.2");
    let value = Embedded { syntax: size, value: Bytes::from_static(&[2, 2, 0x10, 0]) };
    let unit = oid("1.3.112.4.4.1.1.4.6.3.1.1");
    let unit = Embedded { syntax: unit, value: Bytes::from_static(&[2, 1, 42]) };
    vec![
        Pdu::Notify(NotifyPdu {
            invoke_id: 10,
            procedure: buffered(),
            time: TIME,
            event: name("1.3.112.4.4.1.1.4.4.2.1"),
            value: EventValue::Empty,
            extension: NotifyExtension::DataProcessing(progress),
        }),
        Pdu::Get(GetPdu {
            invoke_id: 11,
            procedure: ProcedureName::prime(oid("1.3.112.4.4.1.1.3.5")),
            parameters: ListOf::Procedure(buffered()),
            extension: None,
        }),
        Pdu::GetReturn(GetReturn {
            invoke_id: 11,
            result: Ok(vec![QualifiedParameter {
                name: name("1.3.112.4.4.1.1.4.5.1.2"),
                values: vec![QualifiedValue::Valid(value)],
            }]),
            extension: None,
        }),
        Pdu::ExecuteDirective(ExecuteDirective {
            invoke_id: 12,
            procedure: sequence(),
            directive: oid("1.3.112.4.4.1.1.4.6.3.1"),
            qualifier: DirectiveQualifier::Local(QualifierValues::Parameterless(unit)),
            extension: None,
        }),
    ]
}

#[test]
fn octets_of_the_book() {
    let pdus = [session(), processing(), others()].concat();
    assert_eq!(pdus.len(), ALL.len());
    for ((name, sender, hex), pdu) in ALL.iter().zip(pdus) {
        let signed = *name == "process_data_sequence";
        let message = Message { credentials: signed.then_some(CREDENTIALS), pdu };
        let octets = Bytes::from(octets(hex));
        assert_eq!(decode_declared(*sender, &octets).as_ref(), Ok(&message), "{name}");
        assert_eq!(decode(*sender, &octets).as_ref(), Ok(&message), "{name}");
        let mut out = Vec::new();
        encode(&message, &mut out).unwrap();
        assert_eq!(out, octets, "{name}: {out:02x?}");
    }
}
