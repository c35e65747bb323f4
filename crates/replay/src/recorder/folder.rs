//! Captures in a folder: one file after the other, each a whole pcapng file.

use super::limits::{CAPTURE, Limits, files, number};
use crate::capture::{CaptureError, CaptureReader, CaptureWriter};
use chronoscope_clock as clock;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// Octets that are collected before they are written.
const WRITE_BYTES: usize = 1 << 20;

/// Appends packets to the captures in a folder.
#[derive(Debug)]
pub(super) struct CaptureFolder {
    folder: PathBuf,
    limits: Limits,
    current: Option<Current>,
    /// Remark for the beginning of the next file.
    remark: Option<String>,
    /// Packets that are in files.
    pub(super) written_count: u64,
    /// Octets that are in files.
    pub(super) written_bytes: u64,
    /// Packets of `written_count` that are durable.
    pub(super) durable_count: u64,
    /// Packets of `written_count` whose file could not be synced.
    pub(super) doubtful_count: u64,
    /// Number of files begun.
    pub(super) file_count: u64,
}

#[derive(Debug)]
struct Current {
    file: File,
    /// Written: always the end of a whole block.
    bytes: u64,
    blocks: CaptureWriter<Vec<u8>>,
    /// Packets in `blocks`.
    collected_count: u64,
    /// Packets written and not synced.
    unsynced_count: u64,
    first_ns: i64,
    /// A write failed: what comes goes into another file.
    failed: bool,
}

/// End of the last file of an earlier recorder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repair {
    /// Path of the file.
    pub path: PathBuf,
    /// Octets of the block that was being written; they were cut off.
    pub cut_bytes: u64,
}

impl CaptureFolder {
    /// The captures of a folder that exists. Files that are there stay as they are, but for the
    /// last one, which is cut after its last whole block: its writer died.
    pub(super) fn open(folder: &Path, limits: Limits) -> io::Result<(Self, Option<Repair>)> {
        let last = files(folder, CAPTURE)?.pop();
        let repair = last.map(|path| repair(&path)).transpose()?.flatten();
        let captures = Self {
            folder: folder.to_owned(),
            limits,
            current: None,
            remark: None,
            written_count: 0,
            written_bytes: 0,
            durable_count: 0,
            doubtful_count: 0,
            file_count: 0,
        };
        Ok((captures, repair))
    }

    /// Adds a packet; it is written when [`Self::flush`] returned, or enough packets have gathered.
    ///
    /// # Errors
    /// Error of the disk: packets gathered since the last successful flush are not in the file,
    /// which ends in a whole block; the next packet begins another file.
    pub(super) fn packet(
        &mut self,
        at_ns: i64,
        link: u16,
        original_bytes: u32,
        octets: &[u8],
    ) -> io::Result<()> {
        if self.current.as_ref().is_some_and(|current| self.is_full(current, at_ns)) {
            self.close()?;
        }
        if self.current.is_none() {
            self.current = Some(self.begin(at_ns)?);
        }
        let Some(current) = &mut self.current else { return Ok(()) };
        current.blocks.captured(link, at_ns, original_bytes, octets)?;
        current.collected_count += 1;
        if current.blocks.get_mut().len() >= WRITE_BYTES { self.flush() } else { Ok(()) }
    }

    /// Says in the capture how many packets were received, and how many dropped before.
    pub(super) fn statistics(&mut self, received: u64, dropped: u64) -> io::Result<()> {
        let Some(current) = &mut self.current else { return Ok(()) };
        current.blocks.statistics(clock::utc_now_ns(), received, dropped)?;
        self.flush()
    }

    /// Says so at the beginning of the next file, and begins it with the next packet.
    pub(super) fn remark(&mut self, text: String) -> io::Result<()> {
        self.remark = Some(text);
        self.close()
    }

    /// Writes the gathered packets.
    ///
    /// # Errors
    /// As [`Self::packet`].
    pub(super) fn flush(&mut self) -> io::Result<()> {
        let Some(current) = &mut self.current else { return Ok(()) };
        let octets = std::mem::take(current.blocks.get_mut());
        if octets.is_empty() {
            return Ok(());
        }
        if let Err(error) = current.file.write_all(&octets) {
            // A full disk took a part of a block: the file shall end where it was whole. Where even
            // that fails readers see a torn tail, and the first error is the one to tell.
            let _ = current.file.set_len(current.bytes);
            current.failed = true;
            current.collected_count = 0;
            return Err(error);
        }
        current.bytes += octets.len() as u64;
        let count = std::mem::take(&mut current.collected_count);
        current.unsynced_count += count;
        self.written_bytes += octets.len() as u64;
        self.written_count += count;
        *current.blocks.get_mut() = octets; // its room
        current.blocks.get_mut().clear();
        Ok(())
    }

    /// Makes everything added durable.
    ///
    /// # Errors
    /// Error of the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        let Some(current) = &mut self.current else { return Ok(()) };
        let count = std::mem::take(&mut current.unsynced_count);
        if count == 0 {
            return Ok(());
        }
        match current.file.sync_data() {
            Ok(()) => self.durable_count += count,
            Err(error) => {
                // The kernel forgets data that it could not write: another sync would report
                // success.
                self.doubtful_count += count;
                self.current = None;
                return Err(error);
            }
        }
        Ok(())
    }

    /// Syncs and closes the current file; the next packet begins another.
    pub(super) fn close(&mut self) -> io::Result<()> {
        self.sync()?;
        self.current = None;
        Ok(())
    }

    fn is_full(&self, current: &Current, at_ns: i64) -> bool {
        let bytes = current.bytes + current.blocks.get_ref().len() as u64;
        let age_ns = u128::from(at_ns.saturating_sub(current.first_ns).max(0).cast_unsigned());
        let old = age_ns >= self.limits.file_age_max.as_nanos();
        current.failed || old || bytes >= self.limits.file_bytes_max
    }

    fn begin(&mut self, first_ns: i64) -> io::Result<Current> {
        let old = files(&self.folder, CAPTURE)?;
        let last = old.last().and_then(|last| number(last));
        let name = format!("{:010}-{}.{CAPTURE}", last.map_or(0, |last| last + 1), utc(first_ns));
        let path = self.folder.join(name);
        let mut file = File::options().write(true).create_new(true).open(&path)?;
        let mut blocks = CaptureWriter::begin(Vec::new(), self.remark.as_deref().unwrap_or(""))?;
        let head = std::mem::take(blocks.get_mut());
        if let Err(error) = file.write_all(&head).and_then(|()| file.sync_data()) {
            // An empty file would disturb readers of the folder.
            std::fs::remove_file(&path)?;
            return Err(error);
        }
        File::open(&self.folder)?.sync_all()?;
        self.remark = None;
        self.file_count += 1;
        Ok(Current {
            file,
            bytes: head.len() as u64,
            blocks,
            collected_count: 0,
            unsynced_count: 0,
            first_ns,
            failed: false,
        })
    }
}

/// Cuts what a writer that died left behind the last whole block: a part of one, or zeros.
fn repair(path: &Path) -> io::Result<Option<Repair>> {
    let length = std::fs::metadata(path)?.len();
    let fault = match CaptureReader::new(BufReader::new(File::open(path)?)) {
        Ok(reader) => reader.filter_map(Result::err).next(),
        Err(error) => Some(error),
    };
    let position = match fault {
        None => return Ok(None),
        Some(CaptureError::Truncated { position }) => position,
        Some(CaptureError::Block { position, .. }) if is_zero_from(path, position)? => position,
        // Damage that no dying writer leaves is for readers to report.
        Some(_) => return Ok(None),
    };
    if position == 0 {
        std::fs::remove_file(path)?; // not even its beginning was written
    } else {
        let file = File::options().write(true).open(path)?;
        file.set_len(position)?;
        file.sync_all()?;
    }
    Ok(Some(Repair { path: path.to_owned(), cut_bytes: length.saturating_sub(position) }))
}

fn is_zero_from(path: &Path, position: u64) -> io::Result<bool> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(position))?;
    let mut octets = vec![0; 1 << 16];
    loop {
        match file.read(&mut octets)? {
            0 => return Ok(true),
            length if octets[..length].iter().any(|octet| *octet != 0) => return Ok(false),
            _ => {}
        }
    }
}

/// A time in a file's name: `20260701T050000Z`.
fn utc(ns: i64) -> String {
    let (days, seconds) = (ns.div_euclid(86_400_000_000_000), ns.div_euclid(1_000_000_000));
    let (year, month, day) = date(days);
    let second = seconds.rem_euclid(86_400);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// Year, month and day, of days since 1970 in the Gregorian calendar.
fn date(days: i64) -> (i64, i64, i64) {
    // Counted from 1 March of the year 0, which makes the leap day the last of a year; 146,097 days
    // are 400 years.
    let since = days + 719_468;
    let (era, of_era) = (since.div_euclid(146_097), since.rem_euclid(146_097));
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let march = (5 * of_year + 2) / 153; // 0 is March
    let day = of_year - (153 * march + 2) / 5 + 1;
    let month = if march < 10 { march + 3 } else { march - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: i64 = 1_782_882_000_000_000_000; // 2026-07-01T05:00:00Z

    fn packets(folder: &Path) -> Vec<(i64, Vec<u8>)> {
        let mut found = Vec::new();
        for path in files(folder, CAPTURE).unwrap() {
            let reader = CaptureReader::new(File::open(path).unwrap()).unwrap();
            found.extend(reader.map(|packet| packet.unwrap()).map(|p| (p.at_ns, p.octets)));
        }
        found
    }

    #[test]
    fn names_say_when() {
        assert_eq!(utc(AT), "20260701T050000Z");
        assert_eq!(utc(0), "19700101T000000Z");
        assert_eq!(utc(-1), "19691231T235959Z");
        assert_eq!(utc(951_782_400_000_000_000), "20000229T000000Z");
        assert_eq!(utc(4_107_542_400_000_000_000), "21000301T000000Z");
    }

    #[test]
    fn files_change_by_size_and_by_age() {
        let folder = tempfile::tempdir().unwrap();
        let limits = Limits {
            file_bytes_max: 1000,
            file_age_max: std::time::Duration::from_secs(10),
            ..Limits::default()
        };
        let (mut captures, _) = CaptureFolder::open(folder.path(), limits).unwrap();
        for (after_s, length) in [(0, 2000_usize), (1, 1), (2, 2), (11, 3), (12, 4)] {
            let at_ns = AT + after_s * 1_000_000_000;
            captures.packet(at_ns, 101, 9000, &vec![7; length]).unwrap();
            captures.flush().unwrap();
        }
        captures.close().unwrap();
        let names: Vec<_> = files(folder.path(), CAPTURE).unwrap();
        let names: Vec<_> = names.iter().filter_map(|p| p.file_stem()?.to_str()).collect();
        let expected = ["0000000000-20260701T050000Z", "0000000001-20260701T050001Z"];
        assert_eq!(names[..2], expected);
        assert_eq!(names[2..], ["0000000002-20260701T050011Z"]);
        let lengths: Vec<_> = packets(folder.path()).iter().map(|(_, o)| o.len()).collect();
        assert_eq!(lengths, [2000, 1, 2, 3, 4]);
    }

    /// A file cut at every octet is repaired to its whole packets, and numbering goes on.
    #[test]
    fn a_torn_tail_is_cut_wherever_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let (mut captures, _) = CaptureFolder::open(folder.path(), Limits::default()).unwrap();
        for n in 0..3 {
            captures.packet(AT + n, 101, 5, &[7; 5]).unwrap();
        }
        captures.close().unwrap();
        let path = files(folder.path(), CAPTURE).unwrap().remove(0);
        let whole = std::fs::read(&path).unwrap();
        for cut in 1..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (mut captures, repair) =
                CaptureFolder::open(folder.path(), Limits::default()).unwrap();
            let left = std::fs::metadata(&path).map_or(0, |metadata| metadata.len());
            let cut_bytes = cut as u64 - left;
            assert_eq!(repair.map_or(0, |repair| repair.cut_bytes), cut_bytes, "cut at {cut}");
            let before = packets(folder.path()).len();
            captures.packet(AT + 9, 101, 5, &[9; 5]).unwrap();
            captures.close().unwrap();
            let after = packets(folder.path());
            assert_eq!(after.len(), before + 1, "cut at {cut}");
            for path in files(folder.path(), CAPTURE).unwrap() {
                std::fs::remove_file(path).unwrap();
            }
        }
    }

    #[test]
    fn zeros_behind_the_last_block_are_cut_and_damage_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (mut captures, _) = CaptureFolder::open(folder.path(), Limits::default()).unwrap();
        captures.packet(AT, 101, 5, &[7; 5]).unwrap();
        captures.close().unwrap();
        let path = files(folder.path(), CAPTURE).unwrap().remove(0);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, [&whole[..], &[0; 100]].concat()).unwrap();
        let (_, repair) = CaptureFolder::open(folder.path(), Limits::default()).unwrap();
        assert_eq!(repair.unwrap().cut_bytes, 100);
        assert_eq!(std::fs::read(&path).unwrap(), whole);
        let damaged = [&whole[..], &[1; 100]].concat();
        std::fs::write(&path, &damaged).unwrap();
        let (_, repair) = CaptureFolder::open(folder.path(), Limits::default()).unwrap();
        assert_eq!(repair, None);
        assert_eq!(std::fs::read(&path).unwrap(), damaged);
    }
}
