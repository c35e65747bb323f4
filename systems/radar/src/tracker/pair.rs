//! Hot standby: two trackers on the same plots, of which one is in operation.
//!
//! Both track everything, so that a take-over needs no state but the numbers of tracks: the one that
//! stands by subscribes to the other, and gives its own tracks the numbers that the other sends
//! ([`numbers`](super::numbers)). Each sends its status (category 065) four times a second, in which
//! I065/040 PSS names the unit in operation. The one that stands by takes over when the connection of
//! the other breaks, or when nothing came for [`SILENT_NS`]; a stopped process is thereby found as
//! well as a killed one. When a lost unit comes back it stands by. Should both be in operation,
//! because the connection between them was lost and they lived on, unit 2 stands back.
//!
//! Not here: more than two units; a vote of a third party, without which two units that cannot hear
//! each other are both in operation.

use crate::asterix::{Record, cat062, decode_block};
use crate::link::Upstream;
use chronoscope_clock as clock;
use mio::event::Event;
use mio::{Registry, Token};
use std::net::SocketAddr;

/// Interval between two status messages of a unit, ns.
pub(super) const STATUS_NS: u64 = 250_000_000;
/// A unit of which nothing came for so long is lost, ns.
const SILENT_NS: u64 = 1_000_000_000;
/// At its start a unit listens for so long whether the other is in operation, ns.
const LISTEN_NS: u64 = 1_500_000_000;

/// When the unit in operation is killed or stopped, the other one is in operation after so long at the latest,
/// ns: its silence counts from its last word, and is looked for four times in that time. What a busy machine
/// adds is not in it.
const TAKE_OVER_NS_MAX: u64 = 2_000_000_000;
const _: () = assert!(STATUS_NS + SILENT_NS + SILENT_NS / 4 <= TAKE_OVER_NS_MAX);

/// Settings of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PairSettings {
    /// Address on which the other unit serves its subscribers.
    pub peer: SocketAddr,
    /// Number of this unit: 1 or 2.
    pub unit: u8,
}

/// State of a pair for the summary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PairSummary {
    /// Number of this unit.
    pub unit: u8,
    /// Whether it is in operation.
    pub in_operation: bool,
    /// Times that it took over from the other.
    pub takeovers: u64,
    /// Messages about tracks of the other, whose numbers were taken.
    pub followed: u64,
}

/// What a unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    InOperation,
    StandingBy,
}

/// What a unit last said of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Word {
    in_operation: bool,
    at_ns: u64,
}

/// This unit's view of the pair, decided from times alone: no socket, no clock.
#[derive(Debug)]
struct Decision {
    unit: u8,
    role: Role,
    begun_ns: u64,
    peer: Option<Word>,
}

impl Decision {
    fn new(unit: u8, now_ns: u64) -> Self {
        Self { unit, role: Role::StandingBy, begun_ns: now_ns, peer: None }
    }

    /// Takes in a status of the other unit.
    fn heard(&mut self, selected: u8, now_ns: u64) {
        self.peer = Some(Word { in_operation: selected == 3 - self.unit, at_ns: now_ns });
    }

    /// The connection to the other unit broke.
    fn lost(&mut self) {
        self.peer = None;
    }

    /// The role now, and why it is another than before.
    fn decide(&mut self, now_ns: u64) -> Option<&'static str> {
        let peer = self.peer.filter(|word| now_ns.saturating_sub(word.at_ns) < SILENT_NS);
        let listened = now_ns.saturating_sub(self.begun_ns) >= LISTEN_NS;
        let (role, why) = match (self.role, peer) {
            (Role::InOperation, Some(Word { in_operation: true, .. })) if self.unit == 2 => {
                (Role::StandingBy, "both units were in operation")
            }
            (Role::InOperation, _) | (Role::StandingBy, Some(Word { in_operation: true, .. })) => {
                return None;
            }
            // Whoever was heard and is lost was in operation, or is to be replaced in any case.
            (Role::StandingBy, None) if self.peer.is_some() || listened => {
                (Role::InOperation, "the other unit is not heard")
            }
            // Nobody is in operation: unit 1 begins, and unit 2 if that does not.
            (Role::StandingBy, Some(_)) if listened && self.unit == 1 => {
                (Role::InOperation, "no unit was in operation")
            }
            (Role::StandingBy, Some(_)) if now_ns - self.begun_ns >= 2 * LISTEN_NS => {
                (Role::InOperation, "no unit was in operation")
            }
            (Role::StandingBy, _) => return None,
        };
        self.role = role;
        Some(why)
    }

    /// The unit in operation as far as this one knows; 0 for none.
    fn selected(&self) -> u8 {
        match (self.role, self.peer) {
            (Role::InOperation, _) => self.unit,
            (Role::StandingBy, Some(Word { in_operation: true, .. })) => 3 - self.unit,
            (Role::StandingBy, _) => 0,
        }
    }
}

/// The connection to the other unit, and what follows from it.
#[derive(Debug)]
pub(super) struct Pair {
    upstream: Upstream,
    decision: Decision,
    connected: bool,
    summary: PairSummary,
    status_ns: u64,
}

impl Pair {
    /// A unit that stands by, and connects to the other one under `token`.
    pub(super) fn new(settings: PairSettings, token: Token) -> Self {
        let now_ns = clock::monotonic_ns();
        Self {
            upstream: Upstream::new(settings.peer, token),
            decision: Decision::new(settings.unit, now_ns),
            connected: false,
            summary: PairSummary { unit: settings.unit, ..PairSummary::default() },
            status_ns: now_ns,
        }
    }

    /// Whether this unit sends tracks.
    pub(super) fn is_in_operation(&self) -> bool {
        self.decision.role == Role::InOperation
    }

    /// The unit in operation; 0 for none.
    pub(super) fn selected(&self) -> u8 {
        self.decision.selected()
    }

    pub(super) fn summary(&self) -> PairSummary {
        PairSummary { in_operation: self.is_in_operation(), ..self.summary }
    }

    /// Handles an event if it is of the connection.
    pub(super) fn ready(&mut self, event: &Event) {
        self.upstream.ready(event, clock::monotonic_ns());
    }

    /// Reads what the other unit sends: each track of it goes to `follow` while this one stands by.
    /// Returns how this unit's role has changed, for people.
    pub(super) fn turn(
        &mut self,
        registry: &Registry,
        mut follow: impl FnMut(&cat062::Track) -> bool,
    ) -> Option<String> {
        let now_ns = clock::monotonic_ns();
        self.upstream.tick(registry, now_ns);
        while self.upstream.is_readable() {
            let (decision, summary) = (&mut self.decision, &mut self.summary);
            self.upstream.read(now_ns, |block| {
                for record in decode_block(block).flatten() {
                    match record {
                        Record::SystemStatus(message) => {
                            let selected = message.status.map_or(0, |status| status.selected);
                            decision.heard(selected, now_ns);
                        }
                        Record::Track(track) if decision.role == Role::StandingBy => {
                            summary.followed += u64::from(follow(&track));
                        }
                        _ => {}
                    }
                }
            });
        }
        let connected = self.upstream.is_connected();
        if self.connected && !connected && self.decision.peer.is_some() {
            // Nobody keeps a broken connection's word: no waiting for its silence.
            self.decision.lost();
            self.decision.begun_ns = self.decision.begun_ns.min(now_ns.saturating_sub(LISTEN_NS));
        }
        self.connected = connected;
        let before = self.decision.role;
        let why = self.decision.decide(now_ns)?;
        let role = match self.decision.role {
            Role::InOperation => "in operation",
            Role::StandingBy => "standing by",
        };
        if before == Role::StandingBy && self.summary.followed > 0 {
            self.summary.takeovers += 1;
        }
        Some(format!("unit {} is {role}: {why}", self.decision.unit))
    }

    /// Time until something is due, ns.
    pub(super) fn due_in_ns(&self) -> u64 {
        let now_ns = clock::monotonic_ns();
        let connect_ns = self.upstream.deadline_ns().unwrap_or(u64::MAX);
        // Silence is noticed within a quarter of what counts as silence.
        connect_ns.min(self.status_ns).saturating_sub(now_ns).min(SILENT_NS / 4)
    }

    /// Whether a status message is due; the next one is due an interval later.
    pub(super) fn status_is_due(&mut self) -> bool {
        let now_ns = clock::monotonic_ns();
        let due = now_ns >= self.status_ns;
        if due {
            self.status_ns = now_ns + STATUS_NS;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    #[test]
    fn the_second_unit_stands_by_and_takes_over_when_the_first_is_silent() {
        let (mut one, mut two) = (Decision::new(1, 0), Decision::new(2, 0));
        assert_eq!(one.decide(1_000 * MS), None);
        assert!(one.decide(1_600 * MS).is_some() && one.selected() == 1);
        for tick in 4..40 {
            two.heard(one.selected(), tick * 250 * MS);
            assert_eq!(two.decide(tick * 250 * MS + MS), None);
        }
        assert_eq!(two.selected(), 1);
        // Its last word was at 9.75 s.
        assert_eq!(two.decide(10_700 * MS), None);
        assert!(two.decide(10_800 * MS).is_some() && two.selected() == 2);
        // The first one comes back and hears that the second is in operation.
        let mut one = Decision::new(1, 12_000 * MS);
        one.heard(two.selected(), 12_300 * MS);
        for tick in 0..20 {
            one.heard(two.selected(), (12_500 + tick * 250) * MS);
            assert_eq!(one.decide((12_600 + tick * 250) * MS), None);
        }
    }

    /// Whenever it stops, and whatever the phases of words and looks: by a clock of the test's own.
    #[test]
    fn a_stopped_unit_is_replaced_within_two_seconds() {
        for (stopped_ms, phase_ms) in (10_000..10_250).step_by(10).zip((0..250).step_by(70).cycle())
        {
            let mut two = Decision::new(2, 0);
            let mut taken_ms = None;
            for now_ms in 0..20_000_u64 {
                if now_ms.is_multiple_of(STATUS_NS / MS) && now_ms < stopped_ms {
                    two.heard(1, now_ms * MS);
                }
                let looks = now_ms % (SILENT_NS / MS / 4) == phase_ms;
                if looks && two.decide(now_ms * MS).is_some() {
                    taken_ms.get_or_insert(now_ms);
                }
            }
            let took_ms = taken_ms.unwrap() - stopped_ms;
            assert!(took_ms * MS <= TAKE_OVER_NS_MAX, "{stopped_ms} {phase_ms}: {took_ms} ms");
            assert_eq!(two.selected(), 2);
        }
    }

    #[test]
    fn two_units_that_start_together_agree_on_the_first() {
        let (mut one, mut two) = (Decision::new(1, 0), Decision::new(2, 0));
        for tick in 1..30 {
            let now_ns = tick * 250 * MS;
            one.heard(two.selected(), now_ns);
            two.heard(one.selected(), now_ns);
            one.decide(now_ns);
            two.decide(now_ns);
        }
        assert_eq!((one.role, two.role), (Role::InOperation, Role::StandingBy));
        // Both in operation, after they had not heard each other: the second stands back.
        two.role = Role::InOperation;
        one.heard(2, 8_000 * MS);
        two.heard(1, 8_000 * MS);
        assert_eq!(one.decide(8_000 * MS), None);
        assert!(two.decide(8_000 * MS).is_some() && two.role == Role::StandingBy);
    }
}
