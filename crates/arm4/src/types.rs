//! The structures of `arm4.h` and `arm41.h`, as they are in memory.

use std::ffi::{c_char, c_void};

/// 16 octets that name an application, a class, a metric or a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(C)]
pub struct Id(pub [u64; 2]);

impl Id {
    /// Whether the id is all zeros or all ones, which are not valid ids.
    pub fn is_void(self) -> bool {
        self.0 == [0; 2] || self.0 == [u64::MAX; 2]
    }
}

/// C type `arm_correlator_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CorrelatorOctets(pub [u8; 512]);

/// C type `arm_property_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Property {
    /// Name of the property.
    pub name: *const c_char,
    /// Value of the property.
    pub value: *const c_char,
}

/// C type `arm_metric_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Metric {
    /// In `[0, 6]`.
    pub slot: u8,
    /// Format that selects the meaning of `value`.
    pub format: u8,
    /// Usage of the metric.
    pub usage: i16,
    /// Whether the value counts at all.
    pub valid: i32,
    /// The union: eight octets.
    pub value: u64,
}

/// C type `arm_metric_binding_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MetricBinding {
    /// In `[0, 6]`.
    pub slot: u8,
    /// The metric's id.
    pub id: Id,
}

/// `arm_subbuffer_t`: where each sub-buffer begins.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SubBuffer {
    /// Format of the sub-buffer.
    pub format: i32,
}

/// C type `arm_buffer4_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Buffer4 {
    /// Entries of the array.
    pub count: i32,
    /// Pointers to sub-buffers; any may be NULL.
    pub array: *const *mut SubBuffer,
}

/// The numbers of sub-buffers.
pub mod format {
    #![allow(missing_docs)] // the header's names
    pub const USER: i32 = 3;
    pub const ARRIVAL_TIME: i32 = 4;
    pub const METRIC_VALUES: i32 = 5;
    pub const SYSTEM_ADDRESS: i32 = 6;
    pub const DIAG_DETAIL: i32 = 7;
    pub const BLOCK_CAUSE: i32 = 8;
    pub const MESSAGE_RCVD_EVENT: i32 = 9;
    pub const MESSAGE_SENT_EVENT: i32 = 10;
    pub const ARRIVAL_USEC: i32 = 11;
    pub const ARRIVAL_STRINGS: i32 = 12;
    pub const PREP_TIME: i32 = 13;
    pub const PREP_STATS: i32 = 14;
    pub const DIAG_PROPERTIES: i32 = 15;
    pub const APP_CONTROL: i32 = 16;
    pub const TRAN_ID_CONTROL: i32 = 17;
    pub const TRAN_INSTANCE_CONTROL: i32 = 18;
    pub const APP_IDENTITY: i32 = 102;
    pub const APP_CONTEXT: i32 = 103;
    pub const TRAN_IDENTITY: i32 = 104;
    pub const TRAN_CONTEXT: i32 = 105;
    pub const METRIC_BINDINGS: i32 = 106;
    pub const CHARSET: i32 = 107;
}

macro_rules! sub_buffers {
    ($($(#[$doc:meta])* $name:ident = $format:expr, $bytes:literal { $($field:ident: $kind:ty),* })*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        #[allow(missing_docs)] // the header's names
        pub struct $name { pub header: SubBuffer, $(pub $field: $kind),* }

        const _: () = assert!(size_of::<$name>() == $bytes);

        // SAFETY: the structure that the header has under this number.
        #[allow(unsafe_code)]
        unsafe impl Known for $name { const FORMAT: i32 = $format; })*
    };
}

/// A sub-buffer that the header describes.
///
/// # Safety
/// A sub-buffer whose format is [`Self::FORMAT`] is this structure.
#[allow(unsafe_code)]
pub unsafe trait Known {
    /// Number of the format.
    const FORMAT: i32;
}

sub_buffers! {
    /// The character set of an application's texts.
    Charset = format::CHARSET, 12 { charset: i32, flags: i32 }
    /// Properties that distinguish an application from others of its name.
    AppIdentity = format::APP_IDENTITY, 32 {
        properties: i32, property_array: *const Property,
        names: i32, name_array: *const *const c_char
    }
    /// Context values of one run of an application.
    AppContext = format::APP_CONTEXT, 16 { values: i32, value_array: *const *const c_char }
    /// Properties that distinguish a class from others of its name.
    TranIdentity = format::TRAN_IDENTITY, 40 {
        properties: i32, property_array: *const Property,
        names: i32, name_array: *const *const c_char, uri: *const c_char
    }
    /// Context values of one transaction.
    TranContext = format::TRAN_CONTEXT, 24 {
        values: i32, value_array: *const *const c_char, uri: *const c_char
    }
    /// Arrival time of the request.
    ArrivalTime = format::ARRIVAL_TIME, 16 { opaque: i64 }
    /// Metrics of a class.
    MetricBindings = format::METRIC_BINDINGS, 16 { count: i32, array: *const MetricBinding }
    /// Values of metrics.
    MetricValues = format::METRIC_VALUES, 16 { count: i32, array: *const Metric }
    /// On whose behalf.
    User = format::USER, 40 { name: *const c_char, id_valid: i32, id: Id }
    /// Address of the application's host.
    SystemAddress = format::SYSTEM_ADDRESS, 40 {
        address_format: i16, length: i16, address: *const u8, id_valid: i32, id: Id
    }
    /// Description of a failure.
    DiagDetail = format::DIAG_DETAIL, 16 { detail: *const c_char }
    /// Cause of a block.
    BlockCause = format::BLOCK_CAUSE, 24 { cause: i32, extended: i32, description: *const c_char }
    /// Received messages, or (not verified: the same) sent ones.
    MessagesReceived = format::MESSAGE_RCVD_EVENT, 24 {
        end_of_flow: i32, count: i32, array: *const MessageEvent
    }
    /// Messages that went out.
    MessagesSent = format::MESSAGE_SENT_EVENT, 24 {
        end_of_flow: i32, count: i32, array: *const MessageEvent
    }
    /// Arrival time of the request: microseconds since 1970, UTC.
    ArrivalUsec = format::ARRIVAL_USEC, 16 { usec: i64 }
    /// Arrival time of the request as texts.
    ArrivalStrings = format::ARRIVAL_STRINGS, 32 {
        yyyymmdd: *const c_char, hhmmssth: *const c_char, muuu: *const c_char
    }
    /// Time spent before the start.
    PrepTime = format::PREP_TIME, 16 { ns: i64 }
    /// Statistics of the preparation time of many transactions.
    PrepStats = format::PREP_STATS, 32 { mean_ns: i64, deviation_ns: i64, count: i32, interval_ms: i32 }
    /// Further properties of a failure.
    DiagProperties = format::DIAG_PROPERTIES, 16 { count: i32, array: *const Property }
    /// Measurements wanted of an application.
    AppControl = format::APP_CONTROL, 60 { count_app: i32, count_arm: i32, fields: [i32; 12] }
    /// Measurements wanted of a class.
    TranIdControl = format::TRAN_ID_CONTROL, 48 {
        count_app: i32, count_arm: i32, used: i32, id: *const Id, fields: [i32; 6]
    }
    /// Measurements wanted of a transaction: only the first fields are known.
    TranInstanceControl = format::TRAN_INSTANCE_CONTROL, 16 {
        count_app: i32, count_arm: i32, used: i32
    }
}

/// C type `arm_message_rcvd_event_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct MessageEvent {
    /// Correlator received with the message.
    pub correlator: *const CorrelatorOctets,
    /// Description of the message.
    pub description: *const c_char,
}

const _: () = {
    assert!(size_of::<Id>() == 16 && size_of::<CorrelatorOctets>() == 512);
    assert!(size_of::<Property>() == 16 && size_of::<Metric>() == 16);
    assert!(size_of::<MetricBinding>() == 24 && size_of::<Buffer4>() == 16);
    assert!(size_of::<MessageEvent>() == 16 && size_of::<*const c_void>() == 8);
};
