//! The transactions that `chronoscope export` selects.

use super::chains::{range, stored};
use crate::args::Export;
use crate::interrupt::Interrupt;
use crate::screen::progress;
use crate::text;
use crate::times::Zone;
use anyhow::{Context, Result, bail};
use chronoscope_model::{ChainId, Flags, Transaction};
use chronoscope_query::{ClassSelector, QueryError, StoreLocation, TransactionRows};
use chronoscope_store::Damage;
use std::collections::HashSet;
use std::ops::Range;

/// Interval of progress and of the check for Ctrl-C, in transactions.
const LOOK_EVERY: u64 = 8192;
/// Largest number of foreign chains that `--root` can select: their ids are held in memory.
const FOREIGN_CHAINS_MAX: usize = 4_000_000;

/// The transactions that a command line selects.
pub(super) struct Selected {
    rows: TransactionRows,
    root: Option<Root>,
    interrupt: Interrupt,
    /// Number of transactions.
    pub(super) count: u64,
    /// Places of the store that could not be read.
    pub(super) damaged: u64,
}

impl Selected {
    /// Opens the store and the selection.
    ///
    /// # Errors
    /// When there is no store, or the arguments select something that it does not have.
    pub(super) fn new(args: &Export) -> Result<Self> {
        let interrupt = Interrupt::install()?;
        let range = range(&args.span, &Zone::new(args.span.utc))?;
        let source = args.data.source()?;
        let (rows, damage): (TransactionRows, _) = match args.chain {
            Some(id) => {
                let (found, damage) = stored(&source, |view| view.chain(id, None))?;
                (Box::new(found.into_iter().map(Ok)), damage)
            }
            None => all(&source, range.clone())?,
        };
        damage.iter().for_each(|damage| say!("damaged: {damage}"));
        let damaged = damage.len() as u64;
        let root = match &args.root {
            None => None,
            Some(class) => {
                let mut root =
                    Root { class: ClassSelector(class.clone()), foreign: HashSet::new() };
                root.find_foreign(all(&source, range)?.0, &interrupt)?;
                Some(root)
            }
        };
        Ok(Self { rows, root, interrupt, count: 0, damaged })
    }

    /// The flag that Ctrl-C sets.
    pub(super) fn interrupt(&self) -> Interrupt {
        self.interrupt.clone()
    }

    /// Passes every transaction to `take`.
    ///
    /// # Errors
    /// Those of `take`, or the user's interrupt. Unreadable files are reported and counted.
    pub(super) fn each(&mut self, mut take: impl FnMut(&Transaction) -> Result<()>) -> Result<()> {
        for t in self.rows.by_ref() {
            if self.interrupt.is_set() {
                bail!("interrupted after {} transactions", text::count(self.count));
            }
            let t = match t {
                Ok(t) => t,
                Err(QueryError::Store(error)) => {
                    say!("damaged: {error}");
                    self.damaged += 1;
                    continue;
                }
                // A cluster gives all rows or an error.
                Err(error) => return Err(error.into()),
            };
            if self.root.as_ref().is_some_and(|root| !root.selects(&t)) {
                continue;
            }
            take(&t)?;
            self.count += 1;
            if self.count.is_multiple_of(LOOK_EVERY) {
                progress(&format!("{} transactions", text::count(self.count)));
            }
        }
        Ok(())
    }
}

/// All rows of a time, and what is known to be unreadable.
fn all(source: &StoreLocation, range: Range<i64>) -> Result<(TransactionRows, Vec<Damage>)> {
    source.transactions(range).with_context(|| {
        format!("cannot export {source} (--data DIR or --store URL name another store)")
    })
}

/// Chains below a root of a class.
struct Root {
    class: ClassSelector,
    /// Foreign ones among them: their rows do not know their root.
    foreign: HashSet<ChainId>,
}

impl Root {
    fn find_foreign(&mut self, rows: TransactionRows, interrupt: &Interrupt) -> Result<()> {
        for t in rows {
            let t = match t {
                Ok(t) => t,
                // Unreadable files are reported later, when they are read for writing.
                Err(QueryError::Store(_)) => continue,
                Err(error) => return Err(error.into()),
            };
            if interrupt.is_set() {
                bail!("interrupted while looking for the roots");
            }
            let is_root = t.flags.contains(Flags::FOREIGN) && t.parent.is_none();
            if is_root && self.class.selects(&t.class) {
                self.foreign.insert(t.chain);
            }
            if self.foreign.len() > FOREIGN_CHAINS_MAX {
                bail!(
                    "more than {} foreign chains: give a shorter time with --from and --until",
                    text::count(FOREIGN_CHAINS_MAX as u64)
                );
            }
        }
        Ok(())
    }

    fn selects(&self, t: &Transaction) -> bool {
        if t.flags.contains(Flags::FOREIGN) {
            return self.foreign.contains(&t.chain);
        }
        if t.path.is_empty() {
            return self.class.selects(&t.class);
        }
        // A path begins with its root. Its text is compared only up to the end of the requested
        // class, so that separators inside names do no harm.
        let rest = match t.path.strip_prefix(self.class.0.as_str()) {
            Some(rest) => Some(rest),
            None => t
                .path
                .split_once("::")
                .and_then(|(_, class)| class.strip_prefix(self.class.0.as_str())),
        };
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chronoscope_model::{Names, Record};

    #[test]
    fn a_root_is_the_beginning_of_a_path() {
        let mut t = Transaction::from_record(&Record::default(), b"", &Names::default());
        let selects = |t: &Transaction, class: &str| {
            Root { class: class.into(), foreign: HashSet::new() }.selects(t)
        };
        t.path = "MRTS::decodePlots/WEB::GET /a".into();
        assert!(selects(&t, "MRTS::decodePlots") && selects(&t, "decodePlots"));
        assert!(!selects(&t, "decode") && !selects(&t, "WEB::GET /a") && !selects(&t, "MRTS"));
        t.path = "WEB::GET /a/DB::query".into();
        assert!(selects(&t, "GET /a"));
        t.flags = Flags::FOREIGN;
        assert!(!selects(&t, "GET /a"), "its root is another row");
    }
}
