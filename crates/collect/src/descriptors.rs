//! Limit of open files, and the share of it that rings may take.
//!
//! The soft limit of open files (`RLIMIT_NOFILE`) is 1024 on most systems, for the sake of old
//! programs that use select(2); the hard one is far higher. Each ring that is read is one of them.
//! Part of the limit is kept for the store's files and for connections: without it, a folder full
//! of rings would keep the store from taking in what is in them, for ever.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Descriptors that rings do not get: 1,024 for a server's connections, the others for the store's files
/// and the rest. Of a lower limit rings get a quarter: connections take up to half of it.
const RESERVED: u64 = 1280;

/// Raises the soft limit of open files to the hard one. For a program that collects, at its start;
/// programs that it starts inherit the limit.
///
/// # Errors
/// The system's error; the limit is then unchanged.
pub fn raise_open_files() -> std::io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

/// Number of rings that may be open at once under the current limit of open files.
pub(crate) fn rings_open_max() -> usize {
    rings_under(getrlimit(Resource::Nofile).current)
}

/// Number of rings that may be open at once under a limit; `None` is no limit.
fn rings_under(limit: Option<u64>) -> usize {
    limit.map_or(usize::MAX, |limit| {
        let rings = limit.saturating_sub(RESERVED.min(limit / 4 * 3));
        usize::try_from(rings).unwrap_or(usize::MAX)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_leave_descriptors_to_the_store() {
        assert_eq!(rings_under(Some(20_000)), 18_720);
        assert_eq!(rings_under(Some(1024)), 256);
        assert_eq!(rings_under(Some(64)), 16);
        assert_eq!(rings_under(None), usize::MAX);
    }
}
