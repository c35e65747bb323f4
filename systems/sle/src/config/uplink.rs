//! Parameters of the uplink of an FCLTU instance: `[instance.forward.uplink]`.

use super::channel::GvcIdText;
use serde::Deserialize;

/// Physical layer operations procedure of the uplink.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub enum PlopSetting {
    /// The carrier is modulated for each CLTU anew.
    #[serde(rename = "plop-1")]
    Plop1,
    /// The carrier stays modulated between CLTUs.
    #[default]
    #[serde(rename = "plop-2")]
    Plop2,
}

/// `[instance.forward.uplink]`. GET-PARAMETER reports these values. They have no effect on the
/// radiation here, because a modem makes the signal. Units and ranges: CCSDS 912.1, annex A.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct UplinkTable {
    /// Whether production needs bit lock of the spacecraft.
    pub bit_lock_required: bool,
    /// Whether production needs the RF link to the spacecraft.
    pub rf_available_required: bool,
    /// Frequency of the subcarrier, or the bit rate with direct modulation, in tenths of a Hz, in
    /// [1, 4294967295].
    pub modulation_frequency_dhz: u32,
    /// Modulation index, in milliradians, in [1, 65535].
    pub modulation_index_mrad: u16,
    /// Frequency of the subcarrier divided by the bit rate, in [1, 65535]; 1 with direct modulation.
    pub subcarrier_to_bit_rate_ratio: u16,
    /// Physical layer operations procedure.
    pub plop: PlopSetting,
    /// Octets of the acquisition sequence.
    pub acquisition_sequence_octets: u16,
    /// PLOP-1: octets of the idle sequence after each CLTU.
    pub plop1_idle_sequence_octets: u16,
    /// Channel whose CLCWs tell the status of the uplink; absent: not configured.
    pub clcw_channel: Option<GvcIdText>,
    /// Physical channel of these CLCWs, 1 to 32 characters; absent: not configured.
    pub clcw_physical_channel: Option<String>,
}

impl Default for UplinkTable {
    fn default() -> Self {
        Self {
            bit_lock_required: false,
            rf_available_required: false,
            modulation_frequency_dhz: 2_000_000_000,
            modulation_index_mrad: 1000,
            subcarrier_to_bit_rate_ratio: 1,
            plop: PlopSetting::Plop2,
            acquisition_sequence_octets: 16,
            plop1_idle_sequence_octets: 8,
            clcw_channel: None,
            clcw_physical_channel: None,
        }
    }
}

impl UplinkTable {
    /// Errors, in words.
    pub(super) fn errors(&self) -> Vec<String> {
        let positive = [
            ("modulation_frequency_dhz", self.modulation_frequency_dhz == 0),
            ("modulation_index_mrad", self.modulation_index_mrad == 0),
            ("subcarrier_to_bit_rate_ratio", self.subcarrier_to_bit_rate_ratio == 0),
        ];
        let zeros = positive.into_iter().filter(|(_, is_zero)| *is_zero);
        let mut errors: Vec<String> =
            zeros.map(|(key, _)| format!("forward.uplink.{key} = 0: the minimum is 1")).collect();
        if let Some(name) = &self.clcw_physical_channel {
            let is_visible = name.bytes().all(|octet| (0x20..=0x7e).contains(&octet));
            if !(1..=32).contains(&name.len()) || !is_visible {
                errors.push(format!(
                    "forward.uplink.clcw_physical_channel = {name:?}: use 1 to 32 printable ASCII \
                     characters"
                ));
            }
        }
        errors
    }
}
