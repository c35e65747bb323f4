//! Profiles out of a store.

use crate::commands::chains::stored;
use crate::suggest::did_you_mean;
use anyhow::{Result, bail};
use chronoscope_model::ClassName;
use chronoscope_model::Load;
use chronoscope_query::PathLoads;
use chronoscope_query::StoreLocation;
use chronoscope_store::Damage;
use chronoscope_track::profile::{Path, Period, Profile};
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

const DAY_NS: i64 = 86_400_000_000_000;
/// Bins of a profile: more would be a mistake in the time range.
const BINS_MAX: i64 = 1_000_000;
/// Periods of a growth.
const PERIODS_MAX: i64 = 4000;

/// Loads in a store over a span of time.
pub(super) struct Stored {
    /// The span's beginning, UTC ns since 1970.
    pub(super) start_ns: i64,
    pub(super) profile: Profile,
    pub(super) paths: Vec<Path>,
    pub(super) hosts: Vec<String>,
    pub(super) damage: Vec<Damage>,
}

impl Stored {
    /// Reads the loads of a time range. Without bounds the span is that of the stored rows.
    pub(super) fn read(source: &StoreLocation, range: &Range<i64>, bin: Duration) -> Result<Self> {
        let minutes = i64::try_from(bin.as_secs() / 60)?.max(1);
        let bin_ns = minutes * 60_000_000_000;
        let (loads, damage) = stored(source, |view| view.loads(range, bin))?;
        let bins = || loads.iter().flat_map(|path| path.bins.keys().copied());
        let (first, last) = (bins().min().unwrap_or(0), bins().max().unwrap_or(0));
        // A given end counts, also where nothing happened: rates are by time.
        let floor = |ns: i64| ns.div_euclid(bin_ns) * bin_ns;
        let start_ns = if range.start == i64::MIN { first } else { floor(range.start).min(first) };
        let end_ns = match range.end {
            i64::MAX => last + bin_ns,
            end => floor(end.saturating_add(bin_ns - 1)).max(last + bin_ns),
        };
        let bin_count = (end_ns - start_ns) / bin_ns;
        if bin_count > BINS_MAX {
            bail!("{bin_count} bins are too many: give a shorter time, or longer bins (--bin)");
        }
        let number = |at_ns: i64| usize::try_from((at_ns - start_ns) / bin_ns).unwrap_or(0);
        let mut profile = Profile {
            bin_s: u64::try_from(minutes)? * 60,
            bin_count: usize::try_from(bin_count)?,
            classes: BTreeMap::new(),
        };
        let paths: Vec<Path> = loads.iter().map(|loads| path(loads, number)).collect();
        for path in &paths {
            let Some(class) = path.classes.last() else { continue };
            let bins = profile.classes.entry(class.clone()).or_default();
            path.bins.iter().for_each(|(bin, load)| bins.entry(*bin).or_default().add(load));
        }
        let mut hosts: Vec<_> = loads.into_iter().map(|path| path.host).collect();
        hosts.sort();
        hosts.dedup();
        Ok(Self { start_ns, profile, paths, hosts, damage })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.profile.classes.is_empty()
    }

    /// The end of the span, UTC ns since 1970.
    pub(super) fn end_ns(&self) -> i64 {
        let span_ns = self.profile.span_s().saturating_mul(1_000_000_000);
        self.start_ns.saturating_add_unsigned(span_ns)
    }

    /// The class of this name, with its application or without.
    pub(super) fn class_named(&self, name: &str) -> Result<String> {
        let all = || self.paths.iter().flat_map(|path| &path.classes);
        if all().any(|class| class == name) {
            return Ok(name.to_owned());
        }
        let mut found: Vec<&String> =
            all().filter(|class| class.rsplit_once("::").is_some_and(|(_, c)| c == name)).collect();
        found.sort();
        found.dedup();
        match found[..] {
            [one] => Ok(one.clone()),
            [] => {
                let known = all().filter_map(|class| class.split_once("::"));
                let known = known.map(|(application, class)| ClassName {
                    application: application.to_owned(),
                    class: class.to_owned(),
                });
                let meant = did_you_mean(name, &known.collect::<Vec<_>>());
                bail!(
                    "no transaction of {name} in that time.{meant} (chronoscope classes lists them)"
                )
            }
            _ => bail!("several applications have a class {name}: name one of {found:?}"),
        }
    }
}

fn path(loads: &PathLoads, number: impl Fn(i64) -> usize) -> Path {
    Path {
        classes: loads.path.iter().map(ToString::to_string).collect(),
        host: loads.host.clone(),
        bins: loads.bins.iter().map(|(at_ns, load)| (number(*at_ns), *load)).collect(),
    }
}

/// Whole periods of a time range, from midnight UTC on, out of the sketches: no row is read.
pub(super) fn periods(
    source: &StoreLocation,
    range: &Range<i64>,
    period_s: u64,
) -> Result<(Vec<Period>, Vec<Damage>)> {
    let period_ns = i64::try_from(period_s)? * 1_000_000_000;
    let days = |ns: i64| ns.div_euclid(DAY_NS) * DAY_NS;
    let extent = if range.start == i64::MIN || range.end == i64::MAX {
        stored(source, |view| view.extent())?
    } else {
        Some(range.clone())
    };
    let Some(extent) = extent else { return Ok((Vec::new(), Vec::new())) };
    // A given bound is taken to be a whole day; otherwise the first and the last day may be
    // incomplete.
    let first = match range.start {
        i64::MIN => days(extent.start) + DAY_NS,
        start => days(start.saturating_add(DAY_NS - 1)),
    };
    let end = if range.end == i64::MAX { days(extent.end - 1) } else { days(range.end) };
    let count = ((end - first) / period_ns).min(PERIODS_MAX);
    let (mut periods, mut damage) = (Vec::new(), Vec::new());
    for number in 0..count.max(0) {
        let start_ns = first + number * period_ns;
        let (classes, broken) =
            stored(source, |view| view.classes(&(start_ns..start_ns + period_ns)))?;
        damage.extend(broken);
        let load = |class: &chronoscope_query::ClassStatistics| Load {
            count: class.elapsed.count(),
            elapsed_ns: u64::try_from(class.elapsed.sum()).unwrap_or(u64::MAX),
            cpu_ns: class.cpu_ns,
            own_cpu_ns: 0, // sketches do not know it
        };
        let classes = classes.iter().map(|(name, class)| (name.to_string(), load(class))).collect();
        periods.push(Period { start_ns, classes });
    }
    Ok((periods, damage))
}
