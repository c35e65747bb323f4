//! Ground truth: where every aircraft really is, for judging a tracker.
//!
//! CSV with the header below: seconds since the UTC epoch, on the same scale as the plots'
//! stamps; address in hexadecimal; degrees; flight level.
//!
//! The address is the name of a path. In files of reconstructed paths ([`NAMELESS`]) it may have more than
//! 24 bits.

use super::transmissions::Generator;
use std::io::{self, Write};

/// The first line.
pub const HEADER: &str = "utc_s,address,lat_deg,lon_deg,flight_level";

/// Begin of the names of aircraft whose address is not known: `ff`, a digit pair and a track number.
pub const NAMELESS: u32 = 0xFF00_0000;

/// The address of the aircraft with a name: its lowest 24 bits, whatever else tells several aircraft with one
/// address apart. `None` where the name begins as [`NAMELESS`] does.
#[must_use]
pub fn address_of(name: u32) -> Option<u32> {
    (name < NAMELESS).then_some(name & 0xFF_FFFF)
}

/// Writes the truth at regular times.
#[derive(Debug)]
pub struct Truth<W> {
    out: W,
    step_s: f64,
    written: u32,
}

impl<W: Write> Truth<W> {
    /// A writer of the truth every `step_s` seconds of the scenario.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn new(mut out: W, step_s: f64) -> io::Result<Self> {
        writeln!(out, "{HEADER}")?;
        Ok(Self { out, step_s, written: 0 })
    }

    /// Writes all times up to and including `until_s` that are not written yet.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn write_until(&mut self, generator: &Generator, until_s: f64) -> io::Result<()> {
        loop {
            let at_s = f64::from(self.written) * self.step_s;
            if at_s > until_s {
                return Ok(());
            }
            self.written += 1;
            let utc_ns = generator.utc_ns(at_s);
            let (seconds, ms) =
                (utc_ns.div_euclid(1_000_000_000), utc_ns.rem_euclid(1_000_000_000));
            for plane in generator.aircraft() {
                let Some(state) = plane.at(at_s) else { continue };
                writeln!(
                    self.out,
                    "{seconds}.{:03},{:06x},{:.6},{:.6},{:.2}",
                    ms / 1_000_000,
                    plane.address,
                    state.position.lat_deg,
                    state.position.lon_deg,
                    state.flight_level
                )?;
            }
        }
    }

    /// Flushes the file.
    ///
    /// # Errors
    /// Errors of the file.
    pub fn finish(mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traffic::circles;

    #[test]
    fn one_line_an_aircraft_and_step() {
        let generator = Generator::new(circles::compose(1, 3), &[], 1, 1_000_250_000_000);
        let mut file = Vec::new();
        let mut truth = Truth::new(&mut file, 2.0).unwrap();
        truth.write_until(&generator, 3.9).unwrap();
        truth.write_until(&generator, 4.0).unwrap();
        truth.finish().unwrap();
        let text = String::from_utf8(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 3 * 3);
        // The first aircraft of the first circle starts 40 km north of 50.9° N 10.5° E: 0.3595°.
        assert!(lines[1].starts_with("1000.250,f00000,51.2595"), "{}", lines[1]);
        assert!(lines[1].ends_with(",10.500000,200.00"), "{}", lines[1]);
        assert!(lines[7].starts_with("1004.250,"));
    }
}
