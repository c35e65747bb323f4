//! Every environment variable that the recorder reads, and nothing else reads any.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `CHRONOSCOPE_RECORD` | `off`: nothing is recorded | on |
//! | `CHRONOSCOPE_DIR` | folder of the rings | `/dev/shm/chronoscope-UID` |
//! | `TMPDIR` | where to fall back to when there is no room | `/tmp` |
//! | `CHRONOSCOPE_SLOTS` | records a thread keeps, rounded up to a power of two, in `[16, 2^22]` | 16384 |
//! | `CHRONOSCOPE_WORST` | worst cases by elapsed time, and as many by thread CPU time, that a class keeps in each thread, in `[1, 64]` | 10 |
//! | `CHRONOSCOPE_CPU` | `rseq`, `perf`, `exact`, `off`: how thread CPU time is read | the cheapest that works |
//! | `CHRONOSCOPE_CORE` | `off`: leaves `/proc/self/coredump_filter` alone | cores contain the ring |
//! | `CHRONOSCOPE_ENDED_MIB` | room that rings of ended processes may take in the folder, in MiB, in `[0, 2^20]`: those that ended first go when a program starts | 1024 |
//! | `CHRONOSCOPE_ENDED_DAYS` | how long they stay there, in days, in `[0, 36500]` | 7 |
//! | `OTEL_RESOURCE_ATTRIBUTES` | attributes of all rows: `KEY=VALUE,KEY=VALUE`, percent-encoded, as OpenTelemetry specifies it; [`crate::resource`] has what is found without | none |
//! | `CHRONOSCOPE_RESOURCE` | `off`: rows have no attributes of container and pod, declared or found | on |
//! | `KUBERNETES_SERVICE_HOST` | set by Kubernetes: where it is, the container in which a program sees itself may be its pod's | not in a pod |
//! | `CHRONOSCOPE_SIGBUS` | `off`: installs no handler against truncated rings | installed |

use std::path::PathBuf;

const DEFAULT_SLOTS: u32 = 16_384;
const DEFAULT_WORST: u32 = 10;
const DEFAULT_ENDED_MIB: u32 = 1024;
const DEFAULT_ENDED_DAYS: u32 = 7;
const DAY_NS: u64 = 86_400_000_000_000;

/// Settings of the recorder from the environment.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) record: bool,
    pub(crate) folder: PathBuf,
    pub(crate) fallback: PathBuf,
    pub(crate) slot_count: u32,
    pub(crate) worst_count: u32,
    pub(crate) cpu: Option<String>,
    pub(crate) core: bool,
    pub(crate) sigbus: bool,
    /// Most bytes of rings of ended processes, and how long they stay.
    pub(crate) ended_bytes: u64,
    pub(crate) ended_age_ns: u64,
}

impl Settings {
    /// Reads the environment. An invalid value is ignored.
    pub(crate) fn read() -> Self {
        let fallback = match std::env::var_os("TMPDIR") {
            Some(folder) if !folder.is_empty() => PathBuf::from(folder),
            _ => PathBuf::from("/tmp"),
        };
        Self {
            record: !is_off("CHRONOSCOPE_RECORD"),
            folder: folder(),
            fallback: fallback.join(own_folder_name()),
            slot_count: number("CHRONOSCOPE_SLOTS", DEFAULT_SLOTS, 16, 1 << 22).next_power_of_two(),
            worst_count: number("CHRONOSCOPE_WORST", DEFAULT_WORST, 1, 64),
            cpu: std::env::var("CHRONOSCOPE_CPU").ok(),
            core: !is_off("CHRONOSCOPE_CORE"),
            sigbus: !is_off("CHRONOSCOPE_SIGBUS"),
            ended_bytes: u64::from(number("CHRONOSCOPE_ENDED_MIB", DEFAULT_ENDED_MIB, 0, 1 << 20))
                << 20,
            ended_age_ns: u64::from(number(
                "CHRONOSCOPE_ENDED_DAYS",
                DEFAULT_ENDED_DAYS,
                0,
                36_500,
            )) * DAY_NS,
        }
    }
}

/// The folder where programs of this user put their rings.
pub(crate) fn folder() -> PathBuf {
    match std::env::var_os("CHRONOSCOPE_DIR") {
        Some(folder) if !folder.is_empty() => PathBuf::from(folder),
        _ => PathBuf::from("/dev/shm").join(own_folder_name()),
    }
}

pub(crate) fn own_folder_name() -> String {
    format!("chronoscope-{}", crate::os::user())
}

/// Attributes that whoever started the process has declared; `None` when there are none.
#[cfg(not(feature = "off"))]
pub(crate) fn resource_attributes() -> Option<String> {
    std::env::var("OTEL_RESOURCE_ATTRIBUTES").ok().filter(|text| !text.is_empty())
}

/// Whether rows are to say nothing about what their process runs in.
#[cfg(not(feature = "off"))]
pub(crate) fn is_resource_off() -> bool {
    is_off("CHRONOSCOPE_RESOURCE")
}

/// Whether Kubernetes has started the process.
#[cfg(not(feature = "off"))]
pub(crate) fn is_in_pod() -> bool {
    std::env::var_os("KUBERNETES_SERVICE_HOST").is_some()
}

fn is_off(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| value == "off" || value == "0")
}

fn number(name: &str, default: u32, min: u32, max: u32) -> u32 {
    let value = std::env::var(name).ok().and_then(|text| text.parse().ok());
    value.unwrap_or(default).clamp(min, max)
}
