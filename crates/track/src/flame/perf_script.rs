//! Text of `perf script`: samples with their stacks.
//!
//! A sample is a line `PROGRAM PID [CPU] TIME: PERIOD EVENT:` and, below it, one line
//! `<tab>ADDRESS NAME+OFFSET (OBJECT)` for each function, the innermost first; an empty line ends
//! it. A sample without a stack has its function in the first line. The cost of a sample is its
//! period, or 1 where `perf` gives none. The outermost function of each path is the program.
//!
//! Source: perf-script(1) and `tools/perf/builtin-script.c` of Linux.

use super::stacks::{FunctionNames, PATHS_MAX, SampledEvent};
use crate::lines::{LineError, next_line};
use std::io::{self, BufRead, Write};

/// Longest line in octets.
const LINE_BYTES_MAX: usize = 1 << 20;
/// Deepest stack; `perf` records 127 functions unless the machine allows more.
const DEPTH_MAX: usize = 4096;
/// Largest number of octets of all names, with 128 for each.
const NAME_BYTES_MAX: usize = 256 << 20;
/// Largest number of events.
const EVENTS_MAX: usize = 64;

/// Reason why a text is not samples of `perf script`. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum StacksError {
    /// The text could not be read.
    #[error("line {line}: {source}")]
    Io {
        /// The line that was being read.
        line: u64,
        /// The system's error.
        source: io::Error,
    },
    /// The line is not UTF-8.
    #[error("line {line} is not UTF-8")]
    NotText {
        /// The line.
        line: u64,
    },
    /// The line is neither a sample nor a function of one.
    #[error("line {line} is not {expected} of `perf script`: {text:?}")]
    UnknownLine {
        /// The line.
        line: u64,
        /// What it has to be.
        expected: &'static str,
        /// Beginning of the line.
        text: String,
    },
    /// The text exceeds a limit.
    #[error("line {line}: more than {limit} {what}")]
    TooMuch {
        /// The line.
        line: u64,
        /// The limited quantity.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The periods of an event's samples exceed 64 bits together.
    #[error("line {line}: the sum of the periods exceeds 64 bits")]
    Overflow {
        /// The line.
        line: u64,
    },
    /// The text has no sample.
    #[error(
        "there is no sample: `perf record` recorded none, or this is not text of `perf script`"
    )]
    NoSamples,
}

/// Reads the samples, by event.
///
/// # Errors
/// [`StacksError`], with the line. Nothing is repaired.
pub fn read_perf_script(mut from: impl BufRead) -> Result<Vec<SampledEvent>, StacksError> {
    let mut reader = Reader::default();
    let mut buffer = Vec::new();
    loop {
        let line = reader.line + 1;
        match next_line(&mut from, &mut buffer, LINE_BYTES_MAX) {
            Ok(true) => reader.line = line,
            Ok(false) => break,
            Err(LineError::Io(source)) => return Err(StacksError::Io { line, source }),
            Err(LineError::TooLong) => {
                let (what, limit) = ("octets in one line", LINE_BYTES_MAX);
                return Err(StacksError::TooMuch { line, what, limit });
            }
        }
        let text = std::str::from_utf8(&buffer).map_err(|_| StacksError::NotText { line })?;
        reader.take(text)?;
    }
    reader.end_sample()?;
    if reader.events.is_empty() {
        return Err(StacksError::NoSamples);
    }
    Ok(reader.events)
}

/// Writes samples as `perf script` does, with one sample for each path of calls, whose period is the
/// sum of theirs: [`read_perf_script`] and other readers of that text get the same costs by path.
///
/// # Errors
/// Any error of `out`.
pub fn write_perf_script(events: &[SampledEvent], out: &mut impl Write) -> io::Result<()> {
    for sampled in events {
        for (path, cost) in sampled.paths() {
            let Some((program, stack)) = path.split_first() else { continue };
            let program = match sampled.graph.nodes[*program].name.as_str() {
                "" => "?",
                name => name,
            };
            writeln!(out, "{program} 0 0.0: {cost} {}:", sampled.event)?;
            for function in stack.iter().rev() {
                let node = &sampled.graph.nodes[*function];
                writeln!(out, "\t0 {} ({})", node.name, node.object)?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

/// Whether a line is the first of a sample.
pub(super) fn is_sample(line: &str) -> bool {
    header(line).is_some()
}

#[derive(Default)]
struct Reader {
    line: u64,
    name_bytes: usize,
    names: FunctionNames,
    events: Vec<SampledEvent>,
    sample: Option<Sample>,
}

/// The sample whose stack is being read.
struct Sample {
    program: usize,
    /// Index of the event.
    event: usize,
    cost: u64,
    /// The innermost first.
    stack: Vec<usize>,
}

impl Reader {
    fn take(&mut self, text: &str) -> Result<(), StacksError> {
        if text.trim().is_empty() {
            return self.end_sample();
        }
        if text.starts_with('#') {
            return Ok(());
        }
        if !text.starts_with('\t') {
            self.end_sample()?;
            return self.begin_sample(text);
        }
        let function = self.function(text)?;
        let line = self.line;
        match &mut self.sample {
            Some(sample) if sample.stack.len() < DEPTH_MAX => sample.stack.push(function),
            Some(_) => {
                let (what, limit) = ("functions in one stack", DEPTH_MAX);
                return Err(StacksError::TooMuch { line, what, limit });
            }
            None => return Err(self.unknown("a sample, which must come first,", text)),
        }
        Ok(())
    }

    fn begin_sample(&mut self, text: &str) -> Result<(), StacksError> {
        let header =
            header(text).ok_or_else(|| self.unknown("the first line of a sample", text))?;
        let program = self.number(header.program, "")?;
        let known = self.events.iter().position(|event| event.event == header.event);
        let event = match known {
            Some(event) => event,
            None if self.events.len() == EVENTS_MAX => {
                let (line, what, limit) = (self.line, "events", EVENTS_MAX);
                return Err(StacksError::TooMuch { line, what, limit });
            }
            None => {
                self.events.push(SampledEvent::new(header.event));
                self.events.len() - 1
            }
        };
        let stack = match header.function {
            "" => Vec::new(),
            function => vec![self.function(function)?],
        };
        self.sample = Some(Sample { program, event, cost: header.cost, stack });
        Ok(())
    }

    fn end_sample(&mut self) -> Result<(), StacksError> {
        let Some(mut sample) = self.sample.take() else { return Ok(()) };
        let line = self.line;
        sample.stack.push(sample.program);
        sample.stack.reverse();
        let event = &mut self.events[sample.event];
        self.names.extend(&mut event.graph);
        event.add(&sample.stack, sample.cost).ok_or(StacksError::Overflow { line })?;
        let paths: usize = self.events.iter().map(SampledEvent::path_count).sum();
        if paths > PATHS_MAX {
            let (what, limit) = ("different paths of calls", PATHS_MAX);
            return Err(StacksError::TooMuch { line, what, limit });
        }
        Ok(())
    }

    /// The function of a line `ADDRESS NAME+OFFSET (OBJECT)`.
    fn function(&mut self, text: &str) -> Result<usize, StacksError> {
        let found = frame(text.trim());
        let (name, object) = found.ok_or_else(|| self.unknown("a function of a sample", text))?;
        self.number(name, object)
    }

    fn number(&mut self, name: &str, object: &str) -> Result<usize, StacksError> {
        let object = object.rsplit('/').next().unwrap_or(object);
        self.name_bytes += match self.names.has(name, object) {
            true => 0,
            false => name.len() + object.len() + 128,
        };
        if self.name_bytes > NAME_BYTES_MAX {
            let (line, what, limit) = (self.line, "octets of names", NAME_BYTES_MAX);
            return Err(StacksError::TooMuch { line, what, limit });
        }
        Ok(self.names.number(name, object))
    }

    fn unknown(&self, expected: &'static str, text: &str) -> StacksError {
        let text = text.trim().chars().take(60).collect();
        StacksError::UnknownLine { line: self.line, expected, text }
    }
}

/// The first line of a sample.
struct Header<'a> {
    program: &'a str,
    cost: u64,
    event: &'a str,
    /// The function, where the sample has no stack; else empty.
    function: &'a str,
}

/// `PROGRAM PID[/TID] [CPU] TIME: [PERIOD] EVENT: [FUNCTION]`; a program's name may have spaces.
fn header(text: &str) -> Option<Header<'_>> {
    let (time_at, after) = words(text).find(|(at, after)| is_time(&text[*at..*after]))?;
    let mut before = text[..time_at].trim();
    if before.ends_with(']') {
        before = before.rsplit_once('[')?.0.trim_end();
    }
    let (program, pid) = before.rsplit_once(char::is_whitespace)?;
    let is_id = |id: &str| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    // perf writes -1 for a process that it does not know.
    if !pid.split('/').all(|id| is_id(id.strip_prefix('-').unwrap_or(id))) {
        return None;
    }
    let mut rest = text[after..].trim();
    let mut cost = 1;
    let (first, others) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    if is_id(first) {
        (cost, rest) = (first.parse().ok()?, others.trim_start());
    }
    let (event, function) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let event = event.strip_suffix(':').filter(|event| !event.is_empty())?;
    Some(Header { program: program.trim(), cost, event, function: function.trim() })
}

/// Where the words of a text begin and end.
fn words(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let begin = text.as_ptr() as usize;
    text.split_whitespace().map(move |word| {
        let at = word.as_ptr() as usize - begin;
        (at, at + word.len())
    })
}

/// `12095.020860:`.
fn is_time(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = word.strip_suffix(':').and_then(|time| time.split_once('.'));
    parts.is_some_and(|(s, fraction)| digits(s) && digits(fraction))
}

/// Name and object of `ADDRESS NAME+OFFSET (OBJECT)`; a name may have spaces and brackets.
fn frame(text: &str) -> Option<(&str, &str)> {
    let (address, rest) = text.split_once(char::is_whitespace)?;
    if address.is_empty() || !address.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let inside = rest.trim().strip_suffix(')')?;
    let inside = inside.strip_suffix(" (deleted)").unwrap_or(inside);
    let (name, object) = inside.rsplit_once(" (").or_else(|| {
        inside.strip_prefix('(').map(|object| ("[unknown]", object)) // no name
    })?;
    let name = match name.rsplit_once("+0x") {
        Some((name, offset)) if offset.bytes().all(|byte| byte.is_ascii_hexdigit()) => name,
        _ => name,
    };
    Some((name.trim(), object))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# a comment\n\
        my prog  8668/8670 [001] 12095.020860:     250000 cpu-clock:u: \n\
        \t           1462a leaf+0xa (/usr/lib/ld linux.so.2)\n\
        \t            1000 ns::f(int, char)+0x10 (/bin/prog (deleted))\n\
        \t            2000 main+0x1 (/bin/prog)\n\n\
        my prog  8668 12095.3:     250000 cpu-clock:u: \n\
        \t            1000 main+0x10 (/bin/prog)\n\
        \t            2000 main+0x1 (/bin/prog)\n\n\
        ls 1 1.5: cycles:  ffff [unknown] ([kernel.kallsyms])\n";

    #[test]
    fn samples_are_paths_with_costs() {
        let events = read_perf_script(TEXT.as_bytes()).unwrap();
        let names: Vec<_> = events.iter().map(|e| (e.event.as_str(), e.samples)).collect();
        assert_eq!(names, [("cpu-clock:u", 2), ("cycles", 1)]);
        let graph = &events[0].graph;
        let node = |name: &str| graph.nodes.iter().find(|node| node.name == name).unwrap();
        assert_eq!((graph.total, node("my prog").inclusive), (500_000, 500_000));
        // Recursion counts a sample once.
        assert_eq!((node("main").inclusive, node("main").own), (500_000, 250_000));
        assert_eq!(node("ns::f(int, char)").object, "prog");
        assert_eq!((node("leaf").own, node("leaf").object.as_str()), (250_000, "ld linux.so.2"));
        let other = &events[1].graph;
        assert_eq!(other.total, 1);
        assert!(
            other.nodes.iter().any(|n| n.name == "(no symbol)" && n.object == "[kernel.kallsyms]")
        );
    }

    /// What is stored with a run is read as it was.
    #[test]
    fn what_is_written_is_read_again() {
        let events = read_perf_script(TEXT.as_bytes()).unwrap();
        let write = |events: &[SampledEvent]| {
            let mut text = Vec::new();
            write_perf_script(events, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let text = write(&events);
        let again = read_perf_script(text.as_bytes()).unwrap();
        assert_eq!(write(&again), text);
        for (one, other) in events.iter().zip(&again) {
            assert_eq!((&one.event, one.graph.total), (&other.event, other.graph.total));
            let costs = |event: &SampledEvent| {
                let nodes = event.graph.nodes.iter().filter(|node| node.inclusive > 0);
                let mut costs: Vec<_> =
                    nodes.map(|n| (n.name.clone(), n.object.clone(), n.own, n.inclusive)).collect();
                costs.sort();
                costs
            };
            assert_eq!(costs(one), costs(other));
        }
    }

    #[test]
    fn what_is_no_sample_is_refused_with_its_line() {
        for (text, said) in [
            ("", "there is no sample"),
            ("\t 10 main (x)\n", "line 1 is not a sample, which must come first,"),
            ("ls 1 1.5: 1 cycles:\n\t zz main (x)\n", "line 2 is not a function of a sample"),
            ("ls 1 1.5: 1 cycles:\n\t 10 mai", "line 2 is not a function"),
            ("what is this\n", "line 1 is not the first line of a sample"),
            ("ls x 1.5: 1 cycles:\n", "line 1 is not the first line"),
            (
                "a 1 1.5: 18446744073709551615 c:\n\nb 1 1.5: 1 c:\n\n",
                "line 4: the sum of the periods exceeds 64 bits",
            ),
        ] {
            let error = read_perf_script(text.as_bytes()).unwrap_err().to_string();
            assert!(error.starts_with(said), "{text:?}: {error}");
        }
        let deep = format!("ls 1 1.5: 1 c:\n{}", "\t 10 f (x)\n".repeat(5000));
        let error = read_perf_script(deep.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "line 4098: more than 4096 functions in one stack");
        let long = "x".repeat((1 << 20) + 2);
        let error = read_perf_script(long.as_bytes()).unwrap_err().to_string();
        assert_eq!(error, "line 1: more than 1048576 octets in one line");
    }

    proptest::proptest! {
        /// Whatever is cut out or written into the text: samples or a refusal, never a panic.
        #[test]
        fn a_damaged_text_is_read_or_refused(
            at in 0..400_usize,
            cut in 0..40_usize,
            octets in proptest::collection::vec(proptest::arbitrary::any::<u8>(), 0..20),
        ) {
            let mut damaged = TEXT.as_bytes().to_vec();
            let at = at % damaged.len();
            let end = (at + cut).min(damaged.len());
            damaged.splice(at..end, octets);
            let _ = read_perf_script(&damaged[..]);
        }
    }
}
