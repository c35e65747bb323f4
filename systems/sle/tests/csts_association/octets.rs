//! Whatever a peer says, and however time passes: no panic, one end, and nothing after it.

use bytes::Bytes;
use chronoscope_sle::association::{AssociationState, AuthenticationLevel};
use chronoscope_sle::csts::association::AssociationEvent;
use chronoscope_sle::csts::codec::encode;
use chronoscope_sle::csts::pdu::*;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

use crate::link::*;

/// What a peer may do.
#[derive(Clone, Debug)]
enum Step {
    /// Octets of the stream, as they are.
    Octets(Vec<u8>),
    /// An operation, with one octet of it changed where there is a position.
    Say(Box<Pdu>, Option<(Index, u8)>),
    Urgent(u8),
    Pass(u8),
    Close,
    /// This side's: answers START 1, or sends it.
    Send,
}

fn step() -> impl Strategy<Value = Step> {
    let invocations = vec![
        Pdu::Bind(bind()),
        unbind(1, ProcedureName::association_control()),
        start(1),
        stop(2),
        sequenced(1),
        directive(3),
        buffer(&[1, 2]),
        Pdu::PeerAbort(PeerAbortDiagnostic::OtherReason),
    ];
    let returns = vec![
        bind_return(0, PROVIDER, Ok(())),
        Pdu::UnbindReturn(answer(1)),
        Pdu::StartReturn(answer(1)),
        taken(1),
        Pdu::ExecuteDirectiveAcknowledge(answer(3)),
        Pdu::ExecuteDirectiveReturn(answer(3)),
    ];
    let pdu = prop::sample::select([invocations, returns].concat());
    let change = prop::option::weighted(0.2, any::<(Index, u8)>());
    prop_oneof![
        1 => vec(any::<u8>(), 0..20).prop_map(Step::Octets),
        20 => (pdu, change).prop_map(|(pdu, change)| Step::Say(Box::new(pdu), change)),
        1 => any::<u8>().prop_map(Step::Urgent),
        2 => (0..20u8).prop_map(Step::Pass),
        1 => Just(Step::Close),
        4 => Just(Step::Send),
    ]
}

fn take(alone: &mut Alone, step: Step) {
    match step {
        Step::Octets(octets) => alone.octets(&octets),
        Step::Say(pdu, change) => {
            let mut octets = Vec::new();
            encode(&Message { credentials: None::<Bytes>, pdu: *pdu }, &mut octets).unwrap();
            if let Some((index, octet)) = change {
                let at = index.index(octets.len());
                octets[at] = octet;
            }
            alone.say_pdu(&octets);
        }
        Step::Urgent(octet) => alone.association.urgent(octet, alone.now),
        Step::Pass(seconds) => alone.pass(seconds.into()),
        Step::Close => alone.association.closed(None, alone.now),
        Step::Send => {
            // Refused where the state or the role does not have it: nothing is sent then.
            let own = [start(1), Pdu::StartReturn(answer(1))];
            let sent = own
                .into_iter()
                .filter(|pdu| alone.association.send(pdu.clone(), alone.now).is_ok());
            assert!(sent.count() <= 1, "the two are not one side's");
        }
    }
    alone.collect();
}

proptest! {
    #[test]
    fn one_end_and_nothing_after_it(
        side in 0..4u8,
        steps in vec(step(), 0..40),
    ) {
        let mut alone = match side {
            0 => Alone::provider(directory(AuthenticationLevel::None, None)),
            1 => Alone::bound_provider(),
            2 => Alone::binding(),
            _ => Alone::bound_user(),
        };
        for step in steps {
            take(&mut alone, step);
            let state = alone.association.state();
            let ended = alone.events.iter().filter(|it| matches!(it, AssociationEvent::Ended(_))).count();
            prop_assert_eq!(ended, usize::from(state == AssociationState::Ended));
            if ended == 1 {
                prop_assert!(
                    alone.association.due().is_none() && alone.association.waiting() == 0
                );
            }
            prop_assert!(alone.output.urgent.is_none() || state == AssociationState::Ended);
        }
        alone.association.closed(None, alone.now);
        alone.collect();
        prop_assert_eq!(alone.association.state(), AssociationState::Ended);
        let last = alone.events.last();
        prop_assert!(matches!(last, Some(AssociationEvent::Ended(_))), "{:?}", alone.events);
    }
}
