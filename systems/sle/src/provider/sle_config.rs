//! Instances of SLE as the configuration describes them.

use super::sle::{SleMachine, SleOwn, SleServed};
use crate::config::{
    Config, DeliveryModeSetting, EventTable, ForwardTable, FrameQualitySetting, GeneratorTable,
    InstanceTable, NotificationModeSetting, PlopSetting, ProductionSetting, ReturnTable,
    UpdateModeSetting, utc_ns,
};
use crate::pdu::{
    AntennaId, DeliveryMode, PermittedChannel, RequestedFrameQuality, ReturnProductionStatus,
    ServiceInstanceId, ServiceType, UpdateMode,
};
use crate::recording::ChainKey;
use crate::service::fcltu::{
    self, BufferLimits, EventAction, FcltuConfig, FcltuProvider, NotificationMode,
    ProtocolAbortMode, RadiationQueue,
};
use crate::service::returns::{ReturnConfig, ReturnProduction, ReturnProvider, ServiceOffer};
use crate::time::Now;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

impl SleServed {
    /// An instance of a checked configuration; `None` if its service is none of ours.
    pub(super) fn configured(
        config: &Config,
        instance: &InstanceTable,
        id: ServiceInstanceId,
    ) -> Option<Self> {
        let service = instance.service()?;
        let key = ChainKey::of_return(&id);
        let name = (id, instance.id.clone());
        let own = |returns| SleOwn {
            service,
            key,
            returns,
            source: OnceLock::new(),
            stored: AtomicU64::new(0),
        };
        if service == ServiceType::Fcltu {
            let forward = instance.forward();
            let fcltu = forward_config(config, instance, &forward);
            let queue = Arc::new(RadiationQueue::new(&fcltu));
            let provider = Box::new(FcltuProvider::new(fcltu, Arc::clone(&queue)));
            let radiated = (Some(queue), forward.modem);
            return Some(Self::new(name, SleMachine::Forward(provider), radiated, own(None)));
        }
        let returns = instance.returns();
        let mut provider = ReturnProvider::new(return_config(config, instance, service));
        let status = ReturnProduction::Status(return_status(returns.production));
        provider.production(status, Now::read(), &mut Vec::new());
        let machine = SleMachine::Return(Box::new(provider));
        Some(Self::new(name, machine, (None, None), own(Some(returns))))
    }
}

fn forward_config(
    config: &Config,
    instance: &InstanceTable,
    forward: &ForwardTable,
) -> FcltuConfig {
    let uplink = &forward.uplink;
    let action = |event: &EventTable| match (event.production, event.outcome.as_str()) {
        (Some(production), _) => EventAction::SetProduction(production.into()),
        (None, "completed") => EventAction::Complete,
        (None, "condition-false") => EventAction::ConditionFalse,
        (None, _) => EventAction::Fail,
    };
    let events: BTreeMap<u16, EventAction> =
        forward.event.iter().map(|event| (event.id, action(event))).collect();
    FcltuConfig {
        limits: BufferLimits { octets: forward.buffer, ..BufferLimits::default() },
        maximum_cltu_length: forward.cltu_max,
        check_cltu: forward.check,
        bit_rate: forward.bit_rate,
        minimum_delay_us: forward.minimum_delay_us,
        production: forward.production.into(),
        production_start_utc_ns: forward.production_from.as_ref().and_then(utc_ns),
        production_stop_utc_ns: forward.production_until.as_ref().and_then(utc_ns),
        notification_mode: match forward.notification {
            NotificationModeSetting::Immediate => NotificationMode::Immediate,
            NotificationModeSetting::Deferred => NotificationMode::Deferred,
        },
        protocol_abort_mode: if forward.continue_after_abort {
            ProtocolAbortMode::Continue
        } else {
            ProtocolAbortMode::Abort
        },
        transfer_buffers: forward.blocking,
        events: (!events.is_empty()).then_some(events),
        notify_buffer_empty: forward.notify_buffer_empty,
        minimum_reporting_cycle_s: instance.min_reporting_cycle_s,
        return_timeout_s: config.return_timeout_of(instance),
        bit_lock_required: uplink.bit_lock_required,
        rf_available_required: uplink.rf_available_required,
        modulation_frequency: uplink.modulation_frequency_dhz,
        modulation_index: uplink.modulation_index_mrad,
        subcarrier_to_bit_rate_ratio: uplink.subcarrier_to_bit_rate_ratio,
        plop_2: uplink.plop == PlopSetting::Plop2,
        acquisition_sequence_length: uplink.acquisition_sequence_octets,
        plop1_idle_sequence_length: uplink.plop1_idle_sequence_octets,
        clcw_global_vcid: uplink.clcw_channel.map(|channel| channel.0),
        clcw_physical_channel: uplink.clcw_physical_channel.clone(),
        ..fcltu::FcltuConfig::default()
    }
}

pub(super) fn return_status(production: ProductionSetting) -> ReturnProductionStatus {
    match production {
        ProductionSetting::Operational | ProductionSetting::Configured => {
            ReturnProductionStatus::Running
        }
        ProductionSetting::Interrupted => ReturnProductionStatus::Interrupted,
        ProductionSetting::Halted => ReturnProductionStatus::Halted,
    }
}

fn return_config(config: &Config, instance: &InstanceTable, service: ServiceType) -> ReturnConfig {
    let returns = &instance.returns();
    let channels = || {
        let mut all: Vec<PermittedChannel> = Vec::new();
        for channel in returns.channels.iter().map(|text| text.0) {
            let list = channel.virtual_channel.map(|one| vec![one]);
            let same = all.iter_mut().find(|known| {
                (known.spacecraft, known.version) == (channel.spacecraft, channel.version)
                    && known.virtual_channels.is_some() == list.is_some()
            });
            match (same.and_then(|known| known.virtual_channels.as_mut()), list) {
                (Some(known), Some(list)) => known.extend(list),
                (_, list) => all.push(PermittedChannel {
                    spacecraft: channel.spacecraft,
                    version: channel.version,
                    virtual_channels: list,
                }),
            }
        }
        all
    };
    let offer = offer(service, returns, channels);
    let generator = returns
        .generator
        .clone()
        .unwrap_or(GeneratorTable { fecf: false, ..GeneratorTable::default() });
    ReturnConfig {
        offer,
        delivery: match returns.delivery {
            DeliveryModeSetting::Timely => DeliveryMode::TimelyOnline,
            DeliveryModeSetting::Complete => DeliveryMode::CompleteOnline,
            DeliveryModeSetting::Offline => DeliveryMode::Offline,
        },
        buffer_size: returns.frames_per_buffer,
        latency_limit_s: returns.latency_s,
        min_reporting_cycle_s: instance.min_reporting_cycle_s,
        return_timeout_s: config.return_timeout_of(instance),
        antenna: AntennaId::Local(Bytes::copy_from_slice(returns.antenna.as_bytes())),
        trailer: crate::frame::FrameTrailer {
            fecf: returns.fecf.unwrap_or(generator.fecf),
            aos_ocf: false,
        },
        is_concatenated: returns.concatenated > 1,
        backlog_octets: returns.backlog,
        ..ReturnConfig::raf()
    }
}

/// The permitted requests; by default all.
fn offer(
    service: ServiceType,
    returns: &ReturnTable,
    channels: impl FnOnce() -> Vec<PermittedChannel>,
) -> ServiceOffer {
    match service {
        ServiceType::Rcf => ServiceOffer::Rcf { channels: channels() },
        ServiceType::Rocf => ServiceOffer::Rocf {
            channels: channels(),
            control_words: returns.control_words.as_ref().map_or_else(
                || vec![0, 1, 2],
                |words| words.iter().map(|word| *word as u8).collect(),
            ),
            tc_channels: match &returns.tc_channels {
                None => Some((0..64).collect()),
                Some(list) => Some(list.clone()).filter(|list| !list.is_empty()),
            },
            updates: returns.update_modes.as_ref().map_or_else(
                || vec![UpdateMode::Continuous, UpdateMode::ChangeBased],
                |modes| modes.iter().map(|mode| update_mode(*mode)).collect(),
            ),
        },
        ServiceType::Raf | ServiceType::Fcltu => ServiceOffer::Raf {
            permitted: returns.qualities.as_ref().map_or_else(
                || {
                    vec![
                        RequestedFrameQuality::Good,
                        RequestedFrameQuality::Erred,
                        RequestedFrameQuality::All,
                    ]
                },
                |qualities| qualities.iter().map(|quality| frame_quality(*quality)).collect(),
            ),
        },
    }
}

fn update_mode(mode: UpdateModeSetting) -> UpdateMode {
    match mode {
        UpdateModeSetting::Continuous => UpdateMode::Continuous,
        UpdateModeSetting::ChangeBased => UpdateMode::ChangeBased,
    }
}

fn frame_quality(quality: FrameQualitySetting) -> RequestedFrameQuality {
    match quality {
        FrameQualitySetting::Good => RequestedFrameQuality::Good,
        FrameQualitySetting::Erred => RequestedFrameQuality::Erred,
        FrameQualitySetting::All => RequestedFrameQuality::All,
    }
}
