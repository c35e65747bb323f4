//! [`Profile`] to text: a sum of many files as one, for KCachegrind and `callgrind_annotate`.

use std::collections::HashMap;
use std::io::{self, Write};

use super::profile::{Costs, NameId, Profile, ProfilePart, Site};

/// Options of the writer.
#[derive(Clone, Copy, Debug)]
pub struct WriteOptions {
    /// Give each name a number and write it once.
    pub compress_names: bool,
    /// Write lines as differences to the one before.
    pub compress_positions: bool,
}

impl Default for WriteOptions {
    fn default() -> WriteOptions {
        WriteOptions { compress_names: true, compress_positions: true }
    }
}

/// Writes the profile as one part, the sum of all its parts.
///
/// # Errors
/// Any error of `out`.
pub fn write(profile: &Profile, options: WriteOptions, out: impl Write) -> io::Result<()> {
    let mut writer = Writer { profile, options, out, known: HashMap::new(), last: 0 };
    writer.header()?;
    let mut lines = profile.lines.iter().peekable();
    let mut calls = profile.calls.iter().peekable();
    for (id, callable) in profile.functions.iter().enumerate() {
        let mine = |site: &Site| site.function as usize == id;
        if !lines.peek().is_some_and(|(site, _)| mine(site))
            && !calls.peek().is_some_and(|((site, _), _)| mine(site))
        {
            continue;
        }
        writer.name("ob", Kind::Object, callable.object)?;
        writer.name("fl", Kind::File, callable.file)?;
        writer.name("fn", Kind::Function, callable.name)?;
        let mut file = callable.file;
        while let Some((site, costs)) = lines.next_if(|(site, _)| mine(site)) {
            writer.inlined(&mut file, site.file)?;
            writer.cost(site.line, costs)?;
        }
        while let Some(((site, callee), call)) = calls.next_if(|((site, _), _)| mine(site)) {
            writer.inlined(&mut file, site.file)?;
            let callee = profile.functions[*callee as usize];
            writer.name("cob", Kind::Object, callee.object)?;
            writer.name("cfi", Kind::File, callee.file)?;
            writer.name("cfn", Kind::Function, callee.name)?;
            writeln!(writer.out, "calls={} 0", call.count)?;
            writer.cost(site.line, &call.inclusive)?;
        }
    }
    writer.totals()
}

/// Kinds of names; each has its own numbers.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Object,
    File,
    Function,
}

struct Writer<'a, W> {
    profile: &'a Profile,
    options: WriteOptions,
    out: W,
    known: HashMap<(Kind, NameId), usize>,
    last: u32,
}

impl<W: Write> Writer<'_, W> {
    fn header(&mut self) -> io::Result<()> {
        writeln!(self.out, "# callgrind format\nversion: 1\ncreator: chronoscope")?;
        let none = ProfilePart::default();
        let first = self.profile.parts.first().unwrap_or(&none);
        writeln!(self.out, "pid: {}\ncmd: {}\npart: 1", first.pid, first.command)?;
        writeln!(self.out, "positions: line\nevents: {}", self.profile.events.join(" "))
    }

    fn name(&mut self, key: &str, kind: Kind, id: NameId) -> io::Result<()> {
        let name = self.profile.names.get(id);
        if !self.options.compress_names {
            return writeln!(self.out, "{key}={name}");
        }
        let next = self.known.len() + 1;
        match self.known.get(&(kind, id)) {
            Some(number) => writeln!(self.out, "{key}=({number})"),
            None => {
                self.known.insert((kind, id), next);
                writeln!(self.out, "{key}=({next}) {name}")
            }
        }
    }

    fn inlined(&mut self, current: &mut NameId, file: NameId) -> io::Result<()> {
        if *current == file {
            return Ok(());
        }
        *current = file;
        self.name("fi", Kind::File, file)
    }

    fn cost(&mut self, line: u32, costs: &Costs) -> io::Result<()> {
        match (self.options.compress_positions, line.cmp(&self.last)) {
            (false, _) => write!(self.out, "{line}")?,
            (true, std::cmp::Ordering::Equal) => write!(self.out, "*")?,
            (true, std::cmp::Ordering::Greater) => write!(self.out, "+{}", line - self.last)?,
            (true, std::cmp::Ordering::Less) => write!(self.out, "-{}", self.last - line)?,
        }
        self.last = line;
        self.counts(costs)
    }

    fn counts(&mut self, costs: &Costs) -> io::Result<()> {
        for count in costs.counts() {
            write!(self.out, " {count}")?;
        }
        writeln!(self.out)
    }

    fn totals(&mut self) -> io::Result<()> {
        let mut totals = Costs::default();
        for costs in self.profile.lines.values() {
            let sum = totals.add(costs);
            sum.ok_or_else(|| io::Error::other("the sum of all exceeds 64 bits"))?;
        }
        write!(self.out, "totals:")?;
        self.counts(&totals)
    }
}
