//! The document's figures, from `published.toml`.

use serde::Deserialize;

/// All of them. Rates are in 10^6 bits of user data a second.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    pub(crate) setup: Setup,
    pub(crate) rtt: Vec<Rtt>,
    pub(crate) iperf_ratio: IperfRatio,
    pub(crate) factors: Factors,
    pub(crate) confirmed: Vec<Confirmed>,
    pub(crate) raf_buffering: RafBuffering,
    pub(crate) asn1_share_pct: Asn1Share,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Setup {
    pub(crate) link_mbit_per_s: f64,
    pub(crate) target_mbit_per_s: f64,
    pub(crate) frames_per_cltu: u32,
    pub(crate) frame_octets: u32,
    pub(crate) rtt_ms: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rtt {
    pub(crate) window_octets: u32,
    pub(crate) rtt_ms: f64,
    pub(crate) cltu_octets: u32,
    pub(crate) mbit_per_s: f64,
    pub(crate) cltus_per_s: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct IperfRatio {
    pub(crate) cltu_1544: f64,
    pub(crate) cltu_1000: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Factors {
    pub(crate) delay_400_ms: f64,
    pub(crate) four_2000_in_buffer: f64,
    pub(crate) raf_over_cltu_8000_pct: f64,
    pub(crate) raf_over_cltu_2000_pct: f64,
    pub(crate) nagle_and_delayed_ack: f64,
    pub(crate) api_optimised_pct: [f64; 2],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Confirmed {
    pub(crate) octets: u32,
    pub(crate) cltu_mbit_per_s: f64,
    pub(crate) raf_mbit_per_s: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RafBuffering {
    pub(crate) frame_octets: Vec<u32>,
    pub(crate) frames_per_buffer: Vec<u32>,
    pub(crate) mbit_per_s: Vec<f64>,
    pub(crate) frames_per_s: Vec<f64>,
    pub(crate) concatenated_80x100_mbit_per_s: f64,
    pub(crate) single_2000_mbit_per_s: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Asn1Share {
    pub(crate) buffer_with_frames: f64,
    pub(crate) buffer_invocation_alone: f64,
}

impl Published {
    /// The figures that are built in.
    ///
    /// # Errors
    /// When the file does not fit these types.
    pub(crate) fn load() -> Result<Self, toml::de::Error> {
        toml::from_str(include_str!("../published.toml"))
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
    }
}
