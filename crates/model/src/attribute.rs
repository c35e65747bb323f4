//! Keys under which the attributes of OpenTelemetry are properties and metrics of a row.
//!
//! An attribute of a span keeps its key; others get a prefix. OpenTelemetry reserves `otel.` for
//! such names.

/// Prefix of a key of the resource.
pub const RESOURCE: &str = "otel.resource.";
/// Prefix of a key of the scope.
pub const SCOPE: &str = "otel.scope.attribute.";
/// Prefix of a key of the span that begins with [`RESERVED`], so that no sender can forge a key of
/// this mapping.
pub const ATTRIBUTE: &str = "otel.attribute.";
/// Prefix that only this mapping writes.
pub const RESERVED: &str = "otel.";
/// Prefix of an event's number; the value is JSON.
pub const EVENT: &str = "otel.event.";
/// Prefix of a link's number; the value is JSON.
pub const LINK: &str = "otel.link.";
/// Keys that list the properties with JSON values, and the metrics that were doubles with integral
/// values: of the span, the resource, the scope.
pub const TYPES: [&str; 3] = ["otel.types", "otel.types.resource", "otel.types.scope"];
