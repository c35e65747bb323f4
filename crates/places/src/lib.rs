//! Places for connections: limits their number, and decides which one leaves for a newcomer.
//!
//! A connection is *unproven* until a request on it shows the token; a server without a token has
//! unproven ones only. Proven connections have places of their own, which a crowd of unproven ones
//! cannot take. A newcomer to full places takes the place of the unproven connection that has been
//! idle for longest: a client that has the token needs its place for one round trip only.
//!
//! ```
//! use chronoscope_places::{Capacity, Places};
//!
//! let places = Places::new(Capacity::of(64), false);
//! let address = "10.0.0.1".parse().unwrap();
//! let place = places.take(address, || println!("has to leave"));
//! assert!(place.is_some(), "until it is dropped");
//! ```
//!
//! The caller closes a connection that has to leave. With the feature `http` it is informed within
//! tokio, and requests are noted ([`http`]). Not here: accepting, and timeouts of peers.

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
/// Connections take one of so many file descriptors; rings (`collect`, which leaves them as many), files
/// and the rest have the others.
const FILES_SHARE: usize = 2;

/// Limits of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Limit of connections that showed the token.
    pub proven: usize,
    /// Limit of the others.
    pub unproven: usize,
    /// The others of one address (IPv6: of one /64, which is what one host may choose from).
    pub unproven_of_address: usize,
}

impl Capacity {
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

/// Connections that have places.
#[derive(Debug)]
pub struct Places {
    capacity: Capacity,
    /// Whether a server that has a token asks: then nothing that an unproven connection does is
    /// worth waiting for, and it may have to leave in the middle of a request.
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
    leave: Leave,
}

/// Tells a connection to leave.
struct Leave(Box<dyn FnOnce() + Send>);

impl fmt::Debug for Leave {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Leave")
    }
}

/// A place, free again when this is dropped.
#[derive(Debug)]
pub struct Place(PlaceOf);

/// The place of a request's connection; it travels in the request's extensions.
#[derive(Clone, Debug)]
pub struct PlaceOf {
    places: Arc<Places>,
    id: u64,
}

/// A request that is being answered, until this is dropped.
#[derive(Debug)]
pub struct Busy(PlaceOf);

impl Places {
    /// Places of the given capacity, for a server with or without a token.
    pub fn new(capacity: Capacity, has_token: bool) -> Arc<Self> {
        Arc::new(Self { capacity, has_token, table: Mutex::default() })
    }

    /// A place for a connection from `address`; `None` where there is none. `leave` is called when
    /// the connection has to leave, under a lock: it tells, and waits for nothing.
    pub fn take(
        self: &Arc<Self>,
        address: IpAddr,
        leave: impl FnOnce() + Send + 'static,
    ) -> Option<Place> {
        let address = host(address);
        let mut table = self.lock();
        let of_address = table.unproven.values().filter(|one| one.address == address).count();
        if of_address >= self.capacity.unproven_of_address {
            self.make_room(&mut table, address)?;
        } else if table.unproven.len() >= self.capacity.unproven {
            let crowded = table.crowded()?;
            self.make_room(&mut table, crowded)?;
        }
        table.clock += 1;
        let id = table.clock;
        let leave = Leave(Box::new(leave));
        let entry = Unproven { address, requests: 0, idle_since: id, leave };
        table.unproven.insert(id, entry);
        Some(Place(PlaceOf { places: self.clone(), id }))
    }

    /// Makes one connection of an address leave.
    fn make_room(&self, table: &mut Table, address: IpAddr) -> Option<()> {
        let may_leave = table
            .unproven
            .iter()
            .filter(|(_, one)| one.address == address && (one.requests == 0 || self.has_token));
        let first = may_leave.min_by_key(|(_, one)| (one.requests > 0, one.idle_since));
        let id = first.map(|(id, _)| *id)?;
        let one = table.unproven.remove(&id)?;
        (one.leave.0)();
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

impl Place {
    /// Handle that travels with the connection's requests.
    pub fn handle(&self) -> PlaceOf {
        self.0.clone()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut table = self.0.places.lock();
        table.proven.remove(&self.0.id);
        table.unproven.remove(&self.0.id);
    }
}

impl PlaceOf {
    /// The connection showed the token. Where no proven place is free it keeps the one it has.
    pub fn prove(&self) {
        let mut table = self.places.lock();
        if table.proven.len() < self.places.capacity.proven
            && table.unproven.remove(&self.id).is_some()
        {
            table.proven.insert(self.id);
        }
    }

    /// Notes a request.
    pub fn busy(&self) -> Busy {
        self.count(|requests| requests + 1);
        Busy(self.clone())
    }

    fn count(&self, change: impl FnOnce(usize) -> usize) {
        let mut table = self.places.lock();
        table.clock += 1;
        let now = table.clock;
        if let Some(one) = table.unproven.get_mut(&self.id) {
            one.requests = change(one.requests);
            one.idle_since = now;
        }
    }
}

impl Drop for Busy {
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

    const CAPACITY: Capacity = Capacity { proven: 2, unproven: 4, unproven_of_address: 3 };

    fn from(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// A place, and whether it was told to leave.
    fn take(places: &Arc<Places>, address: IpAddr) -> Option<(Place, Arc<AtomicBool>)> {
        let told = Arc::new(AtomicBool::new(false));
        let tells = told.clone();
        let place = places.take(address, move || tells.store(true, Ordering::Relaxed))?;
        Some((place, told))
    }

    fn is_told(told: &AtomicBool) -> bool {
        told.load(Ordering::Relaxed)
    }

    #[test]
    fn the_longest_idle_stranger_makes_room_and_never_one_that_showed_the_token() {
        let places = Places::new(CAPACITY, true);
        let (proven, proven_told) = take(&places, from(1)).unwrap();
        proven.handle().prove();
        let crowd: Vec<_> = (0..3).map(|_| take(&places, from(1)).unwrap()).collect();
        drop(crowd[0].0.handle().busy()); // it was idle for less long than the second
        let _newest = take(&places, from(1)).unwrap();
        let told: Vec<bool> = crowd.iter().map(|(_, told)| is_told(told)).collect();
        assert_eq!(told, [false, true, false]);
        assert!(!is_told(&proven_told));
    }

    #[test]
    fn the_crowd_of_one_address_makes_room_for_others() {
        let places = Places::new(CAPACITY, true);
        let (_other, other_told) = take(&places, from(2)).unwrap();
        let crowd: Vec<_> = (0..3).map(|_| take(&places, from(1)).unwrap()).collect();
        let _newcomer = take(&places, from(3)).unwrap();
        assert!(!is_told(&other_told), "it came first, and alone");
        assert!(is_told(&crowd[0].1));
    }

    #[test]
    fn without_a_token_only_who_is_idle_has_to_leave() {
        let places = Places::new(CAPACITY, false);
        let crowd: Vec<_> = (0..3).map(|_| take(&places, from(1)).unwrap()).collect();
        let busy: Vec<_> = crowd.iter().map(|(place, _)| place.handle().busy()).collect();
        assert!(take(&places, from(1)).is_none());
        drop(busy);
        assert!(take(&places, from(1)).is_some());
    }

    #[test]
    fn a_place_is_free_when_its_connection_ends() {
        let places = Places::new(CAPACITY, true);
        for _ in 0..10 {
            let (place, _told) = take(&places, from(1)).unwrap();
            place.handle().prove();
        }
        assert!(places.lock().proven.is_empty() && places.lock().unproven.is_empty());
    }

    #[test]
    fn a_small_server_has_a_place_for_each_address() {
        assert_eq!(Capacity::of(64).unproven_of_address, 8);
        assert_eq!(Capacity::of(4).unproven_of_address, 1);
    }

    #[test]
    fn connections_leave_file_descriptors_to_others() {
        let few = Capacity::with_files(256);
        assert_eq!(few, Capacity { proven: 64, unproven: 64, unproven_of_address: 16 });
        let many = Capacity::with_files(1 << 20);
        assert_eq!(many, Capacity { proven: 512, unproven: 512, unproven_of_address: 128 });
    }

    #[test]
    fn the_addresses_of_one_network_are_one_host() {
        let of = |text: &str| host(text.parse().unwrap());
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff:1"));
        assert_ne!(of("2001:db8::1"), of("2001:db8:0:1::1"));
        assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    }
}
