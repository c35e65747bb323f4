//! The transport mapping layer, one rule a test.

use bytes::Bytes;
use proptest::prelude::*;

use super::{FrameError, Heartbeat, HeartbeatLimits, Tml, TmlFault};
use crate::time::Now;

const S: u64 = 1_000_000_000;
const BEAT: Heartbeat = Heartbeat { interval_s: 25, dead_factor: 5 };
const CONTEXT: [u8; 20] = *b"\x02\0\0\0\0\0\0\x0cISP1\0\0\0\x01\0\x19\0\x05";
const HEARTBEAT: [u8; 8] = *b"\x03\0\0\0\0\0\0\0";

fn at(s: u64) -> Now {
    Now { monotonic_ns: s * S, utc_ns: 0 }
}

fn limits() -> HeartbeatLimits {
    HeartbeatLimits {
        interval_s: 10..=100,
        dead_factor: 2..=10,
        none_allowed: false,
        establishment_ns: 30 * S,
    }
}

fn responder() -> Tml {
    Tml::responder(limits(), 4096, at(0))
}

/// A responder that has taken the context message at 0 s.
fn announced() -> Tml {
    let mut tml = responder();
    assert_eq!(all(&mut tml, &CONTEXT, at(0)), Ok(vec![]));
    tml
}

fn pdu(body: &[u8]) -> Vec<u8> {
    let mut octets = vec![1, 0, 0, 0];
    octets.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    octets.extend(body);
    octets
}

/// All PDUs of these octets, or the fault, after which there must be nothing more.
fn all(tml: &mut Tml, octets: &[u8], now: Now) -> Result<Vec<Bytes>, TmlFault> {
    tml.receive(octets, now);
    let mut pdus = Vec::new();
    while let Some(next) = tml.next() {
        match next {
            Ok(pdu) => pdus.push(pdu),
            Err(fault) => {
                tml.receive(&CONTEXT, now);
                assert_eq!(tml.next(), None, "after a fault nothing is taken");
                assert_eq!(tml.due(), None);
                return Err(fault);
            }
        }
    }
    Ok(pdus)
}

fn ticked(tml: &mut Tml, now: Now) -> Result<Vec<u8>, TmlFault> {
    let mut out = Vec::new();
    tml.tick(now, &mut out).map(|()| out)
}

fn frame(tml: &mut Tml, body: &[u8], now: Now) -> Vec<u8> {
    let mut out = Vec::new();
    let written = tml.frame::<()>(now, &mut out, |out| {
        out.extend(body);
        Ok(())
    });
    assert_eq!(written, Ok(()));
    out
}

#[test]
fn the_initiator_sends_the_context_message_first_and_once() {
    let mut tml = Tml::initiator(BEAT, 4096, at(0));
    assert!(tml.due() <= Some(0), "at once");
    assert!(!tml.established());
    assert_eq!(ticked(&mut tml, at(0)).unwrap(), CONTEXT);
    assert!(tml.established());
    assert_eq!(ticked(&mut tml, at(1)).unwrap(), b"");
    assert_eq!(frame(&mut tml, b"abc", at(1)), pdu(b"abc"));

    let mut hasty = Tml::initiator(BEAT, 4096, at(0));
    assert_eq!(frame(&mut hasty, b"abc", at(0)), [&CONTEXT[..], &pdu(b"abc")].concat());
}

#[test]
fn a_responder_that_speaks_first_does_not_keep_the_context_message_back() {
    let mut tml = Tml::initiator(BEAT, 4096, at(0));
    assert_eq!(all(&mut tml, &[&HEARTBEAT[..], &pdu(b"early")].concat(), at(0)).unwrap().len(), 1);
    assert!(!tml.established());
    assert_eq!(frame(&mut tml, b"abc", at(1)), [&CONTEXT[..], &pdu(b"abc")].concat());
    assert!(tml.established());
}

#[test]
fn the_responder_takes_the_proposed_heartbeat_without_an_answer() {
    let mut tml = responder();
    assert_eq!(all(&mut tml, &CONTEXT, at(0)), Ok(vec![]));
    assert_eq!(tml.heartbeat(), BEAT);
    assert!(tml.established());
    assert_eq!(ticked(&mut tml, at(1)).unwrap(), b"");
}

#[test]
fn a_heartbeat_outside_of_the_limits_is_refused_with_130() {
    for (interval_s, dead_factor) in [(9, 5), (101, 5), (25, 1), (25, 11), (0, 5)] {
        let mut initiator = Tml::initiator(Heartbeat { interval_s, dead_factor }, 4096, at(0));
        let fault =
            all(&mut responder(), &ticked(&mut initiator, at(0)).unwrap(), at(0)).unwrap_err();
        assert_eq!(fault, TmlFault::HeartbeatRefused { interval_s, dead_factor });
        assert_eq!((fault.diagnostic(), fault.tells_the_peer()), (130, true));
    }
}

#[test]
fn a_dead_factor_of_0_is_refused_even_where_the_limits_have_it() {
    let mut tml = Tml::responder(HeartbeatLimits { dead_factor: 0..=10, ..limits() }, 4096, at(0));
    let mut context = CONTEXT;
    context[19] = 0;
    assert_eq!(all(&mut tml, &context, at(0)).unwrap_err().diagnostic(), 130);
}

#[test]
fn no_heartbeats_where_both_allow_it() {
    let mut tml = Tml::responder(HeartbeatLimits { none_allowed: true, ..limits() }, 4096, at(0));
    let mut initiator = Tml::initiator(Heartbeat::NONE, 4096, at(0));
    let context = ticked(&mut initiator, at(0)).unwrap();
    assert_eq!(all(&mut tml, &context, at(0)), Ok(vec![]));
    assert_eq!(all(&mut tml, &pdu(b"bind"), at(1)).unwrap().len(), 1);
    for tml in [&mut tml, &mut initiator] {
        assert_eq!(tml.due(), None);
        assert_eq!(ticked(tml, at(1_000_000)).unwrap(), b"");
    }
}

#[test]
fn anything_else_first_breaks_the_connection_without_a_word() {
    for first in [&pdu(b"bind")[..], &HEARTBEAT, b"GET / HTTP/1.1\r\n", &[0xff; 8]] {
        let fault = all(&mut responder(), first, at(0)).unwrap_err();
        assert_eq!(fault, TmlFault::NoContext);
        assert_eq!((fault.diagnostic(), fault.tells_the_peer()), (128, false));
    }
}

#[test]
fn a_context_of_another_protocol_version_or_length_is_refused() {
    // Protocol, version, length; the length before the octets that it announces.
    for (index, octet) in [(8, b'X'), (15, 2), (7, 13)] {
        let mut context = CONTEXT;
        context[index] = octet;
        let fault = all(&mut responder(), &context, at(0)).unwrap_err();
        assert_eq!(fault, TmlFault::BadContext { position: 0 });
        assert!(!fault.tells_the_peer());
    }
    let endless = [2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff];
    assert!(matches!(all(&mut responder(), &endless, at(0)), Err(TmlFault::BadContext { .. })));
}

#[test]
fn a_second_context_and_one_to_the_initiator_are_protocol_errors() {
    let fault = all(&mut announced(), &CONTEXT, at(0)).unwrap_err();
    assert_eq!(fault, TmlFault::UnexpectedContext { position: 20 });
    assert_eq!((fault.diagnostic(), fault.tells_the_peer()), (128, true));

    let mut initiator = Tml::initiator(BEAT, 4096, at(0));
    ticked(&mut initiator, at(0)).unwrap();
    assert_eq!(all(&mut initiator, &CONTEXT, at(0)).unwrap_err().diagnostic(), 128);
}

#[test]
fn a_wrong_type_is_told_with_its_position() {
    let mut tml = announced();
    let mut octets = pdu(b"0123456789");
    octets.extend([1, 0, 7, 0, 0, 0, 0, 1, 0]);
    let fault = {
        tml.receive(&octets, at(0));
        assert_eq!(tml.next().unwrap().unwrap(), "0123456789", "what was whole is delivered");
        tml.next().unwrap().unwrap_err()
    };
    assert_eq!(fault, TmlFault::BadType { word: 0x0100_0700, position: 38 });
    assert_eq!((fault.diagnostic(), fault.tells_the_peer()), (129, true));
    assert_eq!(fault.to_string(), "message at octet 38 has the type 0x01000700");
    for first in [0, 4, 0x81] {
        let fault = all(&mut announced(), &[first, 0, 0, 0, 0, 0, 0, 0], at(0)).unwrap_err();
        assert_eq!(fault.diagnostic(), 129);
    }
}

#[test]
fn a_length_is_refused_before_what_it_announces_comes() {
    assert_eq!(all(&mut announced(), &pdu(&[7; 4096]), at(0)).unwrap()[0].len(), 4096);
    for length in [4097, u32::MAX] {
        let mut octets = pdu(b"");
        octets[4..].copy_from_slice(&length.to_be_bytes());
        let fault = all(&mut announced(), &octets, at(0)).unwrap_err();
        assert_eq!(fault, TmlFault::TooLong { length, max: 4096, position: 20 });
        assert_eq!(fault.diagnostic(), 129);
    }
    let fault = all(&mut announced(), &pdu(b""), at(0)).unwrap_err();
    assert_eq!((fault.diagnostic(), fault), (129, TmlFault::EmptyPdu { position: 20 }));
    let fault = all(&mut announced(), &[3, 0, 0, 0, 0, 0, 0, 1], at(0)).unwrap_err();
    assert_eq!(
        (fault.diagnostic(), fault),
        (129, TmlFault::LongHeartbeat { length: 1, position: 20 })
    );
}

#[test]
fn establishment_ends_with_the_first_pdu_and_not_with_the_context() {
    let mut tml = responder();
    assert_eq!(tml.due(), Some(30 * S));
    let fault = ticked(&mut tml, at(30)).unwrap_err();
    assert_eq!(fault, TmlFault::EstablishmentTimeout);
    assert_eq!((fault.diagnostic(), fault.tells_the_peer()), (131, false));

    let mut tml = announced();
    assert_eq!(tml.due(), Some(25 * S), "its own heartbeat");
    assert_eq!(ticked(&mut tml, at(25)).unwrap(), HEARTBEAT);
    assert_eq!(all(&mut tml, &HEARTBEAT, at(29)), Ok(vec![]));
    assert_eq!(tml.due(), Some(30 * S));
    assert_eq!(ticked(&mut tml, at(30)), Err(TmlFault::EstablishmentTimeout));
    assert_eq!(tml.due(), None);

    let mut tml = announced();
    assert_eq!(all(&mut tml, &pdu(b"bind"), at(29)).unwrap().len(), 1);
    assert_eq!(ticked(&mut tml, at(31)).unwrap(), HEARTBEAT);
}

#[test]
fn a_heartbeat_after_an_interval_in_which_nothing_was_sent() {
    let mut tml = Tml::initiator(BEAT, 4096, at(0));
    ticked(&mut tml, at(0)).unwrap();
    assert_eq!(ticked(&mut tml, at(24)).unwrap(), b"");
    frame(&mut tml, b"x", at(24));
    assert_eq!(tml.due(), Some(49 * S));
    assert_eq!(ticked(&mut tml, at(48)).unwrap(), b"");
    assert_eq!(ticked(&mut tml, at(49)).unwrap(), HEARTBEAT);
    assert_eq!(ticked(&mut tml, at(49)).unwrap(), b"", "one");
    assert_eq!(tml.due(), Some(74 * S));
}

#[test]
fn a_peer_is_dead_after_interval_times_factor_without_a_message() {
    let mut tml = Tml::initiator(BEAT, 4096, at(0));
    ticked(&mut tml, at(0)).unwrap();
    assert_eq!(all(&mut tml, &HEARTBEAT, at(100)), Ok(vec![]));
    // Half a message is none: who sends an octet a minute is as good as dead.
    assert_eq!(all(&mut tml, &pdu(b"half")[..9], at(200)), Ok(vec![]));
    ticked(&mut tml, at(224)).unwrap();
    assert_eq!(tml.due(), Some(225 * S));
    let fault = ticked(&mut tml, at(225)).unwrap_err();
    assert_eq!(fault, TmlFault::PeerDead { silent_ns: 125 * S });
    assert_eq!((fault.diagnostic(), fault.tells_the_peer()), (132, false));
    assert_eq!(fault.to_string(), "nothing was heard from the peer for 125000 ms");
}

#[test]
fn the_end_of_the_stream_says_how_much_is_missing() {
    let mut tml = announced();
    let octets = [pdu(b"whole"), pdu(b"cut")[..10].to_vec()].concat();
    assert_eq!(all(&mut tml, &octets, at(0)).unwrap().len(), 1);
    let fault = tml.disconnected();
    assert_eq!(fault, TmlFault::UnexpectedDisconnect { position: 33, left_bytes: 10 });
    assert_eq!(fault.diagnostic(), 133);
    assert_eq!(TmlFault::PrematureDisconnect.diagnostic(), 134);
    assert_eq!(TmlFault::Connection { reason: String::new() }.diagnostic(), 199);
}

#[test]
fn a_pdu_that_cannot_be_written_leaves_nothing() {
    let mut tml = Tml::initiator(BEAT, 4096, at(0));
    ticked(&mut tml, at(0)).unwrap();
    let mut out = b"before".to_vec();
    let refused = tml.frame(at(20), &mut out, |out| {
        out.extend(b"half");
        Err("no")
    });
    assert_eq!(refused, Err(FrameError::Pdu("no")));
    assert_eq!(out, b"before");
    assert_eq!(ticked(&mut tml, at(25)).unwrap(), HEARTBEAT, "nothing was sent at 20 s");
}

#[test]
fn pdus_are_slices_of_what_came_together() {
    let mut tml = announced();
    let pdus = all(&mut tml, &[pdu(b"first"), pdu(b"second")].concat(), at(0)).unwrap();
    assert_eq!(pdus, ["first", "second"]);
    let apart = pdus[1].as_ptr() as usize - pdus[0].as_ptr() as usize;
    assert_eq!(apart, 5 + 8, "one buffer, no copy");
}

proptest! {
    /// However the stream is cut, the PDUs are the same.
    #[test]
    fn segments_do_not_matter(
        bodies in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..300), 0..20),
        beats in prop::collection::vec(any::<bool>(), 20),
        cuts in prop::collection::vec(1..400usize, 1..50),
    ) {
        let mut octets = CONTEXT.to_vec();
        for (body, beat) in bodies.iter().zip(beats) {
            octets.extend(pdu(body));
            if beat {
                octets.extend(HEARTBEAT);
            }
        }
        let mut tml = responder();
        let mut pdus = Vec::new();
        let mut rest = &octets[..];
        for cut in cuts.iter().cycle() {
            let (segment, behind) = rest.split_at((*cut).min(rest.len()));
            pdus.extend(all(&mut tml, segment, at(0)).unwrap());
            rest = behind;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(pdus, bodies);
    }
}
