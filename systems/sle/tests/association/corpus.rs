//! The kept corpus of the fuzz target, replayed, and inputs made at random.

use std::path::Path;

use chronoscope_sle::codec::Codec;
use chronoscope_sle::pdu::{BindPdu, BindReturn, Message, Pdu, ServiceType, UnbindReason};
use proptest::prelude::*;

use crate::link::{PROVIDER, bind, get, start};
use crate::octets::check;

#[test]
fn the_kept_corpus_keeps_its_promises() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sle_association");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        check(&std::fs::read(entry.unwrap().path()).unwrap());
        files += 1;
    }
    assert!(files >= 8, "the corpus has {files} files");
}

/// Steps of sessions as they should be, which the inputs below change.
pub(crate) fn sessions() -> Vec<Vec<u8>> {
    let mut instance = bind().instance;
    instance.0.drain(1..3);
    let bind = |version| Pdu::Bind(BindPdu { version, instance: instance.clone(), ..bind() });
    let answer =
        |version| Pdu::BindReturn(BindReturn { responder: PROVIDER.into(), result: Ok(version) });
    let context = [2, 0, 0, 0, 0, 0, 0, 12, b'I', b'S', b'P', b'1', 0, 0, 0, 1, 0, 30, 0, 3];
    let to_provider = |version, rest: &[Pdu]| {
        let mut steps = vec![0];
        steps.extend([0, 20]);
        steps.extend(context);
        said(&mut steps, version, &bind(version));
        rest.iter().for_each(|pdu| said(&mut steps, version, pdu));
        steps
    };
    let to_user = |version, rest: &[Pdu]| {
        let mut steps = vec![1, 6, 0];
        said(&mut steps, version, &answer(version));
        steps.extend([6, 2]);
        rest.iter().for_each(|pdu| said(&mut steps, version, pdu));
        steps.extend([6, 1]);
        said(&mut steps, version, &Pdu::UnbindReturn);
        steps
    };
    let stop = Pdu::Stop { invoke_id: 3 };
    let stopped = Pdu::StopReturn { invoke_id: 0, result: Ok(()) };
    let unbind = Pdu::Unbind(UnbindReason::End);
    let mut repeated = to_provider(5, &[get(1), get(1), stop.clone()]);
    repeated.extend([6, 3, 5, 200, 5, 255, 5, 255]);
    vec![
        to_provider(5, &[start(1), get(2), stop.clone(), unbind.clone()]),
        to_provider(1, &[stop, unbind.clone()]),
        to_provider(7, &[]),
        repeated,
        to_user(5, std::slice::from_ref(&stopped)),
        to_user(4, &[]),
        to_user(2, &[stopped]),
    ]
}

/// An operation as a step, or as several where it is long.
fn said(steps: &mut Vec<u8>, version: u16, pdu: &Pdu) {
    let codec = Codec { service: ServiceType::Fcltu, version: version.clamp(1, 5) };
    let mut octets = vec![1, 0, 0, 0, 0, 0, 0, 0];
    let message = Message { credentials: None, pdu: pdu.clone() };
    codec.encode(&message, &mut octets).unwrap();
    octets[7] = u8::try_from(octets.len() - 8).unwrap();
    for piece in octets.chunks(255) {
        steps.extend([0, u8::try_from(piece.len()).unwrap()]);
        steps.extend(piece);
    }
}

/// How the corpus was made: `cargo test -p chronoscope-sle --test association -- --ignored sessions`.
#[test]
#[ignore = "writes the corpus"]
fn sessions_are_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/sle_association");
    std::fs::create_dir_all(&folder).unwrap();
    for (number, session) in sessions().iter().enumerate() {
        std::fs::write(folder.join(format!("session-{number}")), session).unwrap();
    }
}

#[test]
fn sessions_keep_the_promises() {
    let bound: Vec<_> = sessions().iter().map(|session| check(session)).collect();
    assert_eq!(bound, [true, true, false, true, true, true, false]);
}

proptest! {
    #[test]
    fn any_steps_keep_the_promises(steps in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&steps);
    }

    #[test]
    fn changed_sessions_keep_the_promises(
        which in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let sessions = sessions();
        let mut steps = sessions[which.index(sessions.len())].clone();
        for (at, octet) in changes {
            let at = at.index(steps.len());
            steps[at] = octet;
        }
        check(&steps[..cut.index(steps.len() + 1).max(steps.len() / 2)]);
    }
}
