//! Records RATE transactions a second until somebody ends it, and keeps in FILE how many it has
//! recorded: whatever becomes of it, that many have to be found. With MIB it takes that much memory
//! a second and gives none back, until the kernel kills it for that.
//!
//! `cargo run -p chronoscope-record --example counted -- RATE FILE [MIB]`

use chronoscope_clock as clock;
use chronoscope_record::{self as record, Class, class};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

static WORK: Class = class!("work");
/// How often it records, in a second.
const TIMES: u32 = 50;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rate: u32 = arguments.next().ok_or("RATE is missing")?.parse()?;
    let file = File::create(arguments.next().ok_or("FILE is missing")?)?;
    let mib: usize = arguments.next().map_or(Ok(0), |mib| mib.parse())?;
    record::init("Counted");
    let mut recorded = 0_u64;
    let mut taken = Vec::new();
    loop {
        for _ in 0..rate.div_ceil(TIMES) {
            drop(WORK.begin());
            recorded += 1;
        }
        // As many digits each time: no reader sees a part of a number.
        file.write_all_at(format!("{recorded:020}\n").as_bytes(), 0)?;
        // Written, so that it is memory and no promise of it.
        taken.push(vec![1_u8; (mib << 20) / TIMES as usize]);
        clock::sleep(Duration::from_secs(1) / TIMES);
    }
}
