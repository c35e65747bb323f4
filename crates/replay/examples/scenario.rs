//! `scenario SCENARIO BIN OUT [callgrind]`: replays a scenario and prints its report.

use chronoscope_replay::scenario::{Count, Options, Scenario};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [scenario, bin, out, how @ ..] = &arguments[..] else {
        return Err("scenario SCENARIO BIN OUT [callgrind]".into());
    };
    let count = if how.is_empty() { Count::Counters } else { Count::Callgrind };
    let options = Options { count, ..Options::new(bin.as_ref(), out.as_ref()) };
    let report = Scenario::read(scenario.as_ref())?.run(&options, &mut |progress| {
        eprint!("\r{:?} of virtual time in {:?}", progress.elapsed, progress.real);
    })?;
    println!("{}", serde_json::to_string_pretty(&report)?);
    Ok(())
}
