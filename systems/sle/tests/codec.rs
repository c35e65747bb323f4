//! Operations to octets and back, and octets that are none. RAF, RCF and ROCF have their own
//! properties beside their declarations.
#![allow(clippy::unwrap_used)]

#[path = "codec/check.rs"]
mod check;
#[path = "codec/forms.rs"]
mod forms;
#[path = "codec/operations.rs"]
mod operations;

use bytes::Bytes;
use chronoscope_sle::codec::{BerFault, Codec, DecodeError, EncodeError, decode_bind};
use chronoscope_sle::pdu::{
    AssociationRole, BindPdu, CltuTransferData, Diagnostic, Message, Parameter, Pdu,
    ServiceInstanceId, ServiceType, SiAttribute, StartRequest,
};
use operations::any_operation;
use proptest::prelude::*;

fn fcltu(version: u16) -> Codec {
    Codec { service: ServiceType::Fcltu, version }
}

fn encoded(codec: Codec, message: &Message) -> Bytes {
    let mut out = Vec::new();
    codec.encode(message, &mut out).unwrap();
    out.into()
}

fn unhex(hex: &str) -> Bytes {
    let hex: String = hex.split_whitespace().collect();
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

/// Whether the book of the version has the parameter, and can say this value of it.
fn in_version(parameter: &Parameter, version: u16) -> bool {
    match parameter {
        Parameter::MinReportingCycle(_) => version >= 5,
        Parameter::AcquisitionSequenceLength(_)
        | Parameter::MinimumDelayTime(_)
        | Parameter::NotificationModeImmediate(_)
        | Parameter::Plop1IdleSequenceLength(_)
        | Parameter::ProtocolAbortModeContinue(_) => version >= 4,
        Parameter::ClcwGlobalVcid(channel) => version >= 5 || version == 4 && channel.is_some(),
        Parameter::ClcwPhysicalChannel(name) => version >= 5 || version == 4 && name.is_some(),
        _ => true,
    }
}

proptest! {
    #[test]
    fn every_operation_goes_there_and_back_in_every_version(
        (sender, message) in any_operation(), version in 1..=5u16,
    ) {
        let mut out = b"before".to_vec();
        let done = fcltu(version).encode(&message, &mut out);
        if let Pdu::GetParameterReturn { result: Ok(parameter), .. } = &message.pdu
            && !in_version(parameter, version)
        {
            let what = parameter.name().name();
            let service = ServiceType::Fcltu;
            prop_assert_eq!(done, Err(EncodeError::NotInVersion { what, service, version }));
            prop_assert_eq!(out, b"before");
            return Ok(());
        }
        prop_assert_eq!(done, Ok(()));
        prop_assert!(out.starts_with(b"before"));
        let octets = Bytes::from(out).slice(6..);
        prop_assert_eq!(fcltu(version).decode(sender, &octets), Ok(message));
    }

    /// Whoever encodes as X.690 allows is understood; what is sent is the shortest of all forms.
    #[test]
    fn all_legal_ber_is_read(
        (sender, message) in any_operation(), choices in prop::collection::vec(any::<usize>(), 1..40),
    ) {
        let mut octets = Vec::new();
        prop_assert_eq!(fcltu(5).encode(&message, &mut octets), Ok(()), "version 5 has everything");
        let mut taken = choices.iter().cycle();
        let mut choose = |below: usize| taken.next().unwrap() % below;
        let other = Bytes::from(forms::other_form(&octets, &mut choose));
        prop_assert!(other.len() >= octets.len());
        // The longest PDU without data has a bound; these forms can blow one up beyond it.
        prop_assume!(other.len() < 8192 || octets.len() > 2000);
        prop_assert_eq!(fcltu(5).decode(sender, &other), Ok(message), "{:02x?}", other);
    }

    /// A peer that changes, cuts or inserts octets is refused or understood, in any service.
    #[test]
    fn changed_octets_are_refused_or_understood(
        (_, message) in any_operation(), how: u8,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut out = vec![how];
        let _ = fcltu(5).encode(&message, &mut out);
        for (at, octet) in changes {
            let at = at.index(out.len());
            out[at] = octet;
        }
        check::check(&out);
        out.truncate(cut.index(out.len()));
        check::check(&out);
    }

    #[test]
    fn octets_from_anywhere_are_refused_or_understood(
        octets in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        check::check(&octets);
    }
}

#[test]
fn kept_inputs_hold() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/sle_pdu");
    let mut count = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let entry = entry.unwrap();
        let understood = check::check(&std::fs::read(entry.path()).unwrap());
        let name = entry.file_name().into_string().unwrap();
        assert_eq!(understood, !name.starts_with("refused-"), "{name}");
        count += 1;
    }
    assert!(count > 30, "{count}");
}

#[test]
fn octets_that_are_no_operation_have_a_name_and_a_position() {
    let codec = fcltu(5);
    let refused = |hex: &str| codec.decode(AssociationRole::User, &unhex(hex)).unwrap_err();
    let structure = |position, fault| DecodeError::Structure { position, fault };
    assert_eq!(refused(""), structure(0, BerFault::Truncated));
    // A STOP whose length, and one whose invoke id's length, lies beyond the end.
    assert_eq!(refused("a206 8000 0201 03"), structure(1, BerFault::LengthBeyondEnd));
    assert_eq!(refused("a205 8000 0202 03"), structure(5, BerFault::LengthBeyondEnd));
    assert_eq!(refused("a284 7fffffff 8000"), structure(1, BerFault::LengthBeyondEnd));
    assert_eq!(refused("a289 01 0000000000000000"), structure(1, BerFault::LengthAbsurd));
    assert_eq!(refused("a205 8000 0201 03 00"), structure(7, BerFault::TrailingOctets));
    let deep = [0xa2, 0x80].repeat(100_000);
    let refusal = codec.decode(AssociationRole::User, &deep.into()).unwrap_err();
    assert_eq!(refusal, structure(48, BerFault::TooDeep));

    assert_eq!(refused("3003 0201 03"), DecodeError::NoOperation { octet: 0x30 });
    let unknown =
        |tag, sender| DecodeError::UnknownOperation { tag, service: ServiceType::Fcltu, sender };
    assert_eq!(refused("bf8a00 03 0201 03"), unknown(1280, AssociationRole::User));
    let octets = unhex("a205 8000 0201 03");
    assert_eq!(
        codec.decode(AssociationRole::Provider, &octets),
        Err(unknown(2, AssociationRole::Provider))
    );
    let version = DecodeError::Version { service: ServiceType::Fcltu, version: 6 };
    assert_eq!(fcltu(6).decode(AssociationRole::User, &octets), Err(version));
}

#[test]
fn what_the_declaration_forbids_is_refused_by_the_operations_name() {
    let refused = |sender, hex: &str| fcltu(5).decode(sender, &unhex(hex)).unwrap_err().to_string();
    // A STOP with a negative invoke id, without one, and with one too many.
    for hex in ["a205 8000 0201 ff", "a202 8000", "a208 8000 0201 03 0201 03"] {
        let error = refused(AssociationRole::User, hex);
        assert!(error.starts_with("STOP"), "{error}");
    }
    // An UNBIND return with the negative result that UNBIND does not have.
    let error = refused(AssociationRole::Provider, "bf67 05 8000 8101 00");
    assert!(error.starts_with("UNBIND return: "), "{error}");
    let error = refused(AssociationRole::User, "bf66 05 8000 0201 09");
    assert_eq!(error, "unbindReason: 9 is not defined");
    let error = refused(AssociationRole::Provider, "a308 8000 0201 03 8101 65");
    assert_eq!(error, "common diagnostic: 101 is not defined");
    // Of 7 and of 257 octets, where 8 to 256 are allowed.
    let seven = format!("a20c 8107 {} 0201 03", "00".repeat(7));
    let too_many = format!("a2820108 81820101 {} 0201 03", "00".repeat(257));
    for hex in [seven, too_many] {
        let error = refused(AssociationRole::User, &hex);
        assert!(error.starts_with("STOP"), "{error}");
    }
}

#[test]
fn an_operation_without_data_is_not_read_beyond_its_bound() {
    let attribute = "310e 300c 0607 2b700403010234 1a01 33";
    let attributes = attribute.repeat(600); // 9,600 octets
    let bind = format!("8000 1a03 414243 1a01 50 020110 020105 30822580 {attributes}");
    let hex = format!("bf64 8225 94 {bind}");
    let octets = unhex(&hex);
    let operation = "an operation without data";
    let too_long = DecodeError::TooLong { operation, octets: octets.len(), octets_max: 8192 };
    assert_eq!(decode_bind(&octets), Err(too_long));
}

#[test]
fn an_association_begins_with_bind_alone() {
    let stop = unhex("a205 8000 0201 03");
    assert_eq!(decode_bind(&stop), Err(DecodeError::NotBind { tag: 2 }));
    let transfer = unhex("ab0f 8000 0201 02 0201 01 0203 0f4240 8000");
    assert_eq!(decode_bind(&transfer), Err(DecodeError::NotBind { tag: 11 }));
}

/// Version 1 has a START whose first CLTU may be left out, and other object identifiers.
#[test]
fn version_one_is_what_it_was() {
    let start = Pdu::Start { invoke_id: 1, start: StartRequest::Cltu { first_cltu: 7 } };
    let message = Message { credentials: None, pdu: start };
    let octets = encoded(fcltu(1), &message);
    assert_eq!(octets, unhex("a008 8000 0201 01 8101 07"));
    assert_eq!(fcltu(1).decode(AssociationRole::User, &octets), Ok(message));
    let without = unhex("a007 8000 0201 01 8000");
    let error = fcltu(1).decode(AssociationRole::User, &without).unwrap_err().to_string();
    assert!(error.contains("without firstCltuIdentification"), "{error}");
    assert!(fcltu(2).decode(AssociationRole::User, &octets).is_err());

    let bind = |version| BindPdu {
        initiator: "MCC".to_owned(),
        responder_port: "PORT".to_owned(),
        service: Ok(ServiceType::Fcltu),
        version,
        instance: ServiceInstanceId(vec![(SiAttribute(52), "1".to_owned())]),
    };
    let of = |version| {
        let pdu = Pdu::Bind(bind(version));
        encoded(fcltu(5), &Message { credentials: None, pdu })
    };
    let position = |octets: &Bytes, identifier: &str| {
        let identifier = unhex(identifier);
        octets.windows(identifier.len()).any(|window| window == identifier)
    };
    assert!(position(&of(1), "0606 2a0009050234"));
    assert!(position(&of(2), "0607 2b700403010234"));
    assert_eq!(decode_bind(&of(1)), Ok((None, bind(1))));
}

/// Later parameters under tags beyond the book's, as one implementation sends them up to version 3.
#[test]
fn parameters_that_a_version_should_not_have_are_read_and_not_sent() {
    let octets = unhex("a711 8000 0201 01 a00a af08 0202 00cc 0202 2710");
    let message = fcltu(3).decode(AssociationRole::Provider, &octets).unwrap();
    let result = Ok(Parameter::MinimumDelayTime(10_000));
    assert_eq!(message.pdu, Pdu::GetParameterReturn { invoke_id: 1, result });
    let what = "minimumDelayTime";
    let refusal = EncodeError::NotInVersion { what, service: ServiceType::Fcltu, version: 3 };
    assert_eq!(fcltu(3).encode(&message, &mut Vec::new()), Err(refusal));
    // A name that is not the tag's: [15] is minimumDelayTime, 22 modulationFrequency.
    let octets = unhex("a710 8000 0201 01 a009 af07 0201 16 0202 2710");
    let error = DecodeError::Value { field: "parameterName", value: 22 };
    assert_eq!(fcltu(3).decode(AssociationRole::Provider, &octets), Err(error));
}

#[test]
fn what_the_book_does_not_allow_is_not_sent() {
    let refused = |codec: Codec, pdu: Pdu| {
        let mut out = b"before".to_vec();
        let message = Message { credentials: None, pdu };
        let error = codec.encode(&message, &mut out).unwrap_err();
        assert_eq!(out, b"before");
        error.to_string()
    };
    let transfer = |length: usize| {
        Pdu::CltuTransferData(CltuTransferData {
            invoke_id: 1,
            cltu: 1,
            earliest: None,
            latest: None,
            delay_us: 0,
            notify_radiated: false,
            data: vec![0; length].into(),
        })
    };
    assert_eq!(refused(fcltu(5), transfer(0)), "cltuData is 0, not in [1, 65536]");
    assert_eq!(refused(fcltu(5), transfer(65_537)), "cltuData is 65537, not in [1, 65536]");
    let raf = Codec { service: ServiceType::Raf, version: 5 };
    assert_eq!(refused(raf, transfer(1)), "Raf has no TRANSFER-DATA invocation");
    let pdu = Pdu::TransferBuffer(Vec::new());
    assert_eq!(refused(fcltu(5), pdu), "Fcltu has no TRANSFER-BUFFER");
    let pdu = Pdu::StopReturn { invoke_id: 1, result: Err(Diagnostic::Specific(1)) };
    assert_eq!(refused(fcltu(5), pdu), "STOP's diagnostic is 1, not in [100, 127]");
    let bind = |initiator: &str| {
        Pdu::Bind(BindPdu {
            initiator: initiator.to_owned(),
            responder_port: "PORT".to_owned(),
            service: Ok(ServiceType::Fcltu),
            version: 5,
            instance: ServiceInstanceId::default(),
        })
    };
    assert_eq!(refused(fcltu(5), bind("AB")), "initiatorIdentifier is 2, not in [3, 16]");
    assert_eq!(refused(fcltu(5), bind("ÄBC")), "initiatorIdentifier: `ÄBC` is not printable ASCII");
    assert!(refused(fcltu(9), bind("ABC")).contains("version 9"));
    let short = Message { credentials: Some(Bytes::from_static(b"short")), pdu: bind("ABC") };
    let error = fcltu(5).encode(&short, &mut Vec::new()).unwrap_err();
    assert_eq!(error.to_string(), "credentials is 5, not in [8, 256]");
}
