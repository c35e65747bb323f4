//! What holds for any octets of a peer; the fuzz target and the replay of its corpus share it.

use chronoscope_sle::time::Now;
use chronoscope_sle::tml::{Heartbeat, HeartbeatLimits, Tml, TmlFault};

/// Longest PDU that is taken here: small, so that any input can reach it.
const PDU_BYTES_MAX: u32 = 300;

const NOW: Now = Now { monotonic_ns: 1, utc_ns: 1 };

/// The first octet says who takes the rest (even: a responder) and how it is cut: all at once, and
/// in segments of that many octets. Gives how many PDUs there were and the fault at their end.
///
/// # Panics
/// When one of the promises below does not hold.
pub(crate) fn check(input: &[u8]) -> (usize, Option<TmlFault>) {
    let Some((&how, octets)) = input.split_first() else { return (0, None) };
    let whole = run(side(how), octets, octets.len().max(1));
    let cut = run(side(how), octets, usize::from(how).max(1));
    assert_eq!(whole, cut, "how the stream is cut makes no difference");

    let (pdus, fault) = whole;
    let length: usize = pdus.iter().map(|pdu| pdu.len() + 8).sum();
    assert!(length <= octets.len(), "no octet is taken twice");
    assert!(pdus.iter().all(|pdu| (1..=PDU_BYTES_MAX as usize).contains(&pdu.len())));
    if let Some(fault) = &fault {
        assert!((128..=134).contains(&fault.diagnostic()));
        assert!(!fault.to_string().is_empty());
    }
    again(&pdus);
    (pdus.len(), fault)
}

fn side(how: u8) -> Tml {
    if how.is_multiple_of(2) {
        Tml::responder(HeartbeatLimits::default(), PDU_BYTES_MAX, NOW)
    } else {
        let mut tml = Tml::initiator(Heartbeat::NONE, PDU_BYTES_MAX, NOW);
        assert_eq!(tml.tick(NOW, &mut Vec::new()), Ok(()));
        tml
    }
}

/// All PDUs, and the fault.
fn run(mut tml: Tml, octets: &[u8], segment: usize) -> (Vec<Vec<u8>>, Option<TmlFault>) {
    let mut pdus = Vec::new();
    let mut fault = None;
    for segment in octets.chunks(segment) {
        tml.receive(segment, NOW);
        while let Some(next) = tml.next() {
            assert_eq!(fault, None, "nothing comes behind a fault");
            match next {
                Ok(pdu) => pdus.push(pdu.to_vec()),
                Err(why) => fault = Some(why),
            }
        }
    }
    assert!(fault.is_none() || !tml.established(), "a fault ends it");
    if fault.is_none()
        && let TmlFault::UnexpectedDisconnect { left_bytes, .. } = tml.disconnected()
    {
        assert!(left_bytes < PDU_BYTES_MAX as usize + 8, "what is left is less than one message");
    }
    (pdus, fault)
}

/// What was taken and is sent again is taken again.
fn again(pdus: &[Vec<u8>]) {
    let mut out = Vec::new();
    let mut sender = Tml::initiator(Heartbeat { interval_s: 25, dead_factor: 5 }, 0, NOW);
    for pdu in pdus {
        let framed = sender.frame::<()>(NOW, &mut out, |out| {
            out.extend(pdu);
            Ok(())
        });
        assert_eq!(framed, Ok(()));
    }
    assert_eq!(run(side(0), &out, out.len().max(1)), (pdus.to_vec(), None));
}
