//! An evaluation as text for a terminal.

use super::coverage::CoverageSource;
use super::dubious::Dubious;
use super::figures::Details;
use super::tracks::{Difference, Residuals};
use super::versus::Evaluation;

/// A number, or a dash where there is none.
fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.digits$}"))
}

/// The totals of tracks against the truth, and the requirements.
#[must_use]
pub fn evaluation(evaluation: &Evaluation) -> String {
    let verdict = &evaluation.verdict;
    let mut text = format!(
        "{} aircraft, {:.0} s, {} reports\n",
        verdict.aircraft, verdict.seconds, verdict.reports
    );
    let mut line = |what: &str, value: String| text += &format!("{what:<44} {value:>10}\n");
    line("updated within the interval, share", number(verdict.detection, 4));
    line("extrapolated updates (none of these)", verdict.extrapolated.to_string());
    line("  their horizontal RMS, m", number(verdict.extrapolated_rms_m, 0));
    line("in gaps of more than 24 s, share", number(verdict.long_gaps, 5));
    line("horizontal RMS, m", number(verdict.rms_m, 0));
    line("  in straight flight, m", number(verdict.rms_straight_m, 0));
    line("  in turns, m", number(verdict.rms_turn_m, 0));
    line("greatest horizontal error, m", number(verdict.error_m_max, 0));
    line("level RMS, ft", number(verdict.level_rms_ft, 0));
    line("reports of tracks that follow nobody, share", number(verdict.extra_reports, 5));
    line("false tracks an hour", number(verdict.false_tracks_per_h, 1));
    line("lost tracks an hour", number(verdict.lost_tracks_per_h, 1));
    line("swaps", verdict.swaps.to_string());
    line("new numbers for old aircraft", verdict.renumbered.to_string());
    line("duplicates, share", number(verdict.duplicates, 5));
    line("time to initiation, mean, s", number(verdict.initiation_s_mean, 1));
    line("time to initiation, longest, s", number(verdict.initiation_s_max, 1));
    text += "\nstandard                 requirement             limit      found\n";
    for finding in &evaluation.requirement {
        text += &format!(
            "{:<24} {:<15} {} {:>9} {:>10} {}\n",
            finding.source,
            finding.what,
            if finding.least { ">=" } else { "<=" },
            finding.limit,
            number(finding.found, 4),
            if finding.holds { "  holds" } else { "  does not hold" }
        );
    }
    text
}

/// The figures beside the totals; targets and cells are for `--html` and `--json`.
#[must_use]
pub fn details(details: &Details) -> String {
    let mut text = "\nwith a track, share".to_owned();
    text +=
        &format!("{:>25}{:>12}{:>12}{:>12}\n", "where covered", "RMS, m", "along, m", "across, m");
    let rows = details.bands.iter().map(|band| (band.name, &band.figures));
    for (name, figures) in rows.chain([("all", &details.all)]) {
        text += &format!(
            "{name:<16} {:>11} {:>16} {:>11} {:>11} {:>11}\n",
            number(figures.tracked, 4),
            number(figures.tracked_where_covered, 4),
            number(figures.rms_m, 0),
            number(figures.along_rms_m, 0),
            number(figures.across_rms_m, 0)
        );
    }
    let latency = details.latency_s;
    text += &format!(
        "{} of {} samples where no sensor sees{}; latency {} s, 95 % {} s; {} of {} targets with one \
         number and no gap (share)\n",
        details.without_coverage,
        details.all.samples,
        match details.coverage {
            CoverageSource::Plots => "",
            CoverageSource::Tracks => " (where there never was a track; --plots tells better)",
            CoverageSource::Unknown => " (not known: give --plots)",
        },
        number(latency.mean, 2),
        number(latency.p95, 2),
        number(details.continuous, 4),
        details.targets_followed
    );
    text + &contents(details) + &within(details)
}

/// What reports say beside the position, where the reference knows it.
fn contents(details: &Details) -> String {
    let mut text = format!(
        "\n{:<10} {:>9} {:>9} {:>9} {:>9} {:>18}\n",
        "said", "reports", "present", "correct", "wrong", "correct in time"
    );
    for content in &details.contents {
        text += &format!(
            "{:<10} {:>9} {:>9} {:>9} {:>9} {:>18}\n",
            content.item,
            content.reports,
            number(content.present, 4),
            number(content.correct, 4),
            number(content.wrong, 5),
            number(content.correct_in_time, 4)
        );
    }
    text
}

/// Shares of reports within limits.
fn within(details: &Details) -> String {
    let mut text = format!("\n{:<10} {:>16} {:>9} {:>9}\n", "error", "within", "reports", "share");
    for one in &details.within {
        let limit = format!("{} {}", one.limit, one.unit);
        let share = number(one.share, 4);
        text += &format!("{:<10} {limit:>16} {:>9} {share:>9}\n", one.what, one.reports);
    }
    text
}

/// Tracks that are dubious by themselves; which they are is in `--html` and `--json`.
#[must_use]
pub fn dubious(found: &Dubious) -> String {
    format!(
        "\n{} of {} tracks dubious by themselves: {} too short, {} with nothing but positions, {} moving \
         as no aircraft does (updates: {} too fast, {} too accelerated, {} turning, {} climbing)\n",
        found.dubious_tracks,
        found.tracks,
        found.short_tracks,
        found.primary_only_tracks,
        found.moving_tracks,
        found.fast_updates,
        found.accelerating_updates,
        found.turning_updates,
        found.climbing_updates
    )
}

/// The differences between two trackers.
#[must_use]
pub fn residuals(residuals: &Residuals) -> String {
    let mut text = format!(
        "{} reports compared: {} by address, {} by Mode A, {} by place; {} without a reference, {} \
         of {} reference reports without a track where the sensors see, {} where they do not\n{:<16} {:>9} {:>10} {:>10} {:>10}\n",
        residuals.reports,
        residuals.by_address,
        residuals.by_mode_a,
        residuals.by_place,
        residuals.unmatched,
        residuals.missing,
        residuals.reference,
        residuals.without_coverage,
        "ours less theirs",
        "count",
        "bias",
        "sigma",
        "greatest"
    );
    let mut line = |what: &str, found: &Difference| {
        text += &format!(
            "{what:<16} {:>9} {:>10.1} {:>10.1} {:>10.1}\n",
            found.count, found.mean, found.sigma, found.max
        );
    };
    line("east, m", &residuals.east_m);
    line("north, m", &residuals.north_m);
    line("along, m", &residuals.along_m);
    line("to the right, m", &residuals.across_m);
    line("level, ft", &residuals.level_ft);
    text
}
