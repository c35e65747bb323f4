//! What START requests of a return service, from the command line or a line of the terminal.

use super::args::SelectionArgs;
use anyhow::{Context, anyhow, bail};
use chronoscope_sle::config::GvcIdText;
use chronoscope_sle::pdu::{
    ControlWordType, GvcId, RequestedFrameQuality, ReturnSelection, ServiceType, UpdateMode,
};

impl SelectionArgs {
    /// From words of the terminal: RAF `[good|erred|all]`; RCF `CHANNEL`; ROCF `CHANNEL
    /// [all|clcw|clcw:VCID|not-clcw] [changes]`.
    pub(crate) fn of_words(service: ServiceType, words: &[&str]) -> anyhow::Result<Self> {
        let mut words = words.iter().copied();
        let mut selection = Self {
            quality: "all".to_owned(),
            channel: None,
            control_word: "all".to_owned(),
            tc_channel: None,
            changes: false,
        };
        if service == ServiceType::Raf {
            selection.quality = words.next().unwrap_or("all").to_owned();
        } else {
            selection.channel = words.next().map(str::to_owned);
        }
        if service == ServiceType::Rocf {
            for word in words.by_ref() {
                match word.split_once(':') {
                    _ if word == "changes" => selection.changes = true,
                    Some((kind, channel)) => {
                        selection.control_word = kind.to_owned();
                        let channel = channel.parse().ok().filter(|channel| *channel <= 63);
                        let channel = channel.context("a virtual channel is in [0, 63]")?;
                        selection.tc_channel = Some(channel);
                    }
                    None => selection.control_word = word.to_owned(),
                }
            }
        }
        match words.next() {
            None => Ok(selection),
            Some(word) => bail!("{word:?}: START of {service:?} has no such argument"),
        }
    }

    /// The selection for a service.
    pub(crate) fn of(&self, service: ServiceType) -> anyhow::Result<ReturnSelection> {
        Ok(match service {
            ServiceType::Fcltu => {
                bail!("the service instance is of FCLTU: use one of RAF, RCF or ROCF")
            }
            ServiceType::Raf => ReturnSelection::Frames(match self.quality.as_str() {
                "good" => RequestedFrameQuality::Good,
                "erred" => RequestedFrameQuality::Erred,
                "all" => RequestedFrameQuality::All,
                other => bail!("frame quality {other:?}: use good, erred or all"),
            }),
            ServiceType::Rcf => ReturnSelection::Channel(self.channel(service)?),
            ServiceType::Rocf => ReturnSelection::Ocf {
                channel: self.channel(service)?,
                control_word: match (self.control_word.as_str(), self.tc_channel) {
                    ("all", None) => ControlWordType::All,
                    ("clcw", channel) => ControlWordType::Clcw(channel),
                    ("not-clcw", None) => ControlWordType::NotClcw,
                    ("all" | "not-clcw", Some(_)) => {
                        bail!("a channel of telecommand is selected of the control word type clcw")
                    }
                    (other, _) => bail!("control word {other:?}: use all, clcw or not-clcw"),
                },
                update: if self.changes { UpdateMode::ChangeBased } else { UpdateMode::Continuous },
            },
        })
    }

    fn channel(&self, service: ServiceType) -> anyhow::Result<GvcId> {
        let text = self.channel.as_ref().ok_or_else(|| {
            anyhow!("{service:?} needs a channel: SCID.TFVN or SCID.TFVN.VCID (--channel)")
        })?;
        Ok(text.parse::<GvcIdText>().map_err(anyhow::Error::msg)?.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rocf(words: &[&str]) -> anyhow::Result<(GvcId, ControlWordType, UpdateMode)> {
        match SelectionArgs::of_words(ServiceType::Rocf, words)?.of(ServiceType::Rocf)? {
            ReturnSelection::Ocf { channel, control_word, update } => {
                Ok((channel, control_word, update))
            }
            other => bail!("{other:?}"),
        }
    }

    #[test]
    fn control_words_and_channels_are_selected() {
        let (channel, control_word, update) = rocf(&["7.0.2", "clcw:5", "changes"]).unwrap();
        assert_eq!((channel.spacecraft, channel.virtual_channel), (7, Some(2)));
        assert_eq!(control_word, ControlWordType::Clcw(Some(5)));
        assert_eq!(update, UpdateMode::ChangeBased);
        let (channel, control_word, update) = rocf(&["7.0"]).unwrap();
        assert_eq!((channel.virtual_channel, control_word), (None, ControlWordType::All));
        assert_eq!(update, UpdateMode::Continuous);
        assert_eq!(rocf(&["7.0", "not-clcw"]).unwrap().1, ControlWordType::NotClcw);
        for wrong in [&[][..], &["7"], &["7.0", "clcv"], &["7.0", "clcw:64"], &["7.0", "all:1"]] {
            assert!(rocf(wrong).is_err(), "{wrong:?}");
        }
        assert!(SelectionArgs::of_words(ServiceType::Raf, &["good", "1.0"]).is_err());
    }
}
