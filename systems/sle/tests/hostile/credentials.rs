//! Credentials that are wrong, missing, old, early, or somebody else's.

use crate::peer::{End, FORWARD, Peer, bind, get};
use crate::station::Station;
use bytes::Bytes;
use chronoscope_sle::auth::{Credentials, HashAlgorithm};
use chronoscope_sle::pdu::{Pdu, PeerAbortDiagnostic, UnbindReason};
use chronoscope_sle::time::{Now, Time};

const HOUR_NS: u64 = 3_600_000_000_000;

fn station() -> Station {
    Station::with("[security]\nauth = \"all\"\nhash = \"sha256\"\n", "")
}

fn denied() -> End {
    End::Abort(PeerAbortDiagnostic::AccessDenied.octet())
}

fn signed(password: &str, utc_ns: u64, random: u32) -> Option<Bytes> {
    let time = Time::from_utc_ns(utc_ns);
    Some(Credentials::make(HashAlgorithm::Sha256, "MCC", password.as_bytes(), time, random))
}

fn right(random: u32) -> Option<Bytes> {
    signed("centre-pw", Now::read().utc_ns, random)
}

fn bound(station: &Station, credentials: Option<Bytes>) -> Result<Peer, End> {
    let mut peer = Peer::user(station.address());
    peer.say_signed(credentials, Pdu::Bind(bind(&format!("{FORWARD}cltu1"))));
    match peer.end_or_hear() {
        Ok(Pdu::BindReturn(answer)) if answer.result.is_ok() => Ok(peer),
        Ok(other) => panic!("{other:?}"),
        Err(end) => Err(end),
    }
}

#[test]
fn binds_with_wrong_credentials_are_aborted_with_access_denied() {
    let station = station();
    let neighbour = crate::station::Neighbour::start(&station);
    let now_ns = Now::read().utc_ns;
    let sha1 =
        Credentials::make(HashAlgorithm::Sha1, "MCC", b"centre-pw", Time::from_utc_ns(now_ns), 1);
    let wrong = [
        ("none", None),
        ("another password", signed("guessed", now_ns, 1)),
        ("an hour old", signed("centre-pw", now_ns - HOUR_NS, 1)),
        ("an hour ahead", signed("centre-pw", now_ns + HOUR_NS, 1)),
        ("another hash", Some(sha1)),
        ("no credentials at all", Some(Bytes::from_static(b"password"))),
    ];
    for (name, credentials) in wrong {
        assert_eq!(bound(&station, credentials).err(), Some(denied()), "{name}");
    }
    assert!(bound(&station, right(1)).is_ok());
    neighbour.noticed_nothing();
}

/// Recorded on the wire, and sent again: on another connection, and as other operations.
#[test]
fn what_was_there_before_is_not_taken_again() {
    let station = station();
    let of_bind = right(1);
    let of_get = right(2);
    let mut peer = bound(&station, of_bind.clone()).ok().unwrap();
    peer.say_signed(of_get.clone(), get(1));
    assert!(matches!(peer.hear(), Pdu::GetParameterReturn { invoke_id: 1, result: Ok(_) }));
    peer.say_signed(right(3), get(2));
    assert!(matches!(peer.hear(), Pdu::GetParameterReturn { invoke_id: 2, result: Ok(_) }));
    // On the same connection it is as if nothing had come.
    peer.say_signed(of_get.clone(), get(3));
    peer.say_signed(of_bind.clone(), get(4));
    peer.say_signed(None, get(6));
    peer.say_signed(right(6), get(5));
    assert!(matches!(peer.hear(), Pdu::GetParameterReturn { invoke_id: 5, result: Ok(_) }));
    peer.say_signed(right(4), Pdu::Unbind(UnbindReason::End));
    assert_eq!(peer.hear(), Pdu::UnbindReturn);
    drop(peer);
    for replayed in [of_bind, of_get] {
        assert_eq!(bound(&station, replayed).err(), Some(denied()));
    }
    assert!(bound(&station, right(5)).is_ok());
}
