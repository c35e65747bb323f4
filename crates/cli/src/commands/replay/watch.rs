//! Orders to a replay that is being watched: keys of a terminal, or lines on stdin.

use crate::interrupt::Interrupt;
use crate::keys::Keys;
use crate::text::parse_duration;
use chronoscope_replay::coordinator::{Command, Control};
use std::io::BufRead as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Listens for orders until it is dropped.
pub(super) struct Watch {
    over: Arc<AtomicBool>,
    /// The keyboard's listener, which has to give the terminal back.
    keys: Option<JoinHandle<()>>,
}

impl Watch {
    /// Obeys keys where stdin is a terminal, else lines.
    pub(super) fn begin(control: &Control, interrupt: &Interrupt, is_paused: bool) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let (control, quit) = (control.clone(), interrupt.shared());
        let Some(keys) = Keys::take() else {
            // Not waited for: it ends with the program, or with stdin.
            std::thread::spawn(move || lines(&control, &quit));
            return Self { over, keys: None };
        };
        say!("space: pause, go on   n: next input   s: a second   m: a minute   q: end");
        let stop = over.clone();
        let listens = move || {
            let mut paused = is_paused;
            while !stop.load(Ordering::Relaxed) {
                let Some(pressed) = keys.pressed(Duration::from_millis(100)) else { return };
                for key in pressed {
                    press(key, &mut paused, &control, &quit);
                }
            }
        };
        Self { over, keys: Some(std::thread::spawn(listens)) }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(keys) = self.keys.take() {
            let _ = keys.join(); // a panic of it has been printed
        }
    }
}

fn press(key: u8, paused: &mut bool, control: &Control, quit: &AtomicBool) {
    let command = match key {
        b' ' if *paused => Command::Resume,
        b' ' => Command::Pause,
        b'n' | b'N' => Command::Step(1),
        b's' | b'S' => Command::For(Duration::from_secs(1)),
        b'm' | b'M' => Command::For(Duration::from_secs(60)),
        b'q' | b'Q' => return quit.store(true, Ordering::Relaxed),
        _ => return,
    };
    *paused = command != Command::Resume;
    control.send(command);
}

fn lines(control: &Control, quit: &AtomicBool) {
    for line in std::io::stdin().lock().lines().map_while(Result::ok) {
        match order(&line) {
            Ok(Some(command)) => control.send(command),
            Ok(None) => quit.store(true, Ordering::Relaxed),
            Err(error) => say!("chronoscope: {error}"),
        }
    }
}

/// The order of a line; `None` for the end of the replay.
fn order(line: &str) -> Result<Option<Command>, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let command = match (word, rest.trim()) {
        ("pause", "") => Command::Pause,
        ("resume", "") => Command::Resume,
        ("step", "") => Command::Step(1),
        ("step", count) => Command::Step(
            count
                .parse()
                .map_err(|_| format!("{line:?}: step needs a number of inputs, as in step 10"))?,
        ),
        ("until", time) => Command::Until(time.parse()?),
        ("for", span) => Command::For(parse_duration(span)?),
        ("quit", "") => return Ok(None),
        _ => {
            return Err(format!(
                "{line:?} is no order: use pause, resume, step [N], until TIME, for SPAN or quit"
            ));
        }
    };
    Ok(Some(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_orders() {
        for (line, command) in [
            ("pause", Command::Pause),
            (" resume ", Command::Resume),
            ("step", Command::Step(1)),
            ("step 12", Command::Step(12)),
            ("for 90s", Command::For(Duration::from_secs(90))),
            ("until 05:30", Command::Until("05:30".parse().unwrap())),
        ] {
            assert_eq!(order(line), Ok(Some(command)), "{line}");
        }
        assert_eq!(order("quit"), Ok(None));
        for (line, said) in [
            ("stop", "is no order: use pause, resume"),
            ("step x", "needs a number"),
            ("until noon", "is not a time: write 05:30"),
        ] {
            assert!(order(line).unwrap_err().contains(said), "{line}");
        }
    }

    #[test]
    fn the_space_bar_pauses_and_goes_on() {
        let (control, quit, mut paused) = (Control::default(), AtomicBool::new(false), false);
        press(b' ', &mut paused, &control, &quit);
        assert!(paused);
        press(b'n', &mut paused, &control, &quit);
        assert!(paused);
        press(b' ', &mut paused, &control, &quit);
        assert!(!paused && !quit.load(Ordering::Relaxed));
        press(b'q', &mut paused, &control, &quit);
        assert!(quit.load(Ordering::Relaxed));
    }
}
