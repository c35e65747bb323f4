//! Whether a verdict contradicts what the programs did.

use crate::ask::{Asked, VerdictState};
use crate::truth::{Order, Truth};

/// Every order has to be shipped within.
pub(crate) const LIMIT_NS: i64 = 1_000_000_000;
/// The span around a shipment ends this much after the stamp of it, at most. What is shipped so
/// shortly before the limit is in time or late.
const SPAN_END_NS: i64 = 300_000_000;

impl Order {
    /// Whether at an instant it certainly is beyond the limit: late, or not shipped at all.
    fn has_violated(&self, at_ns: i64) -> bool {
        let due_ns = self.placed_ns.end + LIMIT_NS;
        at_ns > due_ns && self.shipped_ns.is_none_or(|shipped_ns| shipped_ns > due_ns)
    }

    /// Whether at an instant it may be beyond the limit.
    fn may_have_violated(&self, at_ns: i64) -> bool {
        let due_ns = self.placed_ns.start + LIMIT_NS;
        let late = |shipped_ns| shipped_ns + SPAN_END_NS > due_ns;
        at_ns > due_ns && self.shipped_ns.is_none_or(late)
    }
}

/// Whether the requirement holds with so many violations: less than 0.3 % may be.
fn holds_with(violations: usize, count: usize) -> bool {
    violations * 1000 < count * 3
}

/// What is wrong with a verdict; `truth` is of a later instant than it.
pub(crate) fn wrong(truth: &Truth, asked: &Asked) -> Option<String> {
    let mut orders = truth.placed(&asked.question.range_ns);
    orders.retain(|order| order.placed_ns.start < asked.at_ns.end);
    // A verdict is on what started before.
    if let Some(until_ns) = asked.arrivals["judged_until_ns"].as_i64() {
        orders.retain(|order| order.placed_ns.start < until_ns);
    }
    let count =
        |violated: &dyn Fn(&Order) -> bool| orders.iter().filter(|order| violated(order)).count();
    let wrong = match asked.state {
        VerdictState::Holds => {
            // With every order known, "holds" is said of those too that are on their way.
            let all_known = asked.count("judged") == orders.len();
            let at_ns = if all_known { i64::MAX } else { asked.at_ns.start };
            let violated = count(&|order| order.has_violated(at_ns));
            (orders.is_empty() || !holds_with(violated, orders.len()))
                .then(|| format!("{violated} of {} orders were beyond the limit", orders.len()))
        }
        VerdictState::DoesNotHold => {
            let violated = count(&|order| order.may_have_violated(asked.at_ns.end));
            holds_with(violated, orders.len())
                .then(|| format!("only {violated} of {} orders were too late", orders.len()))
        }
        VerdictState::Undetermined | VerdictState::Nothing => None,
    };
    wrong.or_else(|| contradiction(asked)).map(|reason| format!("{reason}: {asked:#?}"))
}

/// What an answer says that cannot be true whatever happened.
fn contradiction(asked: &Asked) -> Option<String> {
    if asked.state == VerdictState::Nothing {
        return None;
    }
    let parts = ["arrived", "failed", "open", "missing", "unknown"];
    let sum: usize = parts.iter().map(|part| asked.count(part)).sum();
    if sum != asked.count("roots") {
        return Some(format!("{sum} roots have one of the fates {parts:?}"));
    }
    if asked.count("late") > asked.count("arrived") {
        return Some("more are late than arrived".to_owned());
    }
    let states = [VerdictState::Holds, VerdictState::DoesNotHold, VerdictState::Undetermined];
    let said = asked.verdict["state"].as_str();
    let exit = states.iter().zip(["holds", "does_not_hold", "undetermined"]);
    let exit = exit.filter(|(state, _)| **state == asked.state).map(|(_, name)| name).next();
    (said != exit).then(|| format!("JSON says {said:?}, the exit code {exit:?}"))
}

/// The answer about all orders, with everything decided, counts what happened.
pub(crate) fn check_counts(truth: &Truth, asked: &Asked) {
    let orders = truth.placed(&asked.question.range_ns);
    let count =
        |property: &dyn Fn(&Order) -> bool| orders.iter().filter(|order| property(order)).count();
    let shipped = count(&|order| order.shipped_ns.is_some());
    assert_eq!(asked.count("roots"), orders.len(), "{asked:#?}");
    assert_eq!(asked.count("arrived"), shipped, "{asked:#?}");
    assert_eq!(asked.count("missing"), orders.len() - shipped, "{asked:#?}");
    let late = |order: &Order, violated: bool| order.shipped_ns.is_some() && violated;
    let at_least = count(&|order| late(order, order.has_violated(i64::MAX)));
    let at_most = count(&|order| late(order, order.may_have_violated(i64::MAX)));
    let said = asked.count("late");
    assert!((at_least..=at_most).contains(&said), "{at_least}..={at_most}: {asked:#?}");
}
