//! Octets of the CSTS framework's operations.
#![allow(clippy::unwrap_used)]

#[path = "csts_codec/any.rs"]
mod any;
#[path = "csts_codec/check.rs"]
mod check;
#[path = "codec/forms.rs"]
mod forms;
#[path = "csts_codec/golden.rs"]
mod golden;

use bytes::Bytes;
use chronoscope_sle::csts::codec::{
    BerFault, DecodeError, EncodeError, decode, decode_bind, decode_declared, encode,
    encode_declared,
};
use chronoscope_sle::csts::pdu::*;
use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, any as anything};
use proptest::sample::Index;
use proptest::{prop_assert_eq, proptest};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2048))]

    #[test]
    fn every_operation_there_and_back(
        (sender, message) in any::message(),
        choices in vec(anything::<Index>(), 64),
    ) {
        let (mut direct, mut declared) = (Vec::new(), Vec::new());
        prop_assert_eq!(encode(&message, &mut direct), Ok(()));
        prop_assert_eq!(encode_declared(&message, &mut declared), Ok(()));
        prop_assert_eq!(&direct, &declared);
        let mut choices = choices.iter().cycle();
        let other = forms::other_form(&direct, &mut |below| choices.next().unwrap().index(below));
        for octets in [Bytes::from(direct), Bytes::from(other)] {
            prop_assert_eq!(decode_declared(sender, &octets), Ok(message.clone()));
            prop_assert_eq!(decode(sender, &octets), Ok(message.clone()));
        }
    }

    /// Octets changed, left out and put in between: what is understood is understood alike.
    #[test]
    fn no_octets_are_understood_otherwise(
        (sender, message) in any::message(),
        changes in vec((anything::<Index>(), 0..4u8, anything::<u8>()), 1..4),
    ) {
        let mut octets = Vec::new();
        encode(&message, &mut octets).unwrap();
        for (index, kind, octet) in changes {
            // Near the beginning, where identifiers and lengths are.
            let at = index.index(octets.len().clamp(1, 160)).min(octets.len().saturating_sub(1));
            match kind {
                0 | 1 if !octets.is_empty() => octets[at] = octet,
                2 if !octets.is_empty() => drop(octets.remove(at)),
                _ => octets.insert(at, octet),
            }
        }
        octets.insert(0, u8::from(sender == AssociationRole::Provider));
        check::check(&octets);
    }
}

/// What the fuzzer has found, and where it began.
#[test]
fn kept_corpus() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/csts_pdu");
    let mut understood = 0;
    for entry in std::fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        let ok = check::check(&std::fs::read(&path).unwrap());
        let refused = path.file_name().unwrap().to_str().unwrap().starts_with("refused-");
        assert_eq!(ok, !refused, "{}", path.display());
        understood += usize::from(ok);
    }
    assert!(understood >= golden::ALL.len(), "{understood} understood");
}

#[test]
fn data_units_are_slices_of_what_came() {
    for (name, sender, hex) in golden::ALL {
        let octets = Bytes::from(golden::octets(hex));
        let data = match decode(*sender, &octets).unwrap().pdu {
            Pdu::ProcessData(pdu) => vec![pdu.data],
            Pdu::ForwardBuffer(parts) => parts.into_iter().map(|it| it.operation.data).collect(),
            _ => continue,
        };
        for data in data {
            let AbstractChoice::Opaque(data) = data else { panic!("{name}") };
            let within = octets.as_ptr_range().contains(&data.as_ptr());
            assert!(within || data.is_empty(), "{name}: copied");
        }
    }
}

/// An operation that is refused, and what is said of it.
fn refused(sender: AssociationRole, hex: &str) -> String {
    let octets = Bytes::from(golden::octets(hex));
    decode(sender, &octets).unwrap_err().to_string()
}

#[test]
fn what_is_no_operation_has_a_name_and_a_position() {
    let deep = Bytes::from([0xa0, 0x80].repeat(100_000));
    let error = decode(AssociationRole::User, &deep).unwrap_err();
    assert_eq!(error, DecodeError::Structure { position: 48, fault: BerFault::TooDeep });
    assert_eq!(
        refused(AssociationRole::User, "bf3c05 3003"),
        "not BER at octet 2: LengthBeyondEnd"
    );
    assert_eq!(
        refused(AssociationRole::User, "3000"),
        "octet 0x30 is not the first octet of an operation"
    );
    let nobody = "tag [9] is not an operation that the User of a CSTS sends";
    assert_eq!(refused(AssociationRole::User, "a900"), nobody);
    let provider = "tag [60] is not an operation that the Provider of a CSTS sends";
    assert_eq!(refused(AssociationRole::Provider, "bf3c00"), provider);
    assert!(matches!(
        decode_bind(&Bytes::from_static(&[0xbf, 0x3c, 0])),
        Err(DecodeError::NotBind { tag: 60 })
    ));
}

#[test]
fn contents_that_the_book_does_not_have_are_refused() {
    // UNBIND return: negative, other reason.
    let unbind = "a3 0e 8000 020101 a1 07 8304 6e6f7065 8100";
    // The inner length is one short; then the whole.
    assert!(decode(AssociationRole::Provider, &Bytes::from(golden::octets(unbind))).is_err());
    let unbind = "a3 0f 8000 020101 a1 08 8304 6e6f7065 8100";
    assert_eq!(
        refused(AssociationRole::Provider, unbind),
        "UNBIND return: its result cannot be negative"
    );
    // GET return: positive, and nothing said.
    assert_eq!(
        refused(AssociationRole::Provider, "bf29 09 8000 020101 a0 02 8100"),
        "GET return: a positive result has getPosReturnExt"
    );
    // START whose extension is said to be scdpStartInvocExt, and is no such thing.
    let start = "aa 34 30 14 8000 020101 300d 0609 2b700404010103 0402 8100 \
                 a0 1c a0 0f 810d 2b700404010103 040102 0201 8202 0500";
    assert!(decode(AssociationRole::User, &Bytes::from(golden::octets(start))).is_err());
}

#[test]
fn what_cannot_be_said_is_refused_and_nothing_written() {
    let prime = || ProcedureName::prime(names::DATA_PROCESSING);
    let invocation = |procedure| PlainInvocation { invoke_id: 1, procedure, extension: None };
    let negative = PlainReturn {
        invoke_id: 1,
        result: Err(Diagnostic::OtherReason(String::new())),
        extension: None,
    };
    let arcs = Oid::from_octets(&[0x2b, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]).unwrap();
    let tall = Diagnostic::InvalidParameterValue { text: "ä".into(), appellation: "x".into() };
    let part = |secondary| ProcessData {
        invoke_id: 1,
        procedure: ProcedureName::secondary(names::DATA_PROCESSING, secondary),
        data_unit: 1,
        data: AbstractChoice::Opaque(Bytes::new()),
        extension: ProcessDataExtension::NotUsed,
    };
    let refused = [
        (None, Pdu::UnbindReturn(negative.clone())),
        (None, Pdu::Stop(invocation(ProcedureName::secondary(names::DATA_PROCESSING, 0)))),
        (None, Pdu::Stop(invocation(ProcedureName::prime(arcs)))),
        (Some(Bytes::from_static(b"1234567")), Pdu::Stop(invocation(prime()))),
        (None, Pdu::StopReturn(PlainReturn { result: Err(tall), ..negative.clone() })),
        (None, Pdu::ForwardBuffer(vec![part(1).into(), part(0).into()])),
        (None, Pdu::BindReturn(BindReturn { answer: negative, responder: "A B".into() })),
    ];
    for (credentials, pdu) in refused {
        let message = Message { credentials, pdu };
        let mut out = vec![7];
        let error: EncodeError = encode(&message, &mut out).unwrap_err();
        assert_eq!(out, [7], "{error}");
    }
}
