//! Tables of an evaluation's page: what reports say, errors within limits, dubious tracks.

use super::dubious::Dubious;
use super::figures::Details;
use std::fmt::Write as _;

/// A number, or a dash where there is none.
pub(super) fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

/// What reports say beside the position.
pub(super) fn contents(details: &Details) -> String {
    let mut out = "<h2>What reports say</h2><p>Of aircraft whose true value is known.</p><table><tr>\
                   <th>item<th>reports<th>present<th>correct<th>wrong<th>correct within the interval"
        .to_owned();
    for c in &details.contents {
        let _ = write!(
            out,
            "<tr><td>{}<td>{}<td>{}<td>{}<td>{}<td>{}",
            c.item,
            c.reports,
            number(c.present, 4),
            number(c.correct, 4),
            number(c.wrong, 5),
            number(c.correct_in_time, 4)
        );
    }
    out + "</table>"
}

/// Shares of reports within limits.
pub(super) fn within(details: &Details) -> String {
    let mut out = "<h2>Errors within limits</h2><table><tr><th>error<th>within<th>reports<th>share"
        .to_owned();
    for w in &details.within {
        let share = number(w.share, 4);
        let _ =
            write!(out, "<tr><td>{}<td>{} {}<td>{}<td>{share}", w.what, w.limit, w.unit, w.reports);
    }
    out + "</table>"
}

/// Tracks that are dubious by themselves.
pub(super) fn strange(found: &Dubious) -> String {
    let mut out = format!(
        "<h2>Dubious tracks</h2><p>{} of {} tracks, by themselves: {} too short, {} with nothing but \
         positions, {} moving as no aircraft does.</p>",
        found.dubious_tracks,
        found.tracks,
        found.short_tracks,
        found.primary_only_tracks,
        found.moving_tracks
    );
    if found.list.is_empty() {
        return out;
    }
    out += "<table><tr><th>track<th>first, UTC s<th>s<th>updates<th>moving so<th>why";
    for track in &found.list {
        let why = [(track.short, "short"), (track.primary_only, "positions alone")];
        let why: Vec<&str> = why.iter().filter(|(is_so, _)| *is_so).map(|(_, why)| *why).collect();
        let _ = write!(
            out,
            "<tr><td>{}<td>{:.1}<td>{:.0}<td>{}<td>{}<td>{}",
            track.number,
            track.first_s,
            track.seconds,
            track.updates,
            track.moving_updates,
            why.join(", ")
        );
    }
    out + "</table>"
}
