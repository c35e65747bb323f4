//! Properties of a recording process, which its ring states.

/// Method by which the process reads thread CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum CpuMethod {
    /// The thread's restartable-sequence area tells switches: no system call between them.
    Rseq = 1,
    /// The page of a perf event tells switches.
    PerfPage = 2,
    /// A system call at begin and at end.
    Exact = 3,
    /// CPU times are recorded as 0.
    Off = 4,
}

impl CpuMethod {
    /// The method with this number, as the ring's header has it.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            1 => Some(Self::Rseq),
            2 => Some(Self::PerfPage),
            3 => Some(Self::Exact),
            4 => Some(Self::Off),
            _ => None,
        }
    }

    /// The method as `CHRONOSCOPE_CPU` spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rseq => "rseq",
            Self::PerfPage => "perf",
            Self::Exact => "exact",
            Self::Off => "off",
        }
    }
}

/// Storage of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Storage {
    /// A file in the folder that was asked for.
    Folder = 0,
    /// A file in the folder to fall back to: the first had no room, or was not safe.
    OtherFolder = 1,
    /// No file: memory that only the process itself, or its core file, shows.
    PrivateMemory = 2,
}

impl Storage {
    /// The storage with this number, as the ring's header has it.
    pub const fn from_number(number: u32) -> Option<Self> {
        match number {
            0 => Some(Self::Folder),
            1 => Some(Self::OtherFolder),
            2 => Some(Self::PrivateMemory),
            _ => None,
        }
    }
}

/// Rings that were removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Removed {
    /// Number of rings.
    pub rings: u64,
    /// Their bytes in memory.
    pub bytes: u64,
}
