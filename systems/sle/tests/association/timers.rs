//! Return timers and heartbeats.

use chronoscope_sle::association::{
    AssociationEnd, AssociationEvent, AssociationState, UserSettings,
};
use chronoscope_sle::pdu::PeerAbortDiagnostic;
use chronoscope_sle::tml::{Heartbeat, TmlFault};

use crate::link::{Alone, Link, Provided, SECOND_NS, cltu, settings, start, taken};

#[test]
fn a_return_that_does_not_come_is_a_return_timeout() {
    let mut link = Link::bound();
    link.send(start(1));
    link.pass(59);
    assert_eq!(link.user.state(), AssociationState::Bound);
    link.pass(1);
    let [AssociationEvent::Ended(AssociationEnd::Aborted { diagnostic, why })] =
        &link.user_events[..]
    else {
        panic!("{:?}", link.user_events);
    };
    assert_eq!(*diagnostic, PeerAbortDiagnostic::ReturnTimeout);
    assert!(why.contains("invocation 1") && why.contains("60000 ms"), "{why}");
    let ending = AssociationEnd::PeerAborted(PeerAbortDiagnostic::ReturnTimeout);
    assert_eq!(link.provider_events.last(), Some(&AssociationEvent::Ended(ending)));
}

#[test]
fn each_invocation_has_its_own_time() {
    let mut link = Link::started();
    link.send(cltu(2));
    link.pass(40);
    link.send(cltu(3));
    link.answer(taken(2));
    link.pass(59);
    assert_eq!(
        link.user.state(),
        AssociationState::Bound,
        "the first was returned, the second is younger"
    );
    link.pass(1);
    assert_eq!(link.user.state(), AssociationState::Ended);
}

#[test]
fn a_return_in_time_stops_the_timer() {
    let mut link = Link::started();
    link.send(cltu(2));
    link.pass(59);
    link.answer(taken(2));
    assert_eq!(link.user.due(), None);
    link.pass(100_000);
    assert_eq!(link.user.state(), AssociationState::Bound);
}

fn beating() -> Link {
    let heartbeat = Heartbeat { interval_s: 10, dead_factor: 3 };
    let settings = UserSettings { heartbeat, ..settings() };
    let mut link = Link::with(settings, Provided::default().directory());
    link.bind();
    link.forget();
    link
}

#[test]
fn heartbeats_keep_a_silent_association() {
    let mut link = beating();
    link.pass(3600);
    assert_eq!(
        (link.user.state(), link.provider.state()),
        (AssociationState::Bound, AssociationState::Bound)
    );
    assert_eq!((link.user_events, link.provider_events), (vec![], vec![]));
}

#[test]
fn a_peer_without_heartbeats_is_dead() {
    let mut link = beating();
    // The provider hears nothing more; its own heartbeats are written into the void.
    for second in 1..=30 {
        let mut now = link.now;
        now.monotonic_ns += second * SECOND_NS;
        link.provider.tick(now);
        let ended = link.provider.state() == AssociationState::Ended;
        assert_eq!(ended, second == 30, "after {second} s");
    }
    assert!(link.provider.output().reset);
    let event = link.provider.next_event().unwrap();
    assert!(matches!(
        event,
        AssociationEvent::Ended(AssociationEnd::Transport(TmlFault::PeerDead { .. }))
    ));
}

#[test]
fn a_heartbeat_that_the_provider_does_not_take_is_refused_by_its_transport() {
    let heartbeat = Heartbeat { interval_s: 1, dead_factor: 3 };
    let settings = UserSettings { heartbeat, ..settings() };
    let mut link = Link::with(settings, Provided::default().directory());
    link.bind();
    let ending = AssociationEnd::PeerAborted(PeerAbortDiagnostic::Other(130));
    assert_eq!(link.user_events, [AssociationEvent::Ended(ending)]);
    assert!(matches!(
        link.provider_events[..],
        [AssociationEvent::Ended(AssociationEnd::Transport(TmlFault::HeartbeatRefused { .. }))]
    ));
}

#[test]
fn bind_stops_the_establishment_timer() {
    let mut alone = Alone::bound();
    alone.pass(100_000);
    assert_eq!(alone.association.state(), AssociationState::Bound);
}
