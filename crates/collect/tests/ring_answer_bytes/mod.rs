//! What must hold for any bytes that come in as an agent's answer about its rings; the fuzz target
//! `ring_answer` asks the same.

use chronoscope_collect::rings::{
    CLASSES_MAX, Packed, PackedRing, RINGS_MAX, RingAnswerKind, RingsFromAgent, RingsMessage,
};
use prost::Message;

/// The bytes are refused, or are an answer that says the same when it is written again.
pub(crate) fn check(bytes: &[u8]) {
    let Ok(message) = RingsFromAgent::decode(bytes) else { return };
    match &message.kind {
        Some(RingsMessage::Hello(hello)) => drop(hello.check()),
        Some(RingsMessage::Answer(answer)) => match &answer.kind {
            Some(RingAnswerKind::List(list)) => check_list(list),
            Some(RingAnswerKind::Ring(ring)) => check_ring(ring),
            _ => {}
        },
        None => {}
    }
    let again = RingsFromAgent::decode(message.encode_to_vec().as_slice());
    assert_eq!(again.as_ref(), Ok(&message));
}

/// The same for the content of a list, of a head, and of the rows of a ring: the first of the bytes
/// says how many of them are the head.
pub(crate) fn check_inside(bytes: &[u8]) {
    let packed = |bytes: &[u8]| {
        let size_bytes = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let content = zstd::bulk::compress(bytes, 1).unwrap_or_default();
        Packed { size_bytes, content }
    };
    check_list(&packed(bytes));
    let Some((&head, rest)) = bytes.split_first() else { return };
    let (head, rows) = rest.split_at(usize::from(head).min(rest.len()));
    check_ring(&PackedRing { head: Some(packed(head)), rows: Some(packed(rows)) });
}

fn check_list(packed: &Packed) {
    let Ok(list) = packed.list() else { return };
    assert!(list.rings.len() <= RINGS_MAX);
    let again = Packed::of_list(list.clone()).map(|again| again.list());
    assert!(matches!(&again, Ok(Ok(again)) if again.rings.len() <= list.rings.len()), "{again:?}");
}

fn check_ring(packed: &PackedRing) {
    let Ok(report) = packed.unpack() else { return };
    assert!(report.classes.len() <= CLASSES_MAX);
    for class in &report.classes {
        assert!(class.elapsed.min() <= class.elapsed.max());
        let _ = (class.elapsed.coarse_bins().count(), class.cpu.mean());
    }
    let (last, open) = (report.last.clone(), report.open.len());
    let again = PackedRing::pack(report).map(|again| again.unpack());
    assert!(matches!(&again, Ok(Ok(again)) if (&again.last, again.open.len()) == (&last, open)));
}
