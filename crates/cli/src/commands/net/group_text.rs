//! Table of the load by groups of hosts.

use super::cells::{share_text, short, shown};
use chronoscope_net::group_load::GroupLoad;
use chronoscope_net::table::Measure;
use std::fmt::Write;

/// One line for each group; `None` where there is none.
pub(super) fn table(groups: &[GroupLoad]) -> Option<String> {
    if groups.is_empty() {
        return None;
    }
    let rest = if groups.len() == 1 { "all" } else { "others" };
    let names: Vec<String> = groups.iter().map(|group| name(group, rest)).collect();
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(8);
    let mut text = format!(
        "By group\n{:<width$} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>5} {:>6} {:>8} {:>5}\n",
        "(hosts)", "in", "%", "out", "%", "in", "%", "out", "%", "actual", "capacity", "of it"
    );
    let _ = writeln!(
        text,
        "{:<width$} {:>11} {:>11} {:>11} {:>11} {:>6} {:>8} {:>5}",
        "", "packets", "packets", "bytes", "bytes", "B/s", "bit/s", "%"
    );
    for (group, name) in groups.iter().zip(names) {
        let _ = write!(text, "{name:<width$}");
        for (measure, share) in Measure::COUNTED.iter().zip(group.share_percent) {
            let value = short(measure.of(&group.counters) as f64);
            let _ = write!(text, " {value:>5} {:>5}", share_text(share));
        }
        let capacity = group.capacity_bits_per_s.map_or("-".to_owned(), short);
        let percent = share_text(group.capacity_percent);
        let _ = writeln!(text, " {:>6} {capacity:>8} {percent:>5}", short(group.actual_speed));
    }
    text += "Actual: half of what the group's hosts send and receive, as both count what they\n\
             send each other. Twice as much where they talk to others\n";
    Some(text)
}

/// A group's name and number of hosts; `rest` are the hosts without a group.
fn name(group: &GroupLoad, rest: &str) -> String {
    let name = group.group.as_deref().map_or(rest.to_owned(), shown);
    format!("{name} ({})", group.hosts.len())
}
