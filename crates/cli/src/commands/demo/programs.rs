//! The four programs that `chronoscope demo` measures: they send each other messages over sockets.
//!
//! A message is an order's number (8 bytes, little-endian) and a correlator, which makes the
//! receiver's transaction a child of the sender's. An empty message says that no more will come.

use crate::args::demo::Program;
use crate::screen::show;
use anyhow::{Context, Result};
use chronoscope_clock as clock;
use chronoscope_record::{self as record, Class, Correlator, class};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Class that a chain begins with.
pub(super) const ROOT: &str = "Shop::placeOrder";
/// Class that a chain ends with, once in each mailer.
pub(super) const LEAF: &str = "Mail::sendConfirmation";

static PLACE: Class = class!("placeOrder");
static RESERVE: Class = class!("reserveItems");
static CONFIRM: Class = class!("sendConfirmation");
static SORT: Class = class!("sortArchive");

/// Bytes that a correlator may have in a message.
const CORRELATOR_BYTES: usize = 512;
/// Interval at which mailer B sorts its archive.
const SORT_EVERY_NS: u64 = 2_000_000_000;
/// Mails in the archive of mailer B.
const ARCHIVE: u64 = 30_000;

/// The program's name: of its process, and of its socket.
pub(super) const fn name(program: Program) -> &'static str {
    match program {
        Program::Shop => "shop",
        Program::Warehouse => "warehouse",
        Program::MailA => "mail-a",
        Program::MailB => "mail-b",
    }
}

/// Where a program receives its messages. That of the shop says only that it has started.
pub(super) fn socket(folder: &Path, program: Program) -> PathBuf {
    folder.join(name(program))
}

/// Is one of the programs, until there are no more orders.
///
/// # Errors
/// When its socket cannot be made, or another program has gone.
pub(super) fn run(program: Program, sockets: &Path, duration: Duration, rate: u32) -> Result<()> {
    record::init(match program {
        Program::Shop => "Shop",
        Program::Warehouse => "Warehouse",
        Program::MailA | Program::MailB => "Mail",
    });
    let own = socket(sockets, program);
    let inbox = UnixDatagram::bind(&own).with_context(|| own.display().to_string())?;
    let send_to = |receiver| -> Result<UnixDatagram> {
        let path = socket(sockets, receiver);
        let outbox = UnixDatagram::unbound()?;
        outbox.connect(&path).with_context(|| path.display().to_string())?;
        Ok(outbox)
    };
    match program {
        Program::Shop => shop(&send_to(Program::Warehouse)?, duration, rate),
        Program::Warehouse => {
            warehouse(&inbox, &[send_to(Program::MailA)?, send_to(Program::MailB)?])
        }
        Program::MailA => mailer(&inbox, "A", None),
        Program::MailB => mailer(&inbox, "B", Some(Archive::new())),
    }
}

/// Places orders at a steady rate, whatever becomes of them; prints how many.
fn shop(warehouse: &UnixDatagram, duration: Duration, rate: u32) -> Result<()> {
    let (begin_ns, every_ns) = (clock::monotonic_ns(), 1_000_000_000 / u64::from(rate));
    let ends_ns = begin_ns.saturating_add(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    let (mut due_ns, mut number) = (begin_ns, 0);
    loop {
        let now_ns = clock::monotonic_ns();
        if now_ns >= ends_ns {
            break;
        }
        clock::sleep(Duration::from_nanos(due_ns.saturating_sub(now_ns)));
        let mut place = PLACE.begin();
        place.metric("order", number as f64);
        send(warehouse, number, &place.correlator())?;
        drop(place);
        due_ns += every_ns;
        number += 1;
    }
    end(warehouse)?;
    show(&format!("{number}\n"))?;
    Ok(())
}

/// Reserves the items of each order, and passes the order on.
fn warehouse(inbox: &UnixDatagram, mailers: &[UnixDatagram]) -> Result<()> {
    let mut stock = vec![1_000_000_u64; 1000];
    while let Some((number, from)) = receive(inbox)? {
        let mut reserve = RESERVE.begin_with(&from);
        let item = usize::try_from(number).unwrap_or(0) * 7 % stock.len();
        stock[item] = stock[item].saturating_sub(1);
        reserve.metric("left", stock[item] as f64);
        for mailer in mailers {
            send(mailer, number, &reserve.correlator())?;
        }
    }
    mailers.iter().try_for_each(end)
}

/// Confirms each order; with an archive it sorts that meanwhile, and orders wait.
fn mailer(inbox: &UnixDatagram, name: &str, mut archive: Option<Archive>) -> Result<()> {
    let mut due_ns = clock::monotonic_ns().saturating_add(SORT_EVERY_NS);
    while let Some((number, from)) = receive(inbox)? {
        let mut confirm = CONFIRM.begin_with(&from);
        confirm.property("mailer", name);
        if let Some(archive) = &mut archive {
            archive.file(number);
            if clock::monotonic_ns() >= due_ns {
                let _sort = SORT.begin();
                archive.sort();
                due_ns = clock::monotonic_ns().saturating_add(SORT_EVERY_NS);
            }
        }
    }
    Ok(())
}

/// Subjects of mails.
struct Archive(Vec<String>);

impl Archive {
    fn new() -> Self {
        Self((0..ARCHIVE).map(Self::subject).collect())
    }

    /// Numbers in an order that is far from the alphabet's.
    fn subject(number: u64) -> String {
        format!("Order {:016x} confirmed", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn file(&mut self, number: u64) {
        let place = usize::try_from(number).unwrap_or(0) % self.0.len();
        self.0[place] = Self::subject(number);
    }

    /// Sorts by the end of the subject, then by its beginning.
    fn sort(&mut self) {
        self.0.sort_by(|a, b| a.bytes().rev().cmp(b.bytes().rev()));
        self.0.sort();
    }
}

fn send(to: &UnixDatagram, number: u64, correlator: &Correlator) -> Result<()> {
    let mut message = number.to_le_bytes().to_vec();
    message.extend_from_slice(&correlator.to_bytes(CORRELATOR_BYTES));
    // Waits while the receiver's queue is full.
    to.send(&message).context("the next program has gone")?;
    Ok(())
}

fn end(to: &UnixDatagram) -> Result<()> {
    to.send(&[]).context("the next program has gone")?;
    Ok(())
}

fn receive(inbox: &UnixDatagram) -> Result<Option<(u64, Correlator)>> {
    let mut message = [0; 8 + CORRELATOR_BYTES];
    let length = inbox.recv(&mut message)?;
    let Some((number, correlator)) = message[..length].split_first_chunk() else { return Ok(None) };
    let correlator = Correlator::decode(correlator).context("a message without a correlator")?;
    Ok(Some((u64::from_le_bytes(*number), correlator)))
}
