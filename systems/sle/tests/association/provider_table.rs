//! A provider's state table: what each event does in each state.

use std::sync::Arc;

use chronoscope_sle::association::{
    AssociationEnd, AssociationEvent, AssociationState, AuthenticationLevel,
};
use chronoscope_sle::pdu::{
    BindDiagnostic, BindPdu, BindReturn, Message, Pdu, PeerAbortDiagnostic, ServiceType,
    UnbindReason,
};

use crate::link::{
    Alone, PROVIDER, Provided, SECOND_NS, at, bind, cltu_instance, get, other_instance, start,
    started,
};

fn returned(alone: &mut Alone) -> Result<u16, BindDiagnostic> {
    match &alone.heard()[..] {
        [Message { credentials: None, pdu: Pdu::BindReturn(BindReturn { responder, result }) }] => {
            assert_eq!(responder, PROVIDER);
            *result
        }
        other => panic!("no BIND return: {other:?}"),
    }
}

/// What is answered to a BIND that is other than the right one.
fn refusal(provided: Provided, change: impl FnOnce(&mut BindPdu)) -> BindDiagnostic {
    let mut alone = Alone::provider(provided.directory());
    let mut bind = bind();
    change(&mut bind);
    alone.say(Pdu::Bind(bind));
    let diagnostic = returned(&mut alone).unwrap_err();
    assert_eq!(alone.events, [AssociationEvent::BindRefused(diagnostic)]);
    assert_eq!(alone.association.state(), AssociationState::Released);
    assert!(!alone.output.close, "the initiator closes");
    diagnostic
}

pub(crate) fn aborted(alone: &Alone) -> PeerAbortDiagnostic {
    let Some(AssociationEvent::Ended(AssociationEnd::Aborted { diagnostic, .. })) =
        alone.events.last()
    else {
        panic!("not aborted: {:?}", alone.events);
    };
    assert_eq!(alone.output.urgent, Some(diagnostic.octet()));
    assert!(alone.output.close);
    assert_eq!(alone.association.state(), AssociationState::Ended);
    assert_eq!(alone.association.due(), None);
    *diagnostic
}

#[test]
fn unbound_bind_allowed_is_bound() {
    let directory = Provided::default().directory();
    let mut alone = Alone::provider(Arc::clone(&directory));
    alone.say(Pdu::Bind(bind()));
    assert_eq!(returned(&mut alone), Ok(5));
    let [AssociationEvent::Bound { instance, service: ServiceType::Fcltu, version: 5, initiator }] =
        &alone.events[..]
    else {
        panic!("{:?}", alone.events);
    };
    assert_eq!((instance, initiator.as_str()), (&cltu_instance(), "CENTRE"));
    assert_eq!(alone.association.state(), AssociationState::Bound);
    assert_eq!(directory.is_bound(&cltu_instance()), Ok(true));
}

#[test]
fn unbound_bind_in_each_version_is_answered_in_it() {
    for version in [2, 3, 4, 5] {
        let mut alone = Alone::provider(Provided::default().directory());
        alone.say(Pdu::Bind(BindPdu { version, ..bind() }));
        assert_eq!(returned(&mut alone), Ok(version));
        assert_eq!(alone.association.codec().version, version);
    }
}

#[test]
fn unbound_bind_of_an_unknown_initiator_is_access_denied() {
    let diagnostic = refusal(Provided::default(), |bind| bind.initiator = "NOBODY".into());
    assert_eq!(diagnostic, BindDiagnostic::AccessDenied);
}

#[test]
fn unbound_bind_without_credentials_where_they_are_wanted_is_not_returned() {
    for level in [AuthenticationLevel::Bind, AuthenticationLevel::All] {
        let mut alone = Alone::provider(Provided::default().level(level).directory());
        alone.say(Pdu::Bind(bind()));
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::AccessDenied);
        assert_eq!(alone.heard(), []);
    }
}

#[test]
fn unbound_bind_to_a_service_that_is_not_provided() {
    for service in [Ok(ServiceType::Raf), Err(8)] {
        let diagnostic = refusal(Provided::default(), |bind| bind.service = service);
        assert_eq!(diagnostic, BindDiagnostic::ServiceTypeNotSupported);
    }
}

#[test]
fn unbound_bind_in_a_version_that_is_not_provided() {
    for version in [1, 6, 65_535] {
        let diagnostic = refusal(Provided::default(), |bind| bind.version = version);
        assert_eq!(diagnostic, BindDiagnostic::VersionNotSupported);
    }
}

#[test]
fn unbound_bind_to_no_such_instance() {
    let diagnostic = refusal(Provided::default(), |bind| bind.instance = other_instance());
    assert_eq!(diagnostic, BindDiagnostic::NoSuchServiceInstance);
}

#[test]
fn unbound_bind_at_another_port_than_the_instance_s() {
    let mut provided = Provided::default();
    provided.instance.responder_port = Some("PORT2".into());
    assert_eq!(refusal(provided, |_| {}), BindDiagnostic::NoSuchServiceInstance);
}

#[test]
fn unbound_bind_to_an_instance_of_somebody_else() {
    let diagnostic = refusal(Provided::default(), |bind| bind.initiator = "STRANGER".into());
    assert_eq!(diagnostic, BindDiagnostic::SiNotAccessibleToThisInitiator);
}

#[test]
fn unbound_bind_to_an_instance_of_another_service() {
    let mut directory = Arc::into_inner(Provided::default().directory()).unwrap();
    let mut raf = Provided::default().instance;
    (raf.id, raf.service) = (other_instance(), ServiceType::Raf);
    directory.add_instance(raf).unwrap();
    let mut alone = Alone::provider(Arc::new(directory));
    alone.say(Pdu::Bind(BindPdu { instance: other_instance(), ..bind() }));
    assert_eq!(returned(&mut alone), Err(BindDiagnostic::InconsistentServiceType));
}

#[test]
fn unbound_bind_before_and_after_the_provision_period() {
    for (start, end) in [(1, 100), (0, 0)] {
        let provided = Provided::default().provision(start, end);
        assert_eq!(refusal(provided, |_| {}), BindDiagnostic::InvalidTime);
    }
    let mut alone = Alone::provider(Provided::default().provision(0, 1).directory());
    alone.say(Pdu::Bind(bind()));
    assert_eq!(returned(&mut alone), Ok(5), "the start belongs to it");
}

#[test]
fn unbound_bind_out_of_service_and_back() {
    let directory = Provided::default().directory();
    directory.set_out_of_service(&cltu_instance(), true).unwrap();
    let mut alone = Alone::provider(Arc::clone(&directory));
    alone.say(Pdu::Bind(bind()));
    assert_eq!(returned(&mut alone), Err(BindDiagnostic::OutOfService));
    directory.set_out_of_service(&cltu_instance(), false).unwrap();
    let mut alone = Alone::provider(directory);
    alone.say(Pdu::Bind(bind()));
    assert_eq!(returned(&mut alone), Ok(5));
}

#[test]
fn unbound_bind_to_a_bound_instance_is_already_bound_until_that_one_is_gone() {
    let directory = Provided::default().directory();
    let attempt = |directory: &Arc<_>| {
        let mut alone = Alone::provider(Arc::clone(directory));
        alone.say(Pdu::Bind(bind()));
        (returned(&mut alone), alone)
    };
    type End = fn(&mut Alone);
    let ends: [End; 5] = [
        |first| first.say(Pdu::Unbind(UnbindReason::Suspend)),
        |first| first.urgent(127),
        |first| first.close(),
        |first| {
            first.association.abort(PeerAbortDiagnostic::OperationalRequirement);
            first.collect();
        },
        |first| first.octets(&[0xff; 8]),
    ];
    for end in ends {
        let (result, mut first) = attempt(&directory);
        assert_eq!(result, Ok(5));
        let (result, second) = attempt(&directory);
        assert_eq!(result, Err(BindDiagnostic::AlreadyBound));
        drop(second);
        assert_eq!(first.association.state(), AssociationState::Bound, "it is not disturbed");
        end(&mut first);
        assert_eq!(directory.is_bound(&cltu_instance()), Ok(false));
    }
    let (_, dropped) = attempt(&directory);
    drop(dropped);
    assert_eq!(attempt(&directory).0, Ok(5), "a binding does not outlive its association");
}

#[test]
fn an_instance_is_free_when_its_end_was_seen_and_before_the_initiator_can_know() {
    let free = |directory: &Arc<chronoscope_sle::association::InstanceDirectory>| {
        directory.is_bound(&cltu_instance()) == Ok(false)
    };
    let begin = || {
        let directory = Provided::default().directory();
        let mut alone = Alone::provider(Arc::clone(&directory));
        alone.say(Pdu::Bind(bind()));
        (directory, alone)
    };
    let (directory, mut alone) = begin();
    let message = Message { credentials: None, pdu: Pdu::Unbind(UnbindReason::Suspend) };
    let mut octets = Vec::new();
    let codec = alone.codec;
    alone.tml.frame(alone.now, &mut octets, |out| codec.encode(&message, out)).unwrap();
    alone.association.receive(&octets, alone.now);
    assert!(matches!(alone.association.next_event(), Some(AssociationEvent::Unbound(_))));
    assert!(!free(&directory), "its service may still be unbinding");
    assert_eq!(alone.association.next_event(), None);
    assert!(free(&directory), "and the return of UNBIND is still here to be sent");

    let (directory, mut alone) = begin();
    alone.association.abort(PeerAbortDiagnostic::OperationalRequirement);
    assert!(!free(&directory));
    assert!(matches!(alone.association.next_event(), Some(AssociationEvent::Ended(_))));
    assert!(!free(&directory));
    assert_eq!(alone.association.next_event(), None);
    assert!(free(&directory));
}

#[test]
fn unbound_another_operation_is_a_protocol_error() {
    let mut alone = Alone::provider(Provided::default().directory());
    alone.say(start(1));
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::ProtocolError);
}

#[test]
fn unbound_garbage_is_an_encoding_error() {
    for garbage in [&[0u8; 3][..], &[0xbf, 0x64, 0x82, 0xff, 0xff], &[0x30, 0x00], &[0xbf, 0x64, 0]]
    {
        let mut alone = Alone::provider(Provided::default().directory());
        alone.say_pdu(garbage);
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::EncodingError, "{garbage:?}");
    }
}

#[test]
fn unbound_abort_loss_and_silence_end_it() {
    let provider = || Alone::provider(Provided::default().directory());
    let mut alone = provider();
    alone.urgent(2);
    let ending = AssociationEnd::PeerAborted(PeerAbortDiagnostic::OperationalRequirement);
    assert_eq!(alone.events, [AssociationEvent::Ended(ending)]);
    let mut alone = provider();
    alone.close();
    assert_eq!(alone.events, [AssociationEvent::Ended(AssociationEnd::Lost)]);
    let mut alone = provider();
    alone.pass(29);
    assert_eq!(alone.events, []);
    alone.pass(1);
    assert!(matches!(alone.events[..], [AssociationEvent::Ended(AssociationEnd::Transport(_))]));
    assert!(alone.output.reset);
}

#[test]
fn bound_bind_is_a_protocol_error() {
    let mut alone = Alone::bound();
    alone.say(Pdu::Bind(bind()));
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::ProtocolError);
}

#[test]
fn bound_unbind_is_returned_and_released() {
    for reason in [
        UnbindReason::End,
        UnbindReason::Suspend,
        UnbindReason::VersionNotSupported,
        UnbindReason::Other,
    ] {
        let mut alone = Alone::bound();
        alone.say(Pdu::Unbind(reason));
        assert_eq!(alone.events, [AssociationEvent::Unbound(reason)]);
        assert!(matches!(alone.heard()[..], [Message { pdu: Pdu::UnbindReturn, .. }]));
        assert_eq!(alone.association.state(), AssociationState::Released);
        assert!(!alone.output.close, "the initiator closes");
        alone.close();
        assert_eq!(alone.events[1..], [AssociationEvent::Ended(AssociationEnd::Closed)]);
    }
}

#[test]
fn bound_unbind_end_is_final_where_the_instance_says_so() {
    for (reason, again) in
        [(UnbindReason::Suspend, Ok(5)), (UnbindReason::End, Err(BindDiagnostic::InvalidTime))]
    {
        let mut provided = Provided::default();
        provided.instance.end_is_final = true;
        let directory = provided.directory();
        let mut alone = Alone::provider(Arc::clone(&directory));
        alone.say(Pdu::Bind(bind()));
        alone.say(Pdu::Unbind(reason));
        let mut alone = Alone::provider(directory);
        alone.say(Pdu::Bind(bind()));
        assert_eq!(returned(&mut alone), again);
    }
}

#[test]
fn bound_an_operation_goes_up() {
    let mut alone = Alone::bound();
    alone.say(get(7));
    assert_eq!(alone.events, [AssociationEvent::Pdu(get(7))]);
}

#[test]
fn bound_garbage_is_an_encoding_error() {
    for garbage in [&[0xa2u8, 0x03, 0x80, 0x00][..], &[0x00], &[0xbf, 0x7f, 0x00]] {
        let mut alone = Alone::bound();
        alone.say_pdu(garbage);
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::EncodingError, "{garbage:?}");
    }
}

#[test]
fn started_unbind_is_a_protocol_error() {
    // As soon as START was invoked, and until STOP was returned.
    let mut alone = Alone::bound();
    alone.say(start(1));
    let mut stopping = Alone::bound();
    stopping.say(start(1));
    stopping.association.send(started(1), stopping.now).unwrap();
    stopping.say(Pdu::Stop { invoke_id: 2 });
    for mut alone in [alone, stopping] {
        alone.say(Pdu::Unbind(UnbindReason::End));
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::ProtocolError);
    }
}

#[test]
fn stopped_or_never_started_unbind_is_returned() {
    let mut refused = Alone::bound();
    refused.say(start(1));
    let out_of_service = chronoscope_sle::pdu::Diagnostic::Specific(0);
    let negative = Pdu::StartReturn { invoke_id: 1, result: Err(out_of_service) };
    refused.association.send(negative, refused.now).unwrap();
    let mut stopped = Alone::bound();
    stopped.say(start(1));
    stopped.association.send(started(1), stopped.now).unwrap();
    stopped.say(Pdu::Stop { invoke_id: 2 });
    let positive = Pdu::StopReturn { invoke_id: 2, result: Ok(()) };
    stopped.association.send(positive, stopped.now).unwrap();
    for mut alone in [refused, stopped] {
        alone.say(Pdu::Unbind(UnbindReason::End));
        assert_eq!(alone.events.last(), Some(&AssociationEvent::Unbound(UnbindReason::End)));
    }
}

#[test]
fn bound_abort_and_loss_end_it() {
    let mut alone = Alone::bound();
    alone.urgent(127);
    let ending = AssociationEnd::PeerAborted(PeerAbortDiagnostic::OtherReason);
    assert_eq!(alone.events, [AssociationEvent::Ended(ending)]);
    assert!(alone.output.close);
    let mut alone = Alone::bound();
    alone.say(Pdu::PeerAbort(PeerAbortDiagnostic::OtherReason));
    let ending = AssociationEnd::PeerAborted(PeerAbortDiagnostic::OtherReason);
    assert_eq!(alone.events, [AssociationEvent::Ended(ending)]);
    let mut alone = Alone::bound();
    alone.close();
    assert_eq!(alone.events, [AssociationEvent::Ended(AssociationEnd::Lost)]);
}

#[test]
fn bound_the_operator_aborts() {
    let mut alone = Alone::bound();
    alone.association.abort(PeerAbortDiagnostic::OperationalRequirement);
    alone.collect();
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::OperationalRequirement);
}

#[test]
fn bound_what_came_before_the_peer_closed_is_taken() {
    let mut alone = Alone::bound();
    let mut octets = Vec::new();
    for id in 1..=3 {
        let message = Message { credentials: None, pdu: get(id) };
        let codec = alone.codec;
        alone.tml.frame(alone.now, &mut octets, |out| codec.encode(&message, out)).unwrap();
    }
    alone.association.receive(&octets, alone.now);
    alone.association.closed(None, alone.now);
    alone.collect();
    let expected = [1, 2, 3].map(|id| AssociationEvent::Pdu(get(id)));
    assert_eq!(alone.events[..3], expected);
    assert_eq!(alone.events[3..], [AssociationEvent::Ended(AssociationEnd::Lost)]);
}

#[test]
fn bound_the_provision_period_ends() {
    let mut alone = Alone::provider(Provided::default().provision(0, 100).directory());
    alone.say(Pdu::Bind(bind()));
    assert_eq!(alone.association.due(), Some(at(100).monotonic_ns));
    alone.pass(99);
    assert_eq!(alone.association.state(), AssociationState::Bound);
    // UTC was set back by 10 s: there is more time than there seemed to be.
    alone.now.utc_ns -= 10 * SECOND_NS;
    alone.pass(1);
    assert_eq!(alone.association.state(), AssociationState::Bound);
    assert_eq!(alone.association.due(), Some(at(110).monotonic_ns));
    alone.pass(10);
    assert_eq!(aborted(&alone), PeerAbortDiagnostic::EndOfServiceProvisionPeriod);
}

#[test]
fn released_any_operation_is_a_protocol_error() {
    let mut unbound = Alone::bound();
    unbound.say(Pdu::Unbind(UnbindReason::End));
    let mut refused = Alone::provider(Provided::default().directory());
    refused.say(Pdu::Bind(BindPdu { initiator: "NOBODY".into(), ..bind() }));
    for mut alone in [unbound, refused] {
        assert_eq!(alone.association.state(), AssociationState::Released);
        alone.say(Pdu::Bind(bind()));
        assert_eq!(aborted(&alone), PeerAbortDiagnostic::ProtocolError);
    }
}

#[test]
fn released_is_closed_when_the_initiator_does_not() {
    let mut alone = Alone::bound();
    alone.say(Pdu::Unbind(UnbindReason::End));
    alone.pass(9);
    assert_eq!(alone.association.state(), AssociationState::Released);
    alone.pass(1);
    assert_eq!(alone.events.last(), Some(&AssociationEvent::Ended(AssociationEnd::Closed)));
    assert!(alone.output.close && alone.output.urgent.is_none());
}

#[test]
fn ended_nothing_happens_any_more() {
    let mut alone = Alone::bound();
    alone.urgent(127);
    alone.events.clear();
    alone.output = Default::default();
    alone.say(get(1));
    alone.urgent(3);
    alone.close();
    alone.pass(100_000);
    alone.association.abort(PeerAbortDiagnostic::OtherReason);
    alone.collect();
    assert_eq!(alone.events, []);
    assert!(alone.output.is_empty());
    assert_eq!(alone.association.due(), None);
}
