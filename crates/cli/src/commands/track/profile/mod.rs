//! `chronoscope track profile`: profile of a system by class of transaction.

mod output;
mod picture;
mod stored;

use crate::args::track::profile::{By, Profile as Args};
use crate::commands::chains::range as range_of;
use crate::exit::Exit;
use crate::screen::show;
use crate::times::Zone;
use crate::usage::Usage;
use anyhow::{Context, Result, bail};
use chronoscope_formats::json;
use chronoscope_query::StoreLocation;
use chronoscope_store::Damage;
use chronoscope_track::profile::{Profile, capacity, compare, growth};
use picture::Picture;
use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;
use stored::Stored;

const MINUTE: Duration = Duration::from_mins(1);
/// Beyond this span bins are longer.
const LONG_NS: i64 = 2 * 86_400_000_000_000;

/// Runs the command.
pub(crate) fn profile(args: &Args) -> Result<Exit> {
    let zone = Zone::new(args.span.utc);
    let source = args.data.source()?;
    let range = range_of(&args.span, &zone)?;
    if args.growth {
        return grown(args, &source, &range, &zone);
    }
    if !args.capacity.is_empty() {
        return needed(args, &source, &range, &zone);
    }
    let base_source = args.against.as_deref().map(StoreLocation::open).transpose();
    let base_source = base_source.map_err(|error| Usage::new(format!("--against: {error}")))?;
    let base_range = base_range(args, &zone)?;
    let own = Stored::read(&source, &range, bin(args, &range))?;
    damage(&own.damage);
    if own.is_empty() {
        say!("no transactions in {source} in that time");
        return Ok(Exit::Nothing);
    }
    let Some(base_range) = base_range.or(base_source.as_ref().map(|_| i64::MIN..i64::MAX)) else {
        return alone(args, &own, &zone);
    };
    let base_source = base_source.unwrap_or(source);
    let base = Stored::read(&base_source, &base_range, bin(args, &base_range))?;
    damage(&base.damage);
    if base.is_empty() {
        say!("no transactions in {base_source} in that time");
        return Ok(Exit::Nothing);
    }
    let found = compare(&base.profile, &own.profile, args.false_alarms / 100.0, args.floor);
    if args.json {
        let part = output::comparison_json(&found, &base, &own);
        show(&format!("{:#}\n", json::document("comparison", part)))?;
    } else {
        show(&output::comparison(&found, &base, &own, &zone, args))?;
    }
    draw(args, || Picture::of_comparison(&found, args.top))?;
    let differs = found.classes.iter().any(|class| class.differs());
    Ok(if args.check && differs { Exit::CheckFailed } else { Exit::Done })
}

fn alone(args: &Args, own: &Stored, zone: &Zone) -> Result<Exit> {
    // A profile against itself: its figures stand on both sides.
    let found = compare(&own.profile, &own.profile, args.false_alarms / 100.0, args.floor);
    if args.json {
        show(&format!("{:#}\n", json::document("profile", output::profile_json(&found, own))))?;
    } else {
        show(&output::profile(&found, own, zone, args.top))?;
    }
    draw(args, || Picture::of_profile(&found, args.top))?;
    Ok(Exit::Done)
}

fn grown(args: &Args, source: &StoreLocation, range: &Range<i64>, zone: &Zone) -> Result<Exit> {
    let period_s = match args.by {
        By::Week => 7 * 86_400,
        By::Day => 86_400,
    };
    let (periods, broken) = stored::periods(source, range, period_s)?;
    damage(&broken);
    if periods.is_empty() {
        say!("no whole period in {source} in that time (--by day takes shorter ones)");
        return Ok(Exit::Nothing);
    }
    let found = growth(&periods, period_s);
    if args.json {
        let part = output::growth_json(&found, &periods, period_s);
        show(&format!("{:#}\n", json::document("growth", part)))?;
    } else {
        show(&output::growth(&found, &periods, period_s, zone, args.top))?;
    }
    draw(args, || Picture::of_growth(&found, &periods, period_s, zone))?;
    Ok(Exit::Done)
}

fn needed(args: &Args, source: &StoreLocation, range: &Range<i64>, zone: &Zone) -> Result<Exit> {
    let own = Stored::read(source, range, bin(args, range))?;
    damage(&own.damage);
    if own.is_empty() {
        say!("no transactions in {source} in that time");
        return Ok(Exit::Nothing);
    }
    let mut factors = BTreeMap::new();
    for (class, factor) in &args.capacity {
        factors.insert(own.class_named(class)?, *factor);
    }
    let Profile { bin_s, bin_count, .. } = own.profile;
    let (all, hosts) = capacity(&own.paths, &factors, bin_s, bin_count);
    if args.json {
        let part = output::capacity_json(&factors, all, &hosts, &own);
        show(&format!("{:#}\n", json::document("capacity", part)))?;
    } else {
        show(&output::capacity(&factors, all, &hosts, &own, zone))?;
    }
    draw(args, || Picture::of_capacity(all, &hosts, args.top))?;
    Ok(Exit::Done)
}

/// The time range of the base, where one is given.
fn base_range(args: &Args, zone: &Zone) -> Result<Option<Range<i64>>> {
    if args.against_from.is_none() && args.against_until.is_none() {
        return Ok(None);
    }
    let now_ns = chronoscope_clock::utc_now_ns();
    let given = [args.against_from.as_deref(), args.against_until.as_deref()];
    Ok(Some(zone.range_of(["--against-from", "--against-until"], given, now_ns)?))
}

fn bin(args: &Args, range: &Range<i64>) -> Duration {
    let long = range.end.saturating_sub(range.start) > LONG_NS && range.start != i64::MIN;
    args.bin.unwrap_or(if long { 10 * MINUTE } else { MINUTE })
}

fn damage(damage: &[Damage]) {
    damage.iter().for_each(|damage| say!("damaged: {damage}"));
}

fn draw(args: &Args, picture: impl FnOnce() -> Picture) -> Result<()> {
    if args.svg.is_none() && args.png.is_none() {
        return Ok(());
    }
    let picture = picture();
    if picture.is_empty() {
        bail!("there is nothing to draw");
    }
    if let Some(path) = &args.svg {
        picture.write_svg(path).with_context(|| format!("draw {}", path.display()))?;
    }
    if let Some(path) = &args.png {
        picture.write_png(path).with_context(|| format!("draw {}", path.display()))?;
    }
    Ok(())
}
