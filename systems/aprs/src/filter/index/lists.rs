//! Lists of terms by key: a packet's names, position, types and so on are the keys.
//!
//! A posting is in a list and its term knows where, so that taking a term out costs as many steps
//! as it has postings, however long the lists are.

use crate::filter::name::{Name, Pattern};
use crate::filter::term::Field;
use crate::packet::Types;
use foldhash::fast::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use smallvec::SmallVec;
use std::hash::BuildHasher;

/// A term of a client in one list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    /// Index of the term, which knows its client.
    pub(super) term: u32,
    /// Index in the term's places.
    place: u32,
}

/// Position of a posting.
#[derive(Clone, Copy, Debug)]
pub(super) struct PostingPosition {
    list: u32,
    at: u32,
}

/// Key of a list. Bits from 96 on are the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct ListKey(u128);

const KIND_SHIFT: u32 = 96;
const KIND_NAME: u128 = 1 << KIND_SHIFT;
const KIND_CELL: u128 = 2 << KIND_SHIFT;
const KIND_TYPES: u128 = 3 << KIND_SHIFT;
const KIND_Q: u128 = 4 << KIND_SHIFT;
const KIND_SYMBOL: u128 = 5 << KIND_SHIFT;
/// First bit in a name's key of the field and of whether the key is a prefix.
const FIELD_SHIFT: u32 = 80;
const PREFIX_SHIFT: u32 = 88;

impl ListKey {
    /// Packets that have the name in the field.
    pub(super) fn name(field: Field, pattern: Pattern) -> Self {
        Self(
            KIND_NAME
                | pattern.name.bits()
                | (field as u128) << FIELD_SHIFT
                | u128::from(pattern.prefix) << PREFIX_SHIFT,
        )
    }

    /// Packets that a set asks for.
    pub(super) fn set(set: Set) -> Self {
        match set {
            Set::Types(types) => Self(KIND_TYPES | u128::from(types.bits())),
            Set::Q(letters, igates) => {
                Self(KIND_Q | u128::from(letters) | u128::from(igates) << 16)
            }
        }
    }

    /// Whether it was made of a set.
    pub(super) fn is_set(self) -> bool {
        let kind = self.0 >> KIND_SHIFT << KIND_SHIFT;
        kind == KIND_TYPES || kind == KIND_Q
    }

    /// Packets in a cell of the grid.
    pub(super) fn cell(cell: u32) -> Self {
        Self(KIND_CELL | u128::from(cell))
    }

    /// Packets with a symbol of the code in any table.
    pub(super) fn symbol(code: u8) -> Self {
        Self(KIND_SYMBOL | u128::from(code))
    }
}

/// Condition of a key that is a set of values: each set in use is tested against the packet.
#[derive(Clone, Copy, Debug)]
pub(super) enum Set {
    /// A set of types.
    Types(Types),
    /// A set of q constructs, or also positions of igates.
    Q(u16, bool),
}

#[derive(Debug)]
struct List {
    key: ListKey,
    /// Most names have one: no memory of its own for it.
    postings: SmallVec<[Posting; 2]>,
}

/// All lists by key.
#[derive(Debug)]
pub(super) struct Lists {
    /// Index of each list that is in use, by its key: the keys themselves are in the lists only.
    of: HashTable<u32>,
    hasher: FixedState,
    lists: Vec<List>,
    /// Lists that are not in use.
    free: Vec<u32>,
    /// For each field: how many lists there are of names of each length, whole ones at 0.
    lengths: [[u32; 10]; Field::COUNT],
}

impl Lists {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            of: HashTable::new(),
            hasher: FixedState::with_seed(seed),
            lists: Vec::new(),
            free: Vec::new(),
            lengths: [[0; 10]; Field::COUNT],
        }
    }

    /// Number of lists that are not empty.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.of.len()
    }

    /// Postings in the list of `key`.
    pub(super) fn get(&self, key: ListKey) -> &[Posting] {
        let is_it = |list: &u32| self.lists[*list as usize].key == key;
        let list = self.of.find(self.hasher.hash_one(key), is_it);
        list.map_or(&[], |list| &self.lists[*list as usize].postings)
    }

    /// Calls `each` with every list that `name` in `field` leads to: its own, and those of all its
    /// beginnings.
    pub(super) fn of_name(&self, field: Field, name: Name, mut each: impl FnMut(&[Posting])) {
        let lengths = &self.lengths[field as usize];
        if lengths[0] > 0 {
            each(self.get(ListKey::name(field, Pattern { name, prefix: false })));
        }
        for len in 1..=name.len() {
            if lengths[len as usize] > 0 {
                let pattern = Pattern { name: name.prefix(len), prefix: true };
                each(self.get(ListKey::name(field, pattern)));
            }
        }
    }

    /// Whether names in a field lead anywhere.
    pub(super) fn has_names(&self, field: Field) -> bool {
        self.lengths[field as usize] != [0; 10]
    }

    /// Adds a posting to the list of `key`.
    pub(super) fn push(&mut self, key: ListKey, term: u32, place: u32) -> PostingPosition {
        let (lists, hasher) = (&self.lists, &self.hasher);
        let entry = self.of.entry(
            hasher.hash_one(key),
            |list| lists[*list as usize].key == key,
            |list| hasher.hash_one(lists[*list as usize].key),
        );
        let list = match entry {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(entry) => {
                let free = self.free.pop();
                let list = free.unwrap_or(index(self.lists.len()));
                entry.insert(list);
                match free {
                    Some(_) => self.lists[list as usize].key = key,
                    None => self.lists.push(List { key, postings: SmallVec::new() }),
                }
                if let Some(length) = self.length(key) {
                    *length += 1;
                }
                list
            }
        };
        let postings = &mut self.lists[list as usize].postings;
        if postings.len() == postings.capacity() {
            // By a quarter, not by as much again: most lists are made once and then keep.
            postings.reserve_exact(postings.len() / 4 + 1);
        }
        postings.push(Posting { term, place });
        PostingPosition { list, at: index(postings.len() - 1) }
    }

    /// Takes a posting out. The first result is the posting that is in its place now; the second
    /// is the list's key when nothing is left in it.
    pub(super) fn remove(&mut self, place: PostingPosition) -> (Option<Moved>, Option<ListKey>) {
        let list = &mut self.lists[place.list as usize];
        list.postings.swap_remove(place.at as usize);
        let moved = list.postings.get(place.at as usize).map(|posting| Moved {
            term: posting.term,
            place: posting.place,
            to: place,
        });
        if !list.postings.is_empty() {
            return (moved, None);
        }
        list.postings = SmallVec::new();
        let key = list.key;
        let entry = self.of.find_entry(self.hasher.hash_one(key), |of| *of == place.list);
        if let Ok(entry) = entry {
            entry.remove();
        }
        self.free.push(place.list);
        if let Some(length) = self.length(key) {
            *length -= 1;
        }
        (None, Some(key))
    }

    /// The count of lists that the list of a name belongs to.
    fn length(&mut self, key: ListKey) -> Option<&mut u32> {
        let octets = key.0.to_le_bytes();
        if key.0 >> KIND_SHIFT != KIND_NAME >> KIND_SHIFT {
            return None;
        }
        let is_prefix = octets[PREFIX_SHIFT as usize / 8] != 0;
        let len = if is_prefix { usize::from(octets[9]) } else { 0 };
        Some(&mut self.lengths[usize::from(octets[FIELD_SHIFT as usize / 8])][len])
    }
}

/// A posting that is somewhere else now.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moved {
    /// Index of the term.
    pub(super) term: u32,
    /// Index in the term's places.
    pub(super) place: u32,
    /// New position of the posting.
    pub(super) to: PostingPosition,
}

/// An index that fits: there are never so many postings that it would not.
pub(super) fn index(len: usize) -> u32 {
    u32::try_from(len).expect("fewer than 2^32 of a thing in an index")
}
