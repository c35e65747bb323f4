//! Registered objects of a program: applications, transaction classes, metrics, each under an id.
//!
//! An id made by the library contains the place of its object: a start finds its class without a
//! lock and without hashing. An id chosen by the program is looked up. Registered objects stay for
//! good (ids may be in use on any thread); registering the same again gives the same id.
#![allow(unsafe_code)] // definitions are leaked and shared by pointer
#![allow(clippy::cast_possible_truncation)] // counts are below 2^16; usize has 64 bits

use crate::codes::{self, Code, First};
use crate::definitions::{Application, Metric, Transaction};
use crate::gate;
use crate::registered::Registered;
use crate::types::Id;
use chronoscope_model::ClassId;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Marks the ids that the library makes: `ARM4`.
const MARK: u64 = 0x4152_4d34 << 32;
/// Definitions of a kind.
const COUNT_MAX: usize = 65_536;

/// A kind of definition, with its table.
pub(crate) trait DefinitionKind: Sized + Sync + 'static {
    /// Octet 4 of the ids.
    const NUMBER: u64;
    /// Table of the definitions.
    fn table() -> &'static Table<Self>;
    /// Id of the object.
    fn id(&self) -> Id;
    /// Whether the id is good at present.
    fn is_valid(&self) -> bool;
    /// Whether both definitions are equal.
    fn is_same(&self, other: &Self) -> bool;
}

/// Definitions of one kind, in the order of their registration.
#[derive(Debug)]
pub(crate) struct Table<T: 'static> {
    entries: [AtomicPtr<T>; COUNT_MAX],
    count: AtomicU32,
    /// By the ids that programs have chosen: open addressing, nothing is ever taken out.
    chosen: [AtomicPtr<(Id, &'static T)>; 2 * COUNT_MAX],
    chosen_count: AtomicU32,
}

impl<T> Table<T> {
    const fn new() -> Self {
        Self {
            entries: [const { AtomicPtr::new(std::ptr::null_mut()) }; COUNT_MAX],
            count: AtomicU32::new(0),
            chosen: [const { AtomicPtr::new(std::ptr::null_mut()) }; 2 * COUNT_MAX],
            chosen_count: AtomicU32::new(0),
        }
    }
}

impl<T: DefinitionKind> Table<T> {
    fn at(&self, index: usize) -> Option<&'static T> {
        // SAFETY: leaked: never moved, never freed.
        unsafe { self.entries.get(index)?.load(Ordering::Acquire).as_ref() }
    }

    /// Object with a chosen id, or the empty place for it.
    fn chosen(&self, id: Id) -> Result<&'static T, Option<&AtomicPtr<(Id, &'static T)>>> {
        let mask = self.chosen.len() - 1;
        let hash = (id.0[0] ^ id.0[1].rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        for step in 0..self.chosen.len() {
            let place = &self.chosen[(hash as usize + step) & mask];
            // SAFETY: leaked: never moved, never freed.
            match unsafe { place.load(Ordering::Acquire).as_ref() } {
                None => return Err(Some(place)),
                Some((there, own)) if *there == id => return Ok(own),
                Some(_) => {}
            }
        }
        Err(None)
    }
}

/// The definition with this id.
#[inline]
pub(crate) fn find<T: DefinitionKind>(id: Id) -> Option<&'static T> {
    let place = id.0[0] ^ (MARK | T::NUMBER << 24);
    match T::table().at(usize::try_from(place).unwrap_or(usize::MAX)) {
        Some(own) if own.id() == id => Some(own),
        _ => find_chosen(id),
    }
    .filter(|own| own.is_valid())
}

#[cold]
fn find_chosen<T: DefinitionKind>(id: Id) -> Option<&'static T> {
    T::table().chosen(id).ok()
}

/// Registers the object that `make` makes of its id, or finds an equal one; returns it with its id.
/// `key` identifies its own id, `input` is the id that the program chose.
pub(crate) fn register<T: DefinitionKind>(
    input: Option<Id>,
    key: (&str, &str),
    first: &mut First,
    make: impl FnOnce(&mut Registered, Id) -> T,
) -> Result<(&'static T, Id), Code> {
    let table = T::table();
    let hash = ClassId::of(key.0, key.1).0;
    gate::with(|known| {
        let index = table.count.load(Ordering::Relaxed);
        let made = make(known, Id([MARK | T::NUMBER << 24 | u64::from(index), hash]));
        let alike = known.alike.entry((T::NUMBER, hash)).or_default();
        let same = alike.iter().filter_map(|at| table.at(*at as usize));
        let own = match same.into_iter().find(|same| same.is_same(&made)) {
            Some(same) => same,
            None => {
                let entry = table.entries.get(index as usize).ok_or(codes::FULL)?;
                let made: &'static T = Box::leak(Box::new(made));
                alike.push(index);
                entry.store(std::ptr::from_ref(made).cast_mut(), Ordering::Release);
                table.count.store(index + 1, Ordering::Relaxed);
                made
            }
        };
        let wanted = match input {
            None => return Ok((own, own.id())),
            Some(wanted) => wanted,
        };
        if !wanted.is_void() && choose(table, wanted, own) {
            return Ok((own, wanted));
        }
        first.note(codes::INPUT_ID);
        Ok((own, own.id()))
    })
}

/// Lets a definition go by an id that the program has chosen; whether that is free, or its own.
fn choose<T: DefinitionKind>(table: &'static Table<T>, wanted: Id, own: &'static T) -> bool {
    if wanted.0[0] >> 32 == MARK >> 32 {
        return own.id() == wanted; // one that the library makes
    }
    match table.chosen(wanted) {
        Ok(there) => std::ptr::eq(there, own),
        Err(Some(place)) if table.chosen_count.load(Ordering::Relaxed) < COUNT_MAX as u32 => {
            table.chosen_count.fetch_add(1, Ordering::Relaxed);
            place.store(Box::into_raw(Box::new((wanted, own))), Ordering::Release);
            true
        }
        Err(_) => false,
    }
}

static APPLICATIONS: Table<Application> = Table::new();
static TRANSACTIONS: Table<Transaction> = Table::new();
static METRICS: Table<Metric> = Table::new();

impl DefinitionKind for Application {
    const NUMBER: u64 = 1;

    fn table() -> &'static Table<Self> {
        &APPLICATIONS
    }

    fn id(&self) -> Id {
        self.id
    }

    fn is_valid(&self) -> bool {
        self.is_registered()
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.name, self.charset, &self.context_names, &self.identity)
            == (&other.name, other.charset, &other.context_names, &other.identity)
    }
}

impl DefinitionKind for Transaction {
    const NUMBER: u64 = 2;

    fn table() -> &'static Table<Self> {
        &TRANSACTIONS
    }

    fn id(&self) -> Id {
        self.id
    }

    fn is_valid(&self) -> bool {
        self.application.is_registered()
    }

    fn is_same(&self, other: &Self) -> bool {
        let metrics = |of: &Self| of.metrics.map(|metric| metric.map(|metric| metric.id));
        std::ptr::eq(self.application, other.application)
            && (&self.name, &self.context_names, &self.identity, metrics(self))
                == (&other.name, &other.context_names, &other.identity, metrics(other))
    }
}

impl DefinitionKind for Metric {
    const NUMBER: u64 = 3;

    fn table() -> &'static Table<Self> {
        &METRICS
    }

    fn id(&self) -> Id {
        self.id
    }

    fn is_valid(&self) -> bool {
        true
    }

    fn is_same(&self, other: &Self) -> bool {
        (self.application, &self.name, self.format, self.usage)
            == (other.application, &other.name, other.format, other.usage)
    }
}
