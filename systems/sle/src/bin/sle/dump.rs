//! `sle dump`.

use super::args::DumpArgs;
use anyhow::Context;
use chronoscope_sle::dump::{
    CaptureDump, DumpCounts, DumpEntry, DumpParts, DumpSettings, journal_lines, page,
};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::process::ExitCode;

/// Entries of a page, by default.
const PAGE_ENTRIES: u64 = 10_000;
/// The beginning of a journal of `sle-user send`.
const JOURNAL: &[u8] = b"{\"";

pub(crate) fn run(args: &DumpArgs) -> anyhow::Result<ExitCode> {
    let name = args.file.display().to_string();
    let mut input: Box<dyn Read> = if name == "-" {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(&args.file).with_context(|| name.clone())?;
        Box::new(BufReader::new(file))
    };
    let mut first = [0; 2];
    let length = read_first(&mut input, &mut first).with_context(|| name.clone())?;
    let input = first[..length].chain(input);
    let is_wrong = if first == JOURNAL {
        journal(args, input).with_context(|| name)?
    } else if let Some(to) = &args.html {
        write_page(args, input, &name)
            .and_then(|(page, is_wrong)| {
                std::fs::write(to, page).with_context(|| to.display().to_string())?;
                Ok(is_wrong)
            })
            .with_context(|| name.clone())?
    } else {
        print(args, input).with_context(|| name)?
    };
    Ok(if is_wrong { ExitCode::from(3) } else { ExitCode::SUCCESS })
}

fn read_first(input: &mut impl Read, first: &mut [u8; 2]) -> io::Result<usize> {
    let mut length = 0;
    while length < first.len() {
        match input.read(&mut first[length..])? {
            0 => break,
            octets => length += octets,
        }
    }
    Ok(length)
}

fn settings(args: &DumpArgs) -> DumpSettings {
    DumpSettings { ports: args.port.clone(), service: args.service, version: args.service_version }
}

fn is_wanted(args: &DumpArgs, entry: &DumpEntry) -> bool {
    args.connection.is_none_or(|number| number == entry.connection)
        && (!args.faults || entry.fault().is_some())
}

/// Prints entries; whether something is wrong.
fn print(args: &DumpArgs, input: impl Read) -> anyhow::Result<bool> {
    let parts = DumpParts { fields: !args.brief, octets: args.hex };
    let mut out = BufWriter::new(io::stdout().lock());
    let mut dump = CaptureDump::new(input, settings(args))?;
    let (mut printed, mut wrong) = (0, 0u64);
    let mut error = None;
    for entry in dump.by_ref() {
        let entry = match entry {
            Ok(entry) => entry,
            // What could be read was printed.
            Err(why) => {
                error = Some(why);
                break;
            }
        };
        wrong += u64::from(entry.fault().is_some());
        if !is_wanted(args, &entry) || args.limit.is_some_and(|limit| printed >= limit) {
            continue;
        }
        printed += 1;
        let written = if args.json {
            writeln!(out, "{}", entry.json(parts))
        } else {
            // What peers have sent may have characters that a terminal obeys.
            let text = entry.text(parts);
            write!(out, "{}", chronoscope_escape::terminal_lines(&text))
        };
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(wrong > 0),
            other => other?,
        }
    }
    out.flush()?;
    tell(dump.counts(), wrong);
    match error {
        Some(error) => Err(error.into()),
        None => Ok(wrong > 0),
    }
}

fn tell(counts: DumpCounts, wrong: u64) {
    let DumpCounts { connections, others, ignored_packets } = counts;
    eprintln!(
        "{connections} connections of ISP1, {others} others, {ignored_packets} packets without TCP or \
         UDP; {wrong} entries are wrong"
    );
    if connections == 0 && others > 0 {
        eprintln!(
            "no connection begins with a message of ISP1: name its port with --port if the capture \
             begins later"
        );
    }
}

fn write_page(args: &DumpArgs, input: impl Read, name: &str) -> anyhow::Result<(String, bool)> {
    let mut dump = CaptureDump::new(input, settings(args))?;
    let limit = args.limit.unwrap_or(PAGE_ENTRIES);
    let (mut entries, mut left_out, mut wrong) = (Vec::new(), 0, 0u64);
    for entry in dump.by_ref() {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                eprintln!("{error}: the page has what is before it");
                wrong += 1;
                break;
            }
        };
        wrong += u64::from(entry.fault().is_some());
        if !is_wanted(args, &entry) {
            continue;
        }
        if entries.len() as u64 >= limit {
            left_out += 1;
        } else {
            entries.push(entry);
        }
    }
    tell(dump.counts(), wrong);
    if left_out > 0 {
        eprintln!("{left_out} messages are not in the page: raise --limit to have them");
    }
    Ok((page(name, &entries, left_out), wrong > 0))
}

/// Prints the lines of a journal; whether something is wrong.
fn journal(args: &DumpArgs, mut input: impl Read) -> anyhow::Result<bool> {
    if args.html.is_some() {
        anyhow::bail!("--html is for captures: a journal has no messages");
    }
    let mut text = Vec::new();
    input.read_to_end(&mut text)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let mut is_wrong = false;
    let limit = usize::try_from(args.limit.unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let lines = journal_lines(&String::from_utf8_lossy(&text));
    let wanted = lines.iter().filter(|line| !args.faults || line.fault().is_some());
    for line in wanted.take(limit) {
        is_wrong |= line.fault().is_some();
        if args.json {
            writeln!(out, "{}", line.json())?;
            continue;
        }
        let fault = line.fault.as_ref().map_or(String::new(), |why| format!(" WRONG: {why}"));
        let text = format!("{}: {}{fault}", line.number, line.words());
        writeln!(out, "{}", chronoscope_escape::terminal(&text))?;
    }
    out.flush()?;
    Ok(is_wrong)
}
