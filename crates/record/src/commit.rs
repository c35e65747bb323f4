//! A record into the ring and into the statistics.
//!
//! Order of the stores: docs/formats/ring.md ("Memory order"), checked by `tests/loom.rs`.
#![allow(unsafe_code)] // pointers into the ring
#![allow(clippy::cast_possible_truncation)] // words are split into halves; usize has 64 bits

use crate::control::{Control, PATH_CACHE};
use crate::layout::{Frame, RECORD_WORDS, Statistics, WorstCase, word};
use chronoscope_model::{NO_PROCESS_CPU, Status, context};
use chronoscope_statistics::bucket_index;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::fence;

/// Data of an ended transaction beyond its frame.
pub(crate) struct Ended<'a> {
    pub(crate) id: u64,
    pub(crate) elapsed_ns: u64,
    pub(crate) cpu_ns: u64,
    pub(crate) process_cpu_ns: u64,
    pub(crate) status: Status,
    pub(crate) context_len: u16,
    pub(crate) flags: u8,
    /// Links, as entries that follow the context.
    pub(crate) links: &'a [u8],
}

/// Low half of the thread word: the thread.
const THREAD_MASK: u64 = 0xffff_ffff;
/// High bits of the context word: the level.
const LEVEL_MASK: u64 = 0xffff << 48;

/// Writes the record of the transaction in `frame` and counts it.
#[inline(always)]
pub(crate) fn write(control: &Control, frame: &Frame, ended: &Ended<'_>, statistics: &Statistics) {
    let sequence = control.sequence.get();
    // SAFETY: the mask keeps the index within the block's slots.
    let slot = unsafe { &*control.slots.get().add((sequence & control.slot_mask.get()) as usize) };
    let get = |index: usize| frame.words[index].load(Relaxed);
    let set = |index: usize, value: u64| slot.words[index].store(value, Relaxed);
    let context = if ended.context_len == 0 && ended.links.is_empty() {
        0
    } else {
        keep_context(control, frame, ended)
    };
    slot.sequence.store(0, Release);
    fence(Release);
    set(word::START, get(word::START));
    set(word::ELAPSED, ended.elapsed_ns);
    set(word::CPU, ended.cpu_ns);
    set(word::PROCESS_CPU, ended.process_cpu_ns);
    set(word::CHAIN_HIGH, get(word::CHAIN_HIGH));
    set(word::CHAIN_LOW, get(word::CHAIN_LOW));
    set(word::ID, ended.id);
    set(word::PARENT, get(word::PARENT));
    set(word::CLASS, get(word::CLASS));
    set(word::PATH, get(word::PATH));
    set(word::ROOT_START, get(word::ROOT_START));
    set(word::ROOT_PROCESS, get(word::ROOT_PROCESS));
    set(word::PROCESS, control.process_id.get());
    set(word::CONTEXT, (get(word::CONTEXT) & LEVEL_MASK) | context);
    set(
        word::THREAD,
        (get(word::THREAD) & THREAD_MASK)
            | (ended.status as u64) << 32
            | u64::from(ended.flags) << 40,
    );
    slot.sequence.store(sequence + 1, Release);
    control.sequence.set(sequence + 1);
    control.head().next_sequence.store(sequence + 1, Release);
    count(statistics, ended);
    if is_extreme(statistics, ended.elapsed_ns, ended.cpu_ns)
        | (ended.process_cpu_ns != NO_PROCESS_CPU)
    {
        note_extremes(control, statistics, &slot.words, frame, ended);
    }
}

/// Writes the record as [`write`] does, for the frame at `depth` of the thread, without context,
/// without process CPU, and with complete CPU time. Extremes are left out: returns whether they
/// have to be noted.
#[inline(always)]
pub(crate) fn write_plain(
    control: &Control,
    depth: u32,
    id: u64,
    status: Status,
    elapsed_ns: u64,
) -> bool {
    let (frame, private) = (control.frame(depth), control.private(depth));
    let sequence = control.sequence.get();
    // SAFETY: the mask keeps the index within the block's slots.
    let slot = unsafe { &*control.slots.get().add((sequence & control.slot_mask.get()) as usize) };
    let get = |index: usize| frame.words[index].load(Relaxed);
    let set = |index: usize, value: u64| slot.words[index].store(value, Relaxed);
    slot.sequence.store(0, Release);
    fence(Release);
    // In the order in which registers get free.
    set(word::THREAD, private.tail.0[1].get() | (status as u64) << 32);
    set(word::CONTEXT, private.tail.0[0].get());
    set(word::ID, id);
    set(word::START, get(word::START));
    slot.put(word::PROCESS_CPU, frame.pair(word::PROCESS_CPU));
    set(word::CHAIN_LOW, get(word::CHAIN_LOW));
    set(word::PARENT, get(word::PARENT));
    set(word::CLASS, get(word::CLASS));
    set(word::ROOT_START, get(word::ROOT_START));
    slot.put(word::ROOT_PROCESS, frame.pair(word::ROOT_PROCESS));
    let path = get(word::PATH);
    set(word::PATH, path);
    // The thread ran all the time: CPU time is elapsed, or is not recorded.
    let mask = control.cpu_mask.get();
    let cpu_ns = elapsed_ns & mask;
    set(word::ELAPSED, elapsed_ns);
    set(word::CPU, cpu_ns);
    slot.sequence.store(sequence + 1, Release);
    control.sequence.set(sequence + 1);
    control.head().next_sequence.store(sequence + 1, Release);
    let bucket = bucket_index(elapsed_ns);
    // SAFETY: statistics of the class, set when the frame was opened; never null, never freed.
    let statistics = unsafe { &*private.statistics.get() };
    add(&statistics.count, 1);
    add(&statistics.elapsed_sum, elapsed_ns);
    add(&statistics.cpu_sum, cpu_ns);
    // SAFETY: `bucket_index` is below the number of buckets for every value, and 0 for 0.
    unsafe {
        add(statistics.elapsed.get_unchecked(bucket), 1);
        add(statistics.cpu.get_unchecked(bucket & mask as usize), 1);
    }
    is_extreme(statistics, elapsed_ns, cpu_ns)
        || control.path_cache[path as usize % PATH_CACHE].get() != path
}

/// Notes the extremes of the record that was written last, by [`write_plain`].
pub(crate) fn note_last(control: &Control, depth: u32, elapsed_ns: u64, cpu_ns: u64) {
    let last = control.sequence.get().wrapping_sub(1);
    // SAFETY: as in `write_plain`.
    let (slot, statistics) = unsafe {
        let slot = &*control.slots.get().add((last & control.slot_mask.get()) as usize);
        (slot, &*control.private(depth).statistics.get())
    };
    if !is_extreme(statistics, elapsed_ns, cpu_ns) {
        return;
    }
    let ended = Ended {
        id: 0, // in the slot already, like status and flags
        elapsed_ns,
        cpu_ns,
        process_cpu_ns: NO_PROCESS_CPU,
        status: Status::Good,
        context_len: 0,
        flags: 0,
        links: &[],
    };
    note_extremes(control, statistics, &slot.words, control.frame(depth), &ended);
}

#[inline(always)]
fn count(statistics: &Statistics, ended: &Ended<'_>) {
    add(&statistics.count, 1);
    add(&statistics.elapsed_sum, ended.elapsed_ns);
    add(&statistics.cpu_sum, ended.cpu_ns);
    // SAFETY: `bucket_index` is below the number of buckets for every value.
    unsafe {
        add(statistics.elapsed.get_unchecked(bucket_index(ended.elapsed_ns)), 1);
        add(statistics.cpu.get_unchecked(bucket_index(ended.cpu_ns)), 1);
    }
}

/// Only the thread itself writes: an ordinary addition suffices.
#[inline(always)]
fn add(word: &AtomicU64, amount: u64) {
    word.store(word.load(Relaxed).wrapping_add(amount), Relaxed);
}

/// Whether the record is one of the worst by elapsed or CPU time, or has the least of either.
#[inline(always)]
fn is_extreme(statistics: &Statistics, elapsed_ns: u64, cpu_ns: u64) -> bool {
    // Without short cuts: one branch, which is almost never taken.
    (elapsed_ns > statistics.threshold.load(Relaxed))
        | (elapsed_ns < statistics.elapsed_min.load(Relaxed))
        | (cpu_ns > statistics.cpu_threshold.load(Relaxed))
        | (cpu_ns < statistics.cpu_min.load(Relaxed))
}

#[cold]
fn note_extremes(
    control: &Control,
    statistics: &Statistics,
    words: &[AtomicU64; RECORD_WORDS],
    frame: &Frame,
    ended: &Ended<'_>,
) {
    statistics.elapsed_min.fetch_min(ended.elapsed_ns, Relaxed);
    statistics.elapsed_max.fetch_max(ended.elapsed_ns, Relaxed);
    statistics.cpu_min.fetch_min(ended.cpu_ns, Relaxed);
    statistics.cpu_max.fetch_max(ended.cpu_ns, Relaxed);
    if ended.process_cpu_ns != NO_PROCESS_CPU {
        add(&statistics.process_cpu_sum, ended.process_cpu_ns);
    }
    let worst_count = control.process().worst_count;
    // SAFETY: the worst cases follow the statistics; room for two lists of `worst_count` was
    // reserved.
    let cases = unsafe {
        let first = std::ptr::from_ref(statistics).add(1).cast::<WorstCase>();
        std::slice::from_raw_parts(first, 2 * worst_count)
    };
    let (by_elapsed, by_cpu) = cases.split_at(worst_count);
    let lists = [
        WorstList {
            cases: by_elapsed,
            used: &statistics.worst_used,
            threshold: &statistics.threshold,
            key: word::ELAPSED,
            value: ended.elapsed_ns,
        },
        WorstList {
            cases: by_cpu,
            used: &statistics.worst_cpu_used,
            threshold: &statistics.cpu_threshold,
            key: word::CPU,
            value: ended.cpu_ns,
        },
    ];
    for list in lists {
        list.keep(statistics, words, frame, ended);
    }
}

/// The worst cases by one of the two times, and that time of a transaction that has ended.
struct WorstList<'a> {
    cases: &'a [WorstCase],
    used: &'a AtomicU64,
    /// The least of them, once all places are taken; 0 before.
    threshold: &'a AtomicU64,
    /// Number of the word by which they are the worst.
    key: usize,
    value: u64,
}

impl WorstList<'_> {
    /// Puts the transaction in the place of the least bad one, if it is worse. What took no time,
    /// or of which that is not measured, is none of the worst.
    fn keep(
        &self,
        statistics: &Statistics,
        words: &[AtomicU64; RECORD_WORDS],
        frame: &Frame,
        ended: &Ended<'_>,
    ) {
        if self.value <= self.threshold.load(Relaxed) {
            return;
        }
        let used = (self.used.load(Relaxed) as usize).min(self.cases.len());
        let of = |case: &WorstCase| case.words[self.key].load(Relaxed);
        let least = self.cases[..used].iter().min_by_key(|case| of(case));
        let (case, used) = match (self.cases.get(used), least) {
            (Some(free), _) => (free, used + 1),
            (None, Some(least)) => (least, used),
            (None, None) => return,
        };
        write_worst(statistics, case, words, frame, ended);
        self.used.store(used as u64, Relaxed);
        write_done(statistics);
        if used == self.cases.len() {
            let least = self.cases.iter().map(of).min().unwrap_or(0);
            self.threshold.store(least, Relaxed);
        }
    }
}

/// Begins to write; [`write_done`] ends it.
fn write_worst(
    statistics: &Statistics,
    case: &WorstCase,
    words: &[AtomicU64; RECORD_WORDS],
    frame: &Frame,
    ended: &Ended<'_>,
) {
    let version = statistics.worst_version.load(Relaxed);
    statistics.worst_version.store(version | 1, Relaxed);
    fence(Release);
    for (to, from) in case.words.iter().zip(words) {
        to.store(from.load(Relaxed), Relaxed);
    }
    // Without the links, for which a case has no room; the flag stays and says that there are some.
    let context = words[word::CONTEXT].load(Relaxed) & !(0xffff << 32);
    case.words[word::CONTEXT].store(context | u64::from(ended.context_len) << 32, Relaxed);
    // SAFETY: both are arrays of that length; only this thread writes either.
    unsafe {
        std::ptr::copy_nonoverlapping(
            frame.context.get().cast::<u8>(),
            case.context.get().cast::<u8>(),
            usize::from(ended.context_len),
        );
    }
}

fn write_done(statistics: &Statistics) {
    let version = statistics.worst_version.load(Relaxed);
    statistics.worst_version.store(version + 1, Release);
}

/// Copies a context, with the links behind it, to the thread's context ring: its part of the
/// context word. Links for which the ring is too small are left out.
#[cold]
fn keep_context(control: &Control, frame: &Frame, ended: &Ended<'_>) -> u64 {
    let mask = control.context_mask.get();
    let own_len = usize::from(ended.context_len);
    let whole = own_len + ended.links.len();
    let fits = whole as u64 <= mask + 1 && whole <= context::STORED_MAX_BYTES;
    let links = if fits { ended.links } else { &[] };
    let len = (own_len + links.len()) as u64;
    if len == 0 {
        return 0;
    }
    let mut at = control.context_head.get();
    if (at & mask) + len > mask + 1 {
        at = (at | mask) + 1; // a context is never torn at the ring's end
    }
    let head = at + len;
    control.context_head.set(head);
    // Stored before the bytes change: a reader that has copied them can then detect the change.
    control.head().context_head.store(head, Relaxed);
    fence(Release);
    // SAFETY: both lie within the ring, as it has room for them up to its end; a context is at most
    // as long as the frame's array.
    unsafe {
        let to = control.context_base.get().add((at & mask) as usize);
        std::ptr::copy_nonoverlapping(frame.context.get().cast::<u8>(), to, own_len);
        std::ptr::copy_nonoverlapping(links.as_ptr(), to.add(own_len), links.len());
    }
    (at & 0xffff_ffff) | len << 32
}

/// Whether readers may not know the frame's path yet.
#[inline(always)]
pub(crate) fn is_new_path(control: &Control, frame: &Frame) -> bool {
    let path = frame.words[word::PATH].load(Relaxed);
    control.path_cache[path as usize % PATH_CACHE].get() != path
}
