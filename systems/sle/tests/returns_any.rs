//! Promises of the return services' provider that hold whatever happens, in any order.
#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use chronoscope_sle::frame::ReceivedFrame;
use chronoscope_sle::pdu::{
    DeliveryMode, FrameOrNotification, FrameQuality, Pdu, ReportRequest, RequestedFrameQuality,
    ReturnNotification, ReturnProductionStatus, ReturnSelection, ReturnStart, StartRequest,
};
use chronoscope_sle::service::returns::{ReturnConfig, ReturnProduction, ReturnProvider};
use chronoscope_sle::service::{ServiceAction, ServiceState};
use chronoscope_sle::time::{Now, Time};
use proptest::prelude::*;

const UTC_NS: u64 = 1_700_000_000_000_000_000;
const MS: u64 = 1_000_000;

#[derive(Clone, Copy, Debug)]
enum Step {
    Frames(u8),
    Block(bool),
    Pass {
        ms: u16,
    },
    Bind,
    Unbind,
    /// With a stop time so many milliseconds from now.
    Start(Option<u16>),
    Stop,
    Report(u16),
    Status(ReturnProductionStatus),
    EndOfData,
}

fn step() -> impl Strategy<Value = Step> {
    use ReturnProductionStatus::{Interrupted, Running};
    prop_oneof![
        8 => (0..30u8).prop_map(Step::Frames),
        3 => any::<bool>().prop_map(Step::Block),
        4 => (0..2000u16).prop_map(|ms| Step::Pass { ms }),
        3 => Just(Step::Bind),
        1 => Just(Step::Unbind),
        4 => proptest::option::weighted(0.3, 1..3000u16).prop_map(Step::Start),
        2 => Just(Step::Stop),
        1 => (2..5u16).prop_map(Step::Report),
        2 => prop_oneof![3 => Just(Running), 1 => Just(Interrupted)].prop_map(Step::Status),
        1 => Just(Step::EndOfData),
    ]
}

/// A provider, what it has said, and what of that is to be true.
struct World {
    provider: ReturnProvider,
    now: Now,
    size: usize,
    is_complete: bool,
    given: u64,
    /// The next frame's number. Those that come while production is not running have one again.
    number: u64,
    is_running: bool,
    /// The number that a frame without loss has.
    next: u64,
    /// Why frames may be missing before the next one.
    excuse: bool,
    is_active: bool,
    has_ended: bool,
}

impl World {
    fn new(delivery: DeliveryMode, size: u16, backlog_octets: usize) -> Self {
        let config =
            ReturnConfig { delivery, buffer_size: size, backlog_octets, ..ReturnConfig::raf() };
        Self {
            provider: ReturnProvider::new(config),
            now: Now { monotonic_ns: 1, utc_ns: UTC_NS },
            size: usize::from(size),
            is_complete: delivery == DeliveryMode::CompleteOnline,
            given: 0,
            number: 0,
            is_running: true,
            next: 0,
            excuse: false,
            is_active: false,
            has_ended: false,
        }
    }

    fn frames(&mut self, count: u8) -> Vec<ReceivedFrame> {
        let first = self.number;
        let end = first + u64::from(count);
        self.given += u64::from(count);
        self.number = if self.is_running { end } else { first };
        (first..end)
            .map(|number| ReceivedFrame {
                data: Bytes::copy_from_slice(&number.to_be_bytes()),
                received_utc_ns: self.now.utc_ns,
                quality: FrameQuality::Good,
                annotation: None,
            })
            .collect()
    }

    fn take(&mut self, step: Step) {
        let mut out = Vec::new();
        let state = self.provider.state();
        match step {
            Step::Frames(count) => {
                let frames = self.frames(count);
                self.provider.frames(frames, self.now, &mut out);
            }
            Step::Block(blocked) => self.provider.block(blocked, self.now, &mut out),
            Step::Pass { ms } => {
                self.now.monotonic_ns += u64::from(ms) * MS;
                self.now.utc_ns += u64::from(ms) * MS;
                self.provider.tick(self.now, &mut out);
                assert!(self.provider.due().is_none_or(|due_ns| due_ns > self.now.monotonic_ns));
            }
            Step::Bind if state == ServiceState::Unbound => self.provider.bound(5, self.now),
            Step::Unbind => {
                self.provider.unbound(self.now);
                // The transfer buffer went with the association.
                self.excuse = true;
                self.is_active = false;
            }
            Step::Start(stop_ms) if state == ServiceState::Ready => {
                let stop_ns = |ms: u16| self.now.utc_ns + u64::from(ms) * MS;
                let start = ReturnStart {
                    start: None,
                    stop: stop_ms.map(|ms| Time::from_utc_ns(stop_ns(ms))),
                    select: ReturnSelection::Frames(RequestedFrameQuality::All),
                };
                let pdu = Pdu::Start { invoke_id: 1, start: StartRequest::Return(start) };
                self.provider.pdu(pdu, self.now, &mut out);
            }
            Step::Stop if state == ServiceState::Active => {
                self.provider.pdu(Pdu::Stop { invoke_id: 2 }, self.now, &mut out);
            }
            Step::Report(cycle) if state != ServiceState::Unbound => {
                let request = ReportRequest::Periodically(cycle);
                let pdu = Pdu::ScheduleStatusReport { invoke_id: 3, request };
                self.provider.pdu(pdu, self.now, &mut out);
            }
            Step::Status(status) => {
                self.is_running = status == ReturnProductionStatus::Running;
                self.provider.production(ReturnProduction::Status(status), self.now, &mut out);
            }
            Step::EndOfData => self.provider.end_of_data(self.now, &mut out),
            _ => {}
        }
        out.into_iter().for_each(|action| self.hear(action));
    }

    fn hear(&mut self, action: ServiceAction) {
        match action {
            ServiceAction::Send(Pdu::StartReturn { result, .. }) => {
                assert!(!self.is_active);
                self.is_active = result.is_ok();
                self.has_ended = false;
            }
            ServiceAction::Send(Pdu::StopReturn { .. }) => self.is_active = false,
            ServiceAction::Send(Pdu::TransferBuffer(parts)) => {
                assert!(self.is_active, "buffers come between START and STOP");
                assert!((1..=self.size).contains(&parts.len()), "{} parts", parts.len());
                parts.into_iter().for_each(|part| self.hear_part(part));
            }
            ServiceAction::Send(_) => {}
            ServiceAction::Abort(why) => panic!("{why:?}"),
        }
    }

    fn hear_part(&mut self, part: FrameOrNotification) {
        assert!(!self.has_ended, "nothing follows the end of data");
        match part {
            FrameOrNotification::Frame(frame) => {
                let number = u64::from_be_bytes(frame.data[..].try_into().unwrap());
                assert!(number >= self.next, "{number} after {}", self.next);
                if self.is_complete {
                    assert!(number == self.next || self.excuse, "{} is missing", self.next);
                }
                self.next = number + 1;
                self.excuse = false;
            }
            FrameOrNotification::Notification(said) => match said.notification {
                ReturnNotification::ExcessiveDataBacklog => self.excuse = true,
                ReturnNotification::EndOfData => self.has_ended = true,
                _ => {}
            },
        }
    }

    /// Lets everything out and counts.
    fn finish(&mut self) {
        self.take(Step::Block(false));
        self.take(Step::Stop);
        self.take(Step::Bind);
        self.take(Step::Start(None));
        self.take(Step::Stop);
        let counts = self.provider.counts();
        assert_eq!(counts.received, self.given);
        assert_eq!(counts.received, counts.delivered + counts.discarded + counts.unproduced);
    }
}

proptest! {
    #[test]
    fn whatever_happens(
        is_complete in any::<bool>(),
        size in 1..6u16,
        backlog_octets in 500..20_000usize,
        steps in proptest::collection::vec(step(), 0..120),
    ) {
        let delivery =
            if is_complete { DeliveryMode::CompleteOnline } else { DeliveryMode::TimelyOnline };
        let mut world = World::new(delivery, size, backlog_octets);
        steps.into_iter().for_each(|step| world.take(step));
        world.finish();
    }
}
