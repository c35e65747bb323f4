//! Position of a new transaction in its chain.

use crate::control::{Control, LEVEL_SHIFT};
use crate::layout::word;
use chronoscope_model::{ClassId, Correlator, Flags, PathId};
use std::sync::atomic::Ordering::Relaxed;

/// Flags that a transaction gets from the one around it.
pub(crate) const INHERITED_FLAGS: u8 = Flags::FOREIGN.0 | Flags::ANCESTORS_DROPPED.0;

/// Position of a transaction in its chain.
pub(crate) struct Lineage {
    pub(crate) chain_high: u64,
    pub(crate) chain_low: u64,
    pub(crate) parent: u64,
    pub(crate) path: PathId,
    pub(crate) level: u64,
    /// `None`: its own start.
    pub(crate) root_start_ns: Option<i64>,
    pub(crate) root_process: u64,
    pub(crate) flags: u8,
}

impl Lineage {
    /// Level, path and root of a foreign chain are not known.
    #[cold]
    fn make_foreign(&mut self) {
        self.path = PathId::NONE;
        self.level = 0;
        self.root_start_ns = None;
        self.root_process = 0;
    }
}

/// The lineage of a transaction under the frame below `depth`, or of a root.
#[inline(always)]
pub(crate) fn lineage(control: &Control, depth: u32, class: ClassId) -> Lineage {
    if depth == 0 {
        return Lineage {
            chain_high: control.chain_high.get(),
            chain_low: control.next_id.get(), // the root's own id
            parent: 0,
            path: PathId::root(class),
            level: 0,
            root_start_ns: None,
            root_process: control.process_id.get(),
            flags: 0,
        };
    }
    let below = control.frame(depth - 1);
    let get = |index: usize| below.words[index].load(Relaxed);
    let level = (get(word::CONTEXT) >> LEVEL_SHIFT) + 1;
    let flags = control.private(depth - 1).flags() & INHERITED_FLAGS;
    let mut lineage = Lineage {
        chain_high: get(word::CHAIN_HIGH),
        chain_low: get(word::CHAIN_LOW),
        parent: control.private(depth - 1).id.get(),
        path: PathId(get(word::PATH)).child(class),
        level: level.min(u64::from(u16::MAX)),
        root_start_ns: Some(get(word::ROOT_START).cast_signed()),
        root_process: get(word::ROOT_PROCESS),
        flags,
    };
    if flags & Flags::FOREIGN.0 != 0 {
        lineage.make_foreign();
    }
    lineage
}

/// The lineage of a transaction under the one that issued `parent`.
pub(crate) fn lineage_under(parent: &Correlator, class: ClassId) -> Lineage {
    let flag = |set: bool, flag: Flags| if set { flag.0 } else { 0 };
    let mut lineage = Lineage {
        chain_high: parent.chain().high(),
        chain_low: parent.chain().low(),
        parent: parent.parent().0,
        path: parent.path().child(class),
        level: u64::from(parent.level().saturating_add(1)),
        root_start_ns: parent.root_start_ns(),
        root_process: parent.root_process().0,
        flags: flag(parent.is_asynchronous(), Flags::ASYNCHRONOUS)
            | flag(parent.is_independent(), Flags::INDEPENDENT)
            | flag(parent.dropped() > 0, Flags::ANCESTORS_DROPPED),
    };
    if parent.is_foreign() {
        lineage.flags |= Flags::FOREIGN.0;
        lineage.make_foreign();
    }
    lineage
}
