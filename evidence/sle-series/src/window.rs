//! The document's question (slide 14): how big must the window be for a rate over a round trip?
//!
//! By Little's law, rate × round trip is under way: that many octets of CLTUs, in so many operations
//! without their return. TCP's window has to hold their PDUs, and Linux offers about half of a
//! buffer as window.

use crate::args::WindowQuestion;
use crate::delay::Buffers;
use crate::pair::{Whose, measure};
use crate::test_path::{Link, TestPath};
use crate::work::{Timing, Work};
use anyhow::{Result, bail, ensure};
use bytes::Bytes;
use chronoscope_figures::numbers::{decimal, grouped};
use chronoscope_sle::codec::Codec;
use chronoscope_sle::pdu::{CltuTransferData, Message, Pdu, ServiceType};
use std::time::Duration;

/// Operations without their return at most: invoke ids have 16 bits.
const OPERATIONS_MAX: u32 = 65_535;
/// Octets of ISP1's header before each PDU.
const TML_OCTETS: usize = 8;

/// What has to be under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeededWindow {
    /// Invocations without their return.
    pub(crate) operations: u32,
    /// Octets on the wire, with the PDUs' headers: TCP's window.
    pub(crate) octets: u32,
}

impl NeededWindow {
    /// For a rate of CLTUs of `octets`, in 10^6 bits of user data a second, over a round trip in ms.
    ///
    /// # Errors
    /// When so many operations, or so large a window, do not exist.
    pub(crate) fn of(mbit_per_s: f64, rtt_ms: f64, octets: u32) -> Result<Self> {
        let is_number = |value: f64| value.is_finite() && value > 0.0;
        ensure!(
            is_number(mbit_per_s) && is_number(rtt_ms),
            "--rate and --rtt have to be numbers above 0"
        );
        let under_way = mbit_per_s * 1e3 * rtt_ms / 8.0; // octets of user data
        let operations = (under_way / f64::from(octets)).ceil().max(1.0);
        if operations > f64::from(OPERATIONS_MAX) {
            bail!(
                "{} operations of {octets} octets would have to be under way, and invoke ids allow \
                 {OPERATIONS_MAX}: use longer CLTUs, or several in an invocation (blocking = true)",
                decimal(operations, 0)
            );
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // in [1, 65535], above
        let operations = operations as u32;
        let on_wire = pdu_octets(octets)? as u64 * u64::from(operations);
        // Twice that is a setting of the kernel: an int.
        match u32::try_from(on_wire) {
            Ok(octets) if octets <= u32::MAX / 4 => Ok(Self { operations, octets }),
            _ => bail!("a window of {on_wire} octets: TCP has 1 GiB at most"),
        }
    }

    /// Settings of `tcp_rmem` and `tcp_wmem`.
    pub(crate) fn buffers(self) -> Buffers {
        // TCP starts with what it needs: it is not to grow first.
        let most = (2 * self.octets).max(131_072);
        Buffers { first: most, most }
    }
}

/// Octets on the wire for a CLTU: TRANSFER-DATA, with its header of ISP1.
fn pdu_octets(octets: u32) -> Result<usize> {
    let codec = Codec { service: ServiceType::Fcltu, version: 5 };
    let data = Bytes::from(vec![0; octets as usize]);
    let invocation = Pdu::CltuTransferData(CltuTransferData {
        invoke_id: 65_535,
        cltu: 1_000_000,
        earliest: None,
        latest: None,
        delay_us: 0,
        notify_radiated: false,
        data,
    });
    let mut encoded = Vec::new();
    codec.encode(&Message { credentials: None, pdu: invocation }, &mut encoded)?;
    Ok(encoded.len() + TML_OCTETS)
}

/// Answers on standard output.
///
/// # Errors
/// As [`NeededWindow::of`], and when the measurement fails.
pub(crate) fn answer(question: WindowQuestion) -> Result<()> {
    let WindowQuestion { rate, rtt, octets, .. } = question;
    let needed = NeededWindow::of(rate, rtt, octets)?;
    let most = needed.buffers().most;
    println!(
        "{rate} Mbit/s over {rtt} ms with CLTUs of {octets} octets, {} CLTU/s:\n\
         operations under way    {} (the user's window; invoke ids allow {})\n\
         octets under way        {} with the PDUs' headers (TCP's window)\n\
         tcp_rmem, tcp_wmem      {} at most (twice: Linux offers about half of a buffer)",
        decimal(rate * 1e6 / 8.0 / f64::from(octets), 0),
        grouped(needed.operations),
        grouped(OPERATIONS_MAX),
        grouped(needed.octets),
        grouped(most),
    );
    if question.measure {
        let (mbit, why_not) = carried(needed, rtt, octets)?;
        if let Some(why_not) = why_not {
            eprintln!("sle-series: {why_not}");
        }
        println!("measured with these     {} Mbit/s", decimal(mbit, 2));
    }
    Ok(())
}

/// Mbit/s with such a window over such a round trip; and why there is no path of packets, if so.
fn carried(needed: NeededWindow, rtt_ms: f64, octets: u32) -> Result<(f64, Option<String>)> {
    let rtt = Duration::from_secs_f64(rtt_ms / 1e3);
    let link = Link { rtt, buffers: Some(needed.buffers()), ..Link::default() };
    let (place, why_not) = TestPath::delayed(link)?;
    let (work, timing) = measured_work(needed, octets, rtt);
    let measured = measure(&place, [Whose::Ours, Whose::Ours], &work, timing)?;
    Ok((measured.mbit_per_s(), why_not))
}

/// The work with such a window, and for how long: rounds of several round trips, after slow start.
pub(crate) fn measured_work(needed: NeededWindow, octets: u32, rtt: Duration) -> (Work, Timing) {
    let round = (4 * rtt).max(Duration::from_secs(1));
    let warm = (12 * rtt).max(Duration::from_millis(500));
    (Work::fcltu(octets, needed.operations), Timing { warm, round, rounds: 3 })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 40 Mbit/s over 100 ms are 500,000 octets: 323.8 CLTUs of 1544.
    #[test]
    fn the_documents_question_has_an_answer() {
        let needed = NeededWindow::of(40.0, 100.0, 1544).unwrap();
        assert_eq!(needed.operations, 324);
        let each = needed.octets as usize / 324;
        assert!((1544 + 20..1544 + 50).contains(&each), "header: {}", each - 1544);
        assert_eq!(needed.buffers().most, 2 * needed.octets);
        let near = NeededWindow::of(1.0, 0.1, 1544).unwrap();
        assert_eq!((near.operations, near.buffers().most), (1, 131_072));
    }

    #[test]
    fn what_does_not_exist_is_refused_with_a_way_out() {
        let error = NeededWindow::of(1000.0, 400.0, 100).unwrap_err().to_string();
        assert!(error.contains("500000 operations") || error.contains("500,000"), "{error}");
        assert!(error.contains("longer CLTUs"), "{error}");
        assert!(NeededWindow::of(0.0, 100.0, 1544).is_err());
        assert!(NeededWindow::of(f64::NAN, 100.0, 1544).is_err());
        let error = NeededWindow::of(400_000.0, 80.0, 65_536).unwrap_err().to_string();
        assert!(error.contains("1 GiB"), "{error}");
    }
}
