//! CPU time of system calls, function by function, as Callgrind has it with
//! `--collect-systime=nsec`.

use super::changes::{CostChange, SystemTime};
use crate::callgrind::graph::{Graph, GraphError, Node};
use crate::callgrind::profile::Profile;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Callgrind's events: number of system calls, and their CPU time in ns.
const EVENTS: [&str; 2] = ["sysCount", "sysCpuTime"];

/// The whole CPU time, and that of each function that has some; nothing where a profile lacks it.
pub(super) fn times(profiles: [&Profile; 2]) -> Result<(CostChange, Vec<SystemTime>), GraphError> {
    let has = |profile: &&Profile| EVENTS.iter().all(|event| profile.event(event).is_some());
    if !profiles.iter().all(has) {
        return Ok((CostChange::default(), Vec::new()));
    }
    let mut total = CostChange::default();
    let mut functions = BTreeMap::<(String, String), SystemTime>::new();
    for (side, profile) in profiles.into_iter().enumerate() {
        let [counts, times] = [Graph::of(profile, EVENTS[0])?, Graph::of(profile, EVENTS[1])?];
        *side_of(&mut total, side) = times.total;
        // Both graphs are of one profile: they have the same functions in the same order.
        for (count, time) in counts.nodes.iter().zip(&times.nodes) {
            if time.inclusive > 0 || count.inclusive > 0 {
                add(&mut functions, side, count, time);
            }
        }
    }
    let mut all: Vec<SystemTime> = functions.into_values().collect();
    all.sort_by_key(|one| Reverse(one.inclusive_ns.before.max(one.inclusive_ns.after)));
    Ok((total, all))
}

fn add(
    functions: &mut BTreeMap<(String, String), SystemTime>,
    side: usize,
    count: &Node,
    time: &Node,
) {
    let key = (time.name.clone(), time.object.clone());
    let (name, object) = key.clone();
    let zero = CostChange::default();
    let empty = SystemTime { name, object, calls: zero, own_ns: zero, inclusive_ns: zero };
    let one = functions.entry(key).or_insert(empty);
    for (all, more) in [
        (&mut one.calls, count.inclusive),
        (&mut one.own_ns, time.own),
        (&mut one.inclusive_ns, time.inclusive),
    ] {
        let sum = side_of(all, side);
        *sum = sum.saturating_add(more);
    }
}

fn side_of(change: &mut CostChange, side: usize) -> &mut u64 {
    if side == 0 { &mut change.before } else { &mut change.after }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callgrind::{Limits, read};

    #[test]
    fn own_and_inclusive_time_of_each_function_on_both_sides() {
        let text = |ns: u64| {
            format!(
                "events: Ir sysCount sysTime sysCpuTime\nob=p\nfl=p.c\nfn=write\n9 5 2 900 {ns}\n\
                 fn=main\n1 10\ncfn=write\ncalls=2 9\n2 5 2 900 {ns}\n"
            )
        };
        let read = |text: &str| read(text.as_bytes(), Limits::default()).unwrap();
        let (total, found) = times([&read(&text(700)), &read(&text(800))]).unwrap();
        assert_eq!(total, CostChange { before: 700, after: 800 });
        let of = |name: &str| found.iter().find(|one| one.name == name).unwrap();
        assert_eq!(of("main").own_ns, CostChange::default());
        assert_eq!(of("main").inclusive_ns, total);
        assert_eq!(of("write").own_ns, total);
        assert_eq!(of("write").calls, CostChange { before: 2, after: 2 });
        let without = read("events: Ir\nfn=main\n1 10\n");
        assert_eq!(times([&without, &read(&text(1))]).unwrap(), (CostChange::default(), vec![]));
    }
}
