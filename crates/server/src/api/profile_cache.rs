//! Profiles of runs that were read last.

use chronoscope_track::flame::MeasuredProfile;
use chronoscope_track::run::ProfileKind as Kind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// Profiles that stay in memory: those of a difference, and the ones before.
const CACHED: usize = 4;
/// Largest profile that stays in memory: functions, places and calls.
const CACHED_ENTRIES_MAX: usize = 1 << 20;

/// The profiles that were read last.
#[derive(Debug, Default)]
pub(crate) struct ProfileCache(Mutex<Vec<(CacheKey, Arc<MeasuredProfile>)>>);

/// What a cached profile is of. A stored run does not change, and has its start in its key, in case
/// another of that name replaces it.
pub(super) type CacheKey = (PathBuf, i64, String, Option<Kind>, Option<String>);

impl ProfileCache {
    pub(super) fn get(&self, key: &CacheKey) -> Option<Arc<MeasuredProfile>> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = all.iter().position(|(known, _)| known == key)?;
        let found = all.remove(at);
        let profile = found.1.clone();
        all.push(found); // used last
        Some(profile)
    }

    pub(super) fn put(&self, key: CacheKey, profile: &Arc<MeasuredProfile>) {
        if profile.entry_count() > CACHED_ENTRIES_MAX {
            return;
        }
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.push((key, profile.clone()));
        if all.len() > CACHED {
            all.remove(0);
        }
    }
}
