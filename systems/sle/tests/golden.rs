//! The octets of real sessions of another implementation (`eu.dariolucia.ccsds.sle.utl` 1.0.6 as
//! user and as provider): each is read, and written again octet for octet.
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use chronoscope_sle::auth::{AuthError, CredentialsSender, HashAlgorithm, ReplayGuard, verify};
use chronoscope_sle::codec::{Codec, decode_bind};
use chronoscope_sle::pdu::{
    AssociationRole, BindPdu, CltuTransferData, CltuTransferDataReturn, Pdu, PositiveStartReturn,
    RequestedFrameQuality, ReturnSelection, ReturnStart, ServiceInstanceId, ServiceType,
    SiAttribute, StartRequest, UnbindReason,
};
use chronoscope_sle::time::{Now, Time};

/// One operation of a session.
struct Recorded {
    sender: AssociationRole,
    octets: Bytes,
}

/// One recorded session.
struct Session {
    service: ServiceType,
    /// `ver=`
    version: u16,
    /// `auth=` and `hash=`
    title: String,
    operations: Vec<Recorded>,
}

fn sessions() -> Vec<Session> {
    let mut sessions = Vec::<Session>::new();
    let files = [include_str!("golden/cltu.txt"), include_str!("golden/raf.txt")];
    for line in files.iter().flat_map(|file| file.lines()) {
        if let Some(title) = line.strip_prefix("### ") {
            let version = title.split("ver=").nth(1).unwrap()[..1].parse().unwrap();
            let service =
                if title.starts_with("RAF") { ServiceType::Raf } else { ServiceType::Fcltu };
            let title = title.to_owned();
            sessions.push(Session { service, version, title, operations: Vec::new() });
            continue;
        }
        let words: Vec<_> = line.split(' ').collect();
        let [direction, _, length, hex] = words[..] else { panic!("{line}") };
        let sender =
            if direction == "TX" { AssociationRole::User } else { AssociationRole::Provider };
        let octets = unhex(hex);
        assert_eq!(octets.len(), length.parse::<usize>().unwrap(), "{line}");
        sessions.last_mut().unwrap().operations.push(Recorded { sender, octets });
    }
    sessions
}

fn unhex(hex: &str) -> Bytes {
    (0..hex.len()).step_by(2).map(|at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap()).collect()
}

#[test]
fn every_operation_is_read_and_written_again_octet_for_octet() {
    let mut count = 0;
    for session in sessions() {
        let codec = Codec { service: session.service, version: session.version };
        for Recorded { sender, octets } in &session.operations {
            let message = codec.decode(*sender, octets).unwrap();
            let mut again = b"what is there already".to_vec();
            codec.encode(&message, &mut again).unwrap();
            assert_eq!(
                again,
                [b"what is there already", &octets[..]].concat(),
                "{}",
                message.pdu.name()
            );
            assert_eq!(message.credentials.is_some(), session.title.contains("ALL"));
            count += 1;
        }
    }
    assert_eq!(count, 38);
}

#[test]
fn a_session_says_what_its_peers_said() {
    let session = &sessions()[0];
    let codec = Codec { service: ServiceType::Fcltu, version: 5 };
    let said: Vec<_> = session
        .operations
        .iter()
        .map(|Recorded { sender, octets }| codec.decode(*sender, octets).unwrap().pdu)
        .collect();
    let attributes = [(52, "abc"), (53, "xyz"), (14, "1"), (7, "cltu1")];
    let instance =
        attributes.map(|(attribute, value)| (SiAttribute(attribute), value.to_owned())).to_vec();
    let bind = BindPdu {
        initiator: "TEST-USER".to_owned(),
        responder_port: "P".to_owned(),
        service: Ok(ServiceType::Fcltu),
        version: 5,
        instance: ServiceInstanceId(instance),
    };
    assert_eq!(decode_bind(&session.operations[0].octets).unwrap(), (None, bind.clone()));
    assert_eq!(said[0], Pdu::Bind(bind));
    let Pdu::BindReturn(answer) = &said[1] else { panic!("{:?}", said[1]) };
    assert_eq!((answer.responder.as_str(), answer.result), ("TEST-PROVIDER", Ok(5)));
    let start = StartRequest::Cltu { first_cltu: 0 };
    assert_eq!(said[2], Pdu::Start { invoke_id: 1, start });
    let start_radiation = Time::Micro([0x62, 0x49, 0x04, 0x48, 0xee, 0xa0, 0x00, 0x00]);
    let started = PositiveStartReturn::Cltu { start_radiation, stop_radiation: None };
    assert_eq!(said[3], Pdu::StartReturn { invoke_id: 1, result: Ok(started) });
    let data = CltuTransferData {
        invoke_id: 2,
        cltu: 0,
        earliest: None,
        latest: None,
        delay_us: 0,
        notify_radiated: false,
        data: unhex("73d51abbd89cb8196f0efb6892f94d68"),
    };
    assert_eq!(said[4], Pdu::CltuTransferData(data));
    let answer = CltuTransferDataReturn {
        invoke_id: 2,
        next_cltu: 1,
        buffer_available: 1_000_000,
        result: Ok(()),
    };
    assert_eq!(said[5], Pdu::CltuTransferDataReturn(answer));
    assert_eq!(said[6], Pdu::Stop { invoke_id: 3 });
    assert_eq!(said[7], Pdu::StopReturn { invoke_id: 3, result: Ok(()) });
    assert_eq!(said[8], Pdu::Unbind(UnbindReason::End));
    assert_eq!(said[9], Pdu::UnbindReturn);
}

#[test]
fn a_session_of_raf_says_what_its_user_said() {
    let sessions = sessions();
    let session = sessions.iter().find(|session| session.service == ServiceType::Raf).unwrap();
    let codec = Codec { service: ServiceType::Raf, version: session.version };
    let said = |index: usize| {
        let Recorded { sender, octets } = &session.operations[index];
        codec.decode(*sender, octets).unwrap().pdu
    };
    let Pdu::Bind(bind) = said(0) else { panic!("{:?}", said(0)) };
    let attributes = [(52, "abc"), (53, "xyz"), (38, "1"), (22, "onlc1")];
    let attributes = attributes.map(|(attribute, value)| (SiAttribute(attribute), value.into()));
    assert_eq!((bind.service, bind.version), (Ok(ServiceType::Raf), 5));
    assert_eq!(bind.instance, ServiceInstanceId(attributes.to_vec()));
    let select = ReturnSelection::Frames(RequestedFrameQuality::All);
    let start = StartRequest::Return(ReturnStart { start: None, stop: None, select });
    assert_eq!(said(2), Pdu::Start { invoke_id: 1, start });
    assert_eq!(said(3), Pdu::StartReturn { invoke_id: 1, result: Ok(PositiveStartReturn::Return) });
    assert_eq!(said(6), Pdu::Unbind(UnbindReason::End));
}

/// A message of one side is none of the other's.
#[test]
fn who_sends_decides_what_it_may_be() {
    let codec = Codec { service: ServiceType::Fcltu, version: 5 };
    for Recorded { sender, octets } in &sessions()[0].operations {
        let other = if *sender == AssociationRole::User {
            AssociationRole::Provider
        } else {
            AssociationRole::User
        };
        let error = codec.decode(other, octets).unwrap_err().to_string();
        assert!(error.contains("is not an operation that the"), "{error}");
    }
}

/// The peers' names and passwords of the recorded sessions: who made which credentials is the
/// hash's word, not the recording's.
#[test]
fn the_recorded_credentials_are_their_senders() {
    let mut count = 0;
    for session in sessions() {
        let hash = if session.title.contains("SHA_1") {
            HashAlgorithm::Sha1
        } else {
            HashAlgorithm::Sha256
        };
        let peer = |user: &str, password: &[u8]| CredentialsSender {
            user: user.to_owned(),
            password: password.to_vec(),
            hash,
        };
        let user = peer("TEST-USER", &[0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x00]);
        let provider = peer("TEST-PROVIDER", &[0xaa, 0xbb, 0xcc]);
        let codec = Codec { service: session.service, version: session.version };
        let mut guard = ReplayGuard::new(1_000_000_000);
        for Recorded { sender, octets } in &session.operations {
            let message = codec.decode(*sender, octets).unwrap();
            let Some(credentials) = message.credentials else { continue };
            let (whose, other) = if *sender == AssociationRole::User {
                (&user, &provider)
            } else {
                (&provider, &user)
            };
            // A second of the day after which all of a session is over.
            let time = Time::Micro(credentials[4..12].try_into().unwrap());
            let now = Now { monotonic_ns: 0, utc_ns: time.utc_ns().unwrap() + 500_000_000 };
            assert_eq!(
                verify(&credentials, whose, now, 1_000_000_000),
                Ok(()),
                "{}",
                message.pdu.name()
            );
            assert!(verify(&credentials, other, now, 1_000_000_000).is_err());
            assert_eq!(guard.check(&credentials, now), Ok(()));
            assert_eq!(guard.check(&credentials, now), Err(AuthError::Replayed));
            count += 1;
        }
    }
    assert_eq!(count, 20);
}
