//! Cost of transactions, as sums.

/// Sums over transactions, for instance those of one path on one host in one bin of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Number of transactions.
    pub count: u64,
    /// Their elapsed times, nanoseconds.
    pub elapsed_ns: u64,
    /// CPU time of their threads while they ran, nanoseconds: with that of transactions inside them.
    pub cpu_ns: u64,
    /// The same without that of transactions inside them in the same thread, so that sums over
    /// classes count nothing twice, nanoseconds.
    pub own_cpu_ns: u64,
}

impl Load {
    /// Adds another.
    pub const fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.elapsed_ns = self.elapsed_ns.saturating_add(other.elapsed_ns);
        self.cpu_ns = self.cpu_ns.saturating_add(other.cpu_ns);
        self.own_cpu_ns = self.own_cpu_ns.saturating_add(other.own_cpu_ns);
    }
}
