//! Any octets as a file of frames, shared by the fuzzer and by the test that replays what it kept.
//!
//! The first octet chooses the file's layout: 0 a store, 1 frames with their lengths before them,
//! another one frames of so many octets.

use chronoscope_sle::frame::{FrameHeader, FrameTrailer, ReceivedFrame, clcw_virtual_channel};
use chronoscope_sle::service::returns::OfflineRange;
use chronoscope_sle::source::{
    FileError, FrameFile, FrameFileLayout, FrameFileSettings, ReadProgress, StoreReader,
    StoreWriter,
};
use chronoscope_sle::time::Now;
use std::io::Cursor;

/// How many frames there were, or why there are no more; panics where a promise is broken.
pub(crate) fn check(octets: &[u8]) -> Result<usize, FileError> {
    let Some((kind, file)) = octets.split_first() else { return Ok(0) };
    let mut frames = Vec::new();
    let read = match kind {
        0 => read_store(file, &mut frames),
        1 => read_file(file, FrameFileLayout::Prefixed, &mut frames),
        octets => read_file(file, FrameFileLayout::Fixed(usize::from(*octets)), &mut frames),
    };
    let kept: usize = frames.iter().map(|frame| frame.data.len()).sum();
    assert!(kept <= file.len(), "frames have no octets that the file has not");
    for frame in &frames {
        assert!(!frame.data.is_empty());
        if let Some(header) = FrameHeader::read(&frame.data) {
            for (fecf, aos_ocf) in [(false, false), (true, true)] {
                let ocf = FrameTrailer { fecf, aos_ocf }.ocf(&header, &frame.data);
                assert!(ocf.iter().all(|ocf| ocf.len() == 4));
                assert!(ocf.iter().filter_map(|ocf| clcw_virtual_channel(ocf)).all(|it| it < 64));
            }
        }
    }
    // What was read can be written and read again.
    let mut store = StoreWriter::new(Vec::new()).unwrap();
    frames.iter().for_each(|frame| store.write(frame).unwrap());
    let mut again = Vec::new();
    read_store(&store.finish().unwrap(), &mut again).unwrap();
    assert_eq!(again, frames);
    read.map(|()| frames.len())
}

fn read_store(file: &[u8], frames: &mut Vec<ReceivedFrame>) -> Result<(), FileError> {
    let range = OfflineRange { start_utc_ns: 0, stop_utc_ns: u64::MAX };
    let mut reader = StoreReader::new(Cursor::new(file), range);
    while reader.read(16, frames)? != ReadProgress::End {}
    Ok(())
}

fn read_file(
    file: &[u8],
    layout: FrameFileLayout,
    frames: &mut Vec<ReceivedFrame>,
) -> Result<(), FileError> {
    let settings = FrameFileSettings { layout, rate: None, repeat: false };
    let mut reader = FrameFile::new(Cursor::new(file), settings);
    let now = Now { monotonic_ns: 0, utc_ns: 0 };
    while reader.read(16, now, frames)? != ReadProgress::End {}
    Ok(())
}
