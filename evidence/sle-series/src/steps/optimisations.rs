//! Step 1, second part: what the optimisations of application and API bring, each by itself, and as
//! the slides' measurements 1 to 3 combine them.
//!
//! The slides do not say what was optimised in their API. These are ours, each with its switch.

use super::{MEASURED, filled, measured_cells};
use crate::measure::Measured;
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Table, number, words};
use crate::test_path::TestPath;
use crate::work::{Timing, Work};
use anyhow::Result;
use chronoscope_figures::numbers::{decimal, signed_percent};
use chronoscope_statistics::median;

/// Operations without their return.
const WINDOW: u32 = 64;
/// Passes over all variants, at least: a ratio is the median over them.
const PASSES: u32 = 3;

/// A state of both programs.
struct Variant {
    name: &'static str,
    /// The slides' measurement that it corresponds to, and how.
    slides: &'static str,
    change: fn(&mut Work),
}

const VARIANTS: [Variant; 9] = [
    Variant {
        name: "everything optimised",
        slides: "3: application and API optimised, Nagle and delayed ack off",
        change: |_| {},
    },
    Variant { name: "CLTUs made anew", slides: "application not optimised", change: anew },
    Variant { name: "codec by declaration", slides: "API, a part", change: declared },
    Variant { name: "a write for each PDU", slides: "API, a part", change: write_each },
    Variant { name: "API plain (both)", slides: "API not optimised", change: plain },
    Variant {
        name: "everything plain",
        slides: "neither",
        change: |work| {
            plain(work);
            anew(work);
        },
    },
    Variant {
        name: "API plain, Nagle on",
        slides: "1: application optimised, API not, both on",
        change: |work| {
            plain(work);
            nagle(work);
        },
    },
    Variant {
        name: "everything optimised, Nagle on",
        slides: "2: application and API optimised, both on",
        change: nagle,
    },
    Variant {
        name: "threads share one CPU",
        slides: "none: what several threads bring",
        change: |work| work.one_cpu = true,
    },
];

fn anew(work: &mut Work) {
    work.fresh = true;
}

fn declared(work: &mut Work) {
    work.declared = true;
}

fn write_each(work: &mut Work) {
    work.write_each = true;
}

fn plain(work: &mut Work) {
    declared(work);
    write_each(work);
}

fn nagle(work: &mut Work) {
    work.nagle = true;
    work.delayed_ack = Some(true);
}

/// Work with the settings of one of the slides' measurements 1 to 3: CLTUs, window 64.
pub(super) fn of_slide(number: u32, octets: u32) -> Work {
    let mut work = all_optimised(octets);
    let of = VARIANTS.iter().find(|variant| variant.slides.starts_with(&format!("{number}:")));
    if let Some(variant) = of {
        (variant.change)(&mut work);
    }
    work
}

/// Everything optimised.
fn all_optimised(octets: u32) -> Work {
    Work { delayed_ack: Some(false), ..Work::fcltu(octets, WINDOW) }
}

/// On Ethernet's segments, without a link that could be the limit.
pub(super) fn take(series: &Series, step: &mut Step, place: &TestPath) -> Result<()> {
    step.settings.push(
        "optimisations of ours: application: CLTUs made once before, else anew for each operation. \
         API: frequent operations encoded and decoded without the ASN.1 declarations' objects, else \
         by these; what piled up leaves in one write, else each PDU in its own. The slides do not say \
         what theirs are. Last, what several threads bring: a process's threads share one CPU. Variants take turns, \
         forward and backward; a ratio is the median of those of one pass"
            .to_owned(),
    );
    let mut columns = vec![
        number("octets", "octets", 0),
        words("variant", "variant"),
        words("slides", "slides' measurement"),
        number("of_best", "of the first", 2),
        number("cpu_of_best", "CPU, of the first", 2),
        number("user_calls", "user's calls/CLTU", 2),
    ];
    columns.extend(MEASURED);
    let title = format!("Optimisations of application and API; window {WINDOW}; {}", place.name());
    filled(step, Table::new(title, &columns), |step, table| {
        // The same in both forms: what is gained depends on the length.
        for octets in [100, 1544] {
            one_length(series, step, table, place, octets)?;
        }
        Ok(())
    })
}

/// A variant's measurements: one for each pass in which it was taken.
#[derive(Default)]
struct Passes {
    all: Vec<Option<Measured>>,
}

impl Passes {
    /// All rounds as one measurement.
    fn whole(&self) -> Option<Measured> {
        let rounds: Vec<_> = self.all.iter().flatten().flat_map(|one| one.0.clone()).collect();
        (!rounds.is_empty()).then_some(Measured(rounds))
    }

    /// Median over the passes of a value relative to that of `first` in the same pass.
    fn of(&self, first: &Self, value: fn(&Measured) -> f64) -> Option<f64> {
        let pairs = self.all.iter().zip(&first.all);
        median(pairs.filter_map(|(a, b)| Some(value(a.as_ref()?) / value(b.as_ref()?))))
    }
}

/// Takes the variants in passes, forward and backward in turn, so that a machine that becomes slower
/// or faster meanwhile does so for all of them.
fn passes(
    series: &Series,
    place: &TestPath,
    octets: u32,
    variants: &[&Variant],
) -> Result<Vec<Passes>> {
    let mut taken: Vec<Passes> = variants.iter().map(|_| Passes::default()).collect();
    for pass in 0..PASSES.max(series.rounds) {
        let mut order: Vec<usize> = (0..variants.len()).collect();
        if pass % 2 == 1 {
            order.reverse();
        }
        for index in order {
            let mut work = all_optimised(octets);
            (variants[index].change)(&mut work);
            let what = format!("{octets} octets, {}, pass {}", variants[index].name, pass + 1);
            let timing = Timing { rounds: 1, ..series.stalling(&work) };
            let measured = series.take(&what, place, [Whose::Ours; 2], &work, timing)?;
            taken[index].all.push(measured);
        }
    }
    Ok(taken)
}

fn one_length(
    series: &Series,
    step: &mut Step,
    table: &mut Table,
    place: &TestPath,
    octets: u32,
) -> Result<()> {
    // Of the short form's second length only what the API's figures need.
    let is_needed = |variant: &&Variant| !series.quick || octets == 1544 || is_of_api(variant);
    let variants: Vec<&Variant> = VARIANTS.iter().filter(is_needed).collect();
    let taken = passes(series, place, octets, &variants)?;
    let Some(first) = taken.first() else { return Ok(()) };
    let mut lines = Vec::new();
    for (variant, one) in variants.iter().zip(&taken) {
        let rate = one.of(first, Measured::units_per_s);
        let cpu = one.of(first, Measured::cpu_us);
        let whole = one.whole();
        if is_of_api(variant)
            && let (Some(rate), Some(cpu), Some(whole)) = (rate, cpu, &whole)
            && !std::ptr::eq(one, first)
        {
            lines.push(gain_line(series, octets, variant, (rate, cpu), whole));
        }
        let [a, b, c, d, e] = measured_cells(whole.as_ref());
        table.row([
            octets.into(),
            variant.name.into(),
            variant.slides.into(),
            rate.into(),
            cpu.into(),
            whole.as_ref().and_then(Measured::user_calls).into(),
            a,
            b,
            c,
            d,
            e,
        ]);
    }
    step.words.extend(lines);
    Ok(())
}

/// What the API's optimisations bring, together or one alone, and what that depends on.
fn gain_line(
    series: &Series,
    octets: u32,
    variant: &Variant,
    (rate, cpu): (f64, f64),
    whole: &Measured,
) -> String {
    let [least, most] = series.published.factors.api_optimised_pct;
    let calls = whole.user_calls().map_or_else(String::new, |calls| {
        format!("; {} system calls of the user for a CLTU", decimal(calls, 2))
    });
    let published = if variant.slides == "API not optimised" {
        format!("; published {least} to {most} %")
    } else {
        String::new()
    };
    format!(
        "{octets} octets, window {WINDOW}: everything optimised carries {} over \"{}\", which needs \
         {cpu:.2} times its CPU{calls}{published}",
        signed_percent(1.0 / rate - 1.0, 0),
        variant.name
    )
}

/// Whether it is the optimised state, or one in which only the API is another.
fn is_of_api(variant: &Variant) -> bool {
    matches!(
        variant.name,
        "everything optimised"
            | "codec by declaration"
            | "a write for each PDU"
            | "API plain (both)"
    )
}
