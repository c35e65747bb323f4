//! The fixed-size form of a transaction, as rings and logs hold it.

use crate::{ChainId, ClassId, PathId, ProcessId, Status, TransactionId};

/// Value of [`Record::process_cpu_ns`] when the class does not measure it.
pub const NO_PROCESS_CPU: u64 = u64::MAX;

/// A transaction with names by number. 120 bytes, no padding, little-endian in files.
///
/// Stamps are as the recording process read them: raw, never corrected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Record {
    /// Start time: UTC, nanoseconds since 1970.
    pub start_ns: i64,
    /// Elapsed time, in nanoseconds.
    pub elapsed_ns: u64,
    /// CPU time of its thread during the transaction, in nanoseconds; never above `elapsed_ns`.
    pub cpu_ns: u64,
    /// CPU time of its whole process during the transaction, in nanoseconds, or [`NO_PROCESS_CPU`].
    pub process_cpu_ns: u64,
    /// More significant half of the chain id.
    pub chain_high: u64,
    /// Less significant half of the chain id.
    pub chain_low: u64,
    /// The transaction's id.
    pub id: TransactionId,
    /// The parent's id; [`TransactionId::NONE`] for a root.
    pub parent: TransactionId,
    /// The transaction's class.
    pub class: ClassId,
    /// The classes from the root to here; [`PathId::NONE`] when a foreign correlator hid them.
    pub path: PathId,
    /// Start time of the chain's root: UTC, nanoseconds since 1970, by the root's clock. The
    /// transaction's own start when the flag [`Flags::FOREIGN`] is set.
    pub root_start_ns: i64,
    /// The process of the root; [`ProcessId::NONE`] when not known.
    pub root_process: ProcessId,
    /// The process that recorded it.
    pub process: ProcessId,
    /// Offset of its context in the bytes that travel with the records.
    pub context_offset: u32,
    /// Length of its context in bytes, in `[0, context::STORED_MAX_BYTES]`.
    pub context_len: u16,
    /// Steps from the root: 0 for the root itself.
    pub level: u16,
    /// Kernel thread id.
    pub thread: u32,
    /// [`Status`] as its number.
    pub status: u8,
    /// [`Flags`] as their bits.
    pub flags: u8,
    /// Always 0.
    pub reserved: u16,
}

/// Flags of a record; bits may be combined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u8);

impl Flags {
    /// The parent did not wait for the transaction (ARM 4.1 `ARM_CORR_FLAGNUM_ASYNCH`).
    pub const ASYNCHRONOUS: Self = Self(0x01);
    /// The status has no effect on the parent's (ARM 4.1 `ARM_CORR_FLAGNUM_INDEPENDENT`).
    pub const INDEPENDENT: Self = Self(0x02);
    /// The correlator came without ancestors: root start, path and level are not known.
    pub const FOREIGN: Self = Self(0x04);
    /// Middle ancestors were dropped on the way; level, path and root are still exact.
    pub const ANCESTORS_DROPPED: Self = Self(0x08);
    /// The context was longer than the room for it, and was cut.
    pub const CONTEXT_CUT: Self = Self(0x10);
    /// There are further parents, which are not followed: [`crate::Extras::further_parents`].
    pub const FURTHER_PARENTS: Self = Self(0x20);
    /// The source records only a share of such transactions: [`crate::Extras::sampling_threshold`]
    /// is above 0.
    pub const SAMPLED: Self = Self(0x40);

    /// Whether all bits of `other` are set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The union of these flags and `other`.
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Record {
    /// The chain of the transaction.
    pub const fn chain(&self) -> ChainId {
        ChainId::from_halves(self.chain_high, self.chain_low)
    }

    /// The transaction's status.
    pub const fn status(&self) -> Status {
        Status::from_number(self.status)
    }

    /// The transaction's flags.
    pub const fn flags(&self) -> Flags {
        Flags(self.flags)
    }

    /// CPU time of its thread, in nanoseconds; `None` where it was not measured. The record has no
    /// bit for this: a record without ancestors ([`Flags::FOREIGN`]) and with 0 came from a source
    /// that does not measure CPU time, such as OpenTelemetry.
    pub const fn known_cpu_ns(&self) -> Option<u64> {
        known_cpu_ns(self.flags(), self.cpu_ns)
    }

    /// End time: UTC, nanoseconds since 1970; saturating.
    pub const fn end_ns(&self) -> i64 {
        self.start_ns.saturating_add_unsigned(self.elapsed_ns)
    }

    /// Time from the root's start to the transaction's end, in nanoseconds: the ACPD of the chain
    /// from its root to here. Negative when the clocks of two hosts disagree by more than that;
    /// `None` when the root's start is not known.
    pub const fn since_root_ns(&self) -> Option<i64> {
        if self.flags().contains(Flags::FOREIGN) {
            return None;
        }
        Some(self.end_ns().saturating_sub(self.root_start_ns))
    }

    /// The record as bytes of a file.
    pub fn as_bytes(&self) -> &[u8] {
        bytemuck::bytes_of(self)
    }
}

/// The rule of [`Record::known_cpu_ns`].
pub(crate) const fn known_cpu_ns(flags: Flags, cpu_ns: u64) -> Option<u64> {
    if flags.contains(Flags::FOREIGN) && cpu_ns == 0 { None } else { Some(cpu_ns) }
}

const _: () = assert!(size_of::<Record>() == 120);

#[cfg(test)]
mod tests {
    use super::*;
    use bytemuck::Zeroable;

    #[test]
    fn durations_by_hand() {
        let mut r = Record { start_ns: 70, elapsed_ns: 5, root_start_ns: 20, ..Record::zeroed() };
        assert_eq!(r.since_root_ns(), Some(55));
        r.root_start_ns = 90; // the root's clock is ahead
        assert_eq!(r.since_root_ns(), Some(-15));
        r.flags = Flags::FOREIGN.0;
        assert_eq!(r.since_root_ns(), None);
        r.elapsed_ns = u64::MAX;
        assert_eq!(r.end_ns(), i64::MAX);
    }
}
