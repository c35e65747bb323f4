//! Step 5: how much of the local processing is ASN.1.
//!
//! Two ways: the codec alone, timed, times how often it works; and where there is `perf`, the share
//! of samples in functions of the codec. What the compiler put into other functions the second
//! misses; what the caches do to it in company the first misses.

use super::codec_cost::{buffer, cost, message};
use super::{encoding, filled};
use crate::measure::Measured;
use crate::pair::{Whose, measure_during};
use crate::profile;
use crate::series::{Series, Step};
use crate::table::{Table, number, words};
use crate::test_path::TestPath;
use crate::work::{Service, Timing, Work};
use anyhow::Result;
use bytes::Bytes;
use chronoscope_sle::codec::Codec;
use chronoscope_sle::pdu::ServiceType as Sle;
use chronoscope_sle::pdu::{AssociationRole, CltuTransferData, CltuTransferDataReturn, Pdu};
use std::time::Duration;

const LOOK: Duration = Duration::from_secs(2);

pub(crate) fn take(series: &Series, step: &mut Step) -> Result<()> {
    step.settings.push(
        "codec: CPU of encoding or decoding one operation by itself, over CPU of the whole process \
         for one; profile: samples (cpu-clock, 997 Hz) in the codec's functions"
            .to_owned(),
    );
    let table = table();
    let published = series.published.asn1_share_pct.buffer_with_frames;
    let cases = [
        ("RAF 80 × 100 octets", Work::raf(100, 80), Some(published)),
        ("RAF 1 × 8000 octets", Work::raf(8000, 1), None),
        ("CLTU 1544 octets, window 64", Work::fcltu(1544, 64), None),
    ];
    // Of the first case, the provider's.
    let mut first = None;
    filled(step, table, |_, table| {
        for (case, work, published) in cases {
            series.go_on()?;
            // perf takes its time: of the short form the document's case alone.
            let profiles = !series.quick || published.is_some();
            let Some((measured, profiled)) = run(series, case, &work, profiles) else { continue };
            let [user_ns, provider_ns] = costs(&work)?;
            let operations = match work.service {
                Service::Raf => f64::from(work.together),
                Service::Fcltu | Service::Frames | Service::Sequence => 1.0,
            };
            let sides = [
                ("provider", provider_ns, measured.provider_us(), profiled[1]),
                ("user", user_ns, measured.user_us(), profiled[0]),
            ];
            for (side, codec_ns, us, profile_pct) in sides {
                let process_ns = us * 1e3 * operations;
                let share = codec_ns / process_ns * 100.0;
                let published = published.filter(|_| side == "provider");
                if published.is_some() {
                    first = Some((process_ns, profile_pct));
                }
                table.row([
                    case.into(),
                    side.into(),
                    codec_ns.into(),
                    process_ns.into(),
                    share.into(),
                    profile_pct.into(),
                    published.into(),
                ]);
            }
        }
        Ok(())
    })?;
    let costs = encoding::costs()?;
    let process_ns = first.map(|(ns, _)| ns);
    let table = encoding::shares(
        &series.published,
        costs,
        process_ns,
        first.and_then(|(_, profile)| profile),
    );
    step.words.push(format!(
        "encoding a buffer of 80 × 100 octets: {:.0} ns, of which {:.0} ns without its frames; \
         published: {} % of the processing with, {} % without them",
        costs[0],
        costs[1],
        series.published.asn1_share_pct.buffer_with_frames,
        series.published.asn1_share_pct.buffer_invocation_alone
    ));
    step.tables.push(table);
    Ok(())
}

/// The table of codec and profile, empty.
fn table() -> Table {
    let columns = [
        words("case", "case"),
        words("side", "side"),
        number("codec_ns", "codec ns/op", 0),
        number("process_ns", "process ns/op", 0),
        number("share_pct", "codec %", 1),
        number("profile_pct", "profile %", 1),
        number("published_pct", "published %", 2),
    ];
    Table::new("ASN.1 in the local processing", &columns)
}

/// The work, and if wanted once more with perf looking at both; `None` where it failed.
fn run(
    series: &Series,
    case: &str,
    work: &Work,
    profiles: bool,
) -> Option<(Measured, [Option<f64>; 2])> {
    let timing = series.near();
    let timing = Timing { rounds: timing.rounds.max(3), ..timing };
    // perf would disturb what is measured: it looks at a second run.
    let pair = [Whose::Ours, Whose::Ours];
    let measured = series.take(case, &TestPath::Loopback, pair, work, timing).ok()??;
    if !profiles {
        return Some((measured, [None; 2]));
    }
    let long = Timing { round: LOOK * 2, rounds: 1, ..timing };
    let look = |pids: [u32; 2]| {
        std::thread::scope(|scope| {
            let looks =
                pids.map(|pid| scope.spawn(move || profile::share_pct(pid, LOOK, is_codec)));
            Ok(looks.map(|look| match look.join() {
                Ok(Ok(percent)) => Some(percent),
                Ok(Err(error)) => {
                    eprintln!("   perf: {error:#}");
                    None
                }
                Err(_) => None, // its panic was printed
            }))
        })
    };
    let profiled = measure_during(&TestPath::Loopback, pair, work, long, look, || Ok(()));
    match profiled {
        Ok((_, profiled, ())) => Some((measured, profiled)),
        Err(error) => {
            eprintln!("   {case}, profiled: FAILED: {error:#}");
            Some((measured, [None; 2]))
        }
    }
}

fn is_codec(symbol: &str) -> bool {
    symbol.contains("chronoscope_sle::codec") || symbol.contains("rasn")
}

/// CPU of the codec for one operation (a buffer; a CLTU and its return), in ns: user, provider.
fn costs(work: &Work) -> Result<[f64; 2]> {
    let octets = work.octets as usize;
    match work.service {
        Service::Raf => {
            let codec = Codec { service: Sle::Raf, version: 5 };
            let [encode, decode] =
                cost(codec, AssociationRole::Provider, &buffer(work.together, octets))?;
            Ok([decode, encode])
        }
        Service::Frames | Service::Sequence => {
            anyhow::bail!("the share of ASN.1 is taken of SLE's operations")
        }
        Service::Fcltu => {
            let codec = Codec { service: Sle::Fcltu, version: 5 };
            let data = Bytes::from(vec![0x5a; octets]);
            let invocation = Pdu::CltuTransferData(CltuTransferData {
                invoke_id: 1000,
                cltu: 100_000,
                earliest: None,
                latest: None,
                delay_us: 0,
                notify_radiated: false,
                data,
            });
            let back = Pdu::CltuTransferDataReturn(CltuTransferDataReturn {
                invoke_id: 1000,
                next_cltu: 100_001,
                buffer_available: 1 << 20,
                result: Ok(()),
            });
            let there = cost(codec, AssociationRole::User, &message(invocation))?;
            let back = cost(codec, AssociationRole::Provider, &message(back))?;
            Ok([there[0] + back[1], there[1] + back[0]])
        }
    }
}
