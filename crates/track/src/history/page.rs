//! Histories as a page: one HTML file with nothing to fetch and no script.

use chronoscope_figures::svg;
use chronoscope_figures::theme::{self, Colour, Palette};
use std::fmt::Write;

use super::chart::{self, PANEL, WIDTH, day, panel, percent, way};
use super::series::{Histories, HistoryHeader, Series};
use crate::counters::Method;
use crate::report::figure;
use crate::xml::escaped;

/// The page: what there is, then a picture, the steps and all values of each process.
pub fn html(histories: &Histories) -> String {
    let mut page = String::new();
    // Writing into a string cannot fail.
    let _ = write_page(&mut page, histories);
    page
}

fn write_page(page: &mut String, histories: &Histories) -> std::fmt::Result {
    let figure = histories.series.first().map_or("no figure", |series| &series.figure);
    let suite = histories.of.as_ref().map_or("no runs", |head| &head.suite);
    let title = escaped(&format!("{suite}: {figure}"));
    writeln!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>{title}</h1>",
        style()
    )?;
    if let Some(head) = &histories.of {
        writeln!(page, "<p>{}</p>", escaped(&measured_on(head)))?;
    }
    if histories.left_out > 0 {
        let n = histories.left_out;
        writeln!(page, "<p>Left out: {n} runs of another machine, method or suite.</p>")?;
    }
    overview(page, histories)?;
    for series in &histories.series {
        section(page, series)?;
    }
    writeln!(page, "</body>\n</html>")
}

fn measured_on(head: &HistoryHeader) -> String {
    let system = &head.system;
    let method = match &head.method {
        Method::Hardware => "Counted by the processor".to_owned(),
        Method::Callgrind { because } => format!("Counted by Callgrind ({because})"),
    };
    let (machine, cpu, cpus, kernel) = (&system.machine, &system.cpu, system.cpus, &system.kernel);
    format!("{method} on {machine}: {cpu}, {cpus} processors, Linux {kernel}.")
}

/// A row for each process: where it is now, and what moved it last.
fn overview(page: &mut String, histories: &Histories) -> std::fmt::Result {
    writeln!(
        page,
        "<table>\n<thead><tr><th>process</th><th>runs</th><th>last</th><th>since the first</th>\
         <th>last step</th><th>by</th></tr></thead>\n<tbody>"
    )?;
    for series in &histories.series {
        let name = escaped(&series.name());
        let (first, last) = (series.points.first(), series.points.last());
        let value = last.map_or(String::new(), |last| figure(&series.figure, last.value));
        let since = match (first, last) {
            (Some(first), Some(last)) if first.value > 0.0 => {
                percent(last.value / first.value - 1.0)
            }
            _ => String::new(),
        };
        let step = match series.changes.last() {
            Some(step) => format!(
                "<td class=\"{} number\">{}</td><td>{}</td>",
                way(step),
                percent(step.change),
                escaped(&step.title)
            ),
            None => "<td class=\"number\">none</td><td></td>".to_owned(),
        };
        writeln!(
            page,
            "<tr><td><a href=\"#{name}\">{name}</a></td><td class=\"number\">{}</td>\
             <td class=\"number\">{value}</td><td class=\"number\">{since}</td>{step}</tr>",
            series.points.len()
        )?;
    }
    writeln!(page, "</tbody>\n</table>")
}

fn section(page: &mut String, series: &Series) -> std::fmt::Result {
    let name = escaped(&series.name());
    let mut picture = svg::inline(&chart::title(series), WIDTH, PANEL);
    picture.extend(panel(series));
    writeln!(page, "<section id=\"{name}\">\n<h2>{name}</h2>\n{picture}")?;
    let floor = percent(series.floor);
    let floor = floor.trim_start_matches('+');
    let noise = series.noise.map(|noise| {
        let usual = percent(noise);
        format!(" A value is usually {} from its level.", usual.trim_start_matches('+'))
    });
    let noise = noise.unwrap_or_default();
    if series.changes.is_empty() {
        writeln!(page, "<p>No step of more than {floor}.{noise}</p>")?;
    } else {
        writeln!(page, "<p>Steps of more than {floor}:{noise}</p>")?;
        steps(page, series)?;
    }
    values(page, series)?;
    writeln!(page, "</section>")
}

fn steps(page: &mut String, series: &Series) -> std::fmt::Result {
    writeln!(
        page,
        "<table>\n<thead><tr><th></th><th>step</th><th>before</th><th>after</th><th>commit</th>\
         <th>run</th></tr></thead>\n<tbody>"
    )?;
    for (index, step) in series.changes.iter().enumerate() {
        let [before, after] = [step.before, step.after].map(|level| figure(&series.figure, level));
        writeln!(
            page,
            "<tr><td class=\"number\">{}.</td><td class=\"{} number\">{}</td>\
             <td class=\"number\">{before}</td><td class=\"number\">{after}</td>\
             <td>{}</td><td>{}</td></tr>",
            index + 1,
            way(step),
            percent(step.change),
            escaped(&step.title),
            escaped(&step.run)
        )?;
    }
    writeln!(page, "</tbody>\n</table>")
}

/// Table of all values: an accessible alternative to the picture.
fn values(page: &mut String, series: &Series) -> std::fmt::Result {
    writeln!(
        page,
        "<details>\n<summary>All {} values</summary>\n<table>\n<thead><tr><th>day (UTC)</th>\
         <th>{}</th><th>commit</th><th>run</th></tr></thead>\n<tbody>",
        series.points.len(),
        escaped(&series.figure)
    )?;
    for point in series.points.iter().rev() {
        writeln!(
            page,
            "<tr><td>{}</td><td class=\"number\">{}</td><td>{}</td><td>{}</td></tr>",
            day(point.started_ns),
            figure(&series.figure, point.value),
            escaped(&point.title),
            escaped(&point.run)
        )?;
    }
    writeln!(page, "</tbody>\n</table>\n</details>")
}

fn style() -> String {
    let rules = |palette: &Palette| {
        let Palette { paper, ink, soft, grid, more, less, .. } = palette;
        let link = palette.of(Colour::Series(0));
        format!(
            "body{{background:{paper};color:{ink}}}th,summary{{color:{soft}}}\
             th,td{{border-bottom:1px solid {grid}}}a{{color:{link}}}\
             td.more{{color:{more}}}td.less{{color:{less}}}"
        )
    };
    let (colours, pictures) = (theme::by_system(rules), chart::style());
    format!(
        ":root{{color-scheme:light dark}}\
         body{{font:15px/1.5 sans-serif;max-width:70rem;margin:0 auto;padding:1rem}}\
         svg{{width:100%;height:auto;font:12px sans-serif}}\
         table{{border-collapse:collapse;display:block;overflow-x:auto}}\
         th,td{{padding:.2rem .8rem .2rem 0;text-align:left;white-space:nowrap}}\
         .number{{text-align:right;font-variant-numeric:tabular-nums}}\
         {colours}{pictures}"
    )
}
