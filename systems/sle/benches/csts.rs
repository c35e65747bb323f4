//! Cost of a frame in the Forward Frame service, from the user's state machine through octets to
//! the radiation and back, in one thread. No association, no socket.
//!
//! `cargo bench -p chronoscope-sle --bench csts`. Nanoseconds of CPU time for a frame, the best of
//! five runs, and frames a second of one core. Unconfirmed: Buffered Data Processing, N frames a
//! forward buffer. Confirmed: Sequence-Controlled Data Processing, a return for each frame. In each
//! row the user makes the operation, the codec writes and reads it, the provider takes it into its
//! queue, and what is radiated is thrown away; the confirmed return goes back the same way. The
//! limit that is printed is a copy of a frame's octets, of which there are two on its way.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use chronoscope_clock as clock;
use chronoscope_sle::csts::codec;
use chronoscope_sle::csts::forward_frame::{
    ForwardFrameConfig, ForwardFrameProvider, ProcedureConfig, buffered, information_query,
    sequence_controlled,
};
use chronoscope_sle::csts::pdu::{AssociationRole, DataTransferMode, Message, Pdu};
use chronoscope_sle::csts::procedure::{
    BlockingLimits, CompletionReports, DataUnit, ProcedureAction, ProcedureKind, ProcessingUser,
    UserEvent,
};
use chronoscope_sle::service::fcltu::{RadiationQueue, RadiationStep};
use chronoscope_sle::time::Now;

const RUNS: usize = 5;
const FRAMES: u32 = 160_000;
const LENGTHS: [usize; 3] = [100, 220, 1115];

fn main() {
    println!("{:<28} {:>8} {:>10} {:>14}", "", "octets", "ns/frame", "frames/s");
    let row = |what: &str, octets: usize, ns: f64| {
        println!("{what:<28} {octets:>8} {ns:>10.0} {:>14.0}", 1e9 / ns);
    };
    for octets in LENGTHS {
        row("limit: two copies", octets, best(|| copies(octets)));
        for frames in [1, 2, 4, 8, 16, 20, 40, 80] {
            row(
                &format!("unconfirmed, {frames} a buffer"),
                octets,
                best(|| Link::new(frames, false).all(octets)),
            );
        }
        row("confirmed", octets, best(|| Link::new(1, true).all(octets)));
    }
}

fn best(run: impl Fn() -> f64) -> f64 {
    (0..RUNS).map(|_| run()).fold(f64::MAX, f64::min)
}

/// CPU nanoseconds of this thread for each of `FRAMES`.
fn each(mut act: impl FnMut()) -> f64 {
    let begin_ns = clock::thread_cpu_ns();
    for _ in 0..FRAMES {
        act();
    }
    (clock::thread_cpu_ns() - begin_ns) as f64 / f64::from(FRAMES)
}

fn copies(octets: usize) -> f64 {
    let frame = vec![0u8; octets];
    let mut to = vec![0u8; octets];
    each(|| {
        to.copy_from_slice(black_box(&frame));
        black_box(&mut to).copy_from_slice(black_box(&frame));
    })
}

/// A user and a provider, and octets between them.
struct Link {
    user: ProcessingUser,
    provider: ForwardFrameProvider,
    queue: Arc<RadiationQueue>,
    octets: Vec<u8>,
    actions: Vec<ProcedureAction>,
    taken: u64,
}

impl Link {
    fn new(frames: usize, is_confirmed: bool) -> Self {
        let mut config = ForwardFrameConfig::default();
        let blocking = BlockingLimits { units: frames, octets: usize::MAX, wait_ns: u64::MAX };
        let (mode, reports) = (DataTransferMode::Complete, CompletionReports::None);
        let (name, kind) = if is_confirmed {
            config.procedure = ProcedureConfig::SequenceControlled;
            (sequence_controlled(), ProcedureKind::SequenceControlled { window: 64 })
        } else {
            (buffered(), ProcedureKind::Buffered { mode, blocking, reports })
        };
        let queue = Arc::new(RadiationQueue::new(&config));
        let mut provider = ForwardFrameProvider::new(config, Arc::clone(&queue));
        provider.bound();
        let mut user = ProcessingUser::new(name, information_query(), kind, 0);
        user.bound();
        let start = user.start(0).expect("inactive");
        let (octets, actions) = (Vec::new(), Vec::new());
        let mut link = Self { user, provider, queue, octets, actions, taken: 0 };
        link.carry(start, Now::read());
        link
    }

    /// An operation to the provider, and what it answers back to the user.
    fn carry(&mut self, pdu: Pdu, now: Now) {
        let pdu = through(AssociationRole::User, pdu, &mut self.octets);
        self.provider.pdu(pdu, now, &mut self.actions);
        let mut actions = std::mem::take(&mut self.actions);
        for action in actions.drain(..) {
            let ProcedureAction::Send(pdu) = action else { panic!("{action:?}") };
            let pdu = through(AssociationRole::Provider, pdu, &mut self.octets);
            match self.user.pdu(pdu).expect("it was asked") {
                UserEvent::Acknowledged(_) => self.taken += 1,
                UserEvent::Started(Ok(())) => {}
                other => panic!("{other:?}"),
            }
        }
        self.actions = actions;
    }

    fn all(mut self, octets: usize) -> f64 {
        let data = Bytes::from(vec![0x55; octets]);
        let is_confirmed = self.user.is_confirmed();
        let ns = each(|| {
            let now = Now::read();
            let unit = DataUnit { data: data.clone(), ..DataUnit::default() };
            let (_, pdu) = self.user.process(unit, now).expect("active");
            if let Some(pdu) = pdu {
                self.carry(pdu, now);
                self.provider.tick();
                while let RadiationStep::Radiate(frame) = self.queue.next(now) {
                    black_box(&frame.data);
                    self.taken += u64::from(!is_confirmed);
                }
            }
        });
        assert_eq!(self.taken, u64::from(FRAMES));
        ns
    }
}

/// Into octets, and out of them.
fn through(sender: AssociationRole, pdu: Pdu, octets: &mut Vec<u8>) -> Pdu {
    octets.clear();
    codec::encode(&Message { credentials: None, pdu }, octets).expect("it can be said");
    let octets = Bytes::copy_from_slice(octets);
    codec::decode(sender, &octets).expect("it was said").pdu
}
