//! Text to [`Profile`], line by line.

use std::collections::HashMap;
use std::io::BufRead;

use super::position::{number, sub_position};
use super::profile::{Callable, Costs, NameId, Profile, ProfilePart, Site, moved};
use crate::lines::{LineError, next_line};

/// Limits on the size of a profile; a larger one is refused.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Longest line in octets.
    pub line_bytes: usize,
    /// Largest number of octets of all names together.
    pub name_bytes: usize,
    /// Largest number of counts: places and calls, times events.
    pub counts: usize,
    /// Largest number of events.
    pub events: usize,
}

impl Default for Limits {
    /// Lines of 1 MiB, names of 512 MiB, 16 Mi counts, 64 events: some 2.5 GiB at most; a profile
    /// of a million places takes a tenth of that.
    fn default() -> Limits {
        Limits { line_bytes: 1 << 20, name_bytes: 512 << 20, counts: 16 << 20, events: 64 }
    }
}

/// Reason why a file is not a valid profile. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error("line {line}: {source}")]
    Io {
        /// The line that was being read.
        line: u64,
        /// The system's error.
        source: std::io::Error,
    },
    /// The line is not UTF-8.
    #[error("line {line} is not UTF-8")]
    NotText {
        /// The line.
        line: u64,
    },
    /// Another version of the format.
    #[error("line {line}: format version {found:?}, this program reads version 1")]
    Version {
        /// The line.
        line: u64,
        /// The value found.
        found: String,
    },
    /// A line that is nothing of the format.
    #[error("line {line} is not a line of a Callgrind profile: {text:?}")]
    UnknownLine {
        /// The line.
        line: u64,
        /// Beginning of the line.
        text: String,
    },
    /// A number that is none, or does not fit.
    #[error("line {line}: {what} {text:?} is not a number that fits")]
    BadNumber {
        /// The line.
        line: u64,
        /// Meaning of the number.
        what: &'static str,
        /// The text found.
        text: String,
    },
    /// A number is missing.
    #[error("line {line}: {what} is missing")]
    Missing {
        /// The line.
        line: u64,
        /// The missing element.
        what: &'static str,
    },
    /// The line has more counts than there are events.
    #[error("line {line} has more counts than the {events} events")]
    TooManyCounts {
        /// The line.
        line: u64,
        /// Number of events.
        events: usize,
    },
    /// A name that was never given.
    #[error("line {line} refers to name ({id}), which no earlier line defines")]
    UnknownName {
        /// The line.
        line: u64,
        /// The number of the name.
        id: u64,
    },
    /// A cost before `events:`, or before `fn=`; a call before `cfn=`.
    #[error("line {line} comes before any {needs}")]
    TooEarly {
        /// The line.
        line: u64,
        /// The line that must come first.
        needs: &'static str,
    },
    /// Sums beyond 64 bits.
    #[error("line {line}: a sum exceeds 64 bits")]
    Overflow {
        /// The line.
        line: u64,
    },
    /// The profile exceeds a limit.
    #[error("line {line}: more than {limit} {what}")]
    TooMuch {
        /// The line.
        line: u64,
        /// The limited quantity.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The file ends within a call or a jump.
    #[error(
        "the file ends after line {line}, where the cost of a call must follow: the file was cut"
    )]
    Truncated {
        /// The last line.
        line: u64,
    },
    /// The file has no `events:` line.
    #[error("there is no \"events:\" line: not a Callgrind profile")]
    NoEvents,
}

/// Reads one file, which may have several parts; they are summed.
///
/// # Errors
/// [`ReadError`], with the line. Nothing is repaired. A profile whose lines do not add up to its
/// own totals is accepted and listed in [`Profile::discrepancies`].
pub fn read(mut from: impl BufRead, limits: Limits) -> Result<Profile, ReadError> {
    let mut reader = Reader::new(limits);
    let mut buffer = Vec::new();
    loop {
        let (line, limit) = (reader.line + 1, limits.line_bytes);
        match next_line(&mut from, &mut buffer, limit) {
            Ok(true) => reader.line = line,
            Ok(false) => break,
            Err(LineError::Io(source)) => return Err(ReadError::Io { line, source }),
            Err(LineError::TooLong) => {
                return Err(ReadError::TooMuch { line, what: "octets in one line", limit });
            }
        }
        let text = std::str::from_utf8(&buffer).map_err(|_| ReadError::NotText { line })?;
        reader.take(text.trim_end())?;
    }
    reader.finish()
}

/// Dictionary of name numbers (name compression). Files and functions of calls share numbers with
/// those of costs.
#[derive(Default)]
struct Compressed(HashMap<u64, NameId>);

/// Kind of the next line.
#[derive(Clone, Copy, PartialEq)]
enum Expect {
    Any,
    /// Position and inclusive cost of a call.
    Call {
        count: u64,
    },
    /// The bare position of a jump.
    Jump,
}

struct Reader {
    profile: Profile,
    limits: Limits,
    line: u64,
    name_bytes: usize,
    objects: Compressed,
    files: Compressed,
    functions: Compressed,
    /// Columns of the part's events in the profile; empty before `events:`.
    columns: Vec<usize>,
    has_instr: bool,
    has_line: bool,
    last: [u64; 2],
    object: NameId,
    /// The file of the function; `fi=` and `fe=` change only `inlined_from`.
    file: NameId,
    inlined_from: NameId,
    function: Option<u32>,
    callee_object: Option<NameId>,
    callee_file: Option<NameId>,
    callee: Option<u32>,
    expect: Expect,
    /// Header lines were seen since the last body line: they are one part's.
    in_header: bool,
}

impl Reader {
    fn new(limits: Limits) -> Reader {
        let mut profile = Profile::default();
        let unknown = profile.names.intern("???");
        Reader {
            profile,
            limits,
            line: 0,
            name_bytes: 0,
            objects: Compressed::default(),
            files: Compressed::default(),
            functions: Compressed::default(),
            columns: Vec::new(),
            has_instr: false,
            has_line: true,
            last: [0; 2],
            object: unknown,
            file: unknown,
            inlined_from: unknown,
            function: None,
            callee_object: None,
            callee_file: None,
            callee: None,
            expect: Expect::Any,
            in_header: false,
        }
    }

    fn take(&mut self, text: &str) -> Result<(), ReadError> {
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let first = text.as_bytes()[0];
        if first.is_ascii_digit() || matches!(first, b'+' | b'-' | b'*') {
            return self.take_cost(text);
        }
        if self.expect != Expect::Any {
            return Err(ReadError::Missing { line: self.line, what: "the line after a call" });
        }
        // A name may have a colon, a header's value an equals sign: what comes first decides.
        match text.find([':', '=']).map(|at| (&text[..at], text.as_bytes()[at], at)) {
            Some((key, b':', at)) => self.take_header(key, text[at + 1..].trim()),
            Some((key, _, at)) => self.take_body(key, text[at + 1..].trim_start(), text),
            None => Err(self.unknown(text)),
        }
    }

    fn finish(self) -> Result<Profile, ReadError> {
        if self.expect != Expect::Any {
            return Err(ReadError::Truncated { line: self.line });
        }
        if self.profile.events.is_empty() {
            return Err(ReadError::NoEvents);
        }
        Ok(self.profile)
    }

    fn take_header(&mut self, key: &str, value: &str) -> Result<(), ReadError> {
        let line = self.line;
        if key == "totals" {
            let stated = self.sum(value)?;
            self.part().stated = Some(stated);
            return Ok(());
        }
        if !self.in_header {
            self.profile.parts.push(ProfilePart::default());
            self.in_header = true;
            self.last = [0; 2];
            self.callee = None;
        }
        match key {
            "version" if value != "1" => {
                return Err(ReadError::Version { line, found: head(value) });
            }
            "version" => {}
            "creator" => self.part().creator = value.to_owned(),
            "cmd" => self.part().command = value.to_owned(),
            "pid" => self.part().pid = self.number("pid", value)?,
            "part" => self.part().part = self.number("part", value)?,
            "thread" => self.part().thread = Some(self.number("thread", value)?),
            "desc" => {
                let (name, text) = value.split_once(':').unwrap_or((value, ""));
                let pair = (name.trim().to_owned(), text.trim().to_owned());
                self.bounded_name(value.len())?;
                self.part().descriptions.push(pair);
            }
            "positions" => self.take_positions(value)?,
            "events" => self.take_events(value)?,
            "event" => {} // a long name or a sum of others: words for a screen
            "summary" => {
                let stated = self.sum(value)?;
                self.part().stated = Some(stated);
            }
            _ => return Err(self.unknown(&format!("{key}: {value}"))),
        }
        Ok(())
    }

    fn take_positions(&mut self, value: &str) -> Result<(), ReadError> {
        (self.has_instr, self.has_line) = match value.split_whitespace().collect::<Vec<_>>()[..] {
            ["instr", "line"] => (true, true),
            ["instr"] => (true, false),
            ["line"] => (false, true),
            _ => return Err(self.unknown(&format!("positions: {value}"))),
        };
        Ok(())
    }

    fn take_events(&mut self, value: &str) -> Result<(), ReadError> {
        self.columns.clear();
        for name in value.split_whitespace() {
            let column = self.profile.column(name);
            let limit = self.limits.events;
            if self.profile.events.len() > limit {
                return Err(ReadError::TooMuch { line: self.line, what: "events", limit });
            }
            if self.columns.contains(&column) {
                return Err(self.unknown(&format!("events: {value}")));
            }
            self.columns.push(column);
        }
        if self.columns.is_empty() {
            return Err(ReadError::Missing { line: self.line, what: "the name of an event" });
        }
        Ok(())
    }

    fn take_body(&mut self, key: &str, value: &str, text: &str) -> Result<(), ReadError> {
        self.in_header = false;
        match key {
            "ob" => self.object = self.name(value, |reader| &mut reader.objects)?,
            "fl" => {
                self.file = self.name(value, |reader| &mut reader.files)?;
                self.inlined_from = self.file;
            }
            "fi" | "fe" => self.inlined_from = self.name(value, |reader| &mut reader.files)?,
            "fn" => {
                let name = self.name(value, |reader| &mut reader.functions)?;
                // A function without `fl=` begins where the one before did.
                self.inlined_from = self.file;
                let callable = Callable { name, file: self.file, object: self.object };
                self.function = Some(self.profile.function(callable));
            }
            "cob" => self.callee_object = Some(self.name(value, |reader| &mut reader.objects)?),
            "cfi" | "cfl" => self.callee_file = Some(self.name(value, |reader| &mut reader.files)?),
            "cfn" => {
                let name = self.name(value, |reader| &mut reader.functions)?;
                // An absent `cfi=` or `cfl=` defaults to the file of the caller's line.
                let file = self.callee_file.take().unwrap_or(self.inlined_from);
                let object = self.callee_object.take().unwrap_or(self.object);
                self.callee = Some(self.profile.function(Callable { name, file, object }));
            }
            "calls" => {
                let count = self.target(value, "the number of calls")?;
                self.expect = Expect::Call { count };
            }
            // Jumps carry names that later lines may mean by their number.
            "jfi" => drop(self.name(value, |reader| &mut reader.files)?),
            "jfn" => drop(self.name(value, |reader| &mut reader.functions)?),
            "jump" => {
                self.target(value, "the number of jumps")?;
                self.expect = Expect::Jump;
            }
            "jcnd" => {
                // "taken/executed target"; the manual has a space instead of the stroke.
                let (taken, rest) = value
                    .split_once(['/', ' '])
                    .ok_or(ReadError::Missing { line: self.line, what: "jumps executed" })?;
                self.number("jumps taken", taken)?;
                self.target(rest, "jumps executed")?;
                self.expect = Expect::Jump;
            }
            _ => return Err(self.unknown(text)),
        }
        Ok(())
    }

    /// `COUNT POSITIONS`: the count; positions of targets are checked and not kept.
    fn target(&self, value: &str, what: &'static str) -> Result<u64, ReadError> {
        let mut words = value.split_whitespace();
        let count = words.next().ok_or(ReadError::Missing { line: self.line, what })?;
        let count = self.number(what, count)?;
        self.positions(&mut words)?;
        Ok(count)
    }

    fn take_cost(&mut self, text: &str) -> Result<(), ReadError> {
        let line = self.line;
        self.in_header = false;
        let mut words = text.split_whitespace();
        let last = self.positions(&mut words)?;
        self.last = last;
        let expect = std::mem::replace(&mut self.expect, Expect::Any);
        if expect == Expect::Jump {
            return match words.next() {
                None => Ok(()),
                Some(_) => Err(ReadError::TooManyCounts { line, events: 0 }),
            };
        }
        let costs = self.costs(words)?;
        let function = self.function.ok_or(ReadError::TooEarly { line, needs: "\"fn=\"" })?;
        let place = u32::try_from(last[1]).map_err(|_| self.bad("source line", text))?;
        let site = Site { function, file: self.inlined_from, line: place };
        match expect {
            Expect::Call { count } => {
                let callee = self.callee.ok_or(ReadError::TooEarly { line, needs: "\"cfn=\"" })?;
                let sum = self.profile.calls.entry((site, callee)).or_default();
                sum.count = sum.count.checked_add(count).ok_or(ReadError::Overflow { line })?;
                sum.inclusive.add(&costs).ok_or(ReadError::Overflow { line })?;
            }
            _ => {
                let sum = self.profile.lines.entry(site).or_default();
                sum.add(&costs).ok_or(ReadError::Overflow { line })?;
                self.part().read.add(&costs).ok_or(ReadError::Overflow { line })?;
            }
        }
        let limit = self.limits.counts;
        let entries = self.profile.lines.len() + self.profile.calls.len();
        if entries.saturating_mul(self.profile.events.len()) > limit {
            return Err(ReadError::TooMuch { line, what: "counts of places and calls", limit });
        }
        Ok(())
    }

    /// Positions at the beginning of `words`: address and source line, 0 for a position that the
    /// file does not have.
    fn positions<'a>(
        &self,
        words: &mut impl Iterator<Item = &'a str>,
    ) -> Result<[u64; 2], ReadError> {
        let mut found = [0; 2];
        for (index, present) in [self.has_instr, self.has_line].into_iter().enumerate() {
            if present {
                let what = "a position";
                let word = words.next().ok_or(ReadError::Missing { line: self.line, what })?;
                found[index] = sub_position(word, self.last[index])
                    .ok_or_else(|| self.bad("position", word))?;
            }
        }
        Ok(found)
    }

    fn costs<'a>(&self, words: impl Iterator<Item = &'a str>) -> Result<Costs, ReadError> {
        let (line, events) = (self.line, self.columns.len());
        if events == 0 {
            return Err(ReadError::TooEarly { line, needs: "\"events:\"" });
        }
        let mut counts = Vec::with_capacity(events);
        for word in words {
            if counts.len() == events {
                return Err(ReadError::TooManyCounts { line, events });
            }
            counts.push(self.number("a count", word)?);
        }
        Ok(moved(&Costs::new(counts), &self.columns))
    }

    /// The sum that `summary:` or `totals:` states.
    fn sum(&self, value: &str) -> Result<Costs, ReadError> {
        self.costs(value.split_whitespace())
    }

    /// `(ID) NAME`, `(ID)`, or `NAME`.
    fn name(
        &mut self,
        value: &str,
        table: impl Fn(&mut Reader) -> &mut Compressed,
    ) -> Result<NameId, ReadError> {
        let (id, name) = match value.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
            Some((id, name)) if id.bytes().all(|b| b.is_ascii_digit()) && !id.is_empty() => {
                (Some(self.number("the number of a name", id)?), name.trim_start())
            }
            _ => (None, value),
        };
        if let (Some(id), "") = (id, name) {
            let known = table(self).0.get(&id).copied();
            return known.ok_or(ReadError::UnknownName { line: self.line, id });
        }
        // The tables need about 64 octets for each name.
        self.bounded_name(name.len() + 64)?;
        let name = self.profile.names.intern(if name.is_empty() { "???" } else { name });
        if let Some(id) = id {
            table(self).0.insert(id, name);
        }
        Ok(name)
    }

    fn bounded_name(&mut self, bytes: usize) -> Result<(), ReadError> {
        self.name_bytes += bytes;
        let limit = self.limits.name_bytes;
        if self.name_bytes > limit {
            return Err(ReadError::TooMuch { line: self.line, what: "octets of names", limit });
        }
        Ok(())
    }

    /// The part that lines belong to.
    fn part(&mut self) -> &mut ProfilePart {
        if self.profile.parts.is_empty() {
            self.profile.parts.push(ProfilePart::default());
        }
        self.profile.parts.last_mut().expect("one was just pushed")
    }

    fn number(&self, what: &'static str, text: &str) -> Result<u64, ReadError> {
        number(text).ok_or_else(|| self.bad(what, text))
    }

    fn bad(&self, what: &'static str, text: &str) -> ReadError {
        ReadError::BadNumber { line: self.line, what, text: head(text) }
    }

    fn unknown(&self, text: &str) -> ReadError {
        ReadError::UnknownLine { line: self.line, text: head(text) }
    }
}

/// The beginning of a line, for a message.
fn head(text: &str) -> String {
    text.chars().take(60).collect()
}
