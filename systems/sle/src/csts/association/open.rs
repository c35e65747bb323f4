//! Open invocations: the return was not received yet (user), or not sent yet (provider).
//!
//! Invoke ids have 32 bits, so that open ones are kept in a map, not in a slot for each id as in SLE.

use std::collections::{HashMap, VecDeque};

use crate::csts::pdu::InvokeId;

/// Closed entries that may lie behind an open one before the queue is swept.
const SLACK: usize = 1024;

/// An operation that is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConfirmedOperation {
    Start,
    Stop,
    Get,
    /// EXECUTE-DIRECTIVE, not acknowledged.
    Directive,
    /// EXECUTE-DIRECTIVE, acknowledged and not returned.
    Acknowledged,
    ProcessData,
}

/// Open invocations, with one timeout for all: whichever was opened first is due first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenInvocations {
    timeout_ns: u64,
    by_id: HashMap<InvokeId, (u64, ConfirmedOperation)>,
    /// Ids with serial numbers and deadlines, in the order of opening; the first is open.
    queue: VecDeque<(InvokeId, u64, u64)>,
    serial: u64,
}

impl OpenInvocations {
    pub(super) fn new(timeout_ns: u64) -> Self {
        Self { timeout_ns, by_id: HashMap::new(), queue: VecDeque::new(), serial: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(super) fn operation(&self, id: InvokeId) -> Option<ConfirmedOperation> {
        if self.by_id.is_empty() {
            return None;
        }
        self.by_id.get(&id).map(|(_, operation)| *operation)
    }

    /// Opens one that is not.
    pub(super) fn open(&mut self, id: InvokeId, operation: ConfirmedOperation, monotonic_ns: u64) {
        // The serial number tells an id's earlier uses in the queue from this one.
        self.serial += 1;
        self.by_id.insert(id, (self.serial, operation));
        let until_ns = monotonic_ns.saturating_add(self.timeout_ns);
        self.queue.push_back((id, self.serial, until_ns));
        if self.queue.len() > 2 * self.by_id.len() + SLACK {
            let by_id = &self.by_id;
            self.queue.retain(|(id, serial, _)| is_current(by_id, *id, *serial));
        }
    }

    /// Closes one; `false` where none such is open.
    pub(super) fn close(&mut self, id: InvokeId, operation: ConfirmedOperation) -> bool {
        if self.operation(id) != Some(operation) {
            return false;
        }
        self.by_id.remove(&id);
        while let Some((id, serial, _)) = self.queue.front()
            && !is_current(&self.by_id, *id, *serial)
        {
            self.queue.pop_front();
        }
        true
    }

    /// When the first one's time is over, and which that is.
    pub(super) fn due(&self) -> Option<(u64, InvokeId)> {
        self.queue.front().map(|(id, _, until_ns)| (*until_ns, *id))
    }

    /// Forgets all open invocations.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.timeout_ns);
    }
}

fn is_current(
    by_id: &HashMap<InvokeId, (u64, ConfirmedOperation)>,
    id: InvokeId,
    serial: u64,
) -> bool {
    by_id.get(&id).is_some_and(|(current, _)| *current == serial)
}

#[cfg(test)]
mod tests {
    use super::{ConfirmedOperation, OpenInvocations, SLACK};
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn one_that_stays_open_does_not_make_the_queue_grow() {
        let mut open = OpenInvocations::new(u64::MAX);
        open.open(0, ConfirmedOperation::Start, 0);
        for id in 1..200_000 {
            open.open(id, ConfirmedOperation::ProcessData, 0);
            assert!(open.close(id, ConfirmedOperation::ProcessData));
        }
        assert_eq!(open.len(), 1);
        assert!(open.queue.len() <= 4 + SLACK, "{}", open.queue.len());
    }

    proptest! {
        /// Beside a map that keeps every deadline by id.
        #[test]
        fn as_a_map_would(steps in prop::collection::vec((0..6u32, any::<bool>()), 0..200)) {
            let mut open = OpenInvocations::new(10);
            let mut map = HashMap::new();
            for (now, (id, send)) in (0..).zip(steps) {
                if send && open.operation(id).is_none() {
                    open.open(id, ConfirmedOperation::Get, now);
                    map.insert(id, now + 10);
                } else {
                    prop_assert!(!open.close(id, ConfirmedOperation::Stop), "another operation's");
                    prop_assert_eq!(open.close(id, ConfirmedOperation::Get), map.remove(&id).is_some());
                }
                prop_assert_eq!(open.len(), map.len());
                prop_assert_eq!(open.due().map(|(ns, _)| ns), map.values().min().copied());
            }
        }
    }
}
