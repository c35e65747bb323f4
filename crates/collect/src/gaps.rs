//! Rows of an agent that never came: its numbers leave a gap, and it did not say why.
//!
//! An agent whose spool was full drops rows and declares how many; these are counted from what it
//! says. Any other gap is counted here: damage in a spool, and a number that somebody else gave
//! under the agent's name, after which the agent's own rows below that number would be taken for
//! old ones. The count is a loss of a process named after the agent's count, which verdicts take
//! for a loss of any program of that host.
//!
//! A declaration may come with the gap, before it (a message without rows), or after it (rows that
//! were dropped while the message was put together). So both are remembered until they meet.
//!
//! Limits: after a restart of the collector a declaration that comes later than its gap is counted
//! beside it.

use chronoscope_model::{Names, ProcessId, ProcessName};
use chronoscope_store::{DELIVERED_ALL, Ledger, Loss, StreamId, wire};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Prefix of the application name under which an agent's losses are counted.
const AGENT_PREFIX: &str = "chronoscope agent ";
/// Messages with rows after a gap within which its declaration comes: one reading of a spool is cut
/// into a few.
const DECLARED_WITHIN: u8 = 8;
/// Agents whose gaps and declarations may wait for each other.
const WAITING_MAX: usize = 4096;

/// Gaps and declarations that wait for their counterpart, by agent.
#[derive(Debug, Default)]
pub(crate) struct Gaps(Mutex<BTreeMap<StreamId, Waiting>>);

/// Rows of one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Waiting {
    /// Declared as dropped, and their gap has not come.
    declared_rows: u64,
    /// Counted as lost for a gap, and not declared.
    counted_rows: u64,
    /// Messages with rows that came since.
    messages: u8,
}

/// Change by one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GapChange {
    after: Waiting,
    /// Rows that are lost with it and were not declared.
    pub(crate) new_rows: u64,
    /// Rows that were counted for a gap before and are declared now.
    pub(crate) declared_rows: u64,
}

/// Rows of a gap as the store is told of them.
#[derive(Debug)]
pub(crate) struct GapNotes {
    /// The process under which they are counted, and how many there are in all.
    pub(crate) lost: (ProcessId, u64),
    /// Lost rows with their time; `None` if only fewer rows were counted than before.
    pub(crate) loss: Option<Loss>,
    /// The name of the process.
    pub(crate) names: Names,
}

/// Sender of rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sender {
    /// The host that its hello named.
    pub(crate) host: String,
    /// No row that it has recorded ended after: UTC, nanoseconds since 1970, by its clock.
    pub(crate) now_ns: i64,
}

impl Gaps {
    /// Change by a message that leaves `gap_rows` out, newly declares `declared_rows` as dropped,
    /// and has rows or has none. It takes effect by [`Self::commit`].
    pub(crate) fn change(
        &self,
        id: StreamId,
        gap_rows: u64,
        declared_rows: u64,
        has_rows: bool,
    ) -> GapChange {
        let before = self.lock().get(&id).copied().unwrap_or_default();
        let declared = before.declared_rows.saturating_add(declared_rows);
        let new_rows = gap_rows.saturating_sub(declared);
        let left = declared - gap_rows.min(declared);
        let belated = left.min(before.counted_rows);
        let counted = before.counted_rows - belated;
        let messages = before.messages.saturating_add(u8::from(has_rows));
        let after = match (counted, new_rows) {
            (_, 1..) => Waiting { counted_rows: new_rows, ..Waiting::default() },
            (1.., 0) if messages < DECLARED_WITHIN => {
                Waiting { counted_rows: counted, messages, ..Waiting::default() }
            }
            _ => Waiting::default(),
        };
        // A spool also declares what it dropped while it was under way: where rows follow, no gap
        // of theirs is outstanding.
        let declared_rows = if has_rows { 0 } else { left - belated };
        GapChange { after: Waiting { declared_rows, ..after }, new_rows, declared_rows: belated }
    }

    /// Notes that the message was taken.
    pub(crate) fn commit(&self, id: StreamId, change: GapChange) {
        let mut waiting = self.lock();
        if change.after == Waiting::default() {
            waiting.remove(&id);
        } else if waiting.len() < WAITING_MAX || waiting.contains_key(&id) {
            waiting.insert(id, change.after);
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<StreamId, Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl GapChange {
    /// Whether anything is to be counted anew.
    pub(crate) const fn is_counted(self) -> bool {
        self.new_rows > 0 || self.declared_rows > 0
    }

    /// The notes for a store whose ledger is `ledger` so far.
    pub(crate) fn notes(self, id: StreamId, sender: &Sender, ledger: &Ledger) -> GapNotes {
        let process = gap_process(id, &sender.host);
        let known = ledger.lost.get(&process.id()).copied().unwrap_or(0);
        let rows = known.saturating_sub(self.declared_rows).saturating_add(self.new_rows);
        let loss = (self.new_rows > 0).then(|| Loss {
            process: process.id(),
            from_ns: delivered_until_ns(ledger, &sender.host),
            until_ns: sender.now_ns,
            rows: self.new_rows,
        });
        let lost = (process.id(), rows);
        let mut names = Names::default();
        names.add_process(process);
        GapNotes { lost, loss, names }
    }
}

/// Whether a message declares rows that its agent's spool has dropped: losses of rings are no such
/// declaration.
pub(crate) fn declares_drops(message: &wire::Message) -> bool {
    let name = |id: &ProcessId| message.names.process(*id);
    message.extras.lost.iter().filter_map(|(id, _)| name(id)).any(is_agent)
}

fn is_agent(name: &ProcessName) -> bool {
    name.application.starts_with(AGENT_PREFIX)
}

/// Rows that a message declares as dropped and that the store does not know of.
pub(crate) fn newly_declared(message: &wire::Message, known: &Ledger) -> u64 {
    let of_agent = |id: ProcessId| {
        let name = message.names.process(id).or_else(|| known.names.process(id));
        name.is_some_and(is_agent)
    };
    let totals: BTreeMap<ProcessId, u64> = message.extras.lost.iter().copied().collect();
    let of_agent = totals.into_iter().filter(|(id, _)| of_agent(*id));
    let new =
        of_agent.map(|(id, rows)| rows.saturating_sub(known.lost.get(&id).copied().unwrap_or(0)));
    new.fold(0, u64::saturating_add)
}

/// Everything of a host that ended before is here: its rings were read to there when the last of
/// its rows came.
fn delivered_until_ns(ledger: &Ledger, host: &str) -> i64 {
    let of_host = |id: ProcessId| ledger.names.process(id).is_some_and(|name| name.host == host);
    let delivered = ledger.deliveries.iter().filter(|(id, _)| of_host(*id));
    let until_ns = delivered.map(|(_, known)| known.until_ns).filter(|at| *at < DELIVERED_ALL);
    until_ns.min().unwrap_or(i64::MIN)
}

/// The process under which gaps of an agent's count are counted.
pub(crate) fn gap_process(id: StreamId, host: &str) -> ProcessName {
    let application = format!("{AGENT_PREFIX}{:032x} (gap)", id.0);
    ProcessName { application, host: host.to_owned(), pid: 0, start_ns: gap_start_ns(id) }
}

/// Stands for the start in the process's id; negative, which the start that stands for a spool's own
/// declarations is not.
#[allow(clippy::cast_possible_truncation)] // any bits do
const fn gap_start_ns(id: StreamId) -> i64 {
    !(id.0 as u64 >> 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: StreamId = StreamId(9);

    /// Counts a message; how the agent's undeclared rows change.
    fn take(gaps: &Gaps, gap_rows: u64, declared_rows: u64, has_rows: bool) -> (u64, u64) {
        let change = gaps.change(AGENT, gap_rows, declared_rows, has_rows);
        gaps.commit(AGENT, change);
        (change.new_rows, change.declared_rows)
    }

    #[test]
    fn a_gap_counts_unless_it_is_declared_before_with_or_after_it() {
        let gaps = Gaps::default();
        assert_eq!(take(&gaps, 10, 0, true), (10, 0), "nobody said why");
        let gaps = Gaps::default();
        assert_eq!(take(&gaps, 0, 10, false), (0, 0));
        assert_eq!(take(&gaps, 10, 0, true), (0, 0), "declared before");
        assert_eq!(take(&gaps, 10, 10, true), (0, 0), "declared with it");
        assert_eq!(take(&gaps, 10, 4, true), (6, 0), "declared in part");
        assert_eq!(take(&gaps, 0, 6, true), (0, 6), "and the rest after it");
        assert_eq!(gaps.lock().len(), 0, "nothing waits");
    }

    /// Rows that a spool dropped during the delivery are declared and leave no gap: the declaration
    /// must not hide a later gap.
    #[test]
    fn a_declaration_without_a_gap_hides_none_later() {
        let gaps = Gaps::default();
        assert_eq!(take(&gaps, 0, 1_000, true), (0, 0));
        assert_eq!(take(&gaps, 900, 0, true), (900, 0));
        for _ in 0..DECLARED_WITHIN {
            assert_eq!(take(&gaps, 0, 0, true), (0, 0));
        }
        assert_eq!(take(&gaps, 0, 1_000, true), (0, 0), "nor one of long before");
    }
}
