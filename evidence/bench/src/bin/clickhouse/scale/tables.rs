//! The tables of `docs/scale.md`, computed from measured costs.

use super::costs::Costs;
use super::measure::Measured;
use chronoscope_collect::protocol::ROWS_MAX;
use std::fmt::Write;

/// Cores of a shard, and how many of them inserts may take at the peak.
const SHARD_CORES: f64 = 16.0;
const INSERT_CORES: f64 = SHARD_CORES / 2.0;
/// Rows of an insert: of a full message of an agent, each of which is one, and the most that there may
/// be.
const AGENT_ROWS: f64 = ROWS_MAX as f64;
const INSERT_ROWS: f64 = 262_144.0;
/// Rows of an insert on one shard, if collectors gathered them.
const GATHERED_ROWS: f64 = 1_000_000.0;
/// Days that rows are kept, their copies, and the bytes that a disk takes of them.
const DAYS: f64 = 7.0;
const COPIES: f64 = 2.0;
const DISK_BYTES: f64 = 7.68e12 * 0.8;
const DAY_S: f64 = 86_400.0;
/// Peak to mean of a day.
const PEAK: f64 = 3.0;

/// All tables.
pub(crate) fn markdown(measured: &[Measured], costs: &Costs, load: &str) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "### Measured\n\n{}", clusters(measured, load));
    let _ = writeln!(text, "{}", fitted(costs));
    let _ = writeln!(text, "### Rows a second\n\n{}", rates(costs));
    let _ = writeln!(text, "### Transactions a day\n\n{}", days(costs));
    text
}

fn clusters(measured: &[Measured], load: &str) -> String {
    let mut text = String::from(
        "| shards | rows of an insert | the shards' processor time a row | ours a row | bytes a row: to the \
         shards / on their disks | rows written again by merges, a row | linking and sketches, a row: \
         the shards' + ours | ACPD of all rows, a row: the shards' + ours | classes of all rows, out of \
         sketches: the shards' + ours |\n|---:|---:|---:|---:|---:|---:|---:|---:|---:|\n",
    );
    for one in measured {
        let rows = one.rows as f64;
        let us = |seconds: f64| seconds / rows * 1e6;
        let _ = writeln!(
            text,
            "| {} | {:.0} | {:.2} µs | {:.2} µs | {:.0} / {:.1} | {:.1} | {:.2} + {:.2} µs | \
             {:.3} + {:.3} µs | {:.0} + {:.0} ms |",
            one.shards,
            rows / one.inserts as f64,
            us(one.insert_servers_s),
            us(one.insert_ours_s),
            one.sent_bytes / rows,
            one.disk_bytes / rows,
            one.merged_rows as f64 / rows,
            us(one.link_servers_s),
            us(one.link_ours_s),
            us(one.acpd_servers_s),
            us(one.acpd_ours_s),
            one.classes_servers_s * 1e3,
            one.classes_ours_s * 1e3,
        );
    }
    let rows = measured.first().map_or(0, |one| one.rows);
    let _ = writeln!(text, "\n{rows} rows each; load average at the end: {load}.");
    text
}

fn fitted(costs: &Costs) -> String {
    let half = INSERT_CORES / 2.0 / costs.shards_insert_s;
    format!(
        "The line through them, by least squares: the shards take **{:.2} µs a row, and {:.1} ms for an \
         insert on each shard**; we {:.2} µs a row and {:.2} ms for an insert and shard. The line is off \
         by at most {:.0} %. Every insert goes to every shard: at **{:.0} inserts a second** ({} rows a \
         second where an insert has 262,144, {} where it has 16,384, {} where it has 2,000) inserts \
         alone take half of what a shard has for them, however many shards there are.\n",
        costs.shards_row_s * 1e6,
        costs.shards_insert_s * 1e3,
        costs.ours_row_s * 1e6,
        costs.ours_insert_s * 1e3,
        costs.insert_residual * 100.0,
        half,
        count(half * INSERT_ROWS),
        count(half * AGENT_ROWS),
        count(half * 2000.0),
    )
}

/// Shards that take `rate` rows a second in inserts of so many rows; `None` where the inserts alone are
/// too much for each.
fn shards_of(costs: &Costs, rate: f64, insert_rows: f64) -> Option<f64> {
    let left = INSERT_CORES - rate / insert_rows * costs.shards_insert_s;
    // Linking is done once for each row, beside inserts.
    let row_s = costs.shards_row_s + costs.link_shards_s;
    (left > 0.0).then(|| (rate * row_s / left).ceil().max(1.0))
}

/// The same if every insert were of a million rows of one shard.
fn shards_gathered(costs: &Costs, rate: f64) -> f64 {
    let row_s = costs.shards_row_s + costs.link_shards_s + costs.shards_insert_s / GATHERED_ROWS;
    (rate * row_s / INSERT_CORES).ceil().max(1.0)
}

fn rates(costs: &Costs) -> String {
    let rates = [1e6, 1e7, 1e8];
    let mut text = String::from("| rows a second | 1 M | 10 M | 100 M |\n|---|---:|---:|---:|\n");
    let mut row = |name: &str, of: &dyn Fn(f64) -> String| {
        let cells: Vec<String> = rates.iter().map(|rate| of(*rate)).collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    };
    let shards = |rate: f64| {
        shards_of(costs, rate, INSERT_ROWS).unwrap_or_else(|| shards_gathered(costs, rate))
    };
    let number = |shards: Option<f64>| match shards {
        Some(shards) => format!("{shards:.0}"),
        None => "none is enough".to_owned(),
    };
    row("shards, if every message of agents is full (16,384 rows, one insert)", &|rate| {
        number(shards_of(costs, rate, AGENT_ROWS))
    });
    row("shards, if collectors gathered 262,144 rows before an insert", &|rate| {
        number(shards_of(costs, rate, INSERT_ROWS))
    });
    row("shards, if they gathered a million rows for each", &|rate| {
        number(Some(shards_gathered(costs, rate)))
    });
    row("inserts a second on every shard, of 16,384 / of 262,144 rows", &|rate| {
        format!("{:.0} / {:.0}", rate / AGENT_ROWS, rate / INSERT_ROWS)
    });
    row("of these, cores on each shard, however many there are, of 8", &|rate| {
        let cores = |rows: f64| rate / rows * costs.shards_insert_s;
        format!("{:.2} / {:.2}", cores(AGENT_ROWS), cores(INSERT_ROWS))
    });
    row("collectors' cores, linking included", &|rate| {
        let inserts = rate / INSERT_ROWS * costs.ours_insert_s * shards(rate);
        format!("{:.1}", rate * (costs.ours_row_s + costs.link_ours_s) + inserts)
    });
    row("to the shards, in all", &|rate| bits(rate * costs.sent_bytes));
    row("network of a shard", &|rate| bits(rate * costs.sent_bytes / shards(rate)));
    row("written to disks, merges included, in all / a shard", &|rate| {
        let all = rate * costs.disk_bytes * costs.written;
        format!("{}/s / {}/s", bytes(all), bytes(all / shards(rate)))
    });
    row("disk a day, one copy", &|rate| bytes(rate * costs.disk_bytes * DAY_S));
    row("disk for 7 days, two copies / a server", &|rate| {
        let all = rate * costs.disk_bytes * DAY_S * DAYS;
        format!("{} / {}", bytes(all * COPIES), bytes(all / shards(rate)))
    });
    row("disks of 7.68 TB, four fifths full", &|rate| {
        let all = rate * costs.disk_bytes * DAY_S * DAYS * COPIES;
        format!("{:.0}", (all / DISK_BYTES).ceil())
    });
    row("servers, two copies", &|rate| format!("{:.0}", shards(rate) * COPIES));
    row("ACPD over one minute: the shards' cores × s + ours", &|rate| {
        let rows = rate * 60.0;
        format!("{} + {}", seconds(rows * costs.acpd_shards_s), seconds(rows * costs.acpd_ours_s))
    });
    text
}

fn days(costs: &Costs) -> String {
    let days = [1e8, 1e10, 1e12];
    let mut text =
        String::from("| transactions a day | 10⁸ | 10¹⁰ | 10¹² |\n|---|---:|---:|---:|\n");
    let mut row = |name: &str, of: &dyn Fn(f64) -> String| {
        let cells: Vec<String> = days.iter().map(|day| of(*day)).collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
    };
    let mean = |day: f64| day / DAY_S;
    row("a second, mean / peak", &|day| {
        format!("{} / {}", count(mean(day)), count(mean(day) * PEAK))
    });
    row("collectors, cores at the peak, linking included", &|day| {
        format!("{:.3}", mean(day) * PEAK * (costs.ours_row_s + costs.link_ours_s))
    });
    let of_inserts = |day: f64, rows: f64| match shards_of(costs, mean(day) * PEAK, rows) {
        Some(shards) => format!("{shards:.0}"),
        None => "none is enough".to_owned(),
    };
    row("shards at the peak, inserts of 16,384 rows", &|day| of_inserts(day, AGENT_ROWS));
    row("shards at the peak, inserts of 262,144 rows", &|day| of_inserts(day, INSERT_ROWS));
    row("shards at the peak, with gathered inserts", &|day| {
        format!("{:.0}", shards_gathered(costs, mean(day) * PEAK))
    });
    row("disk a day, one copy", &|day| bytes(day * costs.disk_bytes));
    row("disk for 30 days, two copies", &|day| bytes(day * costs.disk_bytes * 30.0 * COPIES));
    text
}

fn bits(bytes_s: f64) -> String {
    match bytes_s * 8.0 {
        bits if bits >= 1e9 => format!("{:.1} Gbit/s", bits * 1e-9),
        bits => format!("{:.0} Mbit/s", bits * 1e-6),
    }
}

fn bytes(count: f64) -> String {
    let units = [(1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")];
    let (unit, name) = units.into_iter().find(|(unit, _)| count >= *unit).unwrap_or((1e6, "MB"));
    match count / unit {
        number if number < 10.0 => format!("{number:.1} {name}"),
        number => format!("{number:.0} {name}"),
    }
}

fn count(number: f64) -> String {
    match number {
        _ if number >= 1e6 => format!("{:.1} M", number * 1e-6),
        _ if number >= 1e4 => format!("{:.0},000", number * 1e-3),
        _ => format!("{number:.0}"),
    }
}

fn seconds(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 600.0 => format!("{:.0} min", seconds / 60.0),
        _ if seconds >= 10.0 => format!("{seconds:.0} s"),
        _ => format!("{seconds:.1} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs {
        shards_row_s: 2e-6,
        shards_insert_s: 40e-3,
        ours_row_s: 0.4e-6,
        ours_insert_s: 0.0,
        link_shards_s: 0.0,
        link_ours_s: 0.0,
        acpd_shards_s: 0.1e-6,
        acpd_ours_s: 0.0,
        insert_residual: 0.1,
        sent_bytes: 180.0,
        disk_bytes: 30.0,
        written: 5.0,
    };

    #[test]
    fn shards_by_hand() {
        // 2 cores for a million rows; of 8, 0.15 are for the inserts.
        assert_eq!(shards_of(&COSTS, 1e6, INSERT_ROWS), Some(1.0));
        // 20 cores; of 8, 1.53 are for the inserts on each: 20 / 6.47.
        assert_eq!(shards_of(&COSTS, 1e7, INSERT_ROWS), Some(4.0));
        assert_eq!(shards_of(&COSTS, 1e8, INSERT_ROWS), None);
        // 61 inserts a second, of 8 cores 2.44 on each; 610 are too much.
        assert_eq!(shards_of(&COSTS, 1e6, AGENT_ROWS), Some(1.0));
        assert_eq!(shards_of(&COSTS, 1e7, AGENT_ROWS), None);
        // 2.04 µs a row: 204 cores / 8.
        assert_eq!(shards_gathered(&COSTS, 1e8), 26.0);
    }

    #[test]
    fn units_by_hand() {
        assert_eq!([bytes(2.5e6), bytes(36e12), bytes(3.6e15)], ["2.5 MB", "36 TB", "3.6 PB"]);
        assert_eq!([bits(1e8), bits(1.8e8)], ["800 Mbit/s", "1.4 Gbit/s"]);
        assert_eq!(
            [count(1157.4), count(115_740.0), count(11.57e6)],
            ["1157", "116,000", "11.6 M"]
        );
        assert_eq!([seconds(1.25), seconds(125.0), seconds(1300.0)], ["1.2 s", "125 s", "22 min"]);
        let text = rates(&COSTS);
        assert!(text.contains("| disk a day, one copy | 2.6 TB | 26 TB | 259 TB |"), "{text}");
        assert!(text.contains("| servers, two copies | 2 | 8 | 52 |"), "{text}");
    }
}
