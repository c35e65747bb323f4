//! Counters of a ring for the transactions that its process could not record.

/// Transactions that a process could not record completely, by reason; counts since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Transactions lost: nested deeper than 64.
    pub too_deep: u64,
    /// Transactions lost: no class number was left.
    pub classes_full: u64,
    /// Transactions lost: no slot was left for one started with a handle.
    pub started_full: u64,
    /// Transactions lost: the ring could not grow.
    pub no_space: u64,
    /// Transactions lost: begun by a thread that was already ending.
    pub thread_ended: u64,
    /// Guards that ended after something around them, or before something inside them.
    pub out_of_order: u64,
    /// Names that did not fit.
    pub names_full: u64,
    /// Parts of the ring that lie in private memory, and that readers of the file do not see.
    pub private_chunks: u64,
    /// Correlators of other kinds that were given as parents: their chains begin anew here.
    pub foreign_correlators: u64,
}

impl Counters {
    /// Transactions that were lost, for whatever reason.
    pub const fn dropped(&self) -> u64 {
        self.too_deep + self.classes_full + self.started_full + self.no_space + self.thread_ended
    }
}
