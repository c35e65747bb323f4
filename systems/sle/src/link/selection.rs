//! What START of a link requests.

use crate::config::{ControlWordSetting, FrameQualitySetting, GvcIdText, LinkReturnTable};
use crate::pdu::{
    ControlWordType, GvcId, RequestedFrameQuality, ReturnSelection, ServiceType, UpdateMode,
};

/// The request for a service.
///
/// # Errors
/// Description of the fault: a key that is missing, or of another service.
pub(crate) fn selection(
    service: ServiceType,
    returns: &LinkReturnTable,
) -> Result<ReturnSelection, String> {
    let is_rocf = service == ServiceType::Rocf;
    let keys = [
        ("quality", returns.quality.is_some(), service == ServiceType::Raf),
        ("channel", returns.channel.is_some(), service != ServiceType::Raf),
        ("control_word", returns.control_word.is_some(), is_rocf),
        ("tc_channel", returns.tc_channel.is_some(), is_rocf),
        ("changes", returns.changes, is_rocf),
    ];
    if let Some((key, ..)) = keys.iter().find(|(_, is_set, is_its)| *is_set && !is_its) {
        return Err(format!("{service:?} has no {key}: remove it"));
    }
    match service {
        ServiceType::Fcltu => Err("FCLTU delivers no frames".to_owned()),
        ServiceType::Raf => Ok(ReturnSelection::Frames(match returns.quality {
            Some(FrameQualitySetting::Good) => RequestedFrameQuality::Good,
            Some(FrameQualitySetting::Erred) => RequestedFrameQuality::Erred,
            Some(FrameQualitySetting::All) | None => RequestedFrameQuality::All,
        })),
        ServiceType::Rcf => Ok(ReturnSelection::Channel(channel(service, returns)?)),
        ServiceType::Rocf => Ok(ReturnSelection::Ocf {
            channel: channel(service, returns)?,
            control_word: match (returns.control_word, returns.tc_channel) {
                (Some(ControlWordSetting::Clcw), Some(64..)) => {
                    return Err("tc_channel is in [0, 63]".to_owned());
                }
                (Some(ControlWordSetting::Clcw), channel) => ControlWordType::Clcw(channel),
                (_, Some(_)) => {
                    return Err("tc_channel needs control_word = \"clcw\"".to_owned());
                }
                (Some(ControlWordSetting::NotClcw), None) => ControlWordType::NotClcw,
                (Some(ControlWordSetting::All) | None, None) => ControlWordType::All,
            },
            update: if returns.changes { UpdateMode::ChangeBased } else { UpdateMode::Continuous },
        }),
    }
}

fn channel(service: ServiceType, returns: &LinkReturnTable) -> Result<GvcId, String> {
    let text = returns.channel.as_ref().ok_or_else(|| {
        format!("{service:?} needs a channel: set channel = \"SCID.TFVN\" or \"SCID.TFVN.VCID\"")
    })?;
    Ok(text.parse::<GvcIdText>()?.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_service_has_its_own_keys() {
        let of = |text: &str| toml::from_str::<LinkReturnTable>(text).unwrap();
        let raf = selection(ServiceType::Raf, &of("quality = \"good\"")).unwrap();
        assert_eq!(raf, ReturnSelection::Frames(RequestedFrameQuality::Good));
        let rocf =
            of("channel = \"7.0.2\"\ncontrol_word = \"clcw\"\ntc_channel = 5\nchanges = true");
        let ReturnSelection::Ocf { channel, control_word, update } =
            selection(ServiceType::Rocf, &rocf).unwrap()
        else {
            panic!()
        };
        assert_eq!((channel.spacecraft, channel.virtual_channel), (7, Some(2)));
        assert_eq!(
            (control_word, update),
            (ControlWordType::Clcw(Some(5)), UpdateMode::ChangeBased)
        );
        for (service, text, says) in [
            (ServiceType::Raf, "channel = \"1.0\"", "no channel"),
            (ServiceType::Rcf, "", "needs a channel"),
            (ServiceType::Rcf, "channel = \"1.0\"\nquality = \"all\"", "no quality"),
            (ServiceType::Rcf, "channel = \"1\"", "SCID.TFVN"),
            (ServiceType::Rocf, "channel = \"1.0\"\ntc_channel = 1", "needs control_word"),
        ] {
            let said = selection(service, &of(text)).unwrap_err();
            assert!(said.contains(says), "{said}");
        }
    }
}
