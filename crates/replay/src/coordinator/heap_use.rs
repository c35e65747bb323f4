//! Heap of a process of a replay, from the pages in which it was counted.

use crate::heap::{NumberedHeap, ProcessHeap, read_pages};
use std::path::Path;

/// Heap of a process: all programs that it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HeapUse {
    /// Blocks that it was given.
    pub allocations: u64,
    /// Requested octets of them.
    pub allocated_bytes: u64,
    /// Most octets that it held at one time since its start.
    pub bytes_max: u64,
    /// Octets that it held at the end, before it was asked to end; of one that ended before, those
    /// that it had not given back.
    pub live_bytes: u64,
    /// Blocks that could not be followed for lack of memory: not in the held figures.
    pub lost: u64,
}

/// Heaps of the processes of a folder of pages; none where it cannot be read, and why.
pub(super) fn heaps(folder: Option<&Path>) -> Result<Vec<NumberedHeap>, String> {
    folder.map_or(Ok(Vec::new()), |folder| read_pages(folder).map_err(|error| error.to_string()))
}

/// Heap of the process of this number: at the end, less what it had been given at the begin of the
/// window, with what it held when it was asked to end.
pub(super) fn heap_of(pid: i32, [begin, asked, end]: [&[NumberedHeap]; 3]) -> Option<HeapUse> {
    let of = |heaps: &[NumberedHeap]| -> Vec<ProcessHeap> {
        let own = heaps.iter().filter(|(number, _)| i64::from(*number) == i64::from(pid));
        own.map(|(_, heap)| heap.clone()).collect()
    };
    let (begin, asked, end) = (of(begin), of(asked), of(end));
    let last = end.last()?;
    let sum = |heaps: &[ProcessHeap]| {
        heaps.iter().fold((0, 0), |(a, b), heap| (a + heap.allocations, b + heap.bytes))
    };
    let ((blocks, bytes), (before, before_bytes)) = (sum(&end), sum(&begin));
    Some(HeapUse {
        allocations: blocks.saturating_sub(before),
        allocated_bytes: bytes.saturating_sub(before_bytes),
        bytes_max: end.iter().map(|heap| heap.held_bytes_max).max().unwrap_or(0),
        live_bytes: asked.last().unwrap_or(last).held_bytes,
        lost: end.iter().map(|heap| heap.lost).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_one_process_are_one_heap() {
        let heap = |allocations, bytes, held_bytes, held_bytes_max| ProcessHeap {
            allocations,
            bytes,
            held_bytes,
            held_bytes_max,
            ..ProcessHeap::default()
        };
        let begin = [(7, heap(3, 30, 30, 30)), (8, heap(1, 1, 1, 1))];
        let asked = [(7, heap(3, 30, 30, 30)), (7, heap(5, 50, 40, 45))];
        let end = [(7, heap(3, 30, 30, 30)), (7, heap(9, 90, 2, 60)), (8, heap(4, 4, 0, 2))];
        let found = heap_of(7, [&begin, &asked, &end]).unwrap();
        let is =
            HeapUse { allocations: 9, allocated_bytes: 90, bytes_max: 60, live_bytes: 40, lost: 0 };
        assert_eq!(found, is);
        let of_eight = heap_of(8, [&begin, &[], &end]).unwrap();
        assert_eq!((of_eight.allocations, of_eight.live_bytes), (3, 0));
        assert_eq!(heap_of(9, [&begin, &asked, &end]), None);
    }
}
