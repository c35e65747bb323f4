//! Admission control of connections: limits their number, and chooses which one is closed for a
//! new one.
//!
//! A connection is *unproven* until a request on it shows the token; a server without a token has
//! unproven ones only. Proven connections have slots of their own, which a crowd of unproven ones
//! cannot take. When all slots are taken, a new connection gets the slot of the unproven connection
//! that has been idle for longest: a client that has the token needs its slot for one round trip
//! only.
//!
//! ```
//! use chronoscope_admission::{ConnectionCapacity, ConnectionSlots};
//!
//! let slots = ConnectionSlots::new(ConnectionCapacity::of(64), false);
//! let address = "10.0.0.1".parse().unwrap();
//! let slot = slots.acquire(address, || println!("is to be closed"));
//! assert!(slot.is_some(), "held until it is dropped");
//! ```
//!
//! The caller closes an evicted connection. With the feature `http` it is informed within tokio,
//! and requests are counted ([`http`]). Not here: accepting, and timeouts of peers.

#[cfg(feature = "http")]
pub mod http;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Connections at a time, of which [`UNPROVEN_SHARE`] may be unproven. Each takes some tens of
/// kilobytes.
const CONNECTIONS_MAX: usize = 1024;
/// Divisor for the share of unproven connections: half.
const UNPROVEN_SHARE: usize = 2;
/// Divisor for the share of unproven connections from one address: 128 connections.
const ADDRESS_SHARE: usize = 8;
/// Divisor for the share of file descriptors that connections may take. Rings (`collect`), files
/// and the rest use the others.
const FILES_SHARE: usize = 2;

/// Limits of the number of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionCapacity {
    /// Limit of connections that showed the token.
    pub proven: usize,
    /// Limit of the others.
    pub unproven: usize,
    /// The others of one address (IPv6: of one /64, which is what one host may choose from).
    pub unproven_of_address: usize,
}

impl ConnectionCapacity {
    /// Limit for a server without a token, where no connection can be proven.
    pub const fn of(all: usize) -> Self {
        let of_address = all / ADDRESS_SHARE;
        let unproven_of_address = if of_address == 0 { 1 } else { of_address };
        Self { proven: 0, unproven: all, unproven_of_address }
    }

    /// Limits for a process with `files` file descriptors.
    fn with_files(files: usize) -> Self {
        let all = CONNECTIONS_MAX.min(files / FILES_SHARE).max(ADDRESS_SHARE);
        let unproven = all / UNPROVEN_SHARE;
        Self { proven: all - unproven, unproven, unproven_of_address: all / ADDRESS_SHARE }
    }

    /// Limits for this process under the present limit of open files: a server raises that limit
    /// before (`collect::raise_open_files`).
    pub fn of_process() -> Self {
        use rustix::process::{Resource, getrlimit};
        let files = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        Self::with_files(usize::try_from(files).unwrap_or(usize::MAX))
    }
}

/// The connections that hold slots.
#[derive(Debug)]
pub struct ConnectionSlots {
    capacity: ConnectionCapacity,
    /// Whether the server has a token. If so, an unproven connection may be evicted in the middle
    /// of a request.
    has_token: bool,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// Order of arrivals and of ends of requests.
    clock: u64,
    proven: BTreeSet<u64>,
    unproven: BTreeMap<u64, Unproven>,
}

#[derive(Debug)]
struct Unproven {
    address: IpAddr,
    /// Requests that are being answered.
    requests: usize,
    /// Value of [`Table::clock`] when it came or its last request ended.
    idle_since: u64,
    evict: EvictionCallback,
}

/// Informs a connection that it is to be closed.
struct EvictionCallback(Box<dyn FnOnce() + Send>);

impl fmt::Debug for EvictionCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EvictionCallback")
    }
}

/// A connection's slot. Dropping it frees the slot.
#[derive(Debug)]
pub struct ConnectionSlot(SlotHandle);

/// Handle of a connection's slot, for the extensions of its requests.
#[derive(Clone, Debug)]
pub struct SlotHandle {
    slots: Arc<ConnectionSlots>,
    id: u64,
}

/// A request that is being answered. Dropping this ends the request.
#[derive(Debug)]
pub struct ActiveRequest(SlotHandle);

impl ConnectionSlots {
    /// Slots of the given capacity, for a server with or without a token.
    pub fn new(capacity: ConnectionCapacity, has_token: bool) -> Arc<Self> {
        Arc::new(Self { capacity, has_token, table: Mutex::default() })
    }

    /// Acquires a slot for a connection from `address`; `None` if none can be freed. `evict` is
    /// called under a lock when the connection is to be closed, so it must not block.
    pub fn acquire(
        self: &Arc<Self>,
        address: IpAddr,
        evict: impl FnOnce() + Send + 'static,
    ) -> Option<ConnectionSlot> {
        let address = host(address);
        let mut table = self.lock();
        let of_address = table.unproven.values().filter(|one| one.address == address).count();
        if of_address >= self.capacity.unproven_of_address {
            self.evict_idle(&mut table, address)?;
        } else if table.unproven.len() >= self.capacity.unproven {
            let crowded = table.crowded()?;
            self.evict_idle(&mut table, crowded)?;
        }
        table.clock += 1;
        let id = table.clock;
        let evict = EvictionCallback(Box::new(evict));
        let entry = Unproven { address, requests: 0, idle_since: id, evict };
        table.unproven.insert(id, entry);
        Some(ConnectionSlot(SlotHandle { slots: self.clone(), id }))
    }

    /// Evicts the connection of an address that has been idle for longest; `None` if none may be.
    fn evict_idle(&self, table: &mut Table, address: IpAddr) -> Option<()> {
        let evictable = table
            .unproven
            .iter()
            .filter(|(_, one)| one.address == address && (one.requests == 0 || self.has_token));
        let first = evictable.min_by_key(|(_, one)| (one.requests > 0, one.idle_since));
        let id = first.map(|(id, _)| *id)?;
        let one = table.unproven.remove(&id)?;
        (one.evict.0)();
        Some(())
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        // Nothing panics under the lock; each change is one step.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// The address with the most unproven connections.
    fn crowded(&self) -> Option<IpAddr> {
        let mut counts = BTreeMap::<IpAddr, usize>::new();
        self.unproven.values().for_each(|one| *counts.entry(one.address).or_default() += 1);
        counts.into_iter().max_by_key(|(_, count)| *count).map(|(address, _)| address)
    }
}

impl ConnectionSlot {
    /// Handle that travels with the connection's requests.
    pub fn handle(&self) -> SlotHandle {
        self.0.clone()
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let mut table = self.0.slots.lock();
        table.proven.remove(&self.0.id);
        table.unproven.remove(&self.0.id);
    }
}

impl SlotHandle {
    /// Marks the connection as proven. If no proven slot is free, it keeps its unproven one.
    pub fn prove(&self) {
        let mut table = self.slots.lock();
        if table.proven.len() < self.slots.capacity.proven
            && table.unproven.remove(&self.id).is_some()
        {
            table.proven.insert(self.id);
        }
    }

    /// Begins a request, which lasts until the returned value is dropped.
    pub fn begin_request(&self) -> ActiveRequest {
        self.count(|requests| requests + 1);
        ActiveRequest(self.clone())
    }

    fn count(&self, change: impl FnOnce(usize) -> usize) {
        let mut table = self.slots.lock();
        table.clock += 1;
        let now = table.clock;
        if let Some(one) = table.unproven.get_mut(&self.id) {
            one.requests = change(one.requests);
            one.idle_since = now;
        }
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.0.count(|requests| requests.saturating_sub(1));
    }
}

/// Address range that counts as one host.
fn host(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let network = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(network))
        }
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)] // a test may panic

    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};

    const CAPACITY: ConnectionCapacity =
        ConnectionCapacity { proven: 2, unproven: 4, unproven_of_address: 3 };

    fn from(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// A slot, and whether its connection was evicted.
    fn take(
        slots: &Arc<ConnectionSlots>,
        address: IpAddr,
    ) -> Option<(ConnectionSlot, Arc<AtomicBool>)> {
        let evicted = Arc::new(AtomicBool::new(false));
        let flag = evicted.clone();
        let slot = slots.acquire(address, move || flag.store(true, Ordering::Relaxed))?;
        Some((slot, evicted))
    }

    fn is_evicted(evicted: &AtomicBool) -> bool {
        evicted.load(Ordering::Relaxed)
    }

    #[test]
    fn the_longest_idle_unproven_connection_is_evicted_and_never_a_proven_one() {
        let slots = ConnectionSlots::new(CAPACITY, true);
        let (proven, proven_evicted) = take(&slots, from(1)).unwrap();
        proven.handle().prove();
        let crowd: Vec<_> = (0..3).map(|_| take(&slots, from(1)).unwrap()).collect();
        drop(crowd[0].0.handle().begin_request()); // it was idle for less long than the second
        let _newest = take(&slots, from(1)).unwrap();
        let evicted: Vec<bool> = crowd.iter().map(|(_, evicted)| is_evicted(evicted)).collect();
        assert_eq!(evicted, [false, true, false]);
        assert!(!is_evicted(&proven_evicted));
    }

    #[test]
    fn the_crowd_of_one_address_is_evicted_for_others() {
        let slots = ConnectionSlots::new(CAPACITY, true);
        let (_other, other_evicted) = take(&slots, from(2)).unwrap();
        let crowd: Vec<_> = (0..3).map(|_| take(&slots, from(1)).unwrap()).collect();
        let _newcomer = take(&slots, from(3)).unwrap();
        assert!(!is_evicted(&other_evicted), "it came first, and alone");
        assert!(is_evicted(&crowd[0].1));
    }

    #[test]
    fn without_a_token_only_idle_connections_are_evicted() {
        let slots = ConnectionSlots::new(CAPACITY, false);
        let crowd: Vec<_> = (0..3).map(|_| take(&slots, from(1)).unwrap()).collect();
        let busy: Vec<_> = crowd.iter().map(|(slot, _)| slot.handle().begin_request()).collect();
        assert!(take(&slots, from(1)).is_none());
        drop(busy);
        assert!(take(&slots, from(1)).is_some());
    }

    #[test]
    fn a_place_is_free_when_its_connection_ends() {
        let slots = ConnectionSlots::new(CAPACITY, true);
        for _ in 0..10 {
            let (slot, _evicted) = take(&slots, from(1)).unwrap();
            slot.handle().prove();
        }
        assert!(slots.lock().proven.is_empty() && slots.lock().unproven.is_empty());
    }

    #[test]
    fn a_small_server_has_a_place_for_each_address() {
        assert_eq!(ConnectionCapacity::of(64).unproven_of_address, 8);
        assert_eq!(ConnectionCapacity::of(4).unproven_of_address, 1);
    }

    #[test]
    fn connections_leave_file_descriptors_to_others() {
        let few = ConnectionCapacity::with_files(256);
        assert_eq!(few, ConnectionCapacity { proven: 64, unproven: 64, unproven_of_address: 16 });
        let many = ConnectionCapacity::with_files(1 << 20);
        assert_eq!(
            many,
            ConnectionCapacity { proven: 512, unproven: 512, unproven_of_address: 128 }
        );
    }

    #[test]
    fn the_addresses_of_one_network_are_one_host() {
        let of = |text: &str| host(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
