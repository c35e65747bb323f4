//! Channels of frames as people write them.

use crate::pdu::GvcId;
use serde::{Deserialize, Deserializer, de};

/// A channel as text: `SCID.TFVN` or `SCID.TFVN.VCID`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GvcIdText(pub GvcId);

impl std::str::FromStr for GvcIdText {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("channel {text:?}: use SCID.TFVN or SCID.TFVN.VCID");
        let numbers: Result<Vec<u16>, _> = text.split('.').map(str::parse).collect();
        let (spacecraft, version, virtual_channel) = match numbers.map_err(|_| wrong())?[..] {
            [spacecraft, version] => (spacecraft, version, None),
            [spacecraft, version, channel] => (spacecraft, version, Some(channel)),
            _ => return Err(wrong()),
        };
        if spacecraft > 1023 || version > 3 || virtual_channel.is_some_and(|channel| channel > 63) {
            return Err(format!(
                "channel {text:?}: SCID is in [0, 1023], TFVN in [0, 3], VCID in [0, 63]"
            ));
        }
        Ok(Self(GvcId {
            spacecraft,
            version: u8::try_from(version).map_err(|_| wrong())?,
            virtual_channel: virtual_channel
                .map(|channel| u8::try_from(channel).map_err(|_| wrong()))
                .transpose()?,
        }))
    }
}

impl<'de> Deserialize<'de> for GvcIdText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_have_ranges() {
        let channel: GvcIdText = "100.0.63".parse().unwrap();
        assert_eq!(channel.0, GvcId { spacecraft: 100, version: 0, virtual_channel: Some(63) });
        assert_eq!("7.1".parse::<GvcIdText>().unwrap().0.virtual_channel, None);
        for wrong in ["", "1", "1024.0", "1.4", "1.0.64", "1.0.0.0", "a.0"] {
            assert!(wrong.parse::<GvcIdText>().is_err(), "{wrong}");
        }
    }
}
