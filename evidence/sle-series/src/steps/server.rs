//! Step 7: the document's measurement configuration of frames, in which a communication server stands
//! between the provider's SLE API and the network, beside the direct way.
//!
//! Direct and through a server are measured in turn, so that each pair has the machine in about the
//! same state: what counts is the median of the pairs' ratios, with the smallest and largest.

use super::{filled, ratio};
use crate::measure::{Measured, Round};
use crate::pair::{Whose, measure};
use crate::series::{Series, Step};
use crate::table::{Cell, Table, number, words};
use crate::test_path::TestPath;
use crate::work::{Through, Timing, Work};
use anyhow::{Context, Result};
use chronoscope_statistics::median;

/// The ways between both applications, of which the first is direct.
const WAYS: [&str; 3] = ["direct", "server, TCP", "server, Unix socket"];

pub(crate) fn take(series: &Series, step: &mut Step) -> Result<()> {
    step.settings.push(
        "loopback; user, communication server and provider are three processes. The server has \
         the provider's connection to the network, and a local one to the provider: TCP, as the \
         document has it, or a Unix socket. Direct and through a server in turn; the ratio is the \
         median of the pairs. Its system calls are reads, writes and waits"
            .to_owned(),
    );
    let columns = [
        words("work", "work"),
        words("way", "way"),
        number("mbit_per_s", "Mbit/s", 2),
        number("units_per_s", "units/s", 0),
        number("ratio", "× direct", 3),
        number("ratio_least", "least", 3),
        number("ratio_most", "most", 3),
        number("unit_us", "µs/unit", 2),
        number("more_us", "more µs", 2),
        number("cpu_us", "CPU µs, all", 2),
        number("server_us", "CPU µs, server", 2),
        number("switches", "switches, all", 3),
        number("server_switches", "switches, server", 3),
        number("server_calls", "calls, server", 3),
    ];
    let folder = tempfile::tempdir().context("a folder for a Unix socket")?;
    let table = Table::new("A communication server, beside the direct way", &columns);
    filled(step, table, |step, table| {
        for (name, work) in cases(series.quick) {
            let through = [None, Some(Through::Tcp), Some(Through::Unix(folder.path().join("s")))];
            let works = through.map(|through| Work { through, ..work.clone() });
            let taken = in_turn(series, name, &works)?;
            for (way, measured) in WAYS.iter().zip(&taken) {
                let Some(measured) = measured else { continue };
                let row = compared(measured, taken[0].as_ref());
                table.row([name.into(), (*way).into()].into_iter().chain(row.cells(measured)));
                if *way != WAYS[0] {
                    step.words.extend(row.words(name, way, measured));
                }
            }
        }
        Ok(())
    })
}

/// Frames as the document's configuration has them, and CLTUs at full rate and one at a time: of
/// those the time for one is its round trip.
fn cases(is_quick: bool) -> Vec<(&'static str, Work)> {
    let all = [
        ("RAF, 1 × 8000 octets a buffer", Work::raf(8000, 1), true),
        ("RAF, 80 × 100 octets a buffer", Work::raf(100, 80), false),
        ("CLTUs of 1544 octets, window 64", Work::fcltu(1544, 64), false),
        ("CLTUs of 1544 octets, one at a time", Work::fcltu(1544, 1), true),
    ];
    let wanted = all.into_iter().filter(|(.., both)| *both || !is_quick);
    wanted.map(|(name, work, _)| (name, work)).collect()
}

/// Each way once, in turn, as often as the series has rounds. A way that fails has no result.
fn in_turn(series: &Series, name: &str, works: &[Work; 3]) -> Result<[Option<Measured>; 3]> {
    let timing = Timing { rounds: 1, ..series.near() };
    let mut rounds: [Option<Vec<Round>>; 3] = [const { Some(Vec::new()) }; 3];
    for pair in 1..=series.rounds {
        // Back and forth, so that a machine that changes steadily favours no way.
        let order = if pair % 2 == 1 { [0, 1, 2] } else { [2, 1, 0] };
        for way in order {
            let (work, rounds) = (&works[way], &mut rounds[way]);
            let what = format!("{name}, {}, {pair} of {}", WAYS[way], series.rounds);
            let ours = [Whose::Ours, Whose::Ours];
            let taken = series
                .try_take(&what, || Ok((measure(&TestPath::Loopback, ours, work, timing)?, ())))?;
            match taken {
                Some((measured, ())) => rounds.iter_mut().for_each(|all| all.extend(&measured.0)),
                None => *rounds = None,
            }
        }
    }
    Ok(rounds.map(|rounds| rounds.map(Measured)))
}

/// A way beside the direct one.
struct Compared {
    /// Median, least and most of the pairs' ratios of rates.
    ratios: Option<[f64; 3]>,
    /// Median of the pairs' differences of the time for a unit, in µs.
    more_us: Option<f64>,
}

fn compared(measured: &Measured, direct: Option<&Measured>) -> Compared {
    let none = Compared { ratios: None, more_us: None };
    let Some(direct) = direct else { return none };
    let single = |round: &Round| Measured(vec![*round]);
    let pairs = || measured.0.iter().map(single).zip(direct.0.iter().map(single));
    let ratios: Vec<f64> = pairs()
        .filter_map(|(own, direct)| ratio(Some(own.units_per_s()), Some(direct.units_per_s())))
        .collect();
    let least = ratios.iter().copied().reduce(f64::min);
    let most = ratios.iter().copied().reduce(f64::max);
    let middle = median(ratios.iter().copied());
    Compared {
        ratios: middle.zip(least).zip(most).map(|((middle, least), most)| [middle, least, most]),
        more_us: median(pairs().map(|(own, direct)| own.unit_us() - direct.unit_us())),
    }
}

impl Compared {
    fn cells(&self, measured: &Measured) -> [Cell; 12] {
        let [user, provider] = measured.switches();
        let ratio = |index: usize| -> Cell { self.ratios.map(|all| all[index]).into() };
        [
            measured.mbit_per_s().into(),
            measured.units_per_s().into(),
            ratio(0),
            ratio(1),
            ratio(2),
            measured.unit_us().into(),
            self.more_us.into(),
            (measured.cpu_us() + measured.server_us()).into(),
            measured.server_us().into(),
            (user + provider + measured.server_switches()).into(),
            measured.server_switches().into(),
            measured.server_calls().into(),
        ]
    }

    fn words(&self, name: &str, way: &str, measured: &Measured) -> Option<String> {
        let [middle, least, most] = self.ratios?;
        Some(format!(
            "{name}, {way}: {middle:.2} of the direct rate (pairs: {least:.2} to {most:.2}), {:+.1} µs for \
             a unit, of which the server computes {:.1} µs",
            self.more_us?,
            measured.server_us()
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::compared;
    use crate::measure::{Measured, Round};

    /// 1000, 500 and 2000 units a second against 2000 each.
    #[test]
    fn pairs_are_compared_one_by_one() {
        let round = |units| Round { units, elapsed_ns: 1_000_000_000, ..Round::default() };
        let own = Measured(vec![round(1000), round(500), round(2000)]);
        let direct = Measured(vec![round(2000); 3]);
        let found = compared(&own, Some(&direct));
        assert_eq!(found.ratios, Some([0.5, 0.25, 1.0]));
        assert_eq!(found.more_us, Some(500.0));
        assert_eq!(compared(&own, None).ratios, None);
    }
}
