//! An `ExportTraceServiceRequest` becomes rows.

use super::context_builder::ContextBuilder;
use super::keys::{self, ours};
use super::limits::Limits;
use super::resource::{self, Resource};
use super::span::{self, Span, SpanError, Stop};
use super::value::{self, Any, Text};
use super::vocabulary::{OTHER, Vocabulary};
use super::wire::{Message, WireError};
use chronoscope_model::context::ContextEntry;
use chronoscope_model::{
    Batch, ChainId, ClassId, ClassName, Field, Flags, FurtherParent, NO_PROCESS_CPU, Names, Record,
    Status, TransactionId,
};
use std::collections::HashSet;

/// A chain that is the continuation of another, because its root has a link there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The span's chain.
    pub chain: ChainId,
    /// The one it continues.
    pub continues: ChainId,
}

/// Result of reading a request.
#[derive(Debug, Default)]
pub struct Received {
    /// The rows, one for each span that was taken, in the order of the request.
    pub batch: Batch,
    /// Names of the ids in the rows.
    pub names: Names,
    /// Chains that are one with another.
    pub joined: Vec<Joined>,
    /// Number of refused spans.
    pub refused: u64,
    /// The first few errors, each with the span's number in the request, from 0.
    pub errors: Vec<(u64, SpanError)>,
    /// Number of rows of the class [`OTHER`], because there were too many names.
    pub others: u64,
}

impl Received {
    /// Summary of the refused spans for the sender; empty when none was refused.
    pub fn message(&self) -> String {
        if self.refused == 0 {
            return String::new();
        }
        let named = self.errors.iter().map(|(number, error)| format!("span {number}: {error}"));
        let more = self.refused - self.errors.len() as u64;
        let more = (more > 0).then(|| format!("and {more} more"));
        named.chain(more).collect::<Vec<_>>().join("; ")
    }
}

/// Reasons that are kept.
const ERRORS_MAX: usize = 3;
/// Attributes, events and links of one span that are looked at, of each.
const REPEATED_MAX: usize = 1_024;
const MINUTE_NS: i64 = 60_000_000_000;

/// Converts the spans of an uncompressed request to rows.
///
/// # Errors
/// [`WireError`] when the bytes are no such message; nothing is taken then. Spans with an error of
/// their own are counted in [`Received::refused`].
pub fn read(
    request: &[u8],
    limits: &Limits,
    vocabulary: &Vocabulary,
) -> Result<Received, WireError> {
    let mut reader = Reader {
        limits,
        vocabulary,
        received: Received::default(),
        words: ContextBuilder::default(),
        bytes: 0,
        number: 0,
        groups: 0,
        minutes: HashSet::new(),
        minute: i64::MIN,
        joined: HashSet::new(),
    };
    for field in Message::new(request).fields() {
        let field = field?;
        if field.number == 1 {
            reader.resource_spans(field.bytes("ExportTraceServiceRequest")?)?;
        }
    }
    Ok(reader.received)
}

struct Reader<'a> {
    limits: &'a Limits,
    vocabulary: &'a Vocabulary,
    received: Received,
    words: ContextBuilder,
    /// Size of the rows so far.
    bytes: usize,
    /// Number of the next span in the request.
    number: u64,
    /// Resources and scopes so far.
    groups: usize,
    minutes: HashSet<i64>,
    minute: i64,
    joined: HashSet<ChainId>,
}

impl Reader<'_> {
    /// Counts a resource or a scope.
    fn group(&mut self, at: usize) -> Result<(), WireError> {
        self.groups += 1;
        let max = self.limits.spans_max;
        if self.groups > max { Err(WireError::Groups { at, max }) } else { Ok(()) }
    }

    fn resource_spans(&mut self, message: Message<'_>) -> Result<(), WireError> {
        self.group(message.at)?;
        let source =
            separate(Resource::read(message, self.limits, self.vocabulary, &mut self.words))?;
        if let Ok(source) = &source
            && !source.process_id.is_none()
        {
            self.received.names.add_process(source.process.clone());
        }
        for field in message.fields() {
            let field = field?;
            if field.number == 2 {
                self.scope_spans(field.bytes("ResourceSpans")?, &source)?;
            }
        }
        Ok(())
    }

    fn scope_spans(
        &mut self,
        message: Message<'_>,
        source: &Result<Resource, SpanError>,
    ) -> Result<(), WireError> {
        self.group(message.at)?;
        let inherited = match source {
            Ok(source) => separate(resource::scope(message, source, &mut self.words))?,
            Err(error) => Err(*error),
        };
        for field in message.fields() {
            let field = field?;
            if field.number != 2 {
                continue;
            }
            let span = field.bytes("ScopeSpans")?;
            let max = self.limits.spans_max;
            let outcome = match (source, &inherited) {
                // Refused spans count too: reading them has its cost.
                _ if self.number >= max as u64 => Err(SpanError::TooMany { at: span.at, max }),
                (Ok(source), Ok(inherited)) => separate(self.span(span, source, inherited))?,
                (Err(error), _) | (_, Err(error)) => Err(*error),
            };
            if let Err(error) = outcome {
                self.received.refused += 1;
                if self.received.errors.len() < ERRORS_MAX {
                    self.received.errors.push((self.number, error));
                }
            }
            self.number += 1;
        }
        Ok(())
    }

    fn span(
        &mut self,
        message: Message<'_>,
        source: &Resource,
        inherited: &super::context_builder::Inherited,
    ) -> Result<(), Stop> {
        let at = message.at;
        let span = Span::read(message, self.limits)?;
        let mut record = Record {
            start_ns: span.start_ns,
            elapsed_ns: span.elapsed_ns,
            process_cpu_ns: NO_PROCESS_CPU,
            chain_high: span.chain.high(),
            chain_low: span.chain.low(),
            id: span.id,
            parent: span.parent,
            root_start_ns: span.start_ns,
            process: source.process_id,
            flags: Flags::FOREIGN.0,
            ..Record::default()
        };
        let own = ClassId::of(&source.process.application, span.name);
        let admitted = self.received.names.class(own).is_some()
            || self.vocabulary.admits_class(&source.process.application, own);
        self.words.clear();
        let place = place(&span)?;
        describe(&span, &place, source, admitted, &mut record, &mut self.words)?;
        self.words.inherit(inherited);
        if self.words.is_cut() {
            record.flags |= Flags::CONTEXT_CUT.0;
        }
        self.bound(at, span.start_ns)?;
        self.received.others += u64::from(!admitted);
        record.class = self.class(own, admitted, &source.process.application, span.name);
        if let Some(continues) = place.joins {
            // A chain continues one other; of several links the first counts.
            if self.joined.insert(span.chain) {
                self.received.joined.push(Joined { chain: span.chain, continues });
            }
        }
        self.bytes += size_of::<Record>() + self.words.bytes().len();
        self.received.batch.push(record, self.words.bytes());
        Ok(())
    }

    /// Refuses what exceeds the request's limits.
    fn bound(&mut self, at: usize, start_ns: i64) -> Result<(), SpanError> {
        let max = self.limits.rows_bytes_max;
        if self.bytes + size_of::<Record>() + self.words.bytes().len() > max {
            return Err(SpanError::TooMuch { at, max });
        }
        let minute = start_ns.div_euclid(MINUTE_NS);
        if minute != self.minute {
            let max = self.limits.minutes_max;
            if self.minutes.len() >= max && !self.minutes.contains(&minute) {
                return Err(SpanError::TooManyMinutes { at, max });
            }
            self.minutes.insert(minute);
            self.minute = minute;
        }
        Ok(())
    }

    fn class(&mut self, own: ClassId, admitted: bool, application: &str, name: &str) -> ClassId {
        let (id, application, name) = match admitted {
            true => (own, application, name),
            false => (ClassId::of(OTHER, OTHER), OTHER, OTHER),
        };
        if self.received.names.class(id).is_none() {
            let name = ClassName { application: application.to_owned(), class: name.to_owned() };
            self.received.names.add_class(name);
        }
        id
    }
}

/// Keeps what refuses the whole request apart from what refuses a span.
fn separate<T>(outcome: Result<T, Stop>) -> Result<Result<T, SpanError>, WireError> {
    match outcome {
        Ok(value) => Ok(Ok(value)),
        Err(Stop::Span(error)) => Ok(Err(error)),
        Err(Stop::Wire(error)) => Err(error),
    }
}

/// Parent and further parents of a span.
struct Place {
    parent: TransactionId,
    /// The parent did not wait for it.
    asynchronous: bool,
    /// The chain that its own is the continuation of.
    joins: Option<ChainId>,
    /// The first link is the parent; all other links are further parents.
    follows_first: bool,
}

/// Determines the parent. A span without a parent but with a link has the first link as its parent:
/// a consumer refers to its message in this way. The same holds for a consumer with a link within
/// its own trace. A consumer's parent does not wait for it, nor does a linked parent.
fn place(span: &Span<'_>) -> Result<Place, WireError> {
    let consumer = span.kind == keys::CONSUMER as u64;
    let named = Place {
        parent: span.parent,
        asynchronous: consumer && !span.parent.is_none(),
        joins: None,
        follows_first: false,
    };
    let Some((chain, id)) = span.link.map(linked).transpose()?.flatten() else {
        return Ok(named);
    };
    let within = chain == span.chain;
    if (within && id == span.id) || !(span.parent.is_none() || (consumer && within)) {
        return Ok(named);
    }
    let joins = (!within).then_some(chain);
    Ok(Place { parent: id, asynchronous: true, joins, follows_first: true })
}

/// The span that a link names; `None` when its ids are none.
fn linked(link: Message<'_>) -> Result<Option<(ChainId, TransactionId)>, WireError> {
    let (mut chain, mut id) = (None, None);
    for field in link.fields() {
        let field = field?;
        match field.number {
            1 => chain = span::chain(field.bytes("Link")?),
            2 => id = span::id(field.bytes("Link")?),
            _ => {}
        }
    }
    Ok(chain.zip(id))
}

/// Writes the fields of a span into its record and its context.
fn describe(
    span: &Span<'_>,
    place: &Place,
    source: &Resource,
    admitted: bool,
    record: &mut Record,
    words: &mut ContextBuilder,
) -> Result<(), Stop> {
    record.parent = place.parent;
    if place.asynchronous {
        record.flags |= Flags::ASYNCHRONOUS.0;
    }
    if !admitted {
        words.property(keys::SPAN_NAME, span.name);
    }
    let unnamed = source.process_id.is_none();
    if !admitted || unnamed {
        words.property(keys::SERVICE_NAME, &source.process.application);
    }
    if unnamed {
        words.property(keys::HOST_NAME, &source.process.host);
    }
    let kind = usize::try_from(span.kind).ok().and_then(|kind| keys::KINDS.get(kind));
    if span.kind != keys::INTERNAL as u64 {
        words.property(keys::KIND, kind.unwrap_or(&keys::KINDS[0]));
    }
    unfollowed(span, place, record, words)?;
    sampled(span.trace_state.text()?, record, words);
    status(span.status, record, words)?;
    words.count_if(keys::FLAGS, span.flags);
    words.property_if(keys::TRACE_STATE, span.trace_state.text()?);
    if place.parent != span.parent && !span.parent.is_none() {
        words.property(keys::PARENT, &span.parent.to_string());
    }
    let names = [keys::DROPPED_ATTRIBUTES, keys::DROPPED_EVENTS, keys::DROPPED_LINKS];
    names.iter().zip(span.dropped).for_each(|(key, count)| words.count_if(key, count));
    repeated(span, record, words)?;
    words.end_level(0);
    Ok(())
}

/// Adds the sampling threshold of the trace state (OpenTelemetry, "TraceState: Probability
/// Sampling"): in the list member `ot` the value `th`, at most 14 hexadecimal digits of 56 bits
/// without trailing zeroes. An invalid value stays only in the property with the whole trace state.
fn sampled(trace_state: &str, record: &mut Record, words: &mut ContextBuilder) {
    let member = trace_state.split(',').find_map(|member| member.trim().strip_prefix("ot="));
    let digits = member.and_then(|ot| ot.split(';').find_map(|pair| pair.strip_prefix("th:")));
    let is_hex = |digits: &&str| digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let digits = digits.filter(is_hex).filter(|digits| (1..=14).contains(&digits.len()));
    let Some(digits) = digits else { return };
    let Ok(number) = u64::from_str_radix(digits, 16) else { return };
    let threshold = number << (4 * (14 - digits.len()));
    if threshold > 0 {
        record.flags |= Flags::SAMPLED.0;
    }
    words.entry(ContextEntry::Field(Field::SamplingThreshold, threshold));
}

/// Adds the remaining links as further parents: before the attributes, so that links have priority
/// when there is too little room.
fn unfollowed(
    span: &Span<'_>,
    place: &Place,
    record: &mut Record,
    words: &mut ContextBuilder,
) -> Result<(), Stop> {
    let (mut links, mut all_fit) = (0, true);
    let before = words.bytes().len();
    for field in span.message.fields() {
        let field = field?;
        if field.number != span::LINKS {
            continue;
        }
        links += 1;
        let followed = place.follows_first && links == 1;
        if let Some((chain, id)) = linked(field.bytes("Span")?)?.filter(|_| !followed) {
            record.flags |= Flags::FURTHER_PARENTS.0;
            all_fit &= words.entry(ContextEntry::Parent(FurtherParent { chain, id, root: None }));
        }
    }
    // All or none: with the flag but without a parent in its context, a row means that any chain
    // may be its parent.
    if !all_fit {
        words.truncate(before);
    }
    Ok(())
}

fn status(
    message: Message<'_>,
    record: &mut Record,
    words: &mut ContextBuilder,
) -> Result<(), Stop> {
    for field in message.fields() {
        let field = field?;
        match field.number {
            2 => {
                let text = Text(field.bytes("Status")?).text()?;
                words.property_if(keys::STATUS_DESCRIPTION, text);
            }
            3 => match field.varint("Status")? {
                1 => {
                    words.property(keys::STATUS_CODE, "OK");
                }
                2 => record.status = Status::Failed as u8,
                _ => {}
            },
            _ => {}
        }
    }
    Ok(())
}

/// Attributes, links and events, in this order: what comes last is cut first.
fn repeated(span: &Span<'_>, record: &mut Record, words: &mut ContextBuilder) -> Result<(), Stop> {
    for wanted in [span::ATTRIBUTES, span::LINKS, span::EVENTS] {
        let mut count = 0;
        for field in span.message.fields() {
            let field = field?;
            if field.number != wanted {
                continue;
            }
            let message = field.bytes("Span")?;
            if count == REPEATED_MAX {
                words.leave_out();
                break;
            }
            match wanted {
                span::ATTRIBUTES => attribute(message, record, words)?,
                span::LINKS => words.json_property(keys::LINK, count, |json| {
                    super::events_and_links::link(message, json)
                })?,
                _ => words.json_property(keys::EVENT, count, |json| {
                    super::events_and_links::event(message, json)
                })?,
            }
            count += 1;
        }
    }
    Ok(())
}

fn attribute(
    message: Message<'_>,
    record: &mut Record,
    words: &mut ContextBuilder,
) -> Result<(), Stop> {
    let (key, any) = value::key_value(message)?;
    let key = key.text()?;
    if takes(key, any, record)? {
        return Ok(());
    }
    let prefix = if key.starts_with(keys::RESERVED) { keys::ATTRIBUTE } else { "" };
    Ok(words.attribute(prefix, key, any)?)
}

/// Whether an attribute is a field of the record, and is put there.
fn takes(key: &str, any: Any<'_>, record: &mut Record) -> Result<bool, Stop> {
    if key != ours::THREAD && !key.starts_with(ours::PREFIX) {
        return Ok(false);
    }
    let number = |number: i64| u64::try_from(number).ok();
    let set = |flag: Flags, on: bool, record: &mut Record| {
        if on {
            record.flags |= flag.0;
        }
        on
    };
    Ok(match (key, any) {
        (ours::THREAD, Any::Int(id)) => match u32::try_from(id) {
            Ok(thread) => {
                record.thread = thread;
                true
            }
            Err(_) => false,
        },
        (ours::CPU, Any::Int(ns)) => {
            let ns = number(ns).filter(|ns| *ns <= record.elapsed_ns);
            record.cpu_ns = ns.unwrap_or(record.cpu_ns);
            ns.is_some()
        }
        (ours::PROCESS_CPU, Any::Int(ns)) => {
            let ns = number(ns);
            record.process_cpu_ns = ns.unwrap_or(record.process_cpu_ns);
            ns.is_some()
        }
        (ours::STATUS, Any::Text(text)) => match text.text()?.parse::<Status>() {
            Ok(status) => {
                record.status = status as u8;
                true
            }
            Err(_) => false,
        },
        (ours::ASYNCHRONOUS, Any::Bool(on)) => set(Flags::ASYNCHRONOUS, on, record),
        (ours::INDEPENDENT, Any::Bool(on)) => set(Flags::INDEPENDENT, on, record),
        (ours::CONTEXT_CUT, Any::Bool(on)) => set(Flags::CONTEXT_CUT, on, record),
        _ => false,
    })
}
