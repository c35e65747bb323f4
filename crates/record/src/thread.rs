//! Control blocks for threads: one is taken when a thread records first, and given back when the
//! thread ends.
#![allow(unsafe_code)] // the control block's memory, pointers into the ring
#![allow(clippy::cast_possible_truncation)] // offsets within a block are below 4 GiB

use crate::close;
use crate::control::{Block, Control, control, has_ended, set_control, set_ended};
use crate::cpu::Detector;
use crate::layout::{
    BlockHead, BlockShape, ChunkKind, DEPTH_MAX, Frame, Statistics, context_bytes,
};
use crate::per_process::PerProcess;
use crate::process::{self, Counter, Process};
use crate::started_slots::StartedSlots;
use crate::{CpuMethod, classes, os};
use chronoscope_clock as clock;
use chronoscope_model::{NO_PROCESS_CPU, PathId};
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

thread_local! {
    /// Gives the block back when the thread ends.
    static OWNER: Owner = const { Owner };
}

/// The calling thread's control block, taken now if need be.
pub(crate) fn taken_control() -> Option<&'static Control> {
    let own = control();
    if own.is_taken() {
        return Some(own);
    }
    if process::is_off() {
        return None;
    }
    take(Process::current()?)
}

/// As [`taken_control`], for a call that loses no transaction where there is no block: nothing is
/// counted.
pub(crate) fn uncounted_control() -> Option<&'static Control> {
    let own = control();
    if own.is_taken() {
        return Some(own);
    }
    if process::is_off() {
        return None;
    }
    try_take(Process::current()?).ok()
}

/// Gives the calling thread a block of the ring. `None`, counted, when it is ending already or
/// there is no room.
pub(crate) fn take(process: &'static Process) -> Option<&'static Control> {
    try_take(process).map_err(|reason| process.count(reason)).ok()
}

/// As [`take`], with the counter of the reason why there is none.
fn try_take(process: &'static Process) -> Result<&'static Control, Counter> {
    if has_ended() || OWNER.try_with(|_| ()).is_err() {
        set_ended();
        return Err(Counter::ThreadEnded);
    }
    let free = free_blocks(process).pop();
    let Block(control) = free.or_else(|| create(process)).ok_or(Counter::NoSpace)?;
    set_control(control);
    // SAFETY: never unmapped, and now ours.
    let control = unsafe { &*control };
    occupy(control, process);
    Ok(control)
}

/// Blocks of threads that have ended, under their lock.
fn free_blocks(process: &'static Process) -> MutexGuard<'static, Vec<Block>> {
    static FREE: PerProcess<Mutex<Vec<Block>>> = PerProcess::new();
    // Lock poisoning is ignored: every update is a single step.
    FREE.of(process).lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new block at the end of the ring, with its control block.
fn create(process: &'static Process) -> Option<Block> {
    let shape: BlockShape = process.shape;
    let mut inner = process.lock();
    let offset = process.add_chunk(&mut inner, ChunkKind::Thread, shape.bytes)?;
    drop(inner);
    let control = allocate_control()?;
    let at = |part: usize| process.at(offset + part);
    control.block.set(offset);
    control.process.set(process);
    control.switches.set(process.switches());
    for (depth, private) in control.private.iter().enumerate() {
        private.frame.set(at(shape.frames + depth * size_of::<Frame>()).cast());
    }
    control.head.set(at(0).cast());
    control.slots.set(at(shape.slots).cast());
    control.slot_mask.set(process.slot_count as u64 - 1);
    control.context_base.set(at(shape.context));
    control.context_mask.set(context_bytes(process.slot_count) as u64 - 1);
    control.chain_high.set(process.chain_high);
    control.process_id.set(process.id.0);
    control.root_chain.set(NO_PROCESS_CPU, process.chain_high);
    control.root_process.set(process.id.0, process.id.0);
    control.cpu_mask.set(if process.cpu_method == CpuMethod::Off { 0 } else { u64::MAX });
    Some(Block(control))
}

fn allocate_control() -> Option<&'static Control> {
    // SAFETY: a fresh private mapping, whose zero bytes are a valid control block. Kept for good.
    unsafe {
        let memory = libc::mmap(
            std::ptr::null_mut(),
            size_of::<Control>(),
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        );
        if memory == libc::MAP_FAILED {
            return None;
        }
        let wiped = libc::madvise(memory, size_of::<Control>(), libc::MADV_WIPEONFORK);
        if wiped != 0 {
            // Before Linux 4.14: rather no record than a parent's ring in a child's hands.
            libc::munmap(memory, size_of::<Control>());
            return None;
        }
        Some(&*memory.cast::<Control>())
    }
}

/// Fills in what changes with the thread, and opens the block for business.
fn occupy(control: &Control, process: &'static Process) {
    let thread = os::thread_id();
    control.thread.set(u64::from(thread));
    control.root_tail.set(0, u64::from(thread));
    control.next_id.set(process.id_block());
    control.detector.set(MaybeUninit::new(Detector::of_this_thread(process.cpu_method)));
    control.multiplier.set(clock::Scale::current().multiplier());
    control.refresh();
    control.stamp(); // the offset of the block's last thread is not this one's
    control.set_depth(0);
    let head = process.at(control.block.get()).cast::<BlockHead>();
    let shape = process.shape;
    // SAFETY: the block's head, which only its holder writes; the hot words are left alone.
    unsafe {
        (&raw mut (*head).thread).write_volatile(thread);
        (&raw mut (*head).name).write_volatile(os::thread_name());
        (&raw mut (*head).registrations).write_volatile((*head).registrations + 1);
        (&raw mut (*head).table_offset).write_volatile(shape.table as u32);
        (&raw mut (*head).frames_offset).write_volatile(shape.frames as u32);
        (&raw mut (*head).context_offset).write_volatile(shape.context as u32);
        (&raw mut (*head).slots_offset).write_volatile(shape.slots as u32);
    }
    control.head().thread.store(thread, Ordering::Relaxed);
    control.head().state.store(1, Ordering::Release);
    control.depth_max.set(DEPTH_MAX as u32);
    // In a replay ticks alone do not tell how long a transaction took: all ends go the slow way.
    if clock::tick_source() == clock::TickSource::Counter && !clock::is_virtual() {
        control.hot_depth_max.set(DEPTH_MAX as u32);
    }
}

/// The thread's statistics of a class, made when they are not there; null, counted, when there is
/// no room.
pub(crate) fn statistics(control: &Control, class_index: u32) -> *const Statistics {
    let (Some(own), Some(class)) =
        (control.classes.get(class_index as usize), classes::get(class_index))
    else {
        return std::ptr::null();
    };
    if !own.statistics.get().is_null() {
        return own.statistics.get();
    }
    own.keep_path(PathId::NONE, PathId::NONE.child(class.id()));
    let process = control.process();
    let Some(offset) = process.add_statistics() else {
        process.count(Counter::NoSpace);
        return std::ptr::null();
    };
    let statistics = process.at(offset).cast::<Statistics>();
    let table = process.at(control.block.get() + process.shape.table).cast::<AtomicU32>();
    // SAFETY: fresh zeroed room of that size; the table has an entry for every class number.
    unsafe {
        (*statistics).class_index.store(u64::from(class_index), Ordering::Relaxed);
        (*statistics).elapsed_min.store(u64::MAX, Ordering::Relaxed);
        (*statistics).cpu_min.store(u64::MAX, Ordering::Relaxed);
        let page = u32::try_from(offset / crate::layout::PAGE).unwrap_or(0);
        (*table.add(class_index as usize)).store(page, Ordering::Release);
    }
    own.statistics.set(statistics);
    statistics
}

struct Owner;

impl Drop for Owner {
    /// Ends open transactions as ABORTED, and gives the block to the next thread.
    fn drop(&mut self) {
        let control = control();
        set_ended();
        if !control.is_taken() {
            return; // nothing was recorded, or a fork has wiped it
        }
        close::abort_above(control, 0);
        // SAFETY: a taken block has a detector.
        unsafe { (*control.detector.as_ptr()).assume_init_ref() }.disarm();
        control.depth_max.set(0);
        control.hot_depth_max.set(0);
        StartedSlots::of(control.process()).release(control);
        control.head().state.store(0, Ordering::Release);
        free_blocks(control.process()).push(Block(control));
    }
}
