//! Profiles for the Firefox Profiler, held against the fields that its format documents: version 58
//! of the processed profile, `src/types/profile.ts` of firefox-devtools/profiler.

#![allow(clippy::unwrap_used)] // helpers of tests

mod programs;

use chronoscope_track::callgrind::{Limits, read};
use chronoscope_track::flame::firefox::{About, LEFT_OUT, profile};
use chronoscope_track::flame::{CallTree, MeasuredProfile, TreeLimits, read_perf_script};
use programs::{Program, tools};
use serde_json::Value;
use std::collections::BTreeMap;

/// What a column's values are.
#[derive(Clone, Copy)]
enum Column {
    /// Indices into a table, by its length.
    Index(usize),
    /// Such indices, or null.
    IndexOrNull(usize),
    /// Such indices, or -1.
    IndexOrMinusOne(usize),
    Number,
    NumberOrNull,
    Bool,
    Null,
}

/// A table has these columns and no others, each as long as it says.
fn table(table: &Value, columns: &[(&str, Column)]) -> usize {
    let object = table.as_object().unwrap();
    let length = usize::try_from(object["length"].as_u64().unwrap()).unwrap();
    for (name, column) in columns {
        let values = object.get(*name).unwrap_or_else(|| panic!("{name} is missing"));
        let values = values.as_array().unwrap();
        assert_eq!(values.len(), length, "{name}");
        for value in values {
            let index = |bound: usize| value.as_u64().is_some_and(|index| index < bound as u64);
            let fits = match column {
                Column::Index(bound) => index(*bound),
                Column::IndexOrNull(bound) => value.is_null() || index(*bound),
                Column::IndexOrMinusOne(bound) => value.as_i64() == Some(-1) || index(*bound),
                Column::Number => value.is_number(),
                Column::NumberOrNull => value.is_null() || value.is_number(),
                Column::Bool => value.is_boolean(),
                Column::Null => value.is_null(),
            };
            assert!(fits, "{name}: {value}");
        }
    }
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let others = object.keys().filter(|key| !names.contains(&key.as_str()));
    assert_eq!(others.collect::<Vec<_>>(), [&"length".to_owned()]);
    length
}

fn length(table: &Value) -> usize {
    usize::try_from(table["length"].as_u64().unwrap()).unwrap()
}

/// The document's fields and all of its indices.
fn conforms(found: &Value) {
    let meta = &found["meta"];
    for number in ["interval", "startTime", "processType", "version", "preprocessedProfileVersion"]
    {
        assert!(meta[number].is_number(), "{number}");
    }
    assert_eq!(meta["preprocessedProfileVersion"], 58);
    assert!(meta["product"].is_string() && meta["markerSchema"].is_array());
    assert!([0, 1].map(Value::from).contains(&meta["stackwalk"]));
    let categories = meta["categories"].as_array().unwrap();
    assert!(categories.iter().any(|category| category["color"] == "grey"));
    for category in categories {
        assert!(category["name"].is_string());
        assert_eq!(category["subcategories"][0], "Other");
        let colours = ["grey", "yellow", "blue", "orange"];
        assert!(colours.contains(&category["color"].as_str().unwrap()));
    }
    let libs = found["libs"].as_array().unwrap();
    for lib in libs {
        for text in ["arch", "name", "path", "debugName", "debugPath", "breakpadId"] {
            assert!(lib[text].is_string(), "{text}");
        }
        assert!(lib["codeId"].is_null());
    }
    let strings = found["shared"]["stringArray"].as_array().unwrap();
    assert!(strings.iter().all(Value::is_string));
    let strings = strings.len();
    let sources = [("uuid", Column::Null), ("filename", Column::Index(strings))];
    let sources = table(&found["shared"]["sources"], &sources);
    let threads = found["threads"].as_array().unwrap();
    assert_eq!(threads.len(), 1);
    thread(&threads[0], [strings, sources, libs.len(), categories.len()]);
}

fn thread(thread: &Value, [strings, sources, libs, categories]: [usize; 4]) {
    for text in ["processType", "name", "pid"] {
        assert!(thread[text].is_string(), "{text}");
    }
    for number in ["processStartupTime", "registerTime", "tid"] {
        assert!(thread[number].is_number(), "{number}");
    }
    assert!(thread["isMainThread"].is_boolean() && thread["pausedRanges"].is_array());
    let [stacks, frames, functions, resources, symbols] =
        ["stackTable", "frameTable", "funcTable", "resourceTable", "nativeSymbols"]
            .map(|name| length(&thread[name]));
    use Column::{Bool, Index, IndexOrMinusOne, IndexOrNull, Null, Number, NumberOrNull};
    table(&thread["stackTable"], &[("frame", Index(frames)), ("prefix", IndexOrNull(stacks))]);
    let prefixes = thread["stackTable"]["prefix"].as_array().unwrap();
    for (index, prefix) in prefixes.iter().enumerate() {
        assert!(prefix.as_u64().is_none_or(|prefix| prefix < index as u64), "callers come first");
    }
    table(
        &thread["frameTable"],
        &[
            ("address", Number),
            ("inlineDepth", Number),
            ("category", IndexOrNull(categories)),
            ("subcategory", IndexOrNull(1)),
            ("func", Index(functions)),
            ("nativeSymbol", IndexOrNull(symbols)),
            ("innerWindowID", NumberOrNull),
            ("line", NumberOrNull),
            ("column", NumberOrNull),
        ],
    );
    table(
        &thread["funcTable"],
        &[
            ("name", Index(strings)),
            ("isJS", Bool),
            ("relevantForJS", Bool),
            ("resource", IndexOrMinusOne(resources)),
            ("source", IndexOrNull(sources)),
            ("lineNumber", NumberOrNull),
            ("columnNumber", NumberOrNull),
        ],
    );
    table(
        &thread["resourceTable"],
        &[("lib", IndexOrNull(libs)), ("name", Index(strings)), ("host", Null), ("type", Number)],
    );
    let none = ["libIndex", "address", "name", "functionSize"].map(|name| (name, Number));
    assert_eq!(table(&thread["nativeSymbols"], &none), 0);
    let markers = ["data", "name", "startTime", "endTime", "phase", "category"];
    assert_eq!(table(&thread["markers"], &markers.map(|name| (name, Number))), 0);
    // One field of the samples is no column.
    let mut samples = thread["samples"].clone();
    let kind = samples.as_object_mut().unwrap().remove("weightType").unwrap();
    assert!(["samples", "tracing-ms", "bytes"].contains(&kind.as_str().unwrap()));
    table(&samples, &[("stack", IndexOrNull(stacks)), ("time", Number), ("weight", Number)]);
}

/// Costs by path, as a reader of the profile finds them: of each sample its stack, from the root.
fn costs(found: &Value) -> BTreeMap<String, f64> {
    let thread = &found["threads"][0];
    let at = |table: &str, column: &str, index: usize| thread[table][column][index].clone();
    let mut costs = BTreeMap::new();
    for sample in 0..length(&thread["samples"]) {
        let mut path = Vec::new();
        let mut stack = thread["samples"]["stack"][sample].as_u64();
        while let Some(index) = stack.map(|index| usize::try_from(index).unwrap()) {
            let index_of = |value: Value| usize::try_from(value.as_u64().unwrap()).unwrap();
            let func =
                index_of(at("frameTable", "func", index_of(at("stackTable", "frame", index))));
            let name = &found["shared"]["stringArray"][index_of(at("funcTable", "name", func))];
            path.push(name.as_str().unwrap().to_owned());
            stack = at("stackTable", "prefix", index).as_u64();
        }
        path.reverse();
        *costs.entry(path.join(";")).or_default() +=
            thread["samples"]["weight"][sample].as_f64().unwrap();
    }
    costs
}

fn exported(tree: &CallTree<1>) -> Value {
    let about = About { name: "a program".to_owned(), started_ms: 1_700_000_000_000 };
    let found = serde_json::from_str(&profile(tree, &about).unwrap()).unwrap();
    conforms(&found);
    found
}

#[test]
fn a_counted_profile_has_the_documented_fields_and_its_costs() {
    let text = "events: Ir\nob=/bin/prog\nfl=/src/main.c\nfn=main\n3 10\ncob=/lib/libc.so.6\n\
        cfi=???\ncfn=work\ncalls=2 8\n4 86\ncfi=/src/main.c\ncob=/bin/prog\ncfn=cheap\ncalls=1 1\n\
        5 4\nfn=cheap\n9 4\nob=/lib/libc.so.6\nfl=???\nfn=work\n8 86\n";
    let measured =
        MeasuredProfile::of_callgrind(&read(text.as_bytes(), Limits::default()).unwrap(), None);
    let limits = TreeLimits { share_min: 0.05, ..TreeLimits::default() };
    let found = exported(&measured.unwrap().tree(limits));
    let cheap = format!("main;{LEFT_OUT}");
    let expected = [("main", 10.0), (cheap.as_str(), 4.0), ("main;work", 86.0)];
    assert_eq!(costs(&found), expected.map(|(path, cost)| (path.to_owned(), cost)).into());
    let categories = &found["threads"][0]["frameTable"]["category"];
    assert_eq!(categories, &serde_json::json!([1, 2, 0]));
    assert_eq!(found["libs"][1]["name"], "libc.so.6");
}

#[test]
fn sampled_time_is_in_milliseconds() {
    let text =
        "prog 1 1.5: 2002004 cpu-clock:\n\t10 work+0x1 (/bin/prog)\n\t10 main+0x1 (/bin/prog)\n";
    let measured = MeasuredProfile::of_samples(read_perf_script(text.as_bytes()).unwrap(), None);
    let found = exported(&measured.unwrap().tree(TreeLimits::default()));
    assert_eq!(found["threads"][0]["samples"]["weightType"], "tracing-ms");
    assert_eq!(costs(&found), [("prog;main;work".to_owned(), 2.002_004)].into());
}

#[test]
fn a_real_program_is_exported_whole() {
    if !tools(&["cc", "valgrind"]) {
        return;
    }
    let program = Program::c("#include <stdio.h>\nint main(void) { puts(\"x\"); return 0; }", &[]);
    let profile = program.profile(&[]);
    let measured = MeasuredProfile::of_callgrind(&profile, Some("Ir")).unwrap();
    let found = exported(&measured.tree(TreeLimits::default()));
    let costs = costs(&found);
    let total: f64 = costs.values().sum();
    assert_eq!(total, profile.total("Ir").unwrap() as f64);
    assert!(costs.keys().any(|path| path.contains(";main;puts")), "{costs:?}");
}
