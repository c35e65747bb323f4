//! The profiles that a run kept, by process.

use super::record::{Process, Record, RecordError};
use crate::callgrind::Limits;
use crate::flame::MeasuredProfile;

/// What a kept profile is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProfileKind {
    /// Calls, counted exactly by Callgrind.
    Calls,
    /// Stacks, sampled by `perf`.
    Stacks,
}

/// A process with a kept profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfiledProcess {
    /// `ITEM` or `ITEM/PROCESS`, as [`process_name`] makes it.
    pub name: String,
    /// The kept profiles, one or both.
    pub kinds: Vec<ProfileKind>,
}

/// A process of a run by its item and its name: `ITEM/PROCESS`, or `ITEM` alone where a process has
/// no name of its own.
pub fn process_name(item: &str, process: &str) -> String {
    match process {
        "" => item.to_owned(),
        process if process == item => item.to_owned(),
        process => format!("{item}/{process}"),
    }
}

impl Record {
    /// The processes with kept profiles, in the suite's order.
    pub fn profiled(&self) -> Vec<ProfiledProcess> {
        let kept = self.processes().map(|(name, process)| {
            let calls = process.profile.is_some().then_some(ProfileKind::Calls);
            let stacks = process.stacks.is_some().then_some(ProfileKind::Stacks);
            ProfiledProcess { name, kinds: calls.into_iter().chain(stacks).collect() }
        });
        kept.filter(|kept| !kept.kinds.is_empty()).collect()
    }

    /// One event of a kept profile of a process; `name` is [`ProfiledProcess::name`], or that of an
    /// item with one process. Without a kind, calls are preferred to stacks; without an event, the
    /// profile's first is taken. `None` when no such profile was kept.
    ///
    /// # Errors
    /// [`RecordError`] when it cannot be read, or has no such event.
    pub fn measured(
        &self,
        name: &str,
        kind: Option<ProfileKind>,
        event: Option<&str>,
        limits: Limits,
    ) -> Result<Option<MeasuredProfile>, RecordError> {
        let mut same = self.processes().filter(|(found, _)| found == name);
        let of_item = || {
            let item = self.item(name).filter(|item| item.processes.len() == 1);
            item.and_then(|item| item.processes.first())
        };
        let Some(process) = same.next().map(|(_, process)| process).or_else(of_item) else {
            return Ok(None);
        };
        let file = match kind {
            Some(ProfileKind::Calls) => &process.profile,
            Some(ProfileKind::Stacks) => &process.stacks,
            None if process.profile.is_some() => &process.profile,
            None => &process.stacks,
        };
        let Some(file) = file else { return Ok(None) };
        Ok(Some(MeasuredProfile::read(&self.inside(file)?, event, limits)?))
    }

    fn processes(&self) -> impl Iterator<Item = (String, &Process)> {
        self.items.iter().flat_map(|item| {
            let named = |process: &Process| process_name(&item.name, &process.name);
            item.processes.iter().map(move |process| (named(process), process))
        })
    }
}
