//! What ends an association from below: the transport's faults, and peers that are no peers.

use std::sync::Arc;

use chronoscope_sle::association::{
    Association, AssociationEnd, AssociationEvent, AssociationState,
};
use chronoscope_sle::pdu::Pdu;
use chronoscope_sle::tml::TmlFault;
use proptest::prelude::*;

use crate::link::{Alone, Link, Provided, at, bind, cltu_instance, get};

#[test]
fn a_length_beyond_the_bound_is_told_to_the_peer_before_its_octets_come() {
    let mut alone = Alone::bound();
    alone.octets(&[1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
    assert!(matches!(
        alone.events[..],
        [AssociationEvent::Ended(AssociationEnd::Transport(TmlFault::TooLong {
            length: 0xffff_ffff,
            ..
        }))]
    ));
    assert_eq!((alone.output.urgent, alone.output.close), (Some(129), true));
}

#[test]
fn another_protocol_is_answered_by_nothing() {
    let mut provider = Association::provider(Provided::default().directory(), at(0));
    provider.receive(b"GET / HTTP/1.1\r\nHost: station\r\n\r\n", at(0));
    let event = provider.next_event().unwrap();
    assert!(matches!(event, AssociationEvent::Ended(AssociationEnd::Transport(_))), "{event:?}");
    assert!(provider.output().octets.is_empty());
}

#[test]
fn an_operation_behind_a_fault_is_not_taken() {
    let mut alone = Alone::bound();
    let mut octets = vec![9, 0, 0, 0, 0, 0, 0, 1, 0];
    octets.extend([1, 0, 0, 0, 0, 0, 0, 2, 0xa2, 0]);
    alone.octets(&octets);
    assert!(matches!(alone.events[..], [AssociationEvent::Ended(AssociationEnd::Transport(_))]));
}

#[test]
fn the_peer_s_transport_aborts_are_told_as_they_are() {
    for octet in [128, 134, 199, 255] {
        let mut alone = Alone::bound();
        alone.urgent(octet);
        let Some(AssociationEvent::Ended(AssociationEnd::PeerAborted(diagnostic))) =
            alone.events.last()
        else {
            panic!("{:?}", alone.events);
        };
        assert_eq!(diagnostic.octet(), octet);
    }
}

#[test]
fn a_connection_that_breaks_says_how() {
    let broken = || TmlFault::Connection { reason: "reset by peer".into() };
    let mut alone = Alone::bound();
    alone.association.closed(Some(broken()), alone.now);
    alone.collect();
    assert_eq!(alone.events, [AssociationEvent::Ended(AssociationEnd::Transport(broken()))]);
    let mut alone = Alone::bound();
    alone.say(Pdu::Unbind(chronoscope_sle::pdu::UnbindReason::End));
    alone.association.closed(Some(broken()), alone.now);
    alone.collect();
    assert_eq!(
        alone.events[1..],
        [AssociationEvent::Ended(AssociationEnd::Closed)],
        "it was to end anyhow"
    );
}

#[test]
fn other_associations_are_not_affected() {
    let mut directory = Arc::into_inner(Provided::default().directory()).unwrap();
    let mut second = Provided::default().instance;
    second.id = crate::link::other_instance();
    directory.add_instance(second).unwrap();
    let directory = Arc::new(directory);
    let mut good = Link::with(crate::link::settings(), Arc::clone(&directory));
    good.bind();
    good.forget();
    for garbage in
        [&b"\x01\0\0\0\0\0\0\x04\xde\xad\xbe\xef"[..], &[0xff; 64], &[3, 0, 0, 0, 0, 0, 0, 9]]
    {
        let mut bad = Alone::provider(Arc::clone(&directory));
        bad.octets(garbage);
        assert_eq!(bad.association.state(), AssociationState::Ended);
        good.send(get(1));
        let answer = Pdu::GetParameterReturn {
            invoke_id: 1,
            result: Ok(chronoscope_sle::pdu::Parameter::ReturnTimeoutPeriod(60)),
        };
        good.answer(answer);
        assert_eq!((good.user_events.len(), good.provider_events.len()), (1, 1));
        good.forget();
    }
    assert_eq!(directory.is_bound(&cltu_instance()), Ok(true));
}

proptest! {
    /// Whatever comes, one end at most is told, it is the last word, and nothing panics.
    #[test]
    fn any_octets_end_it_once(
        pieces in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20),
        framed in any::<bool>(),
        bound in any::<bool>(),
    ) {
        let mut alone = if bound {
            Alone::bound()
        } else {
            Alone::provider(Provided::default().directory())
        };
        for piece in pieces {
            if framed && !piece.is_empty() {
                alone.say_pdu(&piece);
            } else {
                alone.octets(&piece);
            }
        }
        alone.close();
        let ends = alone.events.iter().filter(|event| matches!(event, AssociationEvent::Ended(_))).count();
        prop_assert_eq!(ends, 1);
        prop_assert!(matches!(alone.events.last(), Some(AssociationEvent::Ended(_))));
    }

    /// Real operations with some octets changed: the same.
    #[test]
    fn changed_operations_end_it_at_most_once(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut alone = Alone::provider(Provided::default().directory());
        let mut octets = Vec::new();
        for pdu in [Pdu::Bind(bind()), get(1), crate::link::start(2), crate::link::cltu(3)] {
            let message = chronoscope_sle::pdu::Message { credentials: None, pdu };
            let codec = alone.codec;
            alone.tml.frame(alone.now, &mut octets, |out| codec.encode(&message, out)).unwrap();
        }
        for (at, octet) in changes {
            let at = at.index(octets.len());
            octets[at] = octet;
        }
        alone.octets(&octets);
        alone.close();
        let ends = alone.events.iter().filter(|event| matches!(event, AssociationEvent::Ended(_))).count();
        prop_assert_eq!(ends, 1);
    }
}
