//! Open transactions by their handles.
//!
//! A handle is the place of the recorder's transaction and a count of the place's uses, which
//! exposes handles that are invented or ended. Data of a transaction are beside it, and belong to
//! one thread at a time: a call claims them, and waits a little for another thread's call.
#![allow(unsafe_code)] // what whoever has claimed a handle has alone
#![allow(clippy::cast_possible_truncation)] // places are below 2^16; usize has 64 bits

use crate::codes::{self, Code};
use crate::definitions::Transaction;
use crate::extra::Extra;
use crate::instance::Instance;
use chronoscope_record::Started;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// The handle of a transaction that is not recorded: everything may be done with it, and costs
/// nothing. No other handle is this small.
pub(crate) const OFF: i64 = 1;

const A_CHUNK: usize = 1024;
const CHUNK_MAX: usize = 64;
/// A tag's bit: a call is at it.
const AT_IT: u64 = 1 << 63;
/// Number of looks at a claimed transaction before a call gives up: some by busy waiting, the rest
/// with yields.
const SPINS: u32 = 64;
const YIELDS: u32 = 2000;

/// An open transaction.
pub(crate) struct OpenTransaction {
    started: MaybeUninit<Started>,
    pub(crate) transaction: MaybeUninit<&'static Transaction>,
    pub(crate) instance: MaybeUninit<&'static Instance>,
    /// Parts that are not recorded; see [`crate::switches`].
    pub(crate) off: u32,
    has_extra: bool,
    extra: Option<Box<Extra>>,
}

#[repr(align(64))]
struct Entry {
    /// The handle, with [`AT_IT`]; 0 when nothing is open.
    tag: AtomicU64,
    /// Number of uses. Changed by the holder of the recorder's place.
    uses: AtomicU64,
    open: UnsafeCell<OpenTransaction>,
}

// SAFETY: `open` is touched by whoever has claimed the tag, or has the recorder's place.
unsafe impl Sync for Entry {}

static CHUNKS: [AtomicPtr<Entry>; CHUNK_MAX] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; CHUNK_MAX];

fn entry(number: usize) -> Option<&'static Entry> {
    let chunk = CHUNKS.get(number / A_CHUNK)?.load(Ordering::Acquire);
    if chunk.is_null() {
        return None;
    }
    // SAFETY: chunks have so many entries, and are never freed.
    Some(unsafe { &*chunk.add(number % A_CHUNK) })
}

#[cold]
fn add_chunk(number: usize) -> Option<&'static Entry> {
    let empty = || Entry {
        tag: AtomicU64::new(0),
        uses: AtomicU64::new(0),
        open: UnsafeCell::new(OpenTransaction {
            started: MaybeUninit::uninit(),
            transaction: MaybeUninit::uninit(),
            instance: MaybeUninit::uninit(),
            off: 0,
            has_extra: false,
            extra: None,
        }),
    };
    let chunk: Box<[Entry]> = (0..A_CHUNK).map(|_| empty()).collect();
    let chunk = Box::into_raw(chunk).cast::<Entry>();
    let place = CHUNKS.get(number / A_CHUNK)?;
    let null = std::ptr::null_mut();
    // Where another thread was faster its chunk counts; ours is lost, once.
    let _ = place.compare_exchange(null, chunk, Ordering::AcqRel, Ordering::Relaxed);
    entry(number)
}

/// Gives a handle to a transaction that is recorded; [`OFF`] where it is not.
#[inline]
pub(crate) fn open(
    started: Started,
    transaction: &'static Transaction,
    instance: &'static Instance,
) -> i64 {
    let Some(number) = started.number() else { return OFF };
    let number = number as usize;
    let Some(entry) = entry(number).or_else(|| add_chunk(number)) else { return OFF };
    let uses = entry.uses.load(Ordering::Relaxed) + 1;
    entry.uses.store(uses, Ordering::Relaxed);
    let handle = (uses & 0x3fff_ffff_ffff) << 16 | number as u64;
    // Only in a forked child there may be something: its parent's, perhaps half done.
    let inherited = entry.tag.load(Ordering::Relaxed) != 0;
    // SAFETY: the holder of the recorder's place owns the entry: the previous holder returned it
    // after its last access. Overwritten values need no drop.
    unsafe {
        let open = entry.open.get();
        (*open).started.write(started);
        (*open).transaction.write(transaction);
        (*open).instance.write(instance);
        (*open).off = 0;
        (*open).has_extra = false;
        if inherited {
            (&raw mut (*open).extra).write(None);
        }
    }
    entry.tag.store(handle, Ordering::Release);
    handle.cast_signed()
}

/// Whether a handle is that of an open transaction.
pub(crate) fn is_open(handle: i64) -> bool {
    let tag = |entry: &Entry| entry.tag.load(Ordering::Acquire) & !AT_IT;
    handle > OFF
        && entry((handle & 0xffff) as usize).is_some_and(|own| tag(own) == handle.cast_unsigned())
}

/// An open transaction that is the calling thread's alone until it lets go.
pub(crate) struct Claim {
    entry: &'static Entry,
    handle: u64,
}

/// Claims an open transaction.
///
/// # Errors
/// When there is none with that handle, or another thread is at it for too long.
#[inline]
pub(crate) fn claim(handle: i64) -> Result<Claim, Code> {
    let entry = entry((handle & 0xffff) as usize).ok_or(codes::TRAN_HANDLE)?;
    let handle = handle.cast_unsigned();
    if handle >> 16 == 0 || handle & AT_IT != 0 {
        return Err(codes::TRAN_HANDLE);
    }
    match entry.tag.compare_exchange(handle, handle | AT_IT, Ordering::Acquire, Ordering::Relaxed) {
        Ok(_) => Ok(Claim { entry, handle }),
        Err(tag) if tag == handle | AT_IT => wait(entry, handle),
        Err(_) => Err(codes::TRAN_HANDLE),
    }
}

#[cold]
fn wait(entry: &'static Entry, handle: u64) -> Result<Claim, Code> {
    for round in 0..SPINS + YIELDS {
        if round < SPINS {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
        let at_it = handle | AT_IT;
        match entry.tag.compare_exchange(handle, at_it, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return Ok(Claim { entry, handle }),
            Err(tag) if tag == at_it => {}
            Err(_) => return Err(codes::TRAN_HANDLE),
        }
    }
    Err(codes::BUSY)
}

impl Claim {
    /// Handle of the transaction.
    pub(crate) fn handle(&self) -> i64 {
        self.handle.cast_signed()
    }

    fn open(&self) -> &OpenTransaction {
        // SAFETY: claimed; references end with the claim's borrow.
        unsafe { &*self.entry.open.get() }
    }

    fn open_mut(&mut self) -> &mut OpenTransaction {
        // SAFETY: as above, borrowed mutably.
        unsafe { &mut *self.entry.open.get() }
    }

    /// The recorder's transaction.
    pub(crate) fn started(&mut self) -> &mut Started {
        // SAFETY: written before the handle was given.
        unsafe { self.open_mut().started.assume_init_mut() }
    }

    /// Class of the transaction.
    pub(crate) fn transaction(&self) -> &'static Transaction {
        // SAFETY: as above.
        unsafe { self.open().transaction.assume_init() }
    }

    /// Application of the transaction.
    pub(crate) fn instance(&self) -> &'static Instance {
        // SAFETY: as above.
        unsafe { self.open().instance.assume_init() }
    }

    /// Parts that are not recorded: by its application, its class or itself.
    pub(crate) fn off(&self) -> u32 {
        let transaction = self.transaction();
        self.open().off | transaction.controls.off() | transaction.application.controls.off()
    }

    /// Switches something of it.
    pub(crate) fn switch(&mut self, bit: u32, on: bool) {
        let open = self.open_mut();
        open.off = if on { open.off & !bit } else { open.off | bit };
    }

    /// Further data of the transaction, if there are any.
    pub(crate) fn known_extra(&mut self) -> Option<&mut Extra> {
        let open = self.open_mut();
        if open.has_extra { open.extra.as_deref_mut() } else { None }
    }

    /// Further data of the transaction, created empty if need be.
    pub(crate) fn extra(&mut self) -> &mut Extra {
        let open = self.open_mut();
        open.has_extra = true;
        open.extra.get_or_insert_default()
    }

    /// The transaction and what more is known of it, together.
    pub(crate) fn both(&mut self) -> (&mut Started, &mut Extra) {
        let open = self.open_mut();
        open.has_extra = true;
        // SAFETY: as in `started`.
        (unsafe { open.started.assume_init_mut() }, open.extra.get_or_insert_default())
    }

    /// Ends the handle. What more was known is empty again.
    #[inline]
    pub(crate) fn close(mut self) -> Started {
        if let Some(extra) = self.known_extra() {
            extra.clear();
        }
        // SAFETY: read once: no other call reaches it after the tag has gone.
        let started = unsafe { (*self.entry.open.get()).started.assume_init_read() };
        self.entry.tag.store(0, Ordering::Release);
        std::mem::forget(self);
        started
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.entry.tag.store(self.handle, Ordering::Release);
    }
}
