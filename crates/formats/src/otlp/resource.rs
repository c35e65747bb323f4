//! Sources of spans: the resource, which is a process of an application, and the scope.

use super::context_builder::{ContextBuilder, Inherited};
use super::keys;
use super::limits::Limits;
use super::span::{self, Stop};
use super::value::{self, Any};
use super::vocabulary::Vocabulary;
use super::wire::Message;
use chronoscope_model::{ClassId, ProcessId, ProcessName};

/// The application of a resource without a service's name (semantic conventions, `service.name`).
pub(super) const UNKNOWN_SERVICE: &str = "unknown_service";
/// The host of a resource that does not name one.
pub(super) const UNKNOWN_HOST: &str = "unknown_host";

/// A resource: the process and the attributes that its spans have in common.
#[derive(Debug)]
pub(super) struct Resource {
    /// The process; its application and host are never empty.
    pub(super) process: ProcessName,
    /// Id of the process; [`ProcessId::NONE`] when there are too many processes to name another.
    pub(super) process_id: ProcessId,
    attributes: Inherited,
}

/// Attributes of a resource that describe the process.
#[derive(Default)]
struct Told<'a> {
    service: &'a str,
    instance: &'a str,
    host: &'a str,
    host_id: &'a str,
    pid: Option<u32>,
    start_ns: Option<i64>,
}

const RESOURCE: &str = "Resource";

impl Resource {
    /// Reads the resource of a `ResourceSpans`.
    pub(super) fn read(
        message: Message<'_>,
        limits: &Limits,
        vocabulary: &Vocabulary,
        words: &mut ContextBuilder,
    ) -> Result<Self, Stop> {
        words.clear();
        let mut told = Told::default();
        let mut schema_url = Message::default();
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => told.resource(field.bytes("ResourceSpans")?, limits, words)?,
                3 => schema_url = field.bytes("ResourceSpans")?,
                _ => {}
            }
        }
        words.end_level(1);
        words.property_if(keys::SCHEMA_RESOURCE, value::Text(schema_url).text()?);
        let process = told.process();
        let process_id = process.id();
        let admitted = vocabulary.admits_process(process_id);
        let process_id = if admitted { process_id } else { ProcessId::NONE };
        Ok(Self { process, process_id, attributes: words.inherited() })
    }
}

impl<'a> Told<'a> {
    fn resource(
        &mut self,
        message: Message<'a>,
        limits: &Limits,
        words: &mut ContextBuilder,
    ) -> Result<(), Stop> {
        for field in message.fields() {
            let field = field?;
            match field.number {
                1 => {
                    let (key, any) = value::key_value(field.bytes(RESOURCE)?)?;
                    let key = key.text()?;
                    if !self.takes(key, any, limits)? {
                        words.attribute(keys::RESOURCE, key, any)?;
                    }
                }
                2 => {
                    let count = u32::try_from(field.varint(RESOURCE)?).unwrap_or(u32::MAX);
                    words.count_if(keys::DROPPED_RESOURCE, count);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether an attribute is one of the process's own fields, and therefore is not stored as a
    /// property.
    fn takes(&mut self, key: &str, any: Any<'a>, limits: &Limits) -> Result<bool, Stop> {
        Ok(match (key, any) {
            ("service.name", Any::Text(text)) => {
                self.service = span::name(text.0, limits)?;
                !self.service.is_empty()
            }
            ("host.name", Any::Text(text)) => {
                self.host = span::name(text.0, limits)?;
                !self.host.is_empty()
            }
            ("process.pid", Any::Int(pid)) => {
                self.pid = u32::try_from(pid).ok();
                self.pid.is_some()
            }
            ("process.creation.time", Any::Text(text)) => {
                let time = text.text()?.parse::<jiff::Timestamp>().ok();
                let ns = time.and_then(|time| i64::try_from(time.as_nanosecond()).ok());
                self.start_ns = ns.filter(|ns| *ns >= TOLD_FROM_NS);
                self.start_ns.is_some()
            }
            // These two name the process only where nothing better does, and are stored as
            // properties too.
            ("service.instance.id", Any::Text(text)) => {
                self.instance = text.text()?;
                false
            }
            ("host.id", Any::Text(text)) => {
                self.host_id = span::name(text.0, limits)?;
                false
            }
            _ => false,
        })
    }

    fn process(&self) -> ProcessName {
        let first = |words: &[&str]| {
            let word = words.iter().find(|word| !word.is_empty());
            word.copied().unwrap_or_default().to_owned()
        };
        let application = first(&[self.service, UNKNOWN_SERVICE]);
        let start_ns =
            self.start_ns.unwrap_or_else(|| nominal_start_ns(&application, self.instance));
        let host = first(&[self.host, self.host_id, UNKNOWN_HOST]);
        ProcessName { application, host, pid: self.pid.unwrap_or(0), start_ns }
    }
}

/// Starts from here on were reported; earlier ones are from [`nominal_start_ns`].
pub(super) const TOLD_FROM_NS: i64 = 1_000_000_000;

/// Start of a process that did not report one: an instant in the first second of 1970, hashed from
/// its identity. Two services of one host without further attributes are thus two processes, and
/// always the same two.
fn nominal_start_ns(application: &str, instance: &str) -> i64 {
    let hash = ClassId::of(application, instance).0;
    (hash % TOLD_FROM_NS.unsigned_abs()).cast_signed()
}

/// Properties that all rows of a `ScopeSpans` share: the scope's name, version and attributes, and
/// those of the resource.
pub(super) fn scope(
    message: Message<'_>,
    source: &Resource,
    words: &mut ContextBuilder,
) -> Result<Inherited, Stop> {
    words.clear();
    let mut schema_url = Message::default();
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => instrumentation(field.bytes("ScopeSpans")?, words)?,
            3 => schema_url = field.bytes("ScopeSpans")?,
            _ => {}
        }
    }
    words.end_level(2);
    words.property_if(keys::SCHEMA_SCOPE, value::Text(schema_url).text()?);
    words.inherit(&source.attributes);
    Ok(words.inherited())
}

fn instrumentation(message: Message<'_>, words: &mut ContextBuilder) -> Result<(), Stop> {
    const OF: &str = "InstrumentationScope";
    for field in message.fields() {
        let field = field?;
        match field.number {
            1 => words.property_if(keys::SCOPE_NAME, value::Text(field.bytes(OF)?).text()?),
            2 => words.property_if(keys::SCOPE_VERSION, value::Text(field.bytes(OF)?).text()?),
            3 => {
                let (key, any) = value::key_value(field.bytes(OF)?)?;
                words.attribute(keys::SCOPE, key.text()?, any)?;
            }
            4 => {
                let count = u32::try_from(field.varint(OF)?).unwrap_or(u32::MAX);
                words.count_if(keys::DROPPED_SCOPE, count);
            }
            _ => {}
        }
    }
    Ok(())
}
