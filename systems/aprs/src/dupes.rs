//! Duplicate check: finds packets that were seen before, also in the forms in which broken programs
//! repeat them.
//!
//! Two packets are the same when source callsign, destination callsign without its SSID and
//! payload are equal octet by octet; the path does not matter
//! (<http://www.aprs-is.net/APRSServers.aspx>, 30 s). A packet that is let through is remembered in
//! its own form and in those that gateways and terminals are known to make of it ([`DupeKind`]), so
//! that the packet is let through once and its mangled copies are not. The other way round a
//! mangled copy that comes first does not stop the packet itself: only the received form is
//! compared, never a cleaned one. The forms, their order, and the rule that a repeated form is
//! remembered for another window are those of aprsc (`src/dupecheck.c`).
//!
//! Neither the packets nor their forms are kept: a form is a table key of 64 bits and 60 bits more,
//! from two hashes with seeds of the server's own. With `n` forms in the table, a new packet is
//! taken for a duplicate by chance with a probability of n / 2¹²⁴: at 100,000 packets/s with two
//! forms each, below 10⁻²² in a year.
//!
//! Cost: 25 octets a table slot and 16 in the queue, both filled to between 44 and 100 %. Each check
//! forgets more forms than it can add, so the table never has to be walked; it is moved as a whole
//! only when it doubles.
//!
//! Not here: packets whose source is logged in elsewhere on this server also go to duplicate feeds,
//! but only the engine knows the logins.

use crate::packet::Packet;
use foldhash::quality::FixedState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher};

/// Most forms remembered at a time; the oldest go first, and are counted.
const FORMS_MAX: usize = 1 << 23;
/// Forms forgotten per check at most: more than a check can add, which is [`DupeKind::COUNT`].
const FORGOTTEN_MAX: usize = 2 * DupeKind::COUNT;
/// Bits of a form's identity that hold its kind.
const KIND_BITS: u64 = 0xf;

/// Relation of a duplicate to the earlier packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum DupeKind {
    /// The packet is unchanged.
    Exact,
    /// Without the spaces at its end.
    SpaceTrim,
    /// Octets of 128 and above are missing.
    Strip8bit,
    /// Octets of 128 and above have lost their highest bit.
    Clear8bit,
    /// Octets of 128 and above were replaced by spaces.
    Spaced8bit,
    /// Octets in [1, 31] are missing.
    LowStrip,
    /// Octets in [1, 31] were replaced by spaces.
    LowSpaced,
    /// Octets of 127 are missing.
    DelStrip,
    /// Octets of 127 were replaced by spaces.
    DelSpaced,
}

impl DupeKind {
    /// Number of kinds.
    pub const COUNT: usize = 9;

    /// All of them, in the order of aprsc's counters.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Exact,
        Self::SpaceTrim,
        Self::Strip8bit,
        Self::Clear8bit,
        Self::Spaced8bit,
        Self::LowStrip,
        Self::LowSpaced,
        Self::DelStrip,
        Self::DelSpaced,
    ];

    /// The name that `status.json` has for it, in `dupecheck.variations`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::SpaceTrim => "space_trim",
            Self::Strip8bit => "8bit_strip",
            Self::Clear8bit => "8bit_clear",
            Self::Spaced8bit => "8bit_spaced",
            Self::LowStrip => "low_strip",
            Self::LowSpaced => "low_spaced",
            Self::DelStrip => "del_strip",
            Self::DelSpaced => "del_spaced",
        }
    }

    /// Index in [`DupeKind::ALL`], in [0, 8].
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A remembered form.
#[derive(Clone, Copy, Debug)]
struct Form {
    /// First hash: where it is in the table.
    key: u64,
    /// Second hash in the upper 60 bits, index of the kind below.
    check: u64,
    /// Time when the form was last passed or made.
    at_ns: u64,
}

/// The forms of all packets of the last [window](Dupes::new).
#[derive(Clone, Debug)]
pub struct Dupes {
    seed: u64,
    keys: FixedState,
    checks: FixedState,
    window_ns: u64,
    forms: HashTable<Form>,
    /// Keys in the order of their times; a form that was repeated is in here once more.
    queue: VecDeque<(u64, u64)>,
    found: [u64; DupeKind::COUNT],
    passed: u64,
    forgotten_early: u64,
}

/// Saved state of [`Dupes::save`]. Times are ages, because the other process has another clock
/// origin.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct SavedDupes {
    seed: u64,
    window_ns: u64,
    found: [u64; DupeKind::COUNT],
    passed: u64,
    forgotten_early: u64,
    /// Both hashes and the age in nanoseconds, the oldest first.
    forms: Vec<(u64, u64, u64)>,
}

impl SavedDupes {
    /// Forgets all forms, but not the counts. How many there were.
    pub fn forget_forms(&mut self) -> usize {
        std::mem::take(&mut self.forms).len()
    }
}

impl Dupes {
    /// Remembers nothing yet. `seed` makes the hashes this server's own; `window_ns` is how long a
    /// form is remembered, in nanoseconds: 30 s on APRS-IS.
    pub fn new(seed: u64, window_ns: u64) -> Self {
        Self {
            seed,
            keys: FixedState::with_seed(seed),
            checks: FixedState::with_seed(seed.rotate_left(32) ^ 0x9e37_79b9_7f4a_7c15),
            window_ns,
            forms: HashTable::new(),
            queue: VecDeque::new(),
            found: [0; DupeKind::COUNT],
            passed: 0,
            forgotten_early: 0,
        }
    }

    /// Says whether `packet` was there within the window before `now_ns`, and if not, remembers it
    /// and its mangled forms. `now_ns` is of the monotonic clock and never goes back.
    pub fn check(&mut self, packet: &Packet, now_ns: u64) -> Option<DupeKind> {
        self.expire(now_ns, FORGOTTEN_MAX);
        let address = address(packet);
        let payload = packet.payload();
        let exact = self.form(address, payload, DupeKind::Exact, now_ns);
        if let Some(kind) = self.seen(&exact, now_ns) {
            self.found[kind.index()] += 1;
            return Some(kind);
        }
        self.passed += 1;
        self.remember(exact);
        mangled(payload, |kind, payload| {
            let form = self.form(address, payload, kind, now_ns);
            self.remember(form);
        });
        None
    }

    /// Forgets forms that are older than the window, `count_max` of them at most. [`Self::check`]
    /// does this as well; a server with nothing to do calls it to get its memory back.
    pub fn expire(&mut self, now_ns: u64, count_max: usize) {
        for _ in 0..count_max {
            match self.queue.front() {
                Some((_, at_ns)) if now_ns.saturating_sub(*at_ns) > self.window_ns => {
                    self.forget_oldest();
                }
                _ => return,
            }
        }
    }

    /// Number of duplicates of each kind since the start, by [`DupeKind::index`].
    pub fn found(&self) -> &[u64; DupeKind::COUNT] {
        &self.found
    }

    /// Number of new packets since the start.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Number of remembered forms.
    pub fn len(&self) -> usize {
        self.forms.len()
    }

    /// Whether no form is remembered.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty()
    }

    /// Number of forms that were removed before their time because the table was full.
    pub fn forgotten_early(&self) -> u64 {
        self.forgotten_early
    }

    /// Octets of memory that the table and the queue have.
    pub fn size_bytes(&self) -> usize {
        self.forms.allocation_size() + self.queue.capacity() * size_of::<(u64, u64)>()
    }

    /// Saves all forms for another process on the same host.
    pub fn save(&self, now_ns: u64) -> SavedDupes {
        let mut forms: Vec<_> = self
            .forms
            .iter()
            .map(|form| (form.key, form.check, now_ns.saturating_sub(form.at_ns)))
            .filter(|(.., age_ns)| *age_ns <= self.window_ns)
            .collect();
        forms.sort_unstable_by_key(|(key, check, age_ns)| (u64::MAX - age_ns, *key, *check));
        SavedDupes {
            seed: self.seed,
            window_ns: self.window_ns,
            found: self.found,
            passed: self.passed,
            forgotten_early: self.forgotten_early,
            forms,
        }
    }

    /// Goes on where another process was. Where its hashes were made by another version, its
    /// packets are not recognised and are forgotten after the window.
    pub fn restore(saved: &SavedDupes, now_ns: u64) -> Self {
        let mut dupes = Self::new(saved.seed, saved.window_ns);
        dupes.found = saved.found;
        dupes.passed = saved.passed;
        dupes.forgotten_early = saved.forgotten_early;
        for (key, check, age_ns) in saved.forms.iter().take(FORMS_MAX) {
            let at_ns = now_ns.saturating_sub(*age_ns);
            dupes.remember(Form { key: *key, check: *check, at_ns });
        }
        dupes
    }

    fn form(&self, address: &[u8], payload: &[u8], kind: DupeKind, at_ns: u64) -> Form {
        let hash = |state: &FixedState| {
            let mut hasher = state.build_hasher();
            hasher.write(address);
            hasher.write(payload);
            hasher.finish()
        };
        let check = hash(&self.checks) & !KIND_BITS | kind.index() as u64;
        Form { key: hash(&self.keys), check, at_ns }
    }

    fn seen(&self, form: &Form, now_ns: u64) -> Option<DupeKind> {
        self.forms
            .find(form.key, |other| other.is(form))
            .filter(|other| now_ns.saturating_sub(other.at_ns) <= self.window_ns)
            .and_then(Form::kind)
    }

    /// Adds a form, or lets it be remembered from now on. One that is still remembered keeps its
    /// kind, as with aprsc.
    fn remember(&mut self, form: Form) {
        match self.forms.entry(form.key, |other| other.is(&form), |other| other.key) {
            Entry::Occupied(entry) => {
                let other = entry.into_mut();
                if form.at_ns.saturating_sub(other.at_ns) > self.window_ns {
                    other.check = form.check;
                }
                if other.at_ns == form.at_ns {
                    return;
                }
                other.at_ns = form.at_ns;
            }
            Entry::Vacant(entry) => {
                entry.insert(form);
            }
        }
        self.queue.push_back((form.key, form.at_ns));
        if self.queue.len() > FORMS_MAX {
            self.forgotten_early += u64::from(self.forget_oldest());
        }
    }

    /// Removes the oldest entry of the queue. Returns whether a form was forgotten: one that was
    /// repeated since stays.
    fn forget_oldest(&mut self) -> bool {
        let Some((key, at_ns)) = self.queue.pop_front() else { return false };
        self.forms
            .find_entry(key, |form| form.key == key && form.at_ns == at_ns)
            .map(hashbrown::hash_table::OccupiedEntry::remove)
            .is_ok()
    }
}

impl Form {
    fn is(&self, other: &Self) -> bool {
        self.key == other.key && (self.check ^ other.check) & !KIND_BITS == 0
    }

    fn kind(&self) -> Option<DupeKind> {
        usize::try_from(self.check & KIND_BITS).ok().and_then(|at| DupeKind::ALL.get(at)).copied()
    }
}

/// Source and destination callsign with the `>` between them, without the destination's SSID: that
/// is a path in disguise (APRS protocol reference 1.0.1, chapter 4).
fn address(packet: &Packet) -> &[u8] {
    let start = usize::from(packet.destination.start);
    let len = packet.destination().iter().take_while(|octet| **octet != b'-').count();
    &packet.line[..start + len]
}

/// Calls `each` with the forms in which `payload` may come again, but for the payload itself.
fn mangled(payload: &[u8], mut each: impl FnMut(DupeKind, &[u8])) {
    let short = trimmed(payload);
    if short.len() != payload.len() {
        each(DupeKind::SpaceTrim, short);
    }
    let mut has = [false; 3];
    for octet in payload {
        has[0] |= *octet >= 0x80;
        has[1] |= is_low(*octet);
        has[2] |= *octet == 0x7f;
    }
    if has[0] {
        each(DupeKind::Strip8bit, &without(payload, |octet| octet >= 0x80));
        each(DupeKind::Clear8bit, &changed(payload, |octet| octet & 0x7f));
        each(DupeKind::Spaced8bit, &spaced(payload, |octet| octet >= 0x80));
    }
    if has[1] {
        each(DupeKind::LowStrip, &without(payload, is_low));
        each(DupeKind::LowSpaced, &spaced(payload, is_low));
    }
    if has[2] {
        each(DupeKind::DelStrip, &without(payload, |octet| octet == 0x7f));
        each(DupeKind::DelSpaced, &spaced(payload, |octet| octet == 0x7f));
    }
}

/// A payload of a packet fits.
type Octets = SmallVec<[u8; 512]>;

fn is_low(octet: u8) -> bool {
    (1..0x20).contains(&octet)
}

fn without(payload: &[u8], which: impl Fn(u8) -> bool) -> Octets {
    payload.iter().copied().filter(|octet| !which(*octet)).collect()
}

fn spaced(payload: &[u8], which: impl Fn(u8) -> bool) -> Octets {
    changed(payload, |octet| if which(octet) { b' ' } else { octet })
}

fn changed(payload: &[u8], to: impl Fn(u8) -> u8) -> Octets {
    payload.iter().map(|octet| to(*octet)).collect()
}

/// Without the spaces at its end.
fn trimmed(payload: &[u8]) -> &[u8] {
    let len = payload.iter().rposition(|octet| *octet != b' ').map_or(0, |at| at + 1);
    &payload[..len]
}

#[cfg(test)]
mod tests;
