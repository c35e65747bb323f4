//! Messages of the recorder on stderr: few, and each one once.

use std::sync::atomic::{AtomicU32, Ordering};

/// Things worth a line.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Topic {
    OtherFolder = 1,
    PrivateMemory = 2,
    LateInit = 4,
    Growth = 8,
    Ended = 16,
    Resource = 32,
}

static SAID: AtomicU32 = AtomicU32::new(0);

/// Longest line, in characters. Only a folder's name makes a line longer, and stderr may be a pipe
/// that is not read: the program would block.
const CHARS_MAX: usize = 400;

/// Prints the text, unless its topic was printed before.
pub(crate) fn once(topic: Topic, text: &str) {
    let bit = topic as u32;
    if SAID.fetch_or(bit, Ordering::Relaxed) & bit == 0 {
        let shown: String = text.chars().take(CHARS_MAX).collect();
        eprintln!("chronoscope: {shown}");
    }
}
