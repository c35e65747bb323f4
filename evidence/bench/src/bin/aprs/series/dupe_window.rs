//! Age up to which a repeated packet is dropped.
//!
//! The server's window is fixed, so that this takes as long as the window, and sleeps nearly all of
//! it. Each age has a packet of its own: a repeated one is remembered for another window.

use crate::Arguments;
use crate::load::logged_in;
use crate::server::Server;
use crate::table::Table;
use anyhow::{Context, Result, ensure};
use chronoscope_clock as clock;
use mio::net::TcpStream;
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

/// Ages at which packets are repeated, in seconds, ascending.
const AGES_S: [f64; 8] = [5.0, 15.0, 25.0, 28.0, 29.0, 31.0, 32.0, 35.0];
/// Time for the last one to arrive.
const LAST: Duration = Duration::from_secs(1);

/// A repeated packet.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Repeated {
    /// From the first to the second, as they were sent.
    age_s: f64,
    /// Copies that arrived.
    copies: usize,
}

pub(crate) fn dupe_window(arguments: &Arguments) -> Result<Value> {
    let server = Server::start(&arguments.settings("adaptive"))?;
    let mut receiver = logged_in(server.port("full")?, "WINDOW-2", "")?.stream;
    let mut sender = logged_in(server.port("igate")?, "WINDOW-1", "b/NOBODY")?.stream;
    let mut text = Vec::new();
    let mut first_ns = Vec::new();
    for age_s in AGES_S {
        first_ns.push(clock::monotonic_ns());
        sender.write_all(line(age_s).as_bytes())?;
    }
    let mut repeated = Vec::new();
    for (age_s, first_ns) in AGES_S.into_iter().zip(first_ns) {
        sleep_until(first_ns, age_s);
        let age_ns = clock::monotonic_ns() - first_ns;
        sender.write_all(line(age_s).as_bytes())?;
        read(&mut receiver, &mut text)?;
        #[allow(clippy::cast_precision_loss)]
        repeated.push(Repeated { age_s: age_ns as f64 / 1e9, copies: 0 });
    }
    clock::sleep(LAST);
    read(&mut receiver, &mut text)?;
    let text = String::from_utf8_lossy(&text);
    for (repeated, age_s) in repeated.iter_mut().zip(AGES_S) {
        repeated.copies = text.matches(payload(age_s).as_str()).count();
    }
    let [dropped_until_s, passed_from_s] = bounds(&repeated)?;
    let mut table =
        Table::new("Packets repeated once, by their age", &["age s", "copies that arrived"]);
    for Repeated { age_s, copies } in &repeated {
        table.row(&[format!("{age_s:.2}"), copies.to_string()]);
    }
    arguments.show(&table);
    let ages = repeated.iter().map(|one| json!({ "age_s": one.age_s, "copies": one.copies }));
    Ok(json!({
        "ages": ages.collect::<Vec<_>>(),
        "dropped_until_s": dropped_until_s, "passed_from_s": passed_from_s,
    }))
}

fn payload(age_s: f64) -> String {
    format!(":>repeated after {age_s} s\r\n")
}

fn line(age_s: f64) -> String {
    format!("WINDOW-1>APRS,TCPIP*{}", payload(age_s))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn sleep_until(first_ns: u64, age_s: f64) {
    let due_ns = first_ns + (age_s * 1e9) as u64;
    clock::sleep(Duration::from_nanos(due_ns.saturating_sub(clock::monotonic_ns())));
}

/// Appends what has come.
fn read(stream: &mut TcpStream, text: &mut Vec<u8>) -> Result<()> {
    match stream.read_to_end(text) {
        Ok(_) => anyhow::bail!("the server cut the receiver"),
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
        Err(error) => Err(error).context("receiving packets"),
    }
}

/// The largest age at which a repeated packet was dropped, and the smallest at which one passed.
///
/// # Errors
/// When a packet did not arrive at all, or one passed at a smaller age than another was dropped at:
/// there is no such window then.
fn bounds(repeated: &[Repeated]) -> Result<[f64; 2]> {
    let absent = repeated.iter().find(|one| !(1..=2).contains(&one.copies));
    ensure!(absent.is_none(), "a packet sent twice arrived neither once nor twice: {absent:?}");
    let ages = |copies: usize| {
        repeated.iter().filter(move |one| one.copies == copies).map(|one| one.age_s)
    };
    let dropped_until_s = ages(1).fold(0.0, f64::max);
    let passed_from_s = ages(2).fold(f64::INFINITY, f64::min);
    ensure!(passed_from_s.is_finite(), "a packet was dropped even {dropped_until_s:.1} s later");
    ensure!(
        dropped_until_s < passed_from_s,
        "a packet passed {passed_from_s:.1} s after the first, another was dropped after \
         {dropped_until_s:.1} s"
    );
    Ok([dropped_until_s, passed_from_s])
}

#[cfg(test)]
mod tests {
    use super::{Repeated, bounds};

    fn of(ages: &[(f64, usize)]) -> Vec<Repeated> {
        ages.iter().map(|(age_s, copies)| Repeated { age_s: *age_s, copies: *copies }).collect()
    }

    #[test]
    fn the_window_is_between_the_last_dropped_and_the_first_passed() {
        let ages = of(&[(25.0, 1), (29.0, 1), (31.0, 2), (35.0, 2)]);
        assert_eq!(bounds(&ages).unwrap(), [29.0, 31.0]);
        assert_eq!(bounds(&of(&[(5.0, 2)])).unwrap(), [0.0, 5.0], "no window at all");
    }

    #[test]
    fn what_is_no_window_is_said() {
        let error = |ages: &[(f64, usize)]| bounds(&of(ages)).unwrap_err().to_string();
        assert!(error(&[(25.0, 2), (29.0, 1)]).contains("another was dropped"));
        assert!(error(&[(25.0, 1), (35.0, 1)]).contains("even 35.0 s later"));
        assert!(error(&[(25.0, 0)]).contains("neither once nor twice"));
        assert!(error(&[(25.0, 3)]).contains("neither once nor twice"));
    }
}
