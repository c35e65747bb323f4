//! The trial's tables, in Markdown.

use crate::consistency::Consistency;
use crate::ours::Found;

/// A filter of Stone Soup on a scene.
#[derive(Debug)]
pub(crate) struct Filter {
    pub(crate) name: String,
    pub(crate) rms_m: f64,
    pub(crate) levelled_m: f64,
    pub(crate) share: f64,
    pub(crate) consistency: Consistency,
    /// Most by which what was computed is apart from Stone Soup's own on some flights, m.
    pub(crate) apart_m: Option<f64>,
}

/// All of one scene.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) set: &'static str,
    pub(crate) seed: u64,
    pub(crate) sensor: &'static str,
    /// The sensor of the tuning: everything was counted.
    pub(crate) whole: bool,
    pub(crate) plots: usize,
    pub(crate) share: f64,
    pub(crate) raw_m: f64,
    pub(crate) ours_m: f64,
    /// Ours with one noise instead of a mixture.
    pub(crate) one_noise_m: f64,
    pub(crate) levelled_m: f64,
    pub(crate) consistency: Consistency,
    pub(crate) filters: Vec<Filter>,
    pub(crate) found: Found,
}

/// The filter that is no model of Stone Soup's, but made of its parts.
const ROBUST: &str = "robust";

impl Row {
    fn name(&self) -> String {
        format!("| {} {} | {}", self.set, self.seed, self.sensor)
    }

    /// The best of the three, and of all four.
    fn best(&self, of: impl Fn(&Filter) -> f64) -> (f64, f64) {
        let least = |robust: bool| {
            let filters = self.filters.iter().filter(|filter| robust || filter.name != ROBUST);
            filters.map(&of).fold(f64::INFINITY, f64::min)
        };
        (least(false), least(true))
    }

    /// Ours beside the best of three filters and of all four, of all plots and of those with a level, and
    /// ours with one noise beside the best of three.
    fn ratios(&self) -> [f64; 5] {
        let (three, four) = self.best(|filter| filter.rms_m);
        let (three_levelled, four_levelled) = self.best(|filter| filter.levelled_m);
        [
            self.ours_m / three,
            self.ours_m / four,
            self.levelled_m / three_levelled,
            self.levelled_m / four_levelled,
            self.one_noise_m / three,
        ]
    }

    fn errors(&self) -> String {
        let each: Vec<String> =
            self.filters.iter().map(|filter| format!("{:.0}", filter.rms_m)).collect();
        let ratios: Vec<String> = self.ratios().iter().map(|ratio| format!("{ratio:.2}")).collect();
        let share = self.filters.iter().map(|filter| filter.share).fold(1.0, f64::min);
        let apart = self.filters.iter().filter_map(|filter| filter.apart_m).fold(0.0, f64::max);
        format!(
            "{} | {} | {:.1} / {:.1} % | {:.0} | {:.0} | {:.0} | {} | {} | {apart:.2} |",
            self.name(),
            self.plots,
            100.0 * self.share,
            100.0 * share,
            self.raw_m,
            self.ours_m,
            self.one_noise_m,
            each.join(" | "),
            ratios.join(" | "),
        )
    }

    fn consistency(&self) -> String {
        let one = |c: &Consistency| format!("{} | {:.3} |", c.text(), c.inside);
        let each: Vec<String> =
            self.filters.iter().map(|filter| format!(" {}", one(&filter.consistency))).collect();
        let samples = self.consistency.samples;
        format!("{} | {samples} | {}{}", self.name(), one(&self.consistency), each.concat())
    }

    fn continuity(&self) -> String {
        let (found, counts) = (&self.found, &self.found.counts);
        format!(
            "{} | {} | {:.1} | {:.1} | {:.1} | {:.1} | {:.2} % | {} | {} | {} | {:.3} | {:.3} | {:.2} | {:.3} | {:.0} | {} | {:.0} |",
            self.name(),
            found.plots,
            counts.false_per_h,
            counts.false_before_per_h,
            found.fed_false_per_h,
            counts.ghosts_per_h,
            100.0 * counts.duplicates,
            counts.swaps,
            counts.swaps_before,
            counts.renumbered,
            found.tracks_per_flight,
            found.numbers_per_flight,
            found.initiation_turns,
            counts.detection,
            found.by_owner_m,
            found.unattributed,
            found.plots_per_s,
        )
    }
}

/// Prints all tables of these scenes, and the load of the machine.
pub(crate) fn print(rows: &[Row]) {
    let Some(first) = rows.first() else { return };
    let filters: Vec<&str> = first.filters.iter().map(|filter| filter.name.as_str()).collect();
    let whole = || rows.iter().filter(|row| row.whole);
    if !filters.is_empty() {
        head(&format!(
            "set, seed|sensor|plots|with a state: ours / theirs|raw|ours|ours, one noise|{}|ours / best of three|of four|with level / best of three|of four|one noise / best of three|fast form off, m",
            filters.join("|")
        ));
        whole().for_each(|row| println!("{}", row.errors()));
        print_sensors(rows);
    }
    let each: Vec<String> = filters.iter().map(|name| format!("|{name}: NEES|in95")).collect();
    head(&format!("set, seed|sensor|samples|ours: NEES [95 %]|in95{}", each.concat()));
    rows.iter().for_each(|row| println!("{}", row.consistency()));
    head(
        "set, seed|sensor|plots|false/h|by the old rule|of false plots/h|ghosts/h|doubled|swaps|by the old rule|new numbers|tracks a flight|numbers a flight|turns|detection|RMS by owner|without plot|plots/s",
    );
    whole().for_each(|row| println!("{}", row.continuity()));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    println!("\nload average {}", load.trim());
}

/// The ratios of each scene on each sensor, and how many are above the aim.
fn print_sensors(rows: &[Row]) {
    const AIM: f64 = 0.9;
    head(
        "set, seed|sensor|ours|best of three|of four|with level / best of three|of four|one noise / best of three",
    );
    for row in rows {
        let ratios: Vec<String> = row.ratios().iter().map(|ratio| format!("{ratio:.2}")).collect();
        println!("{} | {:.0} | {} |", row.name(), row.ours_m, ratios.join(" | "));
    }
    let above = |index: usize| rows.iter().filter(|row| row.ratios()[index] > AIM).count();
    let [three, four, three_levelled, four_levelled, one] = [0, 1, 2, 3, 4].map(above);
    println!(
        "\nabove {AIM} of {} scenes: {three} of the best of three, {four} of four; with level {three_levelled} and {four_levelled}; with one noise {one}",
        rows.len()
    );
}

fn head(columns: &str) {
    let columns: Vec<&str> = columns.split('|').collect();
    println!("\n| {} |\n|{}", columns.join(" | "), "---|".repeat(columns.len()));
}
