//! Step 1, second part: what the optimisations of application and API bring, each by itself, and as
//! the slides' measurements 1 to 3 combine them.
//!
//! The slides do not say what was optimised in their API. These are ours, each with its switch.

use super::{MEASURED, filled, measured_cells, ratio};
use crate::measure::Measured;
use crate::pair::Whose;
use crate::series::{Series, Step};
use crate::table::{Table, number, words};
use crate::test_path::TestPath;
use crate::work::Work;
use anyhow::Result;
use chronoscope_figures::numbers::signed_percent;

/// Operations without their return.
const WINDOW: u32 = 64;

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
         what theirs are. Last, what several threads bring: a process's threads share one CPU"
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
        let lengths: &[u32] = if series.quick { &[1544] } else { &[100, 1544] };
        for octets in lengths {
            one_length(series, step, table, place, *octets)?;
        }
        Ok(())
    })
}

fn one_length(
    series: &Series,
    step: &mut Step,
    table: &mut Table,
    place: &TestPath,
    octets: u32,
) -> Result<()> {
    let (mut best, mut plain) = (None, None);
    for variant in &VARIANTS {
        let mut work = all_optimised(octets);
        (variant.change)(&mut work);
        let what = format!("{octets} octets, {}", variant.name);
        let pair = [Whose::Ours, Whose::Ours];
        let measured = series.take(&what, place, pair, &work, series.stalling(&work))?;
        let rate = measured.as_ref().map(Measured::units_per_s);
        let cpu = measured.as_ref().map(Measured::cpu_us);
        let (best_rate, best_cpu) = *best.get_or_insert((rate, cpu));
        if variant.slides == "API not optimised" {
            plain = ratio(best_rate, rate).zip(ratio(cpu, best_cpu));
        }
        let [a, b, c, d, e] = measured_cells(measured.as_ref());
        table.row([
            octets.into(),
            variant.name.into(),
            variant.slides.into(),
            ratio(rate, best_rate).into(),
            ratio(cpu, best_cpu).into(),
            measured.as_ref().and_then(Measured::user_calls).into(),
            a,
            b,
            c,
            d,
            e,
        ]);
    }
    if let Some((gain, cpu)) = plain {
        let [least, most] = series.published.factors.api_optimised_pct;
        step.words.push(format!(
            "{octets} octets: the optimised API carries {} over the plain one, which needs \
             {cpu:.2} times its CPU; published {least} to {most} %",
            signed_percent(gain - 1.0, 0)
        ));
    }
    Ok(())
}
