//! A tree of calls as a profile for the Firefox Profiler (`profiler.firefox.com`, "load a profile
//! from file").
//!
//! The format is its "processed profile", version 58; it upgrades older versions by itself. Source:
//! `src/types/profile.ts` and `docs-developer/CHANGELOG-formats.md` of firefox-devtools/profiler.
//! Every frame of the tree is a stack, and a sample whose weight is the frame's own cost, so that
//! the weights add up to the total. What the tree left out below a frame is a stack of its own,
//! named [`LEFT_OUT`]. Costs are whole numbers up to 2^53, as in all JSON that JavaScript reads;
//! costs in nanoseconds (`cpu-clock`, `task-clock`) are milliseconds there.

use super::tree::CallTree;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Version of the processed profile format.
const VERSION: u32 = 58;
/// Version of the Gecko profile format at that time.
const GECKO_VERSION: u32 = 31;
/// Type of a resource that is a library.
const LIBRARY: u32 = 1;
/// Categories, and their colours: the first is the default.
const CATEGORIES: [(&str, &str); 4] =
    [("Other", "grey"), ("Program", "yellow"), ("Library", "blue"), ("Kernel", "orange")];

/// Name of the stacks for cheap functions that the tree left out.
pub const LEFT_OUT: &str = "(cheaper functions)";

/// Origin of a profile.
#[derive(Clone, Debug, Default)]
pub struct About {
    /// Name of what was measured.
    pub name: String,
    /// Start of the measurement, ms since 1970 (UTC); 0 when unknown.
    pub started_ms: i64,
}

/// The profile as JSON.
///
/// # Errors
/// When it cannot be written as JSON, which would be a bug here.
pub fn profile(tree: &CallTree<1>, about: &About) -> Result<String, serde_json::Error> {
    let mut tables = Tables::default();
    let function = tables.functions(tree);
    let left_out = tables.function(LEFT_OUT, "", "");
    let (stacks, samples) = stacks(tree, &function, left_out);
    let categories = CATEGORIES
        .map(|(name, color)| json!({ "name": name, "color": color, "subcategories": ["Other"] }));
    let Tables { strings, sources, objects, functions, .. } = tables;
    serde_json::to_string(&json!({
        "meta": {
            "interval": 1,
            "startTime": about.started_ms,
            "processType": 0,
            "product": about.name,
            "stackwalk": 1,
            "version": GECKO_VERSION,
            "preprocessedProfileVersion": VERSION,
            "categories": categories,
            "markerSchema": [],
            "symbolicated": true,
            "symbolicationNotSupported": true,
            "importedFrom": "Chronoscope",
            "usesOnlyOneStackType": true,
            "sourceCodeIsNotOnSearchfox": true,
        },
        "libs": objects.list.iter().map(|name| lib(name)).collect::<Vec<_>>(),
        "pages": [],
        "shared": {
            "stringArray": strings.list,
            "sources": {
                "length": sources.len(),
                "uuid": vec![Value::Null; sources.len()],
                "filename": sources,
            },
        },
        "threads": [thread(tree, about, &functions, &objects_of(&objects, &functions), (stacks, samples))],
    }))
}

/// Texts, each with a number.
#[derive(Default)]
struct Texts {
    list: Vec<String>,
    numbers: HashMap<String, usize>,
}

impl Texts {
    fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        self.list.push(text.to_owned());
        self.numbers.insert(text.to_owned(), self.list.len() - 1);
        self.list.len() - 1
    }
}

/// A row of the table of functions; the table of frames has the same rows.
struct FunctionRow {
    name: usize,
    /// Index of the library, with the number of its name among the strings.
    object: Option<(usize, usize)>,
    source: Option<usize>,
    category: usize,
}

#[derive(Default)]
struct Tables {
    strings: Texts,
    /// Source files, as numbers of strings.
    sources: Vec<usize>,
    source_numbers: HashMap<usize, usize>,
    objects: Texts,
    functions: Vec<FunctionRow>,
}

impl Tables {
    /// Adds the functions of a tree's frames; the row of each function that a frame has.
    fn functions(&mut self, tree: &CallTree<1>) -> HashMap<usize, usize> {
        let mut rows = HashMap::new();
        for index in tree.frames.iter().filter_map(|frame| frame.function) {
            let function = &tree.functions[index];
            rows.entry(index)
                .or_insert_with(|| self.function(&function.name, &function.file, &function.object));
        }
        rows
    }

    fn function(&mut self, name: &str, file: &str, object: &str) -> usize {
        let is_known = |text: &str| !text.is_empty() && text != "???";
        let source = is_known(file).then(|| {
            let name = self.strings.number(file);
            *self.source_numbers.entry(name).or_insert_with(|| {
                self.sources.push(name);
                self.sources.len() - 1
            })
        });
        let object_row =
            is_known(object).then(|| (self.objects.number(object), self.strings.number(object)));
        let name = self.strings.number(name);
        let category = category(object);
        self.functions.push(FunctionRow { name, object: object_row, source, category });
        self.functions.len() - 1
    }
}

fn category(object: &str) -> usize {
    match object {
        "" | "???" => 0,
        object if object.starts_with("[kernel") || object.ends_with(".ko") => 3,
        object if object.contains(".so") => 2,
        _ => 1,
    }
}

fn lib(name: &str) -> Value {
    json!({
        "arch": "", "name": name, "path": name, "debugName": name, "debugPath": name,
        "breakpadId": "", "codeId": null,
    })
}

/// The numbers of the libraries' names among the strings, by library.
fn objects_of(objects: &Texts, functions: &[FunctionRow]) -> Vec<usize> {
    let mut names = vec![0; objects.list.len()];
    for (object, name) in functions.iter().filter_map(|function| function.object) {
        names[object] = name;
    }
    names
}

/// The table of stacks, a stack for each frame but the root; and the samples, of every stack with
/// a cost of its own.
fn stacks(tree: &CallTree<1>, function: &HashMap<usize, usize>, left_out: usize) -> (Value, Value) {
    let (mut frame, mut prefix) = (Vec::<usize>::new(), Vec::<Option<usize>>::new());
    let (mut stack, mut weight) = (Vec::<Option<usize>>::new(), Vec::<u64>::new());
    // The stack of each of the tree's frames.
    let mut stack_of: Vec<Option<usize>> = Vec::with_capacity(tree.frames.len());
    for found in &tree.frames {
        let above = found.parent.and_then(|parent| stack_of[parent]);
        let mut push = |row: usize, above: Option<usize>| {
            frame.push(row);
            prefix.push(above);
            Some(frame.len() - 1)
        };
        let own = found.function.and_then(|index| push(function[&index], above));
        stack_of.push(own);
        let cut = (found.left_out[0] > 0).then(|| push(left_out, own)).flatten();
        for (at, cost) in [(own, found.own[0]), (cut, found.left_out[0])] {
            if cost > 0 {
                stack.push(at);
                weight.push(cost);
            }
        }
    }
    let is_time = ["cpu-clock", "task-clock"].iter().any(|name| tree.event.starts_with(name));
    let (weight_type, weight) = match is_time {
        true => ("tracing-ms", weight.iter().map(|ns| json!(*ns as f64 / 1e6)).collect()),
        false => ("samples", weight.into_iter().map(Value::from).collect::<Vec<_>>()),
    };
    let length = stack.len();
    let samples = json!({
        "stack": stack,
        "time": (0..length).collect::<Vec<_>>(),
        "weight": weight,
        "weightType": weight_type,
        "length": length,
    });
    let length = frame.len();
    (json!({ "frame": frame, "prefix": prefix, "length": length }), samples)
}

fn thread(
    tree: &CallTree<1>,
    about: &About,
    functions: &[FunctionRow],
    object_names: &[usize],
    (stacks, samples): (Value, Value),
) -> Value {
    let length = functions.len();
    let all = |value: Value| vec![value; length];
    let category: Vec<_> = functions.iter().map(|function| function.category).collect();
    let name: Vec<_> = functions.iter().map(|function| function.name).collect();
    let source: Vec<_> = functions.iter().map(|function| function.source).collect();
    let resource = functions.iter().map(|function| match function.object {
        Some((object, _)) => json!(object),
        None => json!(-1),
    });
    json!({
        "processType": "default",
        "processStartupTime": 0,
        "processShutdownTime": null,
        "registerTime": 0,
        "unregisterTime": null,
        "pausedRanges": [],
        "name": tree.event,
        "processName": about.name,
        "isMainThread": true,
        "pid": "1",
        "tid": 1,
        "samples": samples,
        "markers": {
            "data": [], "name": [], "startTime": [], "endTime": [], "phase": [], "category": [],
            "length": 0,
        },
        "stackTable": stacks,
        "frameTable": {
            "address": all(json!(-1)),
            "inlineDepth": all(json!(0)),
            "category": category,
            "subcategory": all(json!(0)),
            "func": (0..length).collect::<Vec<_>>(),
            "nativeSymbol": all(Value::Null),
            "innerWindowID": all(json!(0)),
            "line": all(Value::Null),
            "column": all(Value::Null),
            "length": length,
        },
        "funcTable": {
            "name": name,
            "isJS": all(json!(false)),
            "relevantForJS": all(json!(false)),
            "resource": resource.collect::<Vec<_>>(),
            "source": source,
            "lineNumber": all(Value::Null),
            "columnNumber": all(Value::Null),
            "length": length,
        },
        "resourceTable": {
            "lib": (0..object_names.len()).collect::<Vec<_>>(),
            "name": object_names,
            "host": vec![Value::Null; object_names.len()],
            "type": vec![LIBRARY; object_names.len()],
            "length": object_names.len(),
        },
        "nativeSymbols": {
            "libIndex": [], "address": [], "name": [], "functionSize": [], "length": 0,
        },
    })
}
