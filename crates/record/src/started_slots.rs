//! Slots for transactions that are started with a handle: in the ring, where readers see the open
//! ones, with a private part beside each.
//!
//! Free slots are a lock-free stack; when it is empty a chunk is added under the process's lock. A
//! thread keeps some returned slots for itself: starting and stopping on one thread then touches
//! no memory of others.
#![allow(unsafe_code)] // slots are shared by pointer
#![allow(clippy::cast_possible_truncation)] // words are split into halves; usize has 64 bits

use crate::control::Control;
use crate::layout::{ChunkKind, Frame, STARTED_A_CHUNK};
use crate::links::LinkBuffer;
use crate::per_process::PerProcess;
use crate::process::{Counter, Process};
use chronoscope_model::Correlator;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

/// Chunks at most: 65,536 transactions started and not stopped.
const CHUNK_MAX: usize = 64;
/// Free slots that a thread keeps for itself at most.
const KEPT_MAX: u32 = 32;

/// Private state of a started transaction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StartedState {
    pub(crate) id: u64,
    pub(crate) class_index: u32,
    pub(crate) start_ticks: u64,
    /// Stamp from which its CPU time is computed: the start, except for one that had arrived
    /// before.
    pub(crate) cpu_ticks: u64,
    pub(crate) cpu_offset: i64,
    /// The thread that started it, by its control block and that one's first id.
    pub(crate) starter: (*const Control, u64),
    pub(crate) process_cpu_ns: Option<u64>,
    pub(crate) context_len: u16,
    pub(crate) flags: u8,
    pub(crate) issuer: Issuer,
    /// CPU time where others count it (polls, bound threads), in nanoseconds.
    pub(crate) counted_cpu_ns: Option<u64>,
}

/// Kind of the correlator stored beside a started transaction, from which its own is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Issuer {
    /// None is stored: it is a root.
    Root,
    /// The parent's correlator.
    Parent,
    /// The transaction's own correlator.
    Own,
}

/// Slot of one started transaction.
#[derive(Debug)]
pub(crate) struct StartedSlot {
    pub(crate) process: &'static Process,
    frame: *const Frame,
    number: u32,
    next: AtomicU32,
    state: UnsafeCell<Option<StartedState>>,
    /// The stored correlator, as [`Issuer`] says.
    issued: UnsafeCell<MaybeUninit<Correlator>>,
    /// Links of its transaction, where its flags say that there are some.
    links: UnsafeCell<LinkBuffer>,
}

// SAFETY: whoever has popped a slot has its state alone; a handle is moved, not copied.
unsafe impl Send for StartedSlot {}
// SAFETY: as above.
unsafe impl Sync for StartedSlot {}

impl StartedSlot {
    /// The frame in the ring.
    pub(crate) fn frame(&self) -> &Frame {
        // SAFETY: lies in a chunk of the ring, never unmapped.
        unsafe { &*self.frame }
    }

    /// Number of the slot, below 65,536.
    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    /// Correlator stored beside the transaction; none for a root.
    ///
    /// # Safety
    /// Only for the holder of the slot.
    pub(crate) unsafe fn issued(&self) -> Option<&Correlator> {
        // SAFETY: the caller's promise; written whenever the issuer is not `Root`.
        unsafe {
            let issuer = (*self.state.get()).as_ref()?.issuer;
            (issuer != Issuer::Root).then(|| (*self.issued.get()).assume_init_ref())
        }
    }

    /// Keeps a correlator beside the transaction.
    ///
    /// # Safety
    /// Only for the holder of the slot, and not while a reference to it is alive.
    pub(crate) unsafe fn keep(&self, correlator: &Correlator) {
        // SAFETY: the caller's promise. A correlator needs no drop.
        unsafe { (*self.issued.get()).write(correlator.clone()) };
    }

    /// Links of the transaction, or of the one before.
    ///
    /// # Safety
    /// Only for the holder of the place, and not while another reference is alive.
    #[allow(clippy::mut_from_ref)] // the holder is the only one
    pub(crate) unsafe fn links(&self) -> &mut LinkBuffer {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.links.get() }
    }

    /// The private part.
    ///
    /// # Safety
    /// Only for the holder of the slot, and not while another reference is alive.
    #[allow(clippy::mut_from_ref)] // the holder is the only one
    pub(crate) unsafe fn state(&self) -> &mut Option<StartedState> {
        // SAFETY: the caller's promise.
        unsafe { &mut *self.state.get() }
    }
}

/// All slots of a process.
#[derive(Debug)]
pub(crate) struct StartedSlots {
    /// Top of the stack of free slots: number plus one in the low half, and a count of changes
    /// in the high half, against a slot that was popped and pushed meanwhile.
    top: AtomicU64,
    chunks: [AtomicPtr<StartedSlot>; CHUNK_MAX],
}

impl Default for StartedSlots {
    fn default() -> Self {
        Self {
            top: AtomicU64::new(0),
            chunks: [const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNK_MAX],
        }
    }
}

static PLACES: PerProcess<StartedSlots> = PerProcess::new();

impl StartedSlots {
    /// Those of the running process.
    pub(crate) fn of(process: &'static Process) -> &'static Self {
        PLACES.of(process)
    }

    fn slot(&self, number: u32) -> &'static StartedSlot {
        let (chunk, at) = (number as usize / STARTED_A_CHUNK, number as usize % STARTED_A_CHUNK);
        // SAFETY: numbers on the stack belong to chunks that exist, which are never freed.
        unsafe { &*self.chunks[chunk].load(Ordering::Acquire).add(at) }
    }

    /// Takes a free slot, of those that the thread keeps if there are; `None`, counted, when
    /// there is none and no room for more.
    #[inline]
    pub(crate) fn take(
        &self,
        process: &'static Process,
        control: &Control,
    ) -> Option<&'static StartedSlot> {
        let Some(number) = control.kept_slot.get().checked_sub(1) else {
            return self.take_shared(process);
        };
        let slot = self.slot(number);
        control.kept_slot.set(slot.next.load(Ordering::Relaxed));
        control.kept_slots.set(control.kept_slots.get() - 1);
        Some(slot)
    }

    fn take_shared(&self, process: &'static Process) -> Option<&'static StartedSlot> {
        loop {
            let top = self.top.load(Ordering::Acquire);
            let Some(number) = (top as u32).checked_sub(1) else {
                if !self.add_chunk(process) {
                    process.count(Counter::StartedFull);
                    return None;
                }
                continue;
            };
            let slot = self.slot(number);
            let next = u64::from(slot.next.load(Ordering::Relaxed));
            let new = next | ((top >> 32).wrapping_add(1) << 32);
            if self.top.compare_exchange_weak(top, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            {
                return Some(slot);
            }
        }
    }

    /// Gives a slot back, to the calling thread where it keeps few.
    #[inline]
    pub(crate) fn give(&self, slot: &StartedSlot, control: Option<&Control>) {
        match control {
            Some(control) if control.kept_slots.get() < KEPT_MAX => {
                slot.next.store(control.kept_slot.get(), Ordering::Relaxed);
                control.kept_slot.set(slot.number + 1);
                control.kept_slots.set(control.kept_slots.get() + 1);
            }
            _ => self.push(slot, slot),
        }
    }

    /// Gives back to all what a thread has kept.
    pub(crate) fn release(&self, control: &Control) {
        while let Some(number) = control.kept_slot.get().checked_sub(1) {
            let slot = self.slot(number);
            control.kept_slot.set(slot.next.load(Ordering::Relaxed));
            self.push(slot, slot);
        }
        control.kept_slots.set(0);
    }

    /// Pushes slots that are linked from `first` to `last`.
    fn push(&self, first: &StartedSlot, last: &StartedSlot) {
        loop {
            let top = self.top.load(Ordering::Relaxed);
            last.next.store(top as u32, Ordering::Relaxed);
            let new = u64::from(first.number + 1) | ((top >> 32).wrapping_add(1) << 32);
            if self.top.compare_exchange_weak(top, new, Ordering::AcqRel, Ordering::Relaxed).is_ok()
            {
                return;
            }
        }
    }

    /// Whether there are free slots now.
    fn add_chunk(&self, process: &'static Process) -> bool {
        let mut inner = process.lock();
        if self.top.load(Ordering::Acquire) as u32 != 0 {
            return true; // another thread was faster
        }
        let free = |chunk: &AtomicPtr<StartedSlot>| chunk.load(Ordering::Relaxed).is_null();
        let Some(chunk) = self.chunks.iter().position(free) else { return false };
        let bytes = STARTED_A_CHUNK * size_of::<Frame>();
        let Some(offset) = process.add_chunk(&mut inner, ChunkKind::Started, bytes) else {
            return false;
        };
        let first = process.at(offset).cast::<Frame>();
        #[allow(clippy::cast_possible_truncation)] // at most 65,536
        let slot = |at: usize| StartedSlot {
            process,
            // SAFETY: within the chunk.
            frame: unsafe { first.add(at) },
            number: (chunk * STARTED_A_CHUNK + at) as u32,
            next: AtomicU32::new((chunk * STARTED_A_CHUNK + at + 2) as u32),
            state: UnsafeCell::new(None),
            issued: UnsafeCell::new(MaybeUninit::uninit()),
            links: UnsafeCell::default(),
        };
        let slots: Vec<StartedSlot> = (0..STARTED_A_CHUNK).map(slot).collect();
        let slots: &'static mut [StartedSlot] = Box::leak(slots.into_boxed_slice());
        self.chunks[chunk].store(slots.as_mut_ptr(), Ordering::Release);
        self.push(&slots[0], &slots[STARTED_A_CHUNK - 1]);
        true
    }
}
