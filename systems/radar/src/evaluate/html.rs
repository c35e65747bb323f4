//! An evaluation as one HTML file that needs nothing else: tables, and maps as SVG.

use super::coverage::{BAND_NAMES, CoverageSource};
use super::dubious::Dubious;
use super::figures::{Details, Figures, MapCell, REPORTS_MIN, Target};
use super::html_tables::{contents, number, strange, within};
use super::requirement::Finding;
use super::verdict::Verdict;
use chronoscope_escape::xml;
use std::fmt::Write as _;

/// Side of a cell on a map, pixels.
const CELL_PX: i32 = 12;
/// A map is cut to so many cells a side, around its middle; its caption says how many are outside.
const CELLS_MAX: i32 = 120;

const STYLE: &str = "body{font:14px/1.4 sans-serif;margin:2em;max-width:75em;color:#222}\
table{border-collapse:collapse;margin:.5em 0 1.5em}th,td{padding:.2em .7em;border-bottom:1px solid \
#ccc;text-align:right}th:first-child,td:first-child{text-align:left}th{background:#f0f2f4}\
.bad{color:#b00020;font-weight:bold}figure{display:inline-block;margin:0 1.5em 1em 0;vertical-align:\
top}figcaption{margin-bottom:.3em}svg{background:#f7f8f9;border:1px solid #ccc}";

/// What an evaluation is of.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Where the tracks are from.
    pub tracks: &'a str,
    /// What they are compared with.
    pub reference: &'a str,
    /// Area and levels, where only a part counts.
    pub part: &'a str,
    /// What is not counted at the beginning, s.
    pub skip_s: f64,
    /// Longest time between two updates of a track, s, where updates are counted.
    pub interval_s: Option<f64>,
    /// Time of the first and the last report of a track, seconds since the UTC epoch, where there is one.
    pub span_utc_s: Option<(f64, f64)>,
}

impl Subject<'_> {
    /// The time that is evaluated, and how.
    fn conditions(&self) -> String {
        let mut text = match self.span_utc_s {
            Some((from_s, to_s)) => format!(
                "Reports of {} to {} UTC ({:.0} s); the first {} s are not counted.",
                instant(from_s),
                instant(to_s),
                to_s - from_s,
                self.skip_s
            ),
            None => "There is no report of a track.".to_owned(),
        };
        if let Some(interval_s) = self.interval_s {
            let _ = write!(text, " A track has to be updated within {interval_s} s.");
        }
        text
    }
}

/// Seconds since the UTC epoch as time of day.
fn instant(utc_s: f64) -> String {
    #[allow(clippy::cast_possible_truncation, reason = "of one day")]
    let of_day = utc_s.rem_euclid(86_400.0) as u32;
    format!("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60)
}

/// The page.
#[must_use]
pub fn page(
    subject: Subject<'_>,
    verdict: Option<(&Verdict, &[Finding])>,
    details: &Details,
    dubious: &Dubious,
) -> String {
    let mut out = format!(
        "<!DOCTYPE html><html lang=\"en\"><meta charset=\"utf-8\"><title>Evaluation of tracks</title>\
         <style>{STYLE}</style><h1>Evaluation of tracks</h1><p>Tracks of {}, compared with {}. \
         {}</p><p>{}</p>",
        xml(subject.tracks),
        xml(subject.reference),
        xml(subject.part),
        xml(&subject.conditions())
    );
    if let Some((verdict, findings)) = verdict {
        out += &requirements(findings);
        out += &characteristics(Some(verdict), details);
    } else {
        out += &characteristics(None, details);
    }
    out += &contents(details);
    out += &within(details);
    out += &strange(dubious);
    out += &bands(details);
    out += &maps(details);
    out += &targets(details);
    out + "</html>\n"
}

fn requirements(findings: &[Finding]) -> String {
    let mut out = "<h2>Requirements</h2><table><tr><th>requirement<th>source<th>limit<th>found<th>\
                   holds"
        .to_owned();
    for finding in findings {
        let sign = if finding.least { "≥" } else { "≤" };
        let holds = if finding.holds { "yes" } else { "<span class=\"bad\">no</span>" };
        let found = number(finding.found, 4);
        let _ = write!(
            out,
            "<tr><td>{}<td>{}<td>{sign} {}<td>{found}<td>{holds}",
            finding.what, finding.source, finding.limit
        );
    }
    out + "</table>"
}

/// The figures by the names that EUROCONTROL-SPEC-0147 (ESASSP) has for them.
fn characteristics(verdict: Option<&Verdict>, d: &Details) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    let mut row = |what, value| rows.push((what, value));
    if let Some(v) = verdict {
        row("probability of update of horizontal position", number(v.detection, 4));
        row("ratio of missed position in long gaps (more than 24 s)", number(v.long_gaps, 5));
    }
    let all = &d.all;
    row("share of the time with a track", number(all.tracked, 4));
    let covered = match d.coverage {
        CoverageSource::Unknown => None,
        CoverageSource::Tracks => Some("the same in cells in which there ever was a track"),
        CoverageSource::Plots => Some("the same where the sensors see"),
    };
    if let Some(covered) = covered {
        row(covered, number(all.tracked_where_covered, 4));
        row("target samples elsewhere (not counted in it)", d.without_coverage.to_string());
    } else {
        row("where the sensors see", "not known: give --plots".to_owned());
    }
    row("horizontal position RMS error, m", number(all.rms_m, 0));
    row("the same of the worst target, m", number(d.rms_m_of_worst_target, 0));
    row("along the course, m", number(all.along_rms_m, 0));
    row("across the course, m", number(all.across_rms_m, 0));
    row(
        "ratio of reports in three or more consecutive errors above 926 m",
        number(d.reports_in_runs_above_926_m, 5),
    );
    row("the same above 555 m", number(d.reports_in_runs_above_555_m, 5));
    row("track velocity RMS error, m/s", number(d.speed_rms_m_s, 1));
    row("track velocity angle RMS error, °", number(d.course_rms_deg, 1));
    row("rate of climb RMS error, ft/min", number(d.climb_rms_ft_min, 0));
    row("behind along the course, mean, s", number(d.position_latency_s_mean, 3));
    if let Some(v) = verdict {
        row("pressure altitude RMS error, ft", number(v.level_rms_ft, 0));
        row("reports of tracks that follow nobody, share", number(v.extra_reports, 5));
        row("false tracks an hour", number(v.false_tracks_per_h, 1));
        row("lost tracks an hour", number(v.lost_tracks_per_h, 1));
        row("swaps", v.swaps.to_string());
        row("time to initiation, mean, s", number(v.initiation_s_mean, 1));
    }
    row("continuity: targets with one number and no gap", number(d.continuous, 4));
    row("track numbers of a target, mean", number(d.numbers_per_target, 2));
    let l = d.latency_s;
    row("latency of reports, mean, s", number(l.mean, 2));
    row("latency, median and 95 %, s", format!("{}, {}", number(l.median, 2), number(l.p95, 2)));
    let mut out = "<h2>Characteristics</h2><table>".to_owned();
    for (what, value) in rows {
        let _ = write!(out, "<tr><td>{what}<td>{value}");
    }
    out + "</table>"
}

const HEAD: &str = "<th>samples<th>with a track<th>where covered<th>reports<th>RMS, m<th>along, \
m<th>across, m";

fn figures(f: &Figures) -> String {
    format!(
        "<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}<td>{}",
        f.samples,
        number(f.tracked, 4),
        number(f.tracked_where_covered, 4),
        f.reports,
        number(f.rms_m, 0),
        number(f.along_rms_m, 0),
        number(f.across_rms_m, 0)
    )
}

fn bands(details: &Details) -> String {
    let mut out = format!("<h2>By level</h2><table><tr><th>level{HEAD}");
    for band in &details.bands {
        let _ = write!(out, "<tr><td>{}{}", band.name, figures(&band.figures));
    }
    out + "</table>"
}

fn targets(details: &Details) -> String {
    let mut out = format!(
        "<h2>By target</h2><table><tr><th>target{HEAD}<th>greatest, m<th>to a track, s<th>gaps<th>\
         longest gap, s<th>numbers"
    );
    let mut all: Vec<&Target> = details.targets.iter().collect();
    // The worst first; those without enough reports last.
    let rank = |t: &Target| t.figures.rms_m.filter(|_| t.figures.reports >= REPORTS_MIN);
    all.sort_by(|a, b| rank(b).unwrap_or(-1.0).total_cmp(&rank(a).unwrap_or(-1.0)));
    for t in all {
        let _ = write!(
            out,
            "<tr><td>{}{}<td>{}<td>{}<td>{}<td>{:.0}<td>{}",
            xml(&t.name),
            figures(&t.figures),
            number(t.error_m_max, 0),
            number(t.initiation_s, 1),
            t.gaps,
            t.gap_s_max,
            t.numbers
        );
    }
    out + "</table>"
}

/// Red for 0, green for 1.
fn colour(good: f64) -> String {
    let good = good.clamp(0.0, 1.0);
    format!("hsl({:.0} 70% {:.0}%)", 120.0 * good, 55.0 - 15.0 * good)
}

fn maps(details: &Details) -> String {
    let mut out =
        "<h2>Maps</h2><p>Cells of 10 NM, north up; the cross is the origin of the plane.</p>"
            .to_owned();
    for (band, name) in BAND_NAMES.iter().enumerate() {
        let cells: Vec<&MapCell> = details.cells.iter().filter(|c| c.band == band).collect();
        if cells.is_empty() {
            continue;
        }
        let share = |c: &MapCell| {
            let share = c.figures.tracked?;
            // From 0.8, below which it is bad in any case.
            Some(((share - 0.8) / 0.2, format!("{:.1} % with a track", 100.0 * share)))
        };
        let rms = |c: &MapCell| {
            let rms_m = c.figures.rms_m?;
            Some((1.0 - rms_m / 500.0, format!("{rms_m:.0} m RMS")))
        };
        out +=
            &map(&format!("{name}: share of the time with a track, 80 % to 100 %"), &cells, share);
        out += &map(&format!("{name}: horizontal RMS error, 500 m to 0"), &cells, rms);
    }
    out
}

fn map(
    caption: &str,
    cells: &[&MapCell],
    value: impl Fn(&MapCell) -> Option<(f64, String)>,
) -> String {
    let middle = |of: fn(&MapCell) -> i32| {
        let mut all: Vec<i32> = cells.iter().map(|cell| of(cell)).collect();
        all.sort_unstable();
        all[all.len() / 2]
    };
    let (x, y) = (middle(|c| c.column), middle(|c| c.row));
    let near =
        |c: &&&MapCell| (c.column - x).abs() < CELLS_MAX / 2 && (c.row - y).abs() < CELLS_MAX / 2;
    let shown: Vec<&&MapCell> = cells.iter().filter(near).collect();
    let caption = match cells.len() - shown.len() {
        0 => caption.to_owned(),
        cut => format!("{caption}; {cut} of {} cells are too far away to be shown", cells.len()),
    };
    let ends = |of: fn(&MapCell) -> i32| {
        let all = shown.iter().map(|cell| of(cell));
        (all.clone().min().unwrap_or(0), all.max().unwrap_or(0))
    };
    let ((west, east), (south, north)) = (ends(|c| c.column), ends(|c| c.row));
    let (width, height) = ((east - west + 1) * CELL_PX, (north - south + 1) * CELL_PX);
    let mut out = format!(
        "<figure><figcaption>{caption}</figcaption><svg width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"{caption}\">"
    );
    for cell in shown {
        let Some((good, title)) = value(cell) else { continue };
        let _ = write!(
            out,
            "<rect x=\"{}\" y=\"{}\" width=\"{CELL_PX}\" height=\"{CELL_PX}\" fill=\"{}\"><title>{title} \
             ({} samples, {} reports)</title></rect>",
            (cell.column - west) * CELL_PX,
            (north - cell.row) * CELL_PX,
            colour(good),
            cell.figures.samples,
            cell.figures.reports
        );
    }
    let (x, y) = (-west * CELL_PX, (north + 1) * CELL_PX);
    let _ = write!(out, "<path d=\"M{} {y}h12M{x} {}v12\" stroke=\"#222\"/>", x - 6, y - 6);
    out + "</svg></figure>"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject<'static> {
        Subject {
            tracks: "a<b.pcap",
            reference: "the truth",
            part: "",
            skip_s: 40.0,
            interval_s: Some(8.0),
            span_utc_s: Some((86_400.0 + 3_661.0, 86_400.0 + 7_261.0)),
        }
    }

    #[test]
    fn what_is_not_shown_and_not_counted_is_said() {
        let cell = |column| MapCell {
            column,
            row: 0,
            band: 2,
            figures: Figures { samples: 10, tracked: Some(1.0), ..Figures::default() },
        };
        let of = |columns: &[i32]| {
            let cells = columns.iter().map(|column| cell(*column)).collect();
            let details = Details { cells, ..Details::default() };
            page(subject(), None, &details, &Dubious::default())
        };
        let whole = of(&[-50, 0, 50]);
        assert!(!whole.contains("too far away"), "{whole}");
        assert!(whole.contains("Reports of 01:01:01 to 02:01:01 UTC (3600 s)"), "{whole}");
        assert!(whole.contains("the first 40 s are not counted"), "{whole}");
        assert!(whole.contains("updated within 8 s"), "{whole}");
        let cut = of(&[-70, 0, 0, 70]);
        assert!(cut.contains("; 2 of 4 cells are too far away to be shown"), "{cut}");
    }

    #[test]
    fn the_page_is_whole_and_needs_nothing_else() {
        let cell = |column, row, tracked| MapCell {
            column,
            row,
            band: 2,
            figures: Figures { samples: 10, tracked: Some(tracked), ..Figures::default() },
        };
        let details =
            Details { cells: vec![cell(-1, 2, 1.0), cell(0, 0, 0.7)], ..Details::default() };
        let subject = subject();
        let dubious = Dubious { tracks: 3, dubious_tracks: 2, ..Dubious::default() };
        let page = page(subject, None, &details, &dubious);
        assert!(page.contains("2 of 3 tracks, by themselves"), "{page}");
        assert!(page.contains("a&lt;b.pcap") && page.ends_with("</html>\n"), "{page}");
        for outside in ["http", "src=", "href=", "<script"] {
            assert!(!page.contains(outside), "{outside}");
        }
        // The first cell at the upper left of 2 × 3 cells, the second at the lower right.
        assert!(page.contains("width=\"24\" height=\"36\""), "{page}");
        assert!(page.contains("x=\"0\" y=\"0\"") && page.contains("x=\"12\" y=\"24\""), "{page}");
        assert!(page.contains("70.0 % with a track") && page.contains("hsl(0 "), "{page}");
    }
}
