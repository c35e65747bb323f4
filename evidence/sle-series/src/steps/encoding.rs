//! Step 5, the slides' two figures: the share of encoding a transfer buffer with its frames, and of
//! encoding the invocation alone.

use super::codec_cost::{buffer, cost};
use crate::published::Published;
use crate::table::{Table, number, words};
use anyhow::{Context, Result};
use chronoscope_sle::codec::Codec;
use chronoscope_sle::pdu::{AssociationRole, ServiceType as Sle};
use chronoscope_statistics::Line;

/// What encoding a transfer buffer of 80 frames of 100 octets costs, with its frames and without
/// them, in ns: as a line over the number of frames, of which a buffer without frames is the
/// beginning.
pub(super) fn costs() -> Result<[f64; 2]> {
    let codec = Codec { service: Sle::Raf, version: 5 };
    let mut points = Vec::new();
    for frames in [1, 4, 10, 20, 40, 80] {
        let [encode, _] = cost(codec, AssociationRole::Provider, &buffer(frames, 100))?;
        points.push((f64::from(frames), encode));
    }
    let line = Line::fit_relative(&points).context("a line through the costs of encoding")?;
    let with_frames = points.last().map_or(f64::NAN, |(_, ns)| *ns);
    Ok([with_frames, line.constant.max(0.0)])
}

/// Both published shares beside ours: of the provider's CPU for a buffer, `process_ns`. The
/// document's time is that of its table of buffers, all of it.
pub(super) fn shares(
    published: &Published,
    [with_frames, alone]: [f64; 2],
    process_ns: Option<f64>,
    profile_pct: Option<f64>,
) -> Table {
    let mut table = Table::new(
        "Encoding of the transfer buffer, 80 frames of 100 octets",
        &[
            words("part", "part"),
            number("encode_ns", "ns a buffer", 0),
            number("process_ns", "provider's CPU, ns a buffer", 0),
            number("share_pct", "share %", 2),
            number("profile_pct", "profile %", 1),
            number("published_pct", "published %", 2),
            number("published_ns", "published, ns at most", 0),
        ],
    );
    let raf = &published.raf_buffering;
    let published = &published.asn1_share_pct;
    let theirs_ns = raf.ms_per_frame.last().zip(raf.frames_per_buffer.last());
    let theirs_ns = theirs_ns.map(|(ms, frames)| ms * 1e6 * f64::from(*frames));
    let rows = [
        ("with its frames", with_frames, profile_pct, published.buffer_with_frames),
        ("the invocation alone", alone, None, published.buffer_invocation_alone),
    ];
    for (part, encode_ns, profile_pct, published_pct) in rows {
        table.row([
            part.into(),
            encode_ns.into(),
            process_ns.into(),
            process_ns.map(|ns| encode_ns / ns * 100.0).into(),
            profile_pct.into(),
            published_pct.into(),
            theirs_ns.map(|ns| ns * published_pct / 100.0).into(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::shares;
    use crate::published::Published;
    use crate::table::Cell;

    /// 80 frames at 52 µs each: 4.16 ms a buffer, of which 6.42 % are 267 µs.
    #[test]
    fn both_shares_stand_beside_the_published_ones() {
        let published = Published::load().unwrap();
        let table = shares(&published, [5000.0, 100.0], Some(20_000.0), Some(26.5));
        let number = |row: usize, at: usize| match &table.rows[row][at] {
            Cell::Number(number) => *number,
            other => panic!("{other:?}"),
        };
        assert_eq!([number(0, 3), number(1, 3)], [25.0, 0.5]);
        assert_eq!([number(0, 5), number(1, 5)], [6.42, 2.31]);
        assert!((number(0, 6) - 267_072.0).abs() < 1.0);
        assert_eq!(table.rows[1][4], Cell::None, "a profile does not part them");
        let unmeasured = shares(&published, [5000.0, 100.0], None, None);
        assert_eq!(unmeasured.rows[0][3], Cell::None);
    }
}
