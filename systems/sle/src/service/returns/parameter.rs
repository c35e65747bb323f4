//! Results of GET-PARAMETER, by service and version.

use super::config::{ReturnConfig, ServiceOffer, first};
use super::select::number;
use crate::pdu::{ControlWordType, Parameter, ParameterName, ReturnSelection};

/// The version from which on the shortest reporting cycle and the permitted frame quality can be
/// asked for, and from which on what a START will ask for is named by the first of what is
/// permitted; up to the version before it is undefined.
const NAMED: u16 = 5;

/// The value of a parameter; `None` where the service in that version does not know it.
///
/// `selected` while a START is in force; `cycle_s` while reports are made periodically.
pub(super) fn get(
    config: &ReturnConfig,
    version: u16,
    selected: Option<ReturnSelection>,
    cycle_s: Option<u16>,
    name: ParameterName,
) -> Option<Parameter> {
    Some(match name {
        ParameterName::BUFFER_SIZE => Parameter::BufferSize(config.buffer_size),
        ParameterName::DELIVERY_MODE => Parameter::DeliveryMode(config.delivery),
        ParameterName::LATENCY_LIMIT => {
            Parameter::LatencyLimit((!config.is_offline()).then_some(config.latency_limit_s))
        }
        ParameterName::REPORTING_CYCLE => Parameter::ReportingCycle(cycle_s),
        ParameterName::RETURN_TIMEOUT_PERIOD => {
            Parameter::ReturnTimeoutPeriod(config.return_timeout_s)
        }
        ParameterName::MIN_REPORTING_CYCLE if version >= NAMED => {
            Parameter::MinReportingCycle(config.min_reporting_cycle_s)
        }
        _ => return of_service(&config.offer, version, selected, name),
    })
}

/// Parameters that not all return services have.
fn of_service(
    offer: &ServiceOffer,
    version: u16,
    selected: Option<ReturnSelection>,
    name: ParameterName,
) -> Option<Parameter> {
    match offer {
        ServiceOffer::Raf { permitted } => match name {
            ParameterName::REQUESTED_FRAME_QUALITY => {
                Some(Parameter::RequestedFrameQuality(match selected {
                    Some(ReturnSelection::Frames(quality)) => Some(quality),
                    _ => permitted.first().copied().filter(|_| version >= NAMED),
                }))
            }
            ParameterName::PERMITTED_FRAME_QUALITY if version >= NAMED => {
                Some(Parameter::PermittedFrameQuality(permitted.clone()))
            }
            _ => None,
        },
        ServiceOffer::Rcf { channels } => match name {
            ParameterName::PERMITTED_GVCID_SET => {
                Some(Parameter::PermittedGvcidSet(channels.clone()))
            }
            // 911.2 has a word for undefined, but for version 1.
            ParameterName::REQUESTED_GVCID => Some(Parameter::RequestedGvcid(match selected {
                Some(ReturnSelection::Channel(channel)) => Some(channel),
                _ => first(channels).filter(|_| version < 2),
            })),
            _ => None,
        },
        ServiceOffer::Rocf { .. } => of_rocf(offer, version, selected, name),
    }
}

fn of_rocf(
    offer: &ServiceOffer,
    version: u16,
    selected: Option<ReturnSelection>,
    name: ParameterName,
) -> Option<Parameter> {
    let ServiceOffer::Rocf { channels, control_words, tc_channels, updates } = offer else {
        return None;
    };
    let ocf = match selected {
        Some(ReturnSelection::Ocf { channel, control_word, update }) => {
            Some((channel, control_word, update))
        }
        _ => None,
    };
    let named = version >= NAMED;
    Some(match name {
        ParameterName::PERMITTED_GVCID_SET => Parameter::PermittedGvcidSet(channels.clone()),
        ParameterName::PERMITTED_CONTROL_WORD_TYPE_SET => {
            Parameter::PermittedControlWordTypeSet(control_words.clone())
        }
        ParameterName::PERMITTED_TC_VCID_SET => Parameter::PermittedTcVcidSet(tc_channels.clone()),
        ParameterName::PERMITTED_UPDATE_MODE_SET => {
            Parameter::PermittedUpdateModeSet(updates.clone())
        }
        ParameterName::REQUESTED_GVCID => Parameter::RequestedGvcid(match ocf {
            Some((channel, ..)) => Some(channel),
            None => first(channels).filter(|_| named),
        }),
        ParameterName::REQUESTED_CONTROL_WORD_TYPE => {
            Parameter::RequestedControlWordType(match ocf {
                Some((_, control_word, _)) => Some(number(control_word)),
                None => control_words.first().copied().filter(|_| named),
            })
        }
        ParameterName::REQUESTED_TC_VCID => Parameter::RequestedTcVcid(match ocf {
            Some((_, ControlWordType::Clcw(channel), _)) => Some(channel),
            Some(_) => Some(None),
            None if named => Some(tc_channels.as_ref().and_then(|list| list.first().copied())),
            None => None,
        }),
        ParameterName::REQUESTED_UPDATE_MODE => Parameter::RequestedUpdateMode(match ocf {
            Some((_, _, update)) => Some(update),
            None => updates.first().copied().filter(|_| named),
        }),
        _ => return None,
    })
}
