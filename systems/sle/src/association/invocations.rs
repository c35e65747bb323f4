//! Open invocations: the return was not received yet (user), or not sent yet (provider).

use std::collections::VecDeque;

use crate::pdu::InvokeId;

/// Invoke ids there are.
const IDS: usize = 1 << 16;
/// Closed entries that may lie behind an open one before the queue is swept.
const SLACK: usize = 1024;

/// An operation that is returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum ConfirmedOperation {
    Start = 1,
    Stop = 2,
    ScheduleStatusReport = 3,
    GetParameter = 4,
    TransferData = 5,
    ThrowEvent = 6,
}

/// A user's open invocations, with one timeout for all: whichever was sent first is due first.
///
/// At most 65,536 are open; opening and closing cost the same however many there are (but for
/// sweeps, whose cost is a few entries per invocation).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpenInvocations {
    timeout_ns: u64,
    /// By invoke id: serial number and operation of the open one, 0 where none is. Empty before
    /// the first.
    slots: Vec<u32>,
    /// In the order in which they were sent; the first is open, others may have been closed.
    queue: VecDeque<Sent>,
    serial: u32,
    open: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sent {
    id: InvokeId,
    slot: u32,
    until_ns: u64,
}

impl OpenInvocations {
    pub(super) fn new(timeout_ns: u64) -> Self {
        Self { timeout_ns, slots: Vec::new(), queue: VecDeque::new(), serial: 0, open: 0 }
    }

    pub(super) fn is_open(&self, id: InvokeId) -> bool {
        self.slots.get(usize::from(id)).is_some_and(|slot| *slot != 0)
    }

    /// Number of open invocations.
    pub(super) fn len(&self) -> usize {
        self.open
    }

    /// Opens one that is not.
    pub(super) fn open(&mut self, id: InvokeId, operation: ConfirmedOperation, monotonic_ns: u64) {
        if self.slots.is_empty() {
            self.slots = vec![0; IDS];
        }
        // The serial number tells an id's earlier uses in the queue from this one. It wraps after
        // 2^29 invocations, when a sweep has long removed them.
        self.serial = self.serial.wrapping_add(1);
        let slot = self.serial << 3 | operation as u32;
        self.slots[usize::from(id)] = slot;
        self.open += 1;
        let until_ns = monotonic_ns.saturating_add(self.timeout_ns);
        self.queue.push_back(Sent { id, slot, until_ns });
        if self.queue.len() > 2 * self.open + SLACK {
            let slots = &self.slots;
            self.queue.retain(|sent| slots[usize::from(sent.id)] == sent.slot);
        }
    }

    /// Closes one; `false` where none such is open.
    pub(super) fn close(&mut self, id: InvokeId, operation: ConfirmedOperation) -> bool {
        let Some(slot) = self.slots.get_mut(usize::from(id)) else { return false };
        if *slot & 7 != operation as u32 {
            return false;
        }
        *slot = 0;
        self.open -= 1;
        while let Some(sent) = self.queue.front() {
            if self.slots[usize::from(sent.id)] == sent.slot {
                break;
            }
            self.queue.pop_front();
        }
        true
    }

    /// When the first one's time is over, and which that is.
    pub(super) fn due(&self) -> Option<(u64, InvokeId)> {
        self.queue.front().map(|sent| (sent.until_ns, sent.id))
    }

    /// Forgets all open invocations.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.timeout_ns);
    }
}

/// A provider's open invocations: which operation, by invoke id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct OpenInvokeIds(Vec<Option<ConfirmedOperation>>);

impl OpenInvokeIds {
    /// Opens one; `false` where one with this id is open already, which it stays.
    pub(super) fn open(&mut self, id: InvokeId, operation: ConfirmedOperation) -> bool {
        if self.0.is_empty() {
            self.0 = vec![None; IDS];
        }
        let slot = &mut self.0[usize::from(id)];
        let free = slot.is_none();
        if free {
            *slot = Some(operation);
        }
        free
    }

    /// Closes one, if it is open.
    pub(super) fn close(&mut self, id: InvokeId) {
        if let Some(slot) = self.0.get_mut(usize::from(id)) {
            *slot = None;
        }
    }

    pub(super) fn is_open(&self, id: InvokeId, operation: ConfirmedOperation) -> bool {
        self.0.get(usize::from(id)) == Some(&Some(operation))
    }
}

#[cfg(test)]
mod tests {
    use super::{ConfirmedOperation, OpenInvocations, OpenInvokeIds, SLACK};
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn a_reused_id_has_the_time_of_its_last_use() {
        let mut open = OpenInvocations::new(100);
        open.open(4, ConfirmedOperation::Start, 0);
        open.open(5, ConfirmedOperation::TransferData, 0);
        assert!(open.close(5, ConfirmedOperation::TransferData));
        open.open(5, ConfirmedOperation::TransferData, 50);
        assert_eq!(open.due(), Some((100, 4)));
        assert!(open.close(4, ConfirmedOperation::Start));
        assert_eq!(open.due(), Some((150, 5)), "not that of its first use, which was answered");
    }

    #[test]
    fn a_return_of_another_operation_closes_nothing() {
        let mut open = OpenInvocations::new(100);
        open.open(7, ConfirmedOperation::GetParameter, 0);
        assert!(!open.close(7, ConfirmedOperation::Stop));
        assert!(!open.close(8, ConfirmedOperation::GetParameter));
        assert!(open.is_open(7));
    }

    #[test]
    fn one_that_stays_open_does_not_make_the_queue_grow() {
        let mut open = OpenInvocations::new(u64::MAX);
        open.open(0, ConfirmedOperation::Start, 0);
        for round in 0..200_000u32 {
            let id = u16::try_from(round % 65_535).unwrap() + 1;
            open.open(id, ConfirmedOperation::TransferData, u64::from(round));
            assert!(open.close(id, ConfirmedOperation::TransferData));
        }
        assert_eq!(open.len(), 1);
        assert!(open.queue.len() <= 4 + SLACK, "{}", open.queue.len());
        assert!(open.queue.capacity() < 4 * SLACK);
    }

    #[test]
    fn all_ids_can_be_open_once() {
        let mut ids = OpenInvokeIds::default();
        assert!(!ids.is_open(9, ConfirmedOperation::Stop));
        ids.close(9);
        for id in 0..=u16::MAX {
            assert!(ids.open(id, ConfirmedOperation::Stop));
        }
        assert!(
            !ids.open(0, ConfirmedOperation::Start) && ids.is_open(0, ConfirmedOperation::Stop)
        );
        ids.close(u16::MAX);
        assert!(
            !ids.is_open(u16::MAX, ConfirmedOperation::Stop)
                && ids.open(u16::MAX, ConfirmedOperation::Start)
        );
    }

    proptest! {
        /// Beside a map that keeps every deadline by id.
        #[test]
        fn as_a_map_would(steps in prop::collection::vec((0..6u16, any::<bool>()), 0..200)) {
            let mut open = OpenInvocations::new(10);
            let mut map = HashMap::new();
            for (now, (id, send)) in (0..).zip(steps) {
                if send && !open.is_open(id) {
                    open.open(id, ConfirmedOperation::TransferData, now);
                    map.insert(id, now + 10);
                } else {
                    let closed = open.close(id, ConfirmedOperation::TransferData);
                    prop_assert_eq!(closed, map.remove(&id).is_some());
                }
                prop_assert_eq!(open.len(), map.len());
                prop_assert_eq!(open.due().map(|(ns, _)| ns), map.values().min().copied());
            }
        }
    }
}
