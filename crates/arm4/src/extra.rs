//! Data of an open transaction beyond its times: metrics, user, diagnosis, blocks, bound threads.

use crate::definitions::SLOTS;
use crate::entries::Entries;
use crate::thread_number;
use chronoscope_clock as clock;
use chronoscope_record as record;

/// Value of a metric.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Number(f64),
    Text(String),
}

/// A stretch of waiting that has not ended.
#[derive(Clone, Copy, Debug)]
struct Block {
    handle: i64,
}

/// A thread that works for the transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) thread: u32,
    /// CPU time of the thread when it was bound, in nanoseconds.
    cpu_ns: u64,
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Extra {
    pub(crate) metrics: [Option<Value>; SLOTS],
    /// Metrics that are not in slots.
    pub(crate) more_metrics: Entries,
    pub(crate) user: Entries,
    pub(crate) diagnosis: Entries,
    blocks: Vec<Block>,
    block_count: u32,
    blocked_since: u64,
    blocked_ticks: u64,
    bindings: Vec<Binding>,
    binding_count: u32,
    bound_cpu_ns: u64,
}

/// Stretches of waiting and bound threads at a time: beyond, they are refused.
const OPEN_MAX: usize = 4096;

impl Extra {
    /// Empty again; keeps its memory.
    pub(crate) fn clear(&mut self) {
        self.metrics = Default::default();
        for said in [&mut self.more_metrics, &mut self.user, &mut self.diagnosis] {
            said.clear();
        }
        self.blocks.clear();
        self.bindings.clear();
        (self.block_count, self.blocked_since, self.blocked_ticks) = (0, 0, 0);
        (self.binding_count, self.bound_cpu_ns) = (0, 0);
    }

    /// Begins a block of the transaction, and returns its handle. `None` when too many are open.
    pub(crate) fn block(&mut self, transaction: i64, ticks: u64) -> Option<i64> {
        if self.blocks.len() >= OPEN_MAX {
            return None;
        }
        self.block_count = self.block_count.saturating_add(1);
        let handle = ((transaction >> 16) ^ transaction) << 24 & i64::MAX;
        let handle = handle | i64::from(self.block_count & 0xff_ffff);
        if self.blocks.is_empty() {
            self.blocked_since = ticks;
        }
        self.blocks.push(Block { handle });
        Some(handle)
    }

    /// Ends a block. Returns whether it was open.
    pub(crate) fn unblock(&mut self, handle: i64, ticks: u64) -> bool {
        let Some(at) = self.blocks.iter().position(|block| block.handle == handle) else {
            return false;
        };
        self.blocks.swap_remove(at);
        if self.blocks.is_empty() {
            self.blocked_ticks += ticks.saturating_sub(self.blocked_since);
        }
        true
    }

    /// Time during which it waited for something, in nanoseconds, and for how many things; with
    /// those open at this stamp.
    pub(crate) fn blocked(&self, ticks: u64) -> Option<(u64, u32)> {
        let open =
            if self.blocks.is_empty() { 0 } else { ticks.saturating_sub(self.blocked_since) };
        let ns = clock::Scale::current().to_ns(self.blocked_ticks + open);
        (self.block_count > 0).then_some((ns, self.block_count))
    }

    /// The calling thread works for it; false when it did already, or too many do.
    pub(crate) fn bind(&mut self, thread: u32) -> bool {
        if self.is_bound(thread) || self.bindings.len() >= OPEN_MAX {
            return false;
        }
        self.binding_count += 1;
        self.bindings.push(Binding { thread, cpu_ns: record::thread_cpu_ns() });
        true
    }

    /// Whether any thread works for it.
    pub(crate) fn has_bindings(&self) -> bool {
        !self.bindings.is_empty()
    }

    /// Whether a thread works for it.
    pub(crate) fn is_bound(&self, thread: u32) -> bool {
        self.bindings.iter().any(|binding| binding.thread == thread)
    }

    /// The calling thread no longer works for it; whether it did.
    pub(crate) fn unbind(&mut self, thread: u32) -> bool {
        let Some(at) = self.bindings.iter().position(|binding| binding.thread == thread) else {
            return false;
        };
        let binding = self.bindings.swap_remove(at);
        self.bound_cpu_ns += record::thread_cpu_ns().saturating_sub(binding.cpu_ns);
        true
    }

    /// Unbinds all threads: their CPU time for the transaction, in nanoseconds, and the number of
    /// bindings; `None` when there never was one.
    pub(crate) fn unbind_all(&mut self) -> Option<(u64, u32)> {
        if self.binding_count == 0 {
            return None;
        }
        self.unbind(thread_number::current());
        for binding in self.bindings.drain(..) {
            // A thread that has ended has unbound itself; one that cannot be asked counts nothing.
            let now_ns = clock::thread_cpu_ns_of(binding.thread).unwrap_or(binding.cpu_ns);
            self.bound_cpu_ns += now_ns.saturating_sub(binding.cpu_ns);
        }
        Some((self.bound_cpu_ns, self.binding_count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two that overlap: the time is that of either, not the sum.
    #[test]
    fn overlapping_blocks_count_once_in_time() {
        let scale = clock::Scale::current();
        let ms = scale.to_ticks(1_000_000);
        let mut extra = Extra::default();
        let a = extra.block(77 << 16, 10 * ms).unwrap();
        let b = extra.block(77 << 16, 11 * ms).unwrap();
        assert!(a != b && a > 0);
        assert!(extra.unblock(a, 13 * ms) && !extra.unblock(a, 13 * ms));
        assert!(extra.unblock(b, 14 * ms));
        extra.block(77 << 16, 20 * ms).unwrap();
        let (ns, count) = extra.blocked(21 * ms).unwrap();
        // A millisecond is a whole number of ticks to within one, which on aarch64 may be long.
        let within_ns = 10 + 5 * (1_000_000 / ms + 1);
        assert!(ns.abs_diff(5_000_000) < within_ns && count == 3, "{ns} {count}");
    }
}
