//! Words of the format and ours.

use crate::config::{
    AuthLevelSetting, ControlWordSetting, DeliveryModeSetting, FrameQualitySetting, HashSetting,
    NotificationModeSetting, PlopSetting, UpdateModeSetting,
};

/// Values of a key, by the format's word.
pub(super) type Words<T> = &'static [(&'static str, T)];

pub(super) const AUTH: Words<AuthLevelSetting> = &[
    ("NONE", AuthLevelSetting::None),
    ("BIND", AuthLevelSetting::Bind),
    ("ALL", AuthLevelSetting::All),
];
pub(super) const HASH: Words<HashSetting> =
    &[("SHA_1", HashSetting::Sha1), ("SHA_256", HashSetting::Sha256)];
pub(super) const DELIVERY: Words<DeliveryModeSetting> = &[
    ("TIMELY_ONLINE", DeliveryModeSetting::Timely),
    ("COMPLETE_ONLINE", DeliveryModeSetting::Complete),
    ("OFFLINE", DeliveryModeSetting::Offline),
];
pub(super) const QUALITY: Words<FrameQualitySetting> = &[
    ("GOOD_FRAMES_ONLY", FrameQualitySetting::Good),
    ("BAD_FRAMES_ONLY", FrameQualitySetting::Erred),
    ("ALL_FRAMES", FrameQualitySetting::All),
];
pub(super) const CONTROL_WORD: Words<ControlWordSetting> = &[
    ("ALL", ControlWordSetting::All),
    ("CLCW", ControlWordSetting::Clcw),
    ("NO_CLCW", ControlWordSetting::NotClcw),
];
pub(super) const UPDATE_MODE: Words<UpdateModeSetting> = &[
    ("CONTINUOUS", UpdateModeSetting::Continuous),
    ("CHANGE_BASED", UpdateModeSetting::ChangeBased),
];
pub(super) const ABORT: Words<bool> = &[("ABORT_MODE", false), ("CONTINUE_MODE", true)];
pub(super) const NOTIFICATION: Words<NotificationModeSetting> = &[
    ("IMMEDIATE", NotificationModeSetting::Immediate),
    ("DEFERRED", NotificationModeSetting::Deferred),
];
pub(super) const PLOP: Words<PlopSetting> =
    &[("PLOP1", PlopSetting::Plop1), ("PLOP2", PlopSetting::Plop2)];
pub(super) const BOOLEAN: Words<bool> =
    &[("true", true), ("false", false), ("1", true), ("0", false)];

/// The word of a value.
pub(super) fn word<T: PartialEq>(words: Words<T>, value: &T) -> &'static str {
    words.iter().find(|(_, known)| known == value).map_or("", |(word, _)| word)
}
