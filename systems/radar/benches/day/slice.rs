//! A part of a day, as a day of its own: the packets of some time, unchanged.

use chronoscope_radar::day::Settings;
use chronoscope_replay::capture::{CaptureReader, CaptureWriter};
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

/// The folder `name` in that of the day, with `length_s` seconds from `from_s` on; made if it is
/// not there.
pub(crate) fn make(
    day: &Path,
    name: &str,
    size: &Settings,
    from_s: u64,
    length_s: u64,
) -> Result<PathBuf, Box<dyn Error>> {
    let folder = day.join(format!("{name}-{from_s}-{length_s}"));
    if folder.join("day.toml").exists() {
        return Ok(folder);
    }
    std::fs::create_dir_all(&folder)?;
    let from_ns = size.start_utc_ns + i64::try_from(from_s)? * 1_000_000_000;
    let to_ns = from_ns + i64::try_from(length_s)? * 1_000_000_000;
    for capture in ["plots.pcapng", "queries.pcapng"] {
        let input = BufReader::with_capacity(1 << 20, File::open(day.join(capture))?);
        let output = BufWriter::with_capacity(1 << 20, File::create(folder.join(capture))?);
        let mut output = CaptureWriter::new(output)?;
        for packet in CaptureReader::new(input)? {
            let packet = packet?;
            if packet.at_ns >= to_ns {
                break;
            }
            if packet.at_ns >= from_ns {
                output.packet(packet.at_ns.cast_unsigned(), &packet.octets)?;
            }
        }
        output.finish()?;
    }
    std::fs::copy(day.join("plans.csv"), folder.join("plans.csv"))?;
    let scenario = std::fs::read_to_string(day.join("day.toml"))?;
    // The scenario of the part begins with its first input, and ends after its last.
    let kept = |line: &&str| !line.starts_with("start =") && !line.starts_with("duration =");
    let lines: Vec<&str> = scenario.lines().filter(kept).collect();
    std::fs::write(folder.join("day.toml"), lines.join("\n") + "\n")?;
    Ok(folder)
}
