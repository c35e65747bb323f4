//! A measured program in the middle of a chain that OpenTelemetry began: it is called with W3C
//! traceparents, one a line on stdin, and calls back with its own on stdout.
//!
//! Trace id and span id are chain and transaction as they are; the `traceparent` of a transaction
//! is made from its correlator.

use chronoscope_model::{ChainId, TransactionId};
use chronoscope_record::{self as record, Class, Correlator, class};
use std::io::{self, BufRead, Write};

static CALL: Class = class!("call");
static WORK: Class = class!("work");

fn main() -> io::Result<()> {
    record::init("arm-program");
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let line = line?;
        let Some(caller) = parse(&line) else {
            eprintln!("no traceparent: {line:?}");
            continue;
        };
        let call = CALL.begin_with(&caller);
        let work = WORK.begin();
        let own = work.correlator();
        writeln!(out, "00-{}-{}-01", own.chain(), own.parent())?;
        out.flush()?;
        drop(work);
        drop(call);
    }
    Ok(())
}

/// `00-TRACE-SPAN-FLAGS`, all hexadecimal.
fn parse(line: &str) -> Option<Correlator> {
    let mut parts = line.split('-');
    let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
    if version != "00" || trace.len() != 32 || span.len() != 16 {
        return None;
    }
    let parent = TransactionId(u64::from_str_radix(span, 16).ok()?);
    Some(Correlator::foreign(trace.parse::<ChainId>().ok()?, parent))
}
