//! One function of a profile with its callers and callees.

use crate::callgrind::{Edge, Graph};
use chronoscope_figures::numbers::{grouped, share};
use serde::Serialize;
use std::fmt::Write;

/// Source lines of a function that are given, the most expensive.
const LINES_MAX: usize = 20;
/// Names that an error suggests.
const SUGGESTIONS_MAX: usize = 5;

/// The name of a function, as a reader gives it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FunctionName {
    /// Its name, with or without what compilers add.
    pub name: String,
    /// Last part of the path of its file; any when absent.
    pub file: Option<String>,
    /// Last part of the path of its program or library; any when absent.
    pub object: Option<String>,
}

/// Reason why a function is not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// No function has this name.
    #[error("the profile has no function {name:?}{}", suggested(alike))]
    None {
        /// The requested name.
        name: String,
        /// Some names that contain it.
        alike: Vec<String>,
    },
    /// Several functions have this name.
    #[error("{name:?} is {} functions; give the file or the object too: {}", found.len(), found.join(", "))]
    Ambiguous {
        /// The requested name.
        name: String,
        /// The functions with their files and objects.
        found: Vec<String>,
    },
}

fn suggested(alike: &[String]) -> String {
    match alike {
        [] => String::new(),
        alike => format!("; it has {}", alike.join(", ")),
    }
}

/// A function with its callers and callees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FunctionCalls {
    /// Version of the JSON form.
    pub version: u32,
    /// The event that costs are counts of.
    pub event: String,
    /// The function's name.
    pub name: String,
    /// Last part of the path of its file.
    pub file: String,
    /// Last part of the path of its program or library.
    pub object: String,
    /// Spent in itself.
    pub own: u64,
    /// Spent in itself and below; of a member of a cycle, a lower bound.
    pub inclusive: u64,
    /// Number of calls by other functions.
    pub calls: u64,
    /// Cost of the whole profile.
    pub total: u64,
    /// Members of the cycle that it is in; empty outside of cycles.
    pub cycle: Vec<String>,
    /// Its callers, the most expensive calls first.
    pub callers: Vec<CallShare>,
    /// Its callees, the most expensive calls first.
    pub callees: Vec<CallShare>,
    /// Its most expensive source lines, 20 at most.
    pub lines: Vec<LineCost>,
}

/// Calls of or by a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallShare {
    /// Name of the other function.
    pub name: String,
    /// Last part of the path of its file.
    pub file: String,
    /// Last part of the path of its program or library.
    pub object: String,
    /// Number of calls.
    pub calls: u64,
    /// Cost of the calls, with all below; of calls within a cycle once per level of recursion.
    pub inclusive: u64,
    /// Whether the call stays within a cycle of functions, or is of the function itself.
    pub recursive: bool,
}

/// The own cost of a source line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineCost {
    /// Last part of the path of the file.
    pub file: String,
    /// Number of the line; 0 when unknown.
    pub line: u32,
    /// The cost.
    pub own: u64,
}

/// The function with a name.
///
/// # Errors
/// [`FindError`] when there is none, or more than one.
pub fn find(graph: &Graph, wanted: &FunctionName) -> Result<usize, FindError> {
    let is = |own: &str, wanted: &Option<String>| wanted.as_ref().is_none_or(|w| w == own);
    let matches = |node: &crate::callgrind::Node| {
        (node.name == wanted.name || node.variants.contains(&wanted.name))
            && is(&node.file, &wanted.file)
            && is(&node.object, &wanted.object)
    };
    let found: Vec<usize> = (0..graph.nodes.len()).filter(|i| matches(&graph.nodes[*i])).collect();
    let name = wanted.name.clone();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let mut alike: Vec<_> = graph
                .nodes
                .iter()
                .filter(|node| !name.is_empty() && node.name.contains(&name))
                .collect();
            alike.sort_by_key(|node| std::cmp::Reverse(node.inclusive));
            alike.truncate(SUGGESTIONS_MAX);
            let alike = alike.into_iter().map(|node| format!("{:?}", node.name)).collect();
            Err(FindError::None { name, alike })
        }
        _ => {
            let say = |index: &usize| {
                let node = &graph.nodes[*index];
                format!("{:?} of {:?}", node.file, node.object)
            };
            Err(FindError::Ambiguous { name, found: found.iter().map(say).collect() })
        }
    }
}

/// A function of a graph with its callers and callees. `function` is an index of the graph's.
pub fn calls(graph: &Graph, event: &str, function: usize) -> FunctionCalls {
    let node = &graph.nodes[function];
    let share = |other: usize, edge: Edge| {
        let recursive = graph.is_recursive(function, other);
        let node = &graph.nodes[other];
        CallShare {
            name: node.name.clone(),
            file: node.file.clone(),
            object: node.object.clone(),
            calls: edge.calls,
            inclusive: edge.inclusive,
            recursive,
        }
    };
    let callers = graph.edges.iter().filter(|((_, callee), _)| *callee == function);
    let callers = callers.map(|((caller, _), edge)| share(*caller, *edge));
    let callees = graph.calls_from(function).map(|(callee, edge)| share(callee, edge));
    let mut lines: Vec<LineCost> = node
        .lines
        .iter()
        .map(|((file, line), own)| LineCost { file: file.to_string(), line: *line, own: *own })
        .collect();
    lines.sort_by(|a, b| b.own.cmp(&a.own).then_with(|| (&a.file, a.line).cmp(&(&b.file, b.line))));
    lines.truncate(LINES_MAX);
    let cycle = node.cycle.map(|cycle| &graph.cycles[cycle].members);
    let cycle = cycle.into_iter().flatten().map(|member| graph.nodes[*member].name.clone());
    FunctionCalls {
        version: 1,
        event: event.to_owned(),
        name: node.name.clone(),
        file: node.file.clone(),
        object: node.object.clone(),
        own: node.own,
        inclusive: node.inclusive,
        calls: node.calls,
        total: graph.total,
        cycle: cycle.collect(),
        callers: ordered(callers),
        callees: ordered(callees),
        lines,
    }
}

fn ordered(calls: impl Iterator<Item = CallShare>) -> Vec<CallShare> {
    let mut calls: Vec<_> = calls.collect();
    calls.sort_by(|a, b| {
        let order = (a.recursive, b.inclusive).cmp(&(b.recursive, a.inclusive));
        order.then_with(|| a.name.cmp(&b.name))
    });
    calls
}

/// A function with its callers and callees as a page of text, `rows` of each.
pub fn calls_text(found: &FunctionCalls, rows: usize) -> String {
    let mut page = String::new();
    // Writing into a string cannot fail.
    let _ = write_page(&mut page, found, rows);
    page
}

fn write_page(page: &mut String, found: &FunctionCalls, rows: usize) -> std::fmt::Result {
    let of_total = |cost: u64| share(cost, found.total, 2);
    writeln!(page, "{}  ({}, {})", found.name, found.file, found.object)?;
    writeln!(
        page,
        "{} inclusive {} ({}), own {} ({}), called {}",
        found.event,
        grouped(found.inclusive),
        of_total(found.inclusive),
        grouped(found.own),
        of_total(found.own),
        grouped(found.calls),
    )?;
    if !found.cycle.is_empty() {
        let members: Vec<_> = found.cycle.iter().take(rows).map(String::as_str).collect();
        let more = if members.len() < found.cycle.len() { ", …" } else { "" };
        let count = found.cycle.len();
        writeln!(
            page,
            "in a cycle of {count} functions ({}{more}): inclusive is a lower bound",
            members.join(", ")
        )?;
    }
    let callers: u64 = sum(&found.callers);
    section(page, "callers", "of callers", &found.callers, callers, rows)?;
    section(page, "callees", "of this", &found.callees, found.inclusive, rows)?;
    if found.lines.iter().any(|line| line.line > 0) {
        writeln!(page, "\nsource lines\n{:>18}  {:>10}  line", "own", "of own")?;
        for line in found.lines.iter().take(rows) {
            let (own, part) = (grouped(line.own), share(line.own, found.own, 2));
            writeln!(page, "{own:>18}  {part:>10}  {}:{}", line.file, line.line)?;
        }
    }
    Ok(())
}

/// The cost of calls that do not stay within a cycle.
fn sum(calls: &[CallShare]) -> u64 {
    let leaving = calls.iter().filter(|call| !call.recursive);
    leaving.fold(0_u64, |sum, call| sum.saturating_add(call.inclusive))
}

fn section(
    page: &mut String,
    title: &str,
    of: &str,
    calls: &[CallShare],
    whole: u64,
    rows: usize,
) -> std::fmt::Result {
    if calls.is_empty() {
        return writeln!(page, "\nno {title}");
    }
    writeln!(page, "\n{title}\n{:>18}  {of:>10}  {:>14}  function", "inclusive", "calls")?;
    for call in calls.iter().take(rows) {
        let part =
            if call.recursive { "recursive".to_owned() } else { share(call.inclusive, whole, 2) };
        let (cost, count) = (grouped(call.inclusive), grouped(call.calls));
        writeln!(
            page,
            "{cost:>18}  {part:>10}  {count:>14}  {}  ({}, {})",
            call.name, call.file, call.object
        )?;
    }
    if calls.len() > rows {
        writeln!(page, "  and {} more", calls.len() - rows)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::callgrind::{Limits, read};

    const TEXT: &str = "events: Ir\nob=prog\nfl=main.c\nfn=main\n3 10\ncfn=work\ncalls=2 8\n4 60\n\
        cfn=rest\ncalls=1 20\n5 30\nfn=rest\n20 15\ncfn=work\ncalls=1 8\n21 15\nfn=work\n8 50\n9 25\n";

    fn of(text: &str, name: &str) -> Result<FunctionCalls, FindError> {
        let profile = read(text.as_bytes(), Limits::default()).unwrap();
        let graph = Graph::of(&profile, "Ir").unwrap();
        let name = FunctionName { name: name.to_owned(), ..FunctionName::default() };
        Ok(calls(&graph, "Ir", find(&graph, &name)?))
    }

    #[test]
    fn a_function_has_its_callers_itself_and_its_callees() {
        let work = of(TEXT, "work").unwrap();
        assert_eq!((work.own, work.inclusive, work.calls, work.total), (75, 75, 3, 100));
        let callers: Vec<_> =
            work.callers.iter().map(|c| (c.name.as_str(), c.calls, c.inclusive)).collect();
        assert_eq!(callers, [("main", 2, 60), ("rest", 1, 15)]);
        assert_eq!(work.lines[0], LineCost { file: "main.c".into(), line: 8, own: 50 });
        let text = calls_text(&work, 10);
        assert!(
            text.starts_with("work  (main.c, prog)\nIr inclusive 75 (75.00 %), own 75"),
            "{text}"
        );
        assert!(text.contains("60     80.00 %               2  main  (main.c, prog)"), "{text}");
        assert!(text.contains("\nno callees"), "{text}");
        let main = of(TEXT, "main").unwrap();
        assert_eq!((main.inclusive, main.callees.len(), main.callers.len()), (100, 2, 0));
    }

    #[test]
    fn a_name_that_is_none_or_two_is_refused_with_what_there_is() {
        let error = of(TEXT, "wor").unwrap_err().to_string();
        assert_eq!(error, "the profile has no function \"wor\"; it has \"work\"");
        let two = format!("{TEXT}fl=other.c\nfn=work\n1 1\n");
        let error = of(&two, "work").unwrap_err().to_string();
        assert!(
            error.contains("2 functions") && error.contains("\"other.c\" of \"prog\""),
            "{error}"
        );
    }

    #[test]
    fn calls_within_a_cycle_are_told_from_others() {
        let text = "events: Ir\nfn=main\n1 5\ncfn=even\ncalls=1 9\n2 66\n\
             fn=even\n9 20\ncfn=odd\ncalls=2 9\n10 60\ncfn=leaf\ncalls=2 9\n10 6\n\
             fn=odd\n9 40\ncfn=even\ncalls=1 9\n10 33\nfn=leaf\n9 6\n";
        let even = of(text, "even").unwrap();
        assert_eq!(even.cycle, ["even", "odd"]);
        let callers: Vec<_> = even.callers.iter().map(|c| (c.name.as_str(), c.recursive)).collect();
        assert_eq!(callers, [("main", false), ("odd", true)]);
        assert!(calls_text(&even, 9).contains("recursive"));
    }
}
