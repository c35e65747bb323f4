//! Limit of open files, which bounds the number of clients.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

/// Raises the limit as far as the system allows, and returns it.
pub(super) fn raise_to_most() -> u64 {
    if let Ok((_, hard)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // That it did not go is seen in what holds afterwards.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    }
    current(0)
}

/// Sets the limit to `wanted` where the process may do that, and returns the limit in force.
/// Raising it beyond `most` takes root.
pub(super) fn set(wanted: u64, most: u64) -> u64 {
    let _ = setrlimit(Resource::RLIMIT_NOFILE, wanted, wanted);
    current(most)
}

fn current(otherwise: u64) -> u64 {
    getrlimit(Resource::RLIMIT_NOFILE).map_or(otherwise, |(soft, _)| soft)
}
