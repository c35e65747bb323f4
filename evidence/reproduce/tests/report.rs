//! The report of outcomes that are written here: valid, complete, and nothing to fetch.

use chronoscope_published::coverage::{Coverage, CoverageCheck};
use chronoscope_published::{Figure, Judge, Published, PublishedItem, Whose};
use chronoscope_reproduce::coverage::CommandOutcome;
use chronoscope_reproduce::coverage::result::CheckResult;
use chronoscope_reproduce::outcome::{ItemResults, Machine, Outcome, VERSION, Verdict};
use chronoscope_reproduce::picture::{Axis, Chart, Flow, Image, Mark, Picture, Series, Style};
use chronoscope_reproduce::plan::PLAN;
use chronoscope_reproduce::report::Report;
use quick_xml::Reader;
use quick_xml::events::Event;

fn outcome(experiment: &str, found: Vec<ItemResults>, failure: Option<&str>) -> Outcome {
    Outcome {
        version: VERSION,
        experiment: experiment.to_owned(),
        key: "quick;".to_owned(),
        commit: "0123456789ab".to_owned(),
        quick: true,
        scale: "30 s of 10 min".to_owned(),
        machine: Machine {
            cpu: "A <fast> processor".to_owned(),
            cpus: 2,
            memory_mb: 4096,
            kernel: "6.18".to_owned(),
        },
        load: [0.5, 1.5],
        began_utc_ns: 1_795_418_025_000_000_000,
        took_s: 61.0,
        commands: vec!["chronoscope chains --json 'a & b'".to_owned()],
        failure: failure.map(str::to_owned),
        found,
    }
}

fn outcomes() -> Vec<Outcome> {
    let mut heavy = ItemResults::new("phoenix.image13");
    heavy.figure("mean_ms", 7.25).note("one display").beside("limit", 5.0);
    heavy.own("99 % within", "ms", 67.8);
    heavy.table("ours", &["step", "ms"], vec![vec!["<redraw>".into(), 1.5.into()]]);
    heavy.pictures.push(Picture::Chart(Chart {
        title: "chains".to_owned(),
        x: Axis::new("ms"),
        y: Axis::log("chains"),
        series: vec![Series::new("", Style::Bars(1.0), [(1.0, 5.0), (2.0, 50.0)])],
        marks: vec![Mark { upright: true, at: 1.5, label: "limit".to_owned() }],
    }));
    heavy.pictures.push(Picture::Flow(Flow {
        title: "steps".to_owned(),
        columns: vec![
            ("MRTS".to_owned(), vec![("decode & more".to_owned(), "5 × 3 µs".to_owned())]),
            ("MSG".to_owned(), vec![("update".to_owned(), String::new())]),
        ],
        arrows: vec![([0, 0], [1, 0], "TCP".to_owned())],
    }));
    heavy.pictures.push(Picture::Image(Image {
        title: "display".to_owned(),
        media: "image/png".to_owned(),
        data: "iVBORw0KGgo=".to_owned(),
    }));
    let mut peaks = ItemResults::new("phoenix.image14");
    peaks.figure("peak_ms", 5000.0);
    peaks.figure("recheck_s", 40.0);
    peaks.figure("near_to_elsewhere", 3.0);
    heavy.figure("slower", 7.6);
    vec![
        outcome("phoenix-heavy", vec![heavy, peaks], None),
        outcome("etfms-day", Vec::new(), Some("day: exit status: 1: no space left")),
    ]
}

#[test]
fn every_item_of_every_document_is_in_it() {
    let published = Published::read().unwrap();
    let outcomes = outcomes();
    let report = Report::new(&published, PLAN, &outcomes, 0);
    let page = report.html();
    for (name, _) in published.items() {
        assert!(page.contains(&format!("<section id=\"{name}\">")), "{name}");
    }
    let verdict = |name: &str| {
        let entry = report.entries().find(|entry| entry.name == name).unwrap();
        (entry.verdict, entry.why.clone())
    };
    assert_eq!(verdict("phoenix.image13").0, Verdict::Confirmed);
    let (peaks, why) = verdict("phoenix.image14");
    assert_eq!(
        (peaks, why.as_str()),
        (Verdict::Differs, "not so: the display leaves MPA mode every")
    );
    assert!(verdict("etfms.replay").1.contains("no space left"));
    assert!(verdict("csts.asn1").1.contains("--only csts-series"));
    assert!(verdict("etfms.trajectories").1.contains("no figure in them"));
    let counted: usize = report.counts().iter().map(|(_, count)| count).sum();
    assert_eq!(counted, published.items().count());
}

#[test]
fn an_item_that_no_experiment_yields_is_missing_by_itself() {
    let published = Published::read().unwrap();
    let report = Report::new(&published, &[], &[], 0);
    let missing = report.entries().filter(|entry| entry.verdict == Verdict::Missing).count();
    assert_eq!(missing, published.items().count());
    assert!(report.html().contains("No experiment yields it."));
}

/// Well formed as XML too, which a parser of HTML would not say.
#[test]
fn the_page_is_well_formed_and_fetches_nothing() {
    let published = Published::read().unwrap();
    let outcomes = outcomes();
    let page = Report::new(&published, PLAN, &outcomes, 0).html();
    let mut reader = Reader::from_str(&page);
    let mut sections = 0;
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => break,
            Ok(Event::Start(tag) | Event::Empty(tag)) => {
                let name = tag.name().as_ref().to_owned();
                assert!(!["script", "link", "iframe", "object"].contains(&name.as_str()), "{name}");
                sections += usize::from(name == "section");
                for attribute in tag.attributes() {
                    let attribute = attribute.unwrap();
                    let (key, value) = (attribute.key.as_ref(), &attribute.value);
                    assert!(!value.contains("://"), "{name}: {value}");
                    if key == "src" || key == "href" {
                        assert!(value.starts_with('#') || value.starts_with("data:"), "{value}");
                    }
                }
            }
            Ok(_) => {}
            Err(error) => panic!("at {}: {error}", reader.buffer_position()),
        }
    }
    assert_eq!(sections, published.items().count());
    assert!(!page.contains("url(") && !page.contains("@import"));
    assert!(page.contains("A &lt;fast&gt; processor") && page.contains("'a &amp; b'"));
}

#[test]
fn figures_are_the_same_for_programs() {
    let published = Published::read().unwrap();
    let outcomes = outcomes();
    let folder = tempfile::tempdir().unwrap();
    let page = Report::new(&published, PLAN, &outcomes, 0).write(folder.path()).unwrap();
    assert!(page.ends_with("index.html"));
    let text = std::fs::read_to_string(folder.path().join("figures.json")).unwrap();
    let figures: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(figures["version"], 2);
    let items = figures["documents"][0]["items"].as_array().unwrap();
    let heavy = items.iter().find(|item| item["id"] == "phoenix.image13").unwrap();
    let rows = heavy["figures"].as_array().unwrap();
    let mean = rows.iter().find(|row| row["id"] == "mean_ms").unwrap();
    assert_eq!((&mean["published"], &mean["ours"]), (&1048.43.into(), &7.25.into()));
    assert_eq!(
        (&mean["verdict"], &mean["beside"]["value"]),
        (&"not_comparable".into(), &5.0.into())
    );
    assert!(mean["not_comparable"].as_str().unwrap().contains("another machine"));
    assert_eq!(rows.last().unwrap()["what"], "99 % within");
}

/// A value that the figure accepts, and one beyond what it accepts.
fn right_and_wrong(figure: &Figure) -> [f64; 2] {
    let [from, to] = figure.value.bounds();
    let beyond = to.abs() * figure.tolerance.unwrap_or(0.1) + to.abs() * 1e-6 + 1e-9;
    match figure.judge {
        Judge::AtMost => [to, to + beyond],
        Judge::AtLeast => [from, from - beyond],
        Judge::Near | Judge::None => [f64::midpoint(from, to), to + beyond],
    }
}

/// Every judged figure decides: with all of them right the item is confirmed (by an aim of ours alone
/// it is not), and with any one wrong it differs.
#[test]
fn each_judged_figure_fails_its_item_when_it_is_wrong() {
    let mut judged_figures = 0;
    for (name, item) in Published::read().unwrap().items() {
        let judged: Vec<&Figure> = item.figures.iter().filter(|one| one.is_judged()).collect();
        let results = |wrong: Option<&Figure>| {
            let mut found = ItemResults::new(&name);
            for figure in &judged {
                let is_wrong = wrong.is_some_and(|wrong| wrong.id == figure.id);
                found.figure(&figure.id, right_and_wrong(figure)[usize::from(is_wrong)]);
            }
            found.verdict(item).0
        };
        if judged.is_empty() {
            continue;
        }
        let own_alone = judged.iter().all(|figure| figure.whose == Whose::Aim);
        let right = results(None);
        assert_eq!(right == Verdict::Confirmed, !own_alone, "{name}: {right:?}");
        for figure in &judged {
            assert_eq!(results(Some(figure)), Verdict::Differs, "{name}: {}", figure.id);
            judged_figures += 1;
        }
    }
    assert!(judged_figures > 30, "{judged_figures} figures can fail");
}

/// An item that claims nothing is not confirmed by what it shows.
#[test]
fn content_without_a_judged_figure_is_never_confirmed() {
    let is_judged = |item: &PublishedItem| item.figures.iter().any(Figure::is_judged);
    for (name, item) in Published::read().unwrap().items().filter(|(_, item)| !is_judged(item)) {
        let mut found = ItemResults::new(&name);
        for figure in &item.figures {
            found.figure(&figure.id, figure.value.bounds()[0]);
        }
        found.table("ours", &["a"], vec![vec![1.0.into()]]);
        let (verdict, _) = found.verdict(item);
        assert!(matches!(verdict, Verdict::Shown | Verdict::NotComparable), "{name}: {verdict:?}");
    }
}

/// A figure that is judged has to be measured by somebody: its name stands in an experiment.
#[test]
fn every_judged_figure_is_named_by_an_experiment() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/experiments");
    let mut source = String::new();
    let mut folders = vec![folder];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                source += &std::fs::read_to_string(path).unwrap();
            }
        }
    }
    for (name, item) in Published::read().unwrap().items() {
        for figure in item.figures.iter().filter(|figure| figure.judge != Judge::None) {
            assert!(source.contains(&format!("\"{}\"", figure.id)), "{name}: {}", figure.id);
        }
    }
}

/// A table with a row of each kind of check.
const TABLE: &str = r#"
row = [
  { id = "phoenix-a", document = "phoenix", place = "section 9", what = "a <mean>", where = "x", state = "works", check = { item = "phoenix.image13", figure = "mean_ms" } },
  { id = "phoenix-b", document = "phoenix", place = "section 9", what = "peaks", where = "x", state = "works", check = { item = "phoenix.image14" } },
  { id = "phoenix-c", document = "phoenix", place = "section 9", what = "length", where = "x", state = "works", check = { item = "phoenix.image13", figure = "duration_min" } },
  { id = "csts-a", document = "csts", place = "slide 20", what = "shares", where = "x", state = "works", check = { item = "csts.asn1" } },
  { id = "csts-b", document = "csts", place = "slide 5", what = "good", where = "x", state = "works", check = { command = "sle-user --help" } },
  { id = "csts-c", document = "csts", place = "slide 5", what = "bad", where = "x", state = "part", lacking = "all", check = { command = "sle-user --version" } },
  { id = "csts-d", document = "csts", place = "slide 5", what = "other", where = "x", state = "works", check = { command = "sle-user --check" } },
  { id = "csts-e", document = "csts", place = "slide 5", what = "tested", where = "x", state = "works", check = { test = { crate = "chronoscope-sle", file = "systems/sle/tests/link.rs", name = "x" } } },
  { id = "csts-f", document = "csts", place = "slide 5", what = "nothing", state = "not", lacking = "all of it" },
]
"#;

fn command(id: &str, line: &str, fault: Option<&str>) -> CommandOutcome {
    CommandOutcome {
        id: id.to_owned(),
        line: line.to_owned(),
        exit: Some(0),
        output: String::new(),
        took_s: 0.1,
        fault: fault.map(str::to_owned),
    }
}

#[test]
fn each_row_of_the_coverage_has_the_outcome_of_its_check() {
    let published = Published::read().unwrap();
    let (outcomes, coverage) = (outcomes(), Coverage::parse(TABLE, &published).unwrap());
    let commands = [
        command("csts-b", "sle-user --help", None),
        command("csts-c", "sle-user --version", Some("it ended with 2, not with 0")),
        // Of a command that the table does not have any more.
        command("csts-d", "sle-user --old", None),
    ];
    let report = Report::new(&published, PLAN, &outcomes, 0).with_coverage(&coverage, &commands);
    let found: Vec<_> =
        report.coverage.iter().map(|one| (one.row.id.as_str(), one.checked)).collect();
    let expected = [
        ("phoenix-a", CheckResult::Holds), // not comparable, and there
        ("phoenix-b", CheckResult::Fails), // it differs
        ("phoenix-c", CheckResult::Fails), // measured, and this figure is not there
        ("csts-a", CheckResult::NotRun),   // no experiment ran
        ("csts-b", CheckResult::Holds),
        ("csts-c", CheckResult::Fails),
        ("csts-d", CheckResult::NotRun),
        ("csts-e", CheckResult::ByMakeTest),
        ("csts-f", CheckResult::NotRun),
    ];
    assert_eq!(found, expected);
    let text = report.coverage_text();
    assert!(text.contains("9 rows: 7 works, 1 in part, 1 not"), "{text}");
    assert!(text.contains("2 holds, 3 does not hold, 1 by make test, 3 not run"), "{text}");
    assert!(text.contains("phoenix-b: differs: not so") && !text.contains("csts-c"), "{text}");
    let figures = report.figures();
    assert_eq!(figures["coverage"]["rows"][1]["checked"], "fails");
    assert_eq!(figures["coverage"]["counts"][0]["rows"], 7);
    let page = report.html();
    assert!(page.contains("<h2 id=\"coverage\">") && page.contains("a &lt;mean&gt;"));
    assert!(page.contains("in part: all") && page.contains("not: all of it"));
}

/// The whole table is shown, without outcomes too.
#[test]
fn the_whole_coverage_is_in_the_report() {
    let published = Published::read().unwrap();
    let coverage = Coverage::read(&published).unwrap();
    let report = Report::new(&published, PLAN, &[], 0).with_coverage(&coverage, &[]);
    let page = report.html();
    for line in coverage.rows.iter().filter_map(|row| row.check.as_ref()).map(CoverageCheck::line) {
        let shown = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(page.contains(&shown), "{line}");
    }
    assert!(
        report
            .coverage
            .iter()
            .all(|one| one.checked != CheckResult::Fails || one.words.contains("windows"))
    );
}
