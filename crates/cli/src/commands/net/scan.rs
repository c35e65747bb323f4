//! `chronoscope net scan`: what all hosts' interfaces counted, again and again.

use super::collection::Collection;
use super::{group_text, grouping};
use crate::args::net::Scan;
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::screen::{progress, show};
use crate::text::{self, Table};
use anyhow::{Context, Result, ensure};
use chronoscope_clock as clock;
use chronoscope_formats::json;
use chronoscope_net::counters::Counters;
use chronoscope_net::group_load::{GroupLoad, Speeds, by_group};
use chronoscope_net::groups::Groups;
use chronoscope_net::rows::Outcome;
use chronoscope_net::scan::hosts::{self, By, Target};
use chronoscope_net::scan::scanner::{Options, Scanned, Scanner};
use chronoscope_net::table::{Observation, Overview};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::time::Duration;

/// Largest number of names in one line on stderr.
const NAMES_MAX: usize = 8;
/// net-snmp shows the same counters for so long.
const RENEWED_AFTER: Duration = Duration::from_secs(3);

/// Runs the command.
pub(crate) fn scan(args: &Scan) -> Result<Exit> {
    let interrupt = Interrupt::install()?;
    let targets = read_hosts(args)?;
    let groups = grouping::of_targets(&args.groups, &targets)?;
    let agents = targets.iter().filter(|target| target.by == By::Agent).count();
    let mut scanner = Scanner::new(&targets, Options { timeout: args.timeout })
        .context("cannot send requests from this host")?;
    ensure!(
        !scanner.is_empty(),
        "{} names no host to scan: {agents} hosts deliver their counters themselves (by=agent)",
        args.hosts
    );
    if agents > 0 {
        say!(
            "{agents} hosts by=agent are not asked: their agents deliver what they count, and \
             `chronoscope net table` shows it"
        );
    }
    let collection = Collection::begin(&args.data)?;
    let mut report = Report { groups, ..Report::default() };
    let scanned = scans(args, &interrupt, &mut scanner, &mut report);
    // Scans before an error are stored, too.
    collection.end()?;
    scanned?;
    progress("");
    if !args.json {
        show(&report.words(args))?;
    }
    Ok(if report.hosts.is_empty() { Exit::Nothing } else { Exit::Done })
}

/// Scans until there are enough, or it is interrupted.
fn scans(
    args: &Scan,
    interrupt: &Interrupt,
    scanner: &mut Scanner,
    report: &mut Report,
) -> Result<()> {
    let every_ns = u64::try_from(args.every.as_nanos()).unwrap_or(u64::MAX).max(1);
    let mut due_ns = clock::monotonic_ns();
    for number in 0.. {
        if interrupt.is_set() || args.count.is_some_and(|count| number > count) {
            break;
        }
        let (start_ns, start_utc_ns) = (clock::monotonic_ns(), clock::utc_now_ns());
        let scanned = scanner.scan().context("the scan ended early")?;
        let took_ns = clock::monotonic_ns().saturating_sub(start_ns);
        scanned.iter().for_each(|scanned| scanned.row.record());
        if args.json {
            let hosts = scanned.iter().map(|one| host(one, &report.groups, args.interfaces));
            let scan = document(number, start_utc_ns, took_ns, hosts.collect());
            show(&format!("{}\n", json::document("scan", scan)))?;
        }
        report.take(number, took_ns, &scanned);
        if args.count.is_some_and(|count| number >= count) {
            break;
        }
        due_ns = due_ns.saturating_add(every_ns);
        let now_ns = clock::monotonic_ns();
        if due_ns < now_ns {
            // Missed starts are skipped, so that later scans keep their schedule.
            let missed = (now_ns - due_ns).div_ceil(every_ns);
            due_ns = due_ns.saturating_add(missed.saturating_mul(every_ns));
            report.missed += missed;
        }
        interrupt.sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns)));
    }
    Ok(())
}

/// The hosts that the command line names.
fn read_hosts(args: &Scan) -> Result<Vec<Target>> {
    let name = &args.hosts;
    let is_file = Path::new(name).exists();
    let text = if hosts::is_network(name) && !is_file {
        name.clone()
    } else if name == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("cannot read the hosts from stdin")?;
        text
    } else {
        std::fs::read_to_string(name)
            .with_context(|| format!("{name} is not a file of hosts, and not a network"))?
    };
    let targets = hosts::read_with(&text, &args.community).with_context(|| name.clone())?;
    ensure!(!targets.is_empty(), "{name} names no host");
    let has_passwords = |target: &Target| matches!(target.by, By::Snmp3 { auth: Some(_), .. });
    if targets.iter().any(has_passwords) && is_file && is_read_by_others(name) {
        say!("{name} has passwords and other users may read it: run chmod 600 {name}");
    }
    Ok(targets)
}

fn is_read_by_others(name: &str) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(name).is_ok_and(|file| file.permissions().mode() & 0o044 != 0)
}

/// Sums over all scans.
#[derive(Default)]
struct Report {
    groups: Groups,
    speeds: Speeds,
    hosts: BTreeMap<String, Sum>,
    /// Hosts that failed in the last scan, with the reason.
    troubles: BTreeMap<String, String>,
    missed: u64,
}

/// Counters of one host, or of one of its interfaces.
#[derive(Default)]
struct Sum {
    counters: Counters,
    interval_ns: u64,
    restarts: u64,
    interfaces: BTreeMap<String, Counters>,
}

impl Report {
    fn take(&mut self, number: u64, took_ns: u64, scanned: &[Scanned]) {
        let before = std::mem::take(&mut self.troubles);
        let (mut answered, mut silent, mut refused) = (0, 0, 0);
        for Scanned { row, step } in scanned {
            match &row.outcome {
                Outcome::First | Outcome::Counted { .. } => answered += 1,
                Outcome::NoAnswer => {
                    silent += 1;
                    self.troubles.insert(row.host.clone(), "silent".to_owned());
                }
                Outcome::NotUnderstood(why) => {
                    refused += 1;
                    self.troubles.insert(row.host.clone(), why.clone());
                }
            }
            if matches!(row.outcome, Outcome::First) {
                self.hosts.entry(row.host.clone()).or_default();
            }
            if let Some(bits_per_s) = row.bits_per_s {
                self.speeds.insert(row.host.clone(), bits_per_s);
            }
            let Some(step) = step else { continue };
            let sum = self.hosts.entry(row.host.clone()).or_default();
            sum.counters += step.counters;
            sum.interval_ns = sum.interval_ns.saturating_add(step.interval_ns);
            sum.restarts += u64::from(step.restarted);
            for (name, counters) in &step.interfaces {
                *sum.interfaces.entry(name.clone()).or_default() += *counters;
            }
        }
        let took = text::duration(took_ns as f64);
        let line = format!(
            "scan {number}: {answered} answered, {silent} silent, {refused} refused, {took}"
        );
        match crate::environment::stderr_is_terminal() {
            true => progress(&line),
            false => say!("{line}"),
        }
        self.say_changes(&before);
    }

    /// Reports hosts that stopped or resumed answering, each once.
    fn say_changes(&self, before: &BTreeMap<String, String>) {
        let new = self.troubles.iter().filter(|(host, why)| before.get(*host) != Some(why));
        let mut by_why: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        new.for_each(|(host, why)| by_why.entry(why).or_default().push(host));
        let again = before.keys().filter(|host| !self.troubles.contains_key(*host));
        let again: Vec<&str> = again.map(String::as_str).collect();
        if !again.is_empty() {
            by_why.insert("answers again", again);
        }
        for (why, hosts) in by_why {
            progress("");
            say!("  {}: {why}", names(&hosts));
        }
    }

    /// The list at the end.
    fn words(&self, args: &Scan) -> String {
        let mut table = Table::new(&[
            "host",
            "in packets",
            "out packets",
            "in bytes",
            "out bytes",
            "errors",
            "drops",
            "bytes/s",
            "",
        ]);
        for (host, sum) in &self.hosts {
            let restarts = if sum.restarts > 0 { "at least" } else { "" };
            table.row(cells(host, &sum.counters, sum.interval_ns, restarts));
            for (name, counters) in sum.interfaces.iter().filter(|_| args.interfaces) {
                table.row(cells(&format!("  {name}"), counters, sum.interval_ns, ""));
            }
        }
        let mut words = if self.hosts.is_empty() { String::new() } else { table.to_string() };
        if let Some(groups) = group_text::table(&self.by_group()) {
            words += &format!("\n{groups}");
        }
        for (host, why) in &self.troubles {
            words += &format!("{host}: {why}\n");
        }
        let moved = |sum: &Sum| sum.interval_ns == 0 || sum.counters != Counters::default();
        let still = self.hosts.values().filter(|sum| !moved(sum)).count();
        if still > 0 && args.every.saturating_mul(narrow(args.count)) < RENEWED_AFTER {
            words += &format!(
                "{still} hosts counted nothing: net-snmp renews what it shows every 3 s \
                 (docs/net-scan.md says how to change that)\n"
            );
        }
        if self.missed > 0 {
            words += &format!(
                "{} scans were left out, as the one before was not over: --every {:?} is too short \
                 for --timeout {:?}\n",
                self.missed, args.every, args.timeout
            );
        }
        words
    }
}

impl Report {
    /// Load of each group; empty without groups.
    fn by_group(&self) -> Vec<GroupLoad> {
        if self.groups.is_empty() && self.groups.capacity(None).is_none() {
            return Vec::new();
        }
        let observation = |(host, sum): (&String, &Sum)| Observation {
            host: host.clone(),
            start_ns: 0,
            interval_ns: sum.interval_ns,
            counters: sum.counters,
            restarted: sum.restarts > 0,
        };
        let overview = Overview::new(&self.hosts.iter().map(observation).collect::<Vec<_>>());
        by_group(&overview, &self.groups, &self.speeds)
    }
}

fn narrow(count: Option<u64>) -> u32 {
    u32::try_from(count.unwrap_or(u64::MAX)).unwrap_or(u32::MAX)
}

fn cells(name: &str, counters: &Counters, interval_ns: u64, restarts: &str) -> Vec<String> {
    let bytes = counters.in_bytes.saturating_add(counters.out_bytes);
    let speed = match interval_ns {
        0 => "–".to_owned(),
        ns => format!("{:.0}", bytes as f64 / (ns as f64 / 1e9)),
    };
    let mut cells = vec![name.to_owned()];
    cells.extend(
        [
            counters.in_packets,
            counters.out_packets,
            counters.in_bytes,
            counters.out_bytes,
            counters.in_errors.saturating_add(counters.out_errors),
            counters.in_drops.saturating_add(counters.out_drops),
        ]
        .map(text::count),
    );
    cells.extend([speed, restarts.to_owned()]);
    cells
}

/// Some names, and how many more.
fn names(hosts: &[&str]) -> String {
    let shown = hosts.iter().take(NAMES_MAX).copied().collect::<Vec<_>>().join(", ");
    match hosts.len().saturating_sub(NAMES_MAX) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// One scan as JSON.
fn document(number: u64, start_ns: i64, took_ns: u64, hosts: Vec<Value>) -> Value {
    json!({ "number": number, "start_ns": start_ns, "took_ns": took_ns, "hosts": hosts })
}

fn host(Scanned { row, step }: &Scanned, groups: &Groups, interfaces: bool) -> Value {
    let (outcome, why) = match &row.outcome {
        Outcome::Counted { .. } => ("counted", None),
        Outcome::First => ("first", None),
        Outcome::NoAnswer => ("silent", None),
        Outcome::NotUnderstood(why) => ("refused", Some(why)),
    };
    let mut host = json!({
        "host": row.host,
        "by": row.by,
        "outcome": outcome,
        "start_ns": row.start_ns,
        "elapsed_ns": row.elapsed_ns,
    });
    if let Some(why) = why {
        host["why"] = json!(why);
    }
    if let Some(group) = groups.of(&row.host) {
        host["group"] = json!(group);
    }
    if let Some(bits_per_s) = row.bits_per_s {
        host["bits_per_s"] = json!(bits_per_s);
    }
    if let Some(step) = step {
        host["interval_ns"] = json!(step.interval_ns);
        host["counters"] = json!(step.counters);
        host["restarted"] = json!(step.restarted);
        if interfaces {
            let each = step.interfaces.iter();
            let each = each.map(|(name, counters)| json!({ "name": name, "counters": counters }));
            host["interfaces"] = each.collect();
        }
    }
    host
}
