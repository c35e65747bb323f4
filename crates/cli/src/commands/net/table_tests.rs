//! The published tables as input: the tests compare shares and layout.

use super::table_text::page;
use super::tables::{Tables, over_time};
use crate::args::net::Table;
use crate::args::{StoreArgs, net::Net};
use crate::times::Zone;
use chronoscope_net::activity::Activity;
use chronoscope_net::counters::Counters;
use chronoscope_net::rows::{Outcome, ScanRow};
use clap::Parser;

const SECOND: i64 = 1_000_000_000;
/// 2026-11-21T12:00:00Z.
const NOON: i64 = 1_795_262_400 * SECOND;

#[derive(Parser)]
struct Line {
    #[command(subcommand)]
    net: Net,
}

fn args(words: &[&str]) -> Table {
    let line = Line::parse_from(["net", "table"].iter().chain(words));
    let Net::Table(args) = line.net else { panic!("{words:?}") };
    let StoreArgs { data, store } = &args.data;
    assert!(data.is_none() && store.is_none());
    args
}

fn counted(host: &str, end_s: i64, interval_s: i64, advance: Counters) -> ScanRow {
    let outcome = Outcome::Counted {
        interval_ns: u64::try_from(interval_s * SECOND).unwrap(),
        advance,
        restarted: false,
    };
    let (host, by) = (host.to_owned(), "snmp".to_owned());
    ScanRow { host, by, start_ns: NOON + end_s * SECOND, elapsed_ns: 0, outcome, bits_per_s: None }
}

fn tables(rows: &[ScanRow], args: &Table) -> Tables {
    let mut activity = Activity::new(over_time(args.measure), NOON, None);
    rows.iter().for_each(|row| activity.add(row));
    Tables {
        overview: activity.overview(),
        picture: activity.picture(super::table_text::INTERVALS),
        silent: super::table::silent(&activity),
        measure: args.measure,
        threshold_percent: args.threshold,
        groups: super::grouping::listed(&args.groups).unwrap(),
        speeds: super::tables::speeds(&activity),
    }
}

fn printed(rows: &[ScanRow], words: &[&str]) -> String {
    let args = args(words);
    page(&args, &tables(rows, &args), &Zone::new(true))
}

/// Table 1 of the paper: host, packets in and out, and the shares that are printed beside them.
///
/// Two figures are misprints. fsPCR's output packets are printed as 227,239, where 22,739 is what
/// 58.11 % of the output is. Its input packets are printed as 22,739, too, where the shares of all
/// other hosts say that 53.30 % of the input is 23,844.
const TABLE_1: [(&str, u64, f64, u64, f64); 6] = [
    ("aldev5", 5431, 12.14, 5096, 13.02),
    ("cons11", 1568, 3.51, 1673, 4.27),
    ("cons14", 3107, 6.95, 2928, 7.48),
    ("fsPCR", 23_844, 53.30, 22_739, 58.11),
    ("pipcr1", 2192, 4.90, 2033, 5.19),
    ("rfsba3", 2263, 5.06, 2060, 5.26),
];

/// Packets of all forty hosts, by the shares of the six.
const TOTAL_1: (u64, u64) = (44_736, 39_134);

fn table_1() -> Vec<ScanRow> {
    let packets = |host: &str, in_packets, out_packets| {
        let advance = Counters { in_packets, out_packets, ..Counters::default() };
        counted(host, 4450, 4450, advance)
    };
    let mut rows: Vec<_> = TABLE_1.iter().map(|(host, i, _, o, _)| packets(host, *i, *o)).collect();
    let [known_in, known_out] =
        [TABLE_1.iter().map(|row| row.1).sum::<u64>(), TABLE_1.iter().map(|row| row.3).sum()];
    let (mut left_in, mut left_out) = (TOTAL_1.0 - known_in, TOTAL_1.1 - known_out);
    for number in (1..=34u64).rev() {
        let (in_packets, out_packets) = (left_in / number, left_out / number);
        rows.push(packets(&format!("other{number}"), in_packets, out_packets));
        (left_in, left_out) = (left_in - in_packets, left_out - out_packets);
    }
    rows
}

#[test]
fn the_published_shares_of_the_load() {
    let args = args(&["--measure", "packets"]);
    let tables = tables(&table_1(), &args);
    let active = tables.active();
    assert_eq!(active.len(), TABLE_1.len(), "the other 34 are below 1.5 %");
    for (line, (host, _, in_percent, _, out_percent)) in active.iter().zip(TABLE_1) {
        assert_eq!(line.host, host);
        for (share, published) in line.share_percent.iter().zip([in_percent, out_percent]) {
            let share = share.unwrap();
            assert!((share - published).abs() <= 0.01, "{host}: {share} and {published}");
        }
    }
    let text = page(&args_active(), &tables, &Zone::new(true));
    assert_eq!(text, include_str!("golden/table-1.txt"));
}

fn args_active() -> Table {
    args(&["--active", "--measure", "packets", "--bars", "x"])
}

/// Table 2 of the paper: activity in percent by scan; 0 stands for a dot.
const TABLE_2: [(&str, [f64; 9]); 9] = [
    ("aldev5", [10.9, 22.5, 22.5, 33.4, 22.7, 32.7, 7.1, 4.8, 6.5]),
    ("aldis1", [0.0; 9]),
    ("aldis2", [1.4, 10.7, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]),
    ("colsep", [0.0; 9]),
    ("cons11", [2.8, 6.2, 6.6, 7.5, 5.8, 8.4, 1.9, 5.8, 1.7]),
    ("cons14", [42.9, 3.8, 2.6, 1.3, 20.3, 3.5, 2.5, 0.0, 2.7]),
    ("fsPCR", [35.0, 29.6, 47.8, 35.6, 28.2, 31.8, 83.6, 54.2, 84.8]),
    ("pipcr1", [4.0, 9.8, 10.1, 10.6, 9.9, 13.7, 2.5, 2.3, 2.5]),
    ("rfsba3", [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 26.2, 0.0]),
];

#[test]
fn the_published_activity_over_time() {
    let mut rows = Vec::new();
    for scan in 0..9 {
        let mut left = 100_000;
        let mut add = |host: &str, in_bytes: u64| {
            let end_s = 360 * (i64::try_from(scan).unwrap() + 1);
            rows.push(counted(host, end_s, 360, Counters { in_bytes, ..Counters::default() }));
        };
        for (host, shares) in TABLE_2 {
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let value = (shares[scan] * 1000.0).round() as u64;
            add(host, value);
            left -= value;
        }
        // The paper's table goes on with hosts that do little.
        (0..40).for_each(|number| add(&format!("other{number:02}"), left / 40));
    }
    let text = printed(&rows, &["--over-time", "--threshold", "1", "--utc"]);
    for (host, shares) in TABLE_2 {
        let line = text.lines().find(|line| line.starts_with(host)).unwrap();
        let shown: Vec<_> = line.split_whitespace().skip(1).map(str::to_owned).collect();
        let dot = |share: &f64| if *share == 0.0 { ".".to_owned() } else { format!("{share:.1}") };
        assert_eq!(shown, shares.iter().map(dot).collect::<Vec<_>>(), "{host}");
    }
    let head: Vec<_> = text.lines().take(14).collect();
    assert_eq!(head.join("\n") + "\n", include_str!("golden/table-2.txt"));
}

/// All three tables, with errors, restarts, silent hosts and names with terminal escape sequences.
#[test]
fn a_page_of_everything() {
    let mut rows = Vec::new();
    for scan in 1..=3 {
        let advance = |n: u64| Counters {
            in_packets: 100 * n,
            out_packets: 50 * n,
            in_bytes: 1_234_567 * n,
            out_bytes: 9_000 * n,
            ..Counters::default()
        };
        let clean = counted("mag-1", scan, 1, advance(1));
        let mut wrong =
            counted("mag-2", scan, 1, Counters { in_errors: 3, out_drops: 12, ..advance(2) });
        if scan == 2 {
            let Outcome::Counted { restarted, .. } = &mut wrong.outcome else { panic!() };
            *restarted = true;
        }
        let idle = counted("idle\u{1b}[J", scan, 1, Counters::default());
        let row = |host: &str, outcome| ScanRow { host: host.to_owned(), outcome, ..clean.clone() };
        let down = row("down", Outcome::NoAnswer);
        let lying = row("lying", Outcome::NotUnderstood("octet 7: \u{7} is no tag".to_owned()));
        rows.extend([clean.clone(), wrong, idle, down, lying]);
    }
    rows.push(counted("lying", 4, 1, Counters { in_bytes: 1, ..Counters::default() }));
    let text = printed(&rows, &["--utc"]);
    assert_eq!(text, include_str!("golden/everything.txt"));
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

/// Rings as in the document: hosts of two, one of none, and what their links carry.
#[test]
fn hosts_in_rings() {
    let octets = |host: &str, octets| {
        let advance = Counters {
            in_packets: 100,
            out_packets: 100,
            in_bytes: octets,
            out_bytes: octets,
            ..Counters::default()
        };
        counted(host, 10, 10, advance)
    };
    let told = |row: ScanRow| ScanRow { bits_per_s: Some(10_000_000), ..row };
    let rows = [
        octets("aldev5", 250_000),
        octets("fsPCR", 250_000),
        told(octets("bile28", 25_000)),
        octets("stranger", 1000),
    ];
    let words = ["--group", "PCR=aldev5,fsPCR", "--group", "lma=bile28", "--capacity", "PCR=4M"];
    let text = printed(&rows, &words);
    assert!(text.lines().all(|line| line.chars().count() <= 82), "{text}");
    let line = |begin: &str| {
        let found = text.lines().find(|line| line.starts_with(begin));
        let words = found.unwrap_or_else(|| panic!("{begin} in\n{text}")).split_whitespace();
        words.map(str::to_owned).collect::<Vec<_>>()
    };
    // 500 kB in 10 s of 4 Mbit/s are a tenth; the ring carries half of what both count.
    assert_eq!(line("aldev5 ").last().unwrap(), "10.00");
    assert_eq!(line("bile28 ").last().unwrap(), "0.40", "of 10 Mbit/s that SNMP told");
    assert_eq!(line("stranger ").last().unwrap(), "-");
    let ring = line("PCR (2)");
    assert_eq!(ring[2..6], ["200", "50.00", "200", "50.00"]);
    assert_eq!(ring[10..], ["50000", "4.00M", "10.00"]);
    assert_eq!(line("lma (1)")[10..], ["2500", "10.0M", "0.20"]);
    assert_eq!(line("others (1)")[10..], ["100", "-", "-"]);
    assert!(text.contains("\nPCR/aldev5 "), "the most active hosts have their rings:\n{text}");

    // Without groups and capacities there is nothing of them.
    let text = printed(&rows[..2], &[]);
    assert!(!text.contains("By group") && !text.contains("cap"), "{text}");
    let text = printed(&rows[..2], &["--capacity", "4M"]);
    assert!(text.contains("all (2)"), "{text}");
}

/// 300 hosts with the largest possible counters: lines stay within 80 columns.
#[test]
fn many_hosts_and_large_numbers_fit_a_terminal() {
    let mut rows = Vec::new();
    for scan in 1..=20 {
        for host in 0..300 {
            let value = (u64::MAX / 70_000) >> (host % 40);
            let advance = Counters::from_values([value, value, value, value, 0, 0, 0, 0]);
            rows.push(counted(&format!("magnet-{host:03}"), scan, 1, advance));
        }
    }
    let text = printed(&rows, &["--measure", "packets"]);
    let longest = text.lines().map(|line| line.chars().count()).max().unwrap();
    assert!(longest <= 80, "{longest}");
    assert!(text.contains("\nsum "), "{text}");
}
