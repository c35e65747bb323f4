//! Reader of transactions.

use super::tags::{Tag, Tags, XmlError, XmlEvent};
use super::vocabulary::{FLAGS, NAMESPACE};
use chronoscope_model::{
    ChainId, ClassName, Flags, ProcessName, Status, Transaction, TransactionId,
};
use std::io::{BufRead, BufReader, Read};

/// Reads the transactions of a document, one after the other. Unknown elements and attributes are
/// passed over. After an error there is nothing more.
pub struct Reader<R: Read> {
    tags: Tags<BufReader<R>>,
    begun: bool,
    done: bool,
}

impl<R: Read> std::fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("arm_xml::Reader").field("done", &self.done).finish_non_exhaustive()
    }
}

impl<R: Read> Reader<R> {
    /// Reads from `input`; nothing happens yet.
    pub fn new(input: R) -> Self {
        Self { tags: Tags::new(BufReader::new(input)), begun: false, done: false }
    }

    fn read(&mut self) -> Result<Option<Transaction>, XmlError> {
        if !self.begun {
            begin(&mut self.tags)?;
            self.begun = true;
        }
        loop {
            match self.tags.next()? {
                XmlEvent::Start(tag) if tag.name == "transaction" => {
                    return transaction(&mut self.tags, &tag).map(Some);
                }
                XmlEvent::Start(_) => self.tags.skip()?,
                XmlEvent::End => {} // of the root element
                XmlEvent::Over => return Ok(None),
            }
        }
    }
}

impl<R: Read> Iterator for Reader<R> {
    type Item = Result<Transaction, XmlError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.done {
            return None;
        }
        let read = self.read().transpose();
        self.done = !matches!(read, Some(Ok(_)));
        read
    }
}

fn begin(tags: &mut Tags<impl BufRead>) -> Result<(), XmlError> {
    match tags.next()? {
        XmlEvent::Start(tag) if tag.name == "armData" && tag.text("xmlns") == NAMESPACE => Ok(()),
        XmlEvent::Start(tag) => Err(XmlError::Unexpected {
            position: tag.position,
            found: format!(
                "<{}> of the namespace {:?}",
                tag.name.chars().take(40).collect::<String>(),
                tag.text("xmlns").chars().take(80).collect::<String>(),
            ),
            expected: "<armData> of urn:chronoscope:arm-xml:1",
        }),
        XmlEvent::End | XmlEvent::Over => Err(XmlError::Truncated { position: tags.position() }),
    }
}

fn transaction(tags: &mut Tags<impl BufRead>, tag: &Tag) -> Result<Transaction, XmlError> {
    let mut t = of_attributes(tag)?;
    loop {
        match tags.next()? {
            XmlEvent::End => return Ok(t),
            XmlEvent::Over => return Err(XmlError::Truncated { position: tags.position() }),
            XmlEvent::Start(inner) => {
                match inner.name.as_str() {
                    "process" => t.process = Some(process(&inner)?),
                    "rootProcess" => t.root_process = Some(process(&inner)?),
                    "property" => t.properties.push((name(&inner)?, needed_text(&inner, "value")?)),
                    "metric" => {
                        let value = inner.need("value", "a number", |text| text.parse().ok())?;
                        t.metrics.push((name(&inner)?, value));
                    }
                    _ => {}
                }
                tags.skip()?;
            }
        }
    }
}

fn name(tag: &Tag) -> Result<String, XmlError> {
    needed_text(tag, "name")
}

fn needed_text(tag: &Tag, attribute: &'static str) -> Result<String, XmlError> {
    tag.need(attribute, "there", |text| Some(text.to_owned()))
}

fn process(tag: &Tag) -> Result<ProcessName, XmlError> {
    Ok(ProcessName {
        application: needed_text(tag, "application")?,
        host: needed_text(tag, "host")?,
        pid: tag.need("pid", "a number of 32 bits", parsed)?,
        start_ns: tag.get("startTime", NANOSECONDS, parsed)?.unwrap_or(0),
    })
}

const NANOSECONDS: &str = "nanoseconds";

fn parsed<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.parse().ok()
}

fn of_attributes(tag: &Tag) -> Result<Transaction, XmlError> {
    let id = |text: &str| u64::from_str_radix(text, 16).ok().map(TransactionId);
    let id_words = "an id of at most 16 hexadecimal digits";
    let mut flags = Flags(tag.get("otherFlags", "a number of 8 bits", parsed)?.unwrap_or(0));
    for (attribute, flag) in FLAGS {
        let boolean = |text: &str| match text {
            "true" | "1" => Some(true),
            "false" | "0" => Some(false),
            _ => None,
        };
        if tag.get(attribute, "true or false", boolean)? == Some(true) {
            flags = flags.with(flag);
        }
    }
    Ok(Transaction {
        class: ClassName {
            application: needed_text(tag, "application")?,
            class: needed_text(tag, "name")?,
        },
        process: None,
        thread: tag.get("thread", "a number of 32 bits", parsed)?.unwrap_or(0),
        start_ns: tag.need("startTime", NANOSECONDS, parsed)?,
        elapsed_ns: tag.need("responseTime", NANOSECONDS, parsed)?,
        cpu_ns: tag.get("cpuTime", NANOSECONDS, parsed)?.unwrap_or(0),
        process_cpu_ns: tag.get("processCpuTime", NANOSECONDS, parsed)?,
        status: tag.get("status", "a status", parsed::<Status>)?.unwrap_or_default(),
        id: tag.need("id", id_words, id)?,
        parent: tag.get("parent", id_words, id)?.unwrap_or(TransactionId::NONE),
        chain: tag.need("chain", "an id of at most 32 hexadecimal digits", parsed::<ChainId>)?,
        flags,
        level: tag.get("level", "a number of 16 bits", parsed)?.unwrap_or(0),
        path: tag.text("path").to_owned(),
        root_start_ns: tag.get("rootStartTime", NANOSECONDS, parsed)?,
        root_process: None,
        properties: Vec::new(),
        metrics: Vec::new(),
        extras: chronoscope_model::Extras::default(),
    })
}
