//! Requests that wait for the receiver, in bounded memory.

use std::collections::VecDeque;

/// A request: its body as it is sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pending {
    pub(super) body: Vec<u8>,
    pub(super) samples: u64,
}

/// Requests in the order of their samples.
#[derive(Debug)]
pub(super) struct Queue {
    waiting: VecDeque<Pending>,
    bytes: usize,
    bytes_max: usize,
}

impl Queue {
    pub(super) fn new(bytes_max: usize) -> Self {
        Self { waiting: VecDeque::new(), bytes: 0, bytes_max }
    }

    /// Adds a request; the oldest give way to it. Returns the number of samples that did. The last
    /// request stays, however large it is.
    pub(super) fn push(&mut self, request: Pending) -> u64 {
        self.bytes += request.body.len();
        self.waiting.push_back(request);
        let mut dropped = 0;
        while self.bytes > self.bytes_max && self.waiting.len() > 1 {
            dropped += self.pop().map_or(0, |oldest| oldest.samples);
        }
        dropped
    }

    /// The oldest request.
    pub(super) fn first(&self) -> Option<&Pending> {
        self.waiting.front()
    }

    /// Takes the oldest request away.
    pub(super) fn pop(&mut self) -> Option<Pending> {
        let oldest = self.waiting.pop_front()?;
        self.bytes -= oldest.body.len();
        Some(oldest)
    }

    /// Number of samples that wait.
    pub(super) fn samples(&self) -> u64 {
        self.waiting.iter().map(|request| request.samples).sum()
    }

    /// Memory that they take.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_give_way_and_are_counted() {
        let mut queue = Queue::new(10);
        let request = |length, samples| Pending { body: vec![0; length], samples };
        assert_eq!(queue.push(request(4, 1)), 0);
        assert_eq!(queue.push(request(6, 2)), 0);
        assert_eq!(queue.push(request(1, 4)), 1);
        assert_eq!((queue.samples(), queue.bytes()), (6, 7));
        assert_eq!(queue.first(), Some(&request(6, 2)));
        assert_eq!(queue.push(request(100, 8)), 6);
        assert_eq!(queue.pop(), Some(request(100, 8)), "however large it is");
        assert_eq!((queue.pop(), queue.samples(), queue.bytes()), (None, 0, 0));
    }
}
