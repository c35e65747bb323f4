//! The buffer between the thread that receives CLTUs and the thread that radiates them.

use super::radiation::Radiation;
use super::step::{RadiationConfig, RadiationStep};
use crate::time::Now;
use std::fmt;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Called when the association has something to tell the user, by whichever thread found out. It
/// must not call back into the queue.
type Waker = Box<dyn Fn() + Send + Sync>;

/// CLTUs that may wait for radiation while it is let sleep.
const HELD_MAX: usize = 64;

/// A [`Radiation`] that two threads share. A lock is held for tens of nanoseconds at a time; a
/// sleeping thread is woken once, however much comes before it runs.
pub struct RadiationQueue {
    shared: Mutex<Shared>,
    changed: Condvar,
    waker: Mutex<Option<Waker>>,
}

struct Shared {
    radiation: Radiation,
    /// The state has changed since the last call of `next`.
    changed: bool,
    /// The radiating thread sleeps.
    sleeps: bool,
    /// The association was woken and has not looked yet.
    told: bool,
    /// More comes at once: the radiating thread is let sleep.
    held: bool,
}

impl RadiationQueue {
    /// An empty one.
    #[must_use]
    pub fn new(config: impl Into<RadiationConfig>) -> Self {
        let radiation = Radiation::new(config);
        let shared = Shared { radiation, changed: false, sleeps: false, told: false, held: false };
        Self { shared: Mutex::new(shared), changed: Condvar::new(), waker: Mutex::new(None) }
    }

    /// Sets the function that wakes the association's driver when the user is to be notified. The
    /// driver then calls [`super::FcltuProvider::production`] with
    /// [`super::ProductionEvent::Progress`].
    pub fn set_waker(&self, waker: impl Fn() + Send + Sync + 'static) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(waker));
    }

    /// Removes the waker.
    pub fn clear_waker(&self) {
        *self.waker.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn lock(&self) -> MutexGuard<'_, Shared> {
        // A panic elsewhere leaves numbers behind that are each right.
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the radiation, from the association's side or an operator's, and wakes
    /// the radiating thread.
    pub fn with<T>(&self, act: impl FnOnce(&mut Radiation) -> T) -> T {
        let mut shared = self.lock();
        let done = act(&mut shared.radiation);
        self.has_changed(shared);
        done
    }

    /// Lets the radiating thread sleep until [`RadiationQueue::release`], or until 64 CLTUs or half a buffer
    /// of them wait. For the association's side alone.
    pub(crate) fn hold(&self) {
        self.lock().held = true;
    }

    /// Wakes the radiating thread where there is something for it.
    pub(crate) fn release(&self) {
        let mut shared = self.lock();
        shared.held = false;
        if shared.changed {
            self.has_changed(shared);
        }
    }

    /// Wakes the radiating thread, where it sleeps and may be woken.
    fn has_changed(&self, mut shared: MutexGuard<'_, Shared>) {
        shared.changed = true;
        let radiation = &shared.radiation;
        let has_room = radiation.available() >= radiation.limits().octets / 2;
        if shared.held && has_room && radiation.waiting() < HELD_MAX {
            return;
        }
        let wake = std::mem::take(&mut shared.sleeps);
        drop(shared);
        if wake {
            self.changed.notify_one();
        }
    }

    /// Looks at the radiation and changes nothing.
    pub fn look<T>(&self, see: impl FnOnce(&Radiation) -> T) -> T {
        see(&self.lock().radiation)
    }

    /// Takes the notices, from the association's side.
    pub(crate) fn notices(&self, mut each: impl FnMut(crate::pdu::CltuAsyncNotify)) {
        let mut shared = self.lock();
        shared.told = false;
        if !shared.radiation.has_notices() {
            return;
        }
        while let Some(notice) = shared.radiation.next_notice() {
            each(notice);
        }
        // Radiation may have waited for that.
        self.has_changed(shared);
    }

    /// Next step of the radiating thread.
    pub fn next(&self, now: Now) -> RadiationStep {
        let mut shared = self.lock();
        shared.changed = false;
        let step = shared.radiation.next(now);
        let has_word = shared.radiation.has_word();
        let tell = has_word && !std::mem::replace(&mut shared.told, true);
        if !has_word {
            shared.told = false;
        }
        drop(shared);
        if tell {
            self.wake_association();
        }
        step
    }

    /// Tells the association that there is something to tell, where an operator's thread has
    /// changed something by [`RadiationQueue::with`].
    pub fn wake_association(&self) {
        if let Some(waker) = &*self.waker.lock().unwrap_or_else(PoisonError::into_inner) {
            waker();
        }
    }

    /// Sleeps until something changes, at most so long; for the radiating thread. Returns at once
    /// where something has changed since [`RadiationQueue::next`].
    pub fn wait(&self, at_most: Option<Duration>) {
        let mut shared = self.lock();
        if shared.changed {
            return;
        }
        shared.sleeps = true;
        let shared = match at_most {
            None => self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner),
            Some(at_most) => {
                let waited = self.changed.wait_timeout(shared, at_most);
                waited.unwrap_or_else(PoisonError::into_inner).0
            }
        };
        let mut shared = shared;
        shared.sleeps = false;
    }
}

impl fmt::Debug for RadiationQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RadiationQueue")
            .field("radiation", &self.lock().radiation)
            .finish_non_exhaustive()
    }
}
