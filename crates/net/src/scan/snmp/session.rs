//! Session: one host's interface counters, query by query.

use super::super::Reading;
use super::columns::{Column, NARROW, Rows, UP_TIME, WIDE, index, widths};
use super::error::SnmpError;
use super::message::{Bound, Envelope, Oid, SnmpQuery, SnmpResponse, Value};
use super::usm::{Passwords, Usm};

/// Interfaces asked for at once, at most: net-snmp answers up to 100 objects, here 14 columns a row.
const REPEAT_MAX: u32 = 7;
/// Most questions for one table.
const QUESTIONS_MAX: u32 = 1024;
/// Most reports accepted while one table is queried: the engine's id, its time, and one more.
const REPORTS_MAX: u32 = 3;

/// Result of a received message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// This query is to be sent next.
    Ask(Vec<u8>),
    /// The host's counters are known; `at_ns` is when the first part of them was.
    Done(Reading),
    /// Not the answer to the last query: late, doubled, broken, or sent by another host under this
    /// address. The right one may still arrive.
    Ignored(SnmpError),
}

/// A host that is queried repeatedly.
#[derive(Debug)]
pub struct Session {
    envelope: Envelope,
    request: i32,
    columns: &'static [Column],
    /// Number of interfaces queried at once: as many as there were, and the end.
    repeat: u32,
    table: Option<Table>,
}

/// A table on its way.
#[derive(Debug, Default)]
struct Table {
    rows: Rows,
    /// Progress of each column: its last object; `None`: it is complete.
    last: Vec<Option<Oid>>,
    up_hundredths: Option<u32>,
    at_ns: Option<u64>,
    questions: u32,
    reports: u32,
}

impl Session {
    /// Session of version 2c. `first_request` is the first request id: random, so that a host that
    /// does not see the queries cannot forge answers.
    #[must_use]
    pub fn v2c(community: &str, first_request: i32) -> Self {
        Self::new(Envelope::V2c { community: community.as_bytes().to_vec() }, first_request)
    }

    /// By version 3. `salt` is where the numbers of encrypted messages begin: random.
    #[must_use]
    pub fn v3(user: &str, passwords: Passwords, first_request: i32, salt: u64) -> Self {
        Self::new(Envelope::V3(Box::new(Usm::new(user, passwords, salt))), first_request)
    }

    fn new(envelope: Envelope, first_request: i32) -> Self {
        Self { envelope, request: first_request, columns: &WIDE, repeat: REPEAT_MAX, table: None }
    }

    /// Begins a new query of the counters; an answer still in flight is ignored.
    ///
    /// # Errors
    /// [`SnmpError`] when the query cannot be encoded.
    pub fn start(&mut self, now_ns: u64) -> Result<Vec<u8>, SnmpError> {
        let columns = self.columns.iter().map(|(object, _)| Some(object.to_vec()));
        self.table = Some(Table { last: columns.collect(), ..Table::default() });
        self.ask(now_ns)
    }

    /// Processes octets received from the host's address.
    ///
    /// # Errors
    /// [`SnmpError`] in the host's own answer: there will be no counters. [`Self::start`] begins
    /// anew.
    pub fn answer(&mut self, octets: &[u8], now_ns: u64) -> Result<Progress, SnmpError> {
        if self.table.is_none() {
            return Ok(Progress::Ignored(SnmpError::NotAnswer("nothing was asked")));
        }
        let answered = self.envelope.read(octets, self.request, now_ns);
        let answered = answered.and_then(|answer| self.take(answer, now_ns));
        match answered {
            Err(error) if !error.is_final() => Ok(Progress::Ignored(error)),
            Err(error) => {
                self.give_up();
                Err(error)
            }
            done => done,
        }
    }

    /// Forgets the query and the engine's identity, which may be another one next time.
    pub fn give_up(&mut self) {
        self.table = None;
        if let Envelope::V3(usm) = &mut self.envelope {
            usm.forget();
        }
    }

    fn take(&mut self, answer: SnmpResponse, now_ns: u64) -> Result<Progress, SnmpError> {
        let nothing = SnmpError::NotAnswer("nothing was asked");
        let Some(table) = &mut self.table else { return Ok(Progress::Ignored(nothing)) };
        if answer.is_report {
            // The engine has sent its id or its time; a report carries nothing else.
            table.reports += 1;
            if table.reports > REPORTS_MAX {
                return Err(SnmpError::Reports(REPORTS_MAX));
            }
            return self.ask(now_ns).map(Progress::Ask);
        }
        if answer.error == SnmpError::TOO_BIG && self.repeat > 1 {
            self.repeat /= 2;
            return self.ask(now_ns).map(Progress::Ask);
        }
        if answer.error != 0 {
            return Err(SnmpError::Refused(answer.error));
        }
        table.take(self.columns, answer.bounds, now_ns)?;
        if table.last.iter().any(Option::is_some) {
            if table.questions >= QUESTIONS_MAX {
                return Err(SnmpError::Endless(QUESTIONS_MAX));
            }
            return self.ask(now_ns).map(Progress::Ask);
        }
        if !table.rows.have_traffic() {
            if self.columns.len() == WIDE.len() {
                self.columns = &NARROW;
                return self.start(now_ns).map(Progress::Ask);
            }
            // Perhaps it shows more another time.
            self.columns = &WIDE;
            return Err(SnmpError::NoInterfaces);
        }
        let Some(table) = self.table.take() else { return Ok(Progress::Ignored(nothing)) };
        let interfaces = table.rows.interfaces();
        let rows = u32::try_from(interfaces.len()).unwrap_or(u32::MAX);
        self.repeat = rows.saturating_add(1).min(REPEAT_MAX);
        Ok(Progress::Done(Reading {
            at_ns: table.at_ns.unwrap_or(now_ns),
            up_ns: table.up_hundredths.map(|hundredths| u64::from(hundredths) * 10_000_000),
            widths: widths(self.columns),
            interfaces,
        }))
    }

    /// The next query: the missing part of the table, or the engine's identity.
    fn ask(&mut self, now_ns: u64) -> Result<Vec<u8>, SnmpError> {
        self.request = self.request.wrapping_add(1) & i32::MAX;
        let known = match &self.envelope {
            Envelope::V2c { .. } => true,
            Envelope::V3(usm) => usm.is_known(),
        };
        let Some(table) = self.table.as_mut().filter(|_| known) else {
            return self.envelope.write(self.request, &SnmpQuery::Get(Vec::new()), now_ns);
        };
        table.questions += 1;
        // What GETBULK tells of an object is the one after it.
        let before_up_time = UP_TIME[..UP_TIME.len() - 1].to_vec();
        let open = table.last.iter().flatten().cloned();
        let objects = std::iter::once(before_up_time).chain(open).collect();
        let ask = SnmpQuery::Bulk { once: 1, repeat: self.repeat, objects };
        self.envelope.write(self.request, &ask, now_ns)
    }
}

impl Table {
    /// Processes the answer to a GETBULK: first the time, then row by row the open columns. An
    /// agent may leave out the end of it; the missing part is queried again.
    fn take(
        &mut self,
        columns: &[Column],
        bounds: Vec<Bound>,
        now_ns: u64,
    ) -> Result<(), SnmpError> {
        let mut bounds = bounds.into_iter();
        if let Some(Bound { object, value: Value::Number(hundredths) }) = bounds.next()
            && object == UP_TIME
        {
            let hundredths = u32::try_from(hundredths).ok();
            self.up_hundredths = self.up_hundredths.or(hundredths);
        }
        self.at_ns.get_or_insert(now_ns);
        let asked: Vec<usize> = (0..self.last.len()).filter(|c| self.last[*c].is_some()).collect();
        if bounds.len() == 0 {
            return Err(SnmpError::Empty);
        }
        for (bound, column) in bounds.zip(asked.into_iter().cycle()) {
            // Complete in an earlier row of this answer: what follows is of other tables.
            let Some(last) = &self.last[column] else { continue };
            let found = index(&bound.object, &columns[column]);
            let Some(found) = found.filter(|_| bound.value != Value::Nothing) else {
                self.last[column] = None;
                continue;
            };
            if bound.object <= *last {
                return Err(SnmpError::NotIncreasing);
            }
            self.rows.take(found, columns[column].1, &bound)?;
            self.last[column] = Some(bound.object);
        }
        Ok(())
    }
}
