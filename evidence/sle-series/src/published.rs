//! The document's figures, as `chronoscope_published` has them.

use anyhow::{Context, Result};
use chronoscope_published::{Cell, Published as Documents};

/// All of them. Rates are in 10^6 bits of user data a second.
#[derive(Debug)]
pub(crate) struct Published {
    pub(crate) setup: Setup,
    pub(crate) rtt: Vec<Rtt>,
    pub(crate) iperf_ratio: IperfRatio,
    pub(crate) factors: Factors,
    pub(crate) confirmed: Vec<Confirmed>,
    pub(crate) raf_buffering: RafBuffering,
    pub(crate) asn1_share_pct: Asn1Share,
}

#[derive(Debug)]
pub(crate) struct Setup {
    pub(crate) link_mbit_per_s: f64,
    pub(crate) target_mbit_per_s: f64,
    pub(crate) frames_per_cltu: u32,
    pub(crate) frame_octets: u32,
    pub(crate) rtt_ms: f64,
}

#[derive(Debug)]
pub(crate) struct Rtt {
    pub(crate) window_octets: u32,
    pub(crate) rtt_ms: f64,
    pub(crate) cltu_octets: u32,
    pub(crate) mbit_per_s: f64,
    pub(crate) cltus_per_s: f64,
}

#[derive(Debug)]
pub(crate) struct IperfRatio {
    pub(crate) cltu_1544: f64,
    pub(crate) cltu_1000: f64,
}

#[derive(Debug)]
pub(crate) struct Factors {
    pub(crate) four_2000_in_buffer: f64,
    pub(crate) raf_over_cltu_8000: f64,
    pub(crate) raf_over_cltu_2000: f64,
    pub(crate) nagle_and_delayed_ack: f64,
    pub(crate) api_optimised_pct: [f64; 2],
}

#[derive(Debug)]
pub(crate) struct Confirmed {
    pub(crate) octets: u32,
    pub(crate) cltu_mbit_per_s: f64,
    pub(crate) raf_mbit_per_s: f64,
}

#[derive(Debug)]
pub(crate) struct RafBuffering {
    pub(crate) frame_octets: Vec<u32>,
    pub(crate) frames_per_buffer: Vec<u32>,
    pub(crate) mbit_per_s: Vec<f64>,
    pub(crate) frames_per_s: Vec<f64>,
    pub(crate) ms_per_frame: Vec<f64>,
    pub(crate) concatenated_80x100_mbit_per_s: f64,
    pub(crate) single_2000_mbit_per_s: f64,
}

#[derive(Debug)]
pub(crate) struct Asn1Share {
    pub(crate) buffer_with_frames: f64,
    pub(crate) buffer_invocation_alone: f64,
}

impl Published {
    /// The figures of the document.
    ///
    /// # Errors
    /// When the documents' file lacks one of them; a test reads it.
    pub(crate) fn load() -> Result<Self> {
        let documents = Documents::read()?;
        let of = |item: &str, figure: &str| documents.number(&format!("csts.{item}"), figure);
        let confirmed = |octets: u32| -> Result<Confirmed> {
            Ok(Confirmed {
                octets,
                cltu_mbit_per_s: of("confirmed", &format!("cltu_{octets}_mbps"))?,
                raf_mbit_per_s: of("confirmed", &format!("raf_{octets}_mbps"))?,
            })
        };
        Ok(Self {
            setup: Setup {
                link_mbit_per_s: of("setup", "link_mbps")?,
                target_mbit_per_s: of("target", "mbps")?,
                frames_per_cltu: whole(of("target", "frames")?),
                frame_octets: whole(of("target", "frame_bytes")?),
                rtt_ms: of("setup", "rtt_ms")?,
            },
            rtt: documents
                .rows("csts.table5")?
                .iter()
                .map(|row| Rtt::of(row))
                .collect::<Result<_>>()?,
            iperf_ratio: IperfRatio {
                cltu_1544: of("measurement5_2", "of_iperf_1544")?,
                cltu_1000: of("measurement5_2", "of_iperf_1000")?,
            },
            factors: Factors {
                four_2000_in_buffer: of("buffering", "four_to_one")?,
                raf_over_cltu_8000: of("confirmed", "factor_8000")?,
                raf_over_cltu_2000: of("confirmed", "factor_2000")?,
                nagle_and_delayed_ack: of("summary1", "nagle_factor")?,
                api_optimised_pct: documents.value("csts.summary1", "api_gain_pct")?.bounds(),
            },
            confirmed: vec![confirmed(8000)?, confirmed(2000)?],
            raf_buffering: RafBuffering::of(&documents)?,
            asn1_share_pct: Asn1Share {
                buffer_with_frames: of("asn1", "with_frames_pct")?,
                buffer_invocation_alone: of("asn1", "invocation_pct")?,
            },
        })
    }

    /// The row of a window, a delay and a length.
    pub(crate) fn rtt(&self, window_octets: u32, rtt_ms: f64, cltu_octets: u32) -> Option<&Rtt> {
        self.rtt.iter().find(|row| {
            row.window_octets == window_octets
                && (row.rtt_ms - rtt_ms).abs() < 0.01
                && row.cltu_octets == cltu_octets
        })
    }
}

impl Published {
    /// Operations that were under way with a window and a length, by the document's rate over 100
    /// ms: it does not state their number.
    pub(crate) fn under_way(&self, window_octets: u32, cltu_octets: u32) -> Option<u32> {
        let row = self.rtt(window_octets, 100.0, cltu_octets)?;
        Some(whole((row.cltus_per_s * row.rtt_ms / 1e3).round()))
    }
}

impl Rtt {
    /// A row of the table of windows and round trips.
    fn of(row: &[Cell]) -> Result<Self> {
        let window_octets = match &row[0] {
            Cell::Text(window) if window == "64 KB" => 65_536,
            Cell::Text(window) if window == "13 MB" => 13_000_000,
            Cell::Text(window) if window == "25 MB" => 25_000_000,
            other => anyhow::bail!("csts.table5: the window {other:?} is not known"),
        };
        Ok(Self {
            window_octets,
            rtt_ms: cell(row, 1)?,
            cltu_octets: whole(cell(row, 2)?),
            mbit_per_s: cell(row, 6)?,
            cltus_per_s: cell(row, 8)?,
        })
    }
}

impl RafBuffering {
    fn of(documents: &Documents) -> Result<Self> {
        let item = "csts.buffering";
        let column = |at: usize| -> Result<Vec<f64>> {
            documents.rows(item)?.iter().map(|row| cell(row, at)).collect()
        };
        Ok(Self {
            frame_octets: column(0)?.into_iter().map(whole).collect(),
            frames_per_buffer: column(1)?.into_iter().map(whole).collect(),
            mbit_per_s: column(2)?,
            frames_per_s: column(3)?,
            ms_per_frame: column(4)?,
            concatenated_80x100_mbit_per_s: documents.number(item, "concatenated_mbps")?,
            single_2000_mbit_per_s: documents.number(item, "single_2000_mbps")?,
        })
    }
}

/// The number of a row's cell.
fn cell(row: &[Cell], at: usize) -> Result<f64> {
    row.get(at).and_then(Cell::number).with_context(|| format!("{row:?}: cell {at} is no number"))
}

/// A count that the document prints.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // counts below 2³²
fn whole(number: f64) -> u32 {
    number as u32
}

#[cfg(test)]
mod tests {
    use super::Published;

    /// Rate = CLTUs a second times their bits: the file has no slip of the pen.
    #[test]
    fn the_figures_agree_with_each_other() {
        let published = Published::load().unwrap();
        assert_eq!(published.rtt.len(), 11);
        for row in &published.rtt {
            let mbit = row.cltus_per_s * f64::from(row.cltu_octets) * 8e-6;
            assert!((mbit / row.mbit_per_s - 1.0).abs() < 0.005, "{row:?}: {mbit}");
        }
        let raf = &published.raf_buffering;
        for (i, octets) in raf.frame_octets.iter().enumerate() {
            assert_eq!(octets * raf.frames_per_buffer[i], 8000);
            // The slides' two columns are up to 19 % apart here: neither is derived from the other.
            let mbit = raf.frames_per_s[i] * f64::from(*octets) * 8e-6;
            let ratio = mbit / raf.mbit_per_s[i];
            assert!((0.95..1.2).contains(&ratio), "{octets}: {ratio}");
        }
        assert!(published.rtt(65_536, 400.0, 1000).is_some());
        assert!(published.rtt(65_536, 400.0, 1001).is_none());
        assert_eq!(published.under_way(65_536, 1544), Some(7));
        assert_eq!(published.under_way(65_536, 1000), Some(10));
        assert_eq!(published.under_way(13_000_000, 1544), Some(96));
        assert_eq!(published.under_way(25_000_000, 1544), Some(94));
        assert_eq!(published.under_way(25_000_000, 1000), None);
    }
}
