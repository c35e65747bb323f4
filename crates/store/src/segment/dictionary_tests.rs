//! Columns written from their keys, read back by the Parquet library and by DuckDB: the same words
//! and numbers for few and for many different ones, with nulls, over several row groups.

use super::dictionary_column::DictionaryColumn;
use super::parquet_file::{ROW_GROUP_ROWS, SegmentWriter, common_properties};
use crate::disk::Disk;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, Int64Type, UInt16Type, UInt32Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, RecordBatch, StringArray,
    UInt16Array, UInt32Array,
};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection, RowSelector,
};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use parquet::file::properties::EnabledStatistics;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Rows of a file: which of `distinct` words each has.
#[derive(Clone, Copy)]
struct Rows {
    count: usize,
    distinct: usize,
    /// Rows of a batch; a batch has its words in an order of its own.
    batch: usize,
}

impl Rows {
    /// Runs of all lengths, then none.
    fn key(self, row: usize) -> usize {
        let hash = |n: usize| (n as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
        let run = 1 + (row / 1000) % 40;
        usize::try_from(hash(row / run) >> 8).unwrap() % self.distinct.max(1)
    }

    /// As [`Self::key`]; all null in one row group, none in another, mixed in the rest.
    fn optional(self, row: usize) -> Option<usize> {
        let is_null = match row / ROW_GROUP_ROWS {
            0 => row % 7 == 3 || (5000..40_000).contains(&row),
            1 => true,
            _ => false,
        };
        (!is_null && self.distinct > 0).then(|| self.key(row))
    }

    fn schema() -> SchemaRef {
        let word = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        Arc::new(Schema::new(vec![
            Field::new("row", DataType::Int64, false),
            Field::new("key", DataType::Int64, false),
            Field::new("word", word.clone(), false),
            Field::new("maybe", word, true),
            Field::new("number", DataType::UInt32, true),
            Field::new("level", DataType::UInt16, false),
        ]))
    }

    fn batch(self, from: usize) -> RecordBatch {
        let rows = || from..(from + self.batch).min(self.count);
        let words = self.distinct.max(1);
        let turned = |key: usize| i32::try_from((key + from) % words).unwrap();
        let values = (0..words).map(|key| word((key + words - from % words) % words));
        let values: ArrayRef = Arc::new(StringArray::from_iter_values(values));
        let dictionary = |keys: Int32Array| -> ArrayRef {
            Arc::new(DictionaryArray::<Int32Type>::try_new(keys, values.clone()).unwrap())
        };
        let integer = |n: usize| i64::try_from(n).unwrap();
        let columns: Vec<ArrayRef> = vec![
            Arc::new(Int64Array::from_iter_values(rows().map(integer))),
            Arc::new(Int64Array::from_iter_values(rows().map(|row| integer(self.key(row))))),
            dictionary(Int32Array::from_iter_values(rows().map(|row| turned(self.key(row))))),
            dictionary(Int32Array::from_iter(rows().map(|row| self.optional(row).map(turned)))),
            Arc::new(UInt32Array::from_iter(rows().map(|row| self.optional(row).map(number)))),
            Arc::new(UInt16Array::from_iter_values(rows().map(|row| level(self.key(row))))),
        ];
        RecordBatch::try_new(Self::schema(), columns).unwrap()
    }

    fn write(self, path: &Path) {
        let properties =
            common_properties().set_statistics_enabled(EnabledStatistics::Chunk).build();
        let disk = Disk::default();
        let mut writer = SegmentWriter::begin(&disk, path, Self::schema(), properties).unwrap();
        for from in (0..self.count).step_by(self.batch) {
            writer.write(&self.batch(from)).unwrap();
        }
        writer.finish().unwrap();
    }

    /// Compares rows as they were read with what was written.
    fn check(self, batch: &RecordBatch) {
        let word_at = |name: &str, index: usize| {
            let column = batch.column_by_name(name).unwrap().as_dictionary::<Int32Type>();
            column.key(index).map(|key| column.values().as_string::<i32>().value(key).to_owned())
        };
        let rows = batch.column_by_name("row").unwrap().as_primitive::<Int64Type>();
        let numbers = batch.column_by_name("number").unwrap().as_primitive::<UInt32Type>();
        let levels = batch.column_by_name("level").unwrap().as_primitive::<UInt16Type>();
        for (index, row) in rows.values().iter().enumerate() {
            let row = usize::try_from(*row).unwrap();
            assert_eq!(word_at("word", index), Some(word(self.key(row))), "row {row}");
            assert_eq!(word_at("maybe", index), self.optional(row).map(word), "row {row}");
            let read = numbers.is_valid(index).then(|| numbers.value(index));
            assert_eq!(read, self.optional(row).map(number), "row {row}");
            assert_eq!(levels.value(index), level(self.key(row)), "row {row}");
        }
    }

    /// Bounds and nulls of every row group.
    fn check_bounds(self, metadata: &ParquetMetaData) {
        for (index, group) in metadata.row_groups().iter().enumerate() {
            let first = index * ROW_GROUP_ROWS;
            let rows = || first..(first + usize::try_from(group.num_rows()).unwrap());
            let bounds = |column: usize| {
                let statistics = group.column(column).statistics().unwrap();
                assert_eq!(statistics.min_is_exact(), statistics.min_bytes_opt().is_some());
                assert_eq!(statistics.max_is_exact(), statistics.max_bytes_opt().is_some());
                let bytes = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
                let nulls = statistics.null_count_opt().unwrap();
                (bytes(statistics.min_bytes_opt()), bytes(statistics.max_bytes_opt()), nulls)
            };
            let words = || rows().map(|row| word(self.key(row)).into_bytes());
            assert_eq!(bounds(2), (words().min(), words().max(), 0));
            let nulls = rows().filter(|row| self.optional(*row).is_none()).count() as u64;
            let words = || rows().filter_map(|row| Some(word(self.optional(row)?).into_bytes()));
            assert_eq!(bounds(3), (words().min(), words().max(), nulls));
            let numbers = || rows().filter_map(|row| self.optional(row).map(number));
            let bytes = |number: Option<u32>| number.map(|number| number.to_le_bytes().to_vec());
            assert_eq!(bounds(4), (bytes(numbers().min()), bytes(numbers().max()), nulls));
        }
    }
}

fn word(key: usize) -> String {
    format!("word-{key}")
}

/// Above 2^31 for odd keys: bounds are of unsigned numbers.
fn number(key: usize) -> u32 {
    u32::try_from(key).unwrap().rotate_right(1)
}

fn level(key: usize) -> u16 {
    u16::try_from(key % 300).unwrap()
}

const SHAPES: [Rows; 7] = [
    Rows { count: 1, distinct: 1, batch: 1 },
    Rows { count: 50_001, distinct: 0, batch: 8192 },
    Rows { count: 600_000, distinct: 1, batch: 8192 },
    Rows { count: 600_000, distinct: 2, batch: 65_536 },
    Rows { count: 600_000, distinct: 1000, batch: 8192 },
    Rows { count: 600_000, distinct: 70_000, batch: 65_536 },
    Rows { count: 30_000, distinct: 257, batch: 777 },
];

#[test]
fn the_library_reads_what_was_written_from_keys() {
    assert!(Rows::schema().fields()[2..].iter().all(|f| DictionaryColumn::suits(f.data_type())));
    let dir = tempfile::tempdir().unwrap();
    for rows in SHAPES {
        let path = dir.path().join("segment.parquet");
        rows.write(&path);
        let options =
            || ArrowReaderOptions::new().with_offset_index_policy(PageIndexPolicy::Required);
        let open = || {
            let file = File::open(&path).unwrap();
            ParquetRecordBatchReaderBuilder::try_new_with_options(file, options()).unwrap()
        };
        rows.check_bounds(open().metadata());
        let mut count = 0;
        for batch in open().build().unwrap() {
            let batch = batch.unwrap();
            rows.check(&batch);
            count += batch.num_rows();
        }
        assert_eq!(count, rows.count);
        // Passing over pages, by the offset index.
        let skip = rows.count * 2 / 3;
        let selection = vec![RowSelector::skip(skip), RowSelector::select(1 + rows.count / 100)];
        let some = open().with_row_selection(RowSelection::from(selection)).build().unwrap();
        some.for_each(|batch| rows.check(&batch.unwrap()));
    }
}

const SCRIPT: &str = r#"
import duckdb, sys
at = "'" + sys.argv[1] + "'"
print(*duckdb.sql(f"""select count(*), count(maybe), count(number),
    count(*) filter (word != 'word-' || key), count(*) filter (maybe != 'word-' || key),
    count(*) filter (number != (key >> 1) + (key & 1) * 2147483648),
    count(*) filter (level != key % 300) from {at}""").fetchall()[0])
top = duckdb.sql(f"select max(key) from {at}").fetchall()[0][0]
for key in (0, top // 2, top):
    by_word = duckdb.sql(f"select count(*), min(row) from {at} where word = 'word-{key}'").fetchall()[0]
    by_key = duckdb.sql(f"select count(*), min(row) from {at} where key = {key}").fetchall()[0]
    if by_word != by_key: print(by_word, by_key)
"#;

#[test]
fn duckdb_reads_what_was_written_from_keys() {
    let tool = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools/venv");
    let venv = Command::new(tool).arg("duckdb").output();
    let Some(venv) = venv.ok().filter(|output| output.status.success()) else {
        eprintln!("SKIPPED: duckdb_reads_what_was_written_from_keys: no tools/venv duckdb here");
        return;
    };
    let python = String::from_utf8(venv.stdout).unwrap();
    let dir = tempfile::tempdir().unwrap();
    for rows in SHAPES {
        let path = dir.path().join("segment.parquet");
        rows.write(&path);
        let output = Command::new(python.trim()).args(["-c", SCRIPT]).arg(&path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let known = (0..rows.count).filter(|row| rows.optional(*row).is_some()).count();
        let told = String::from_utf8(output.stdout).unwrap();
        assert_eq!(told, format!("{} {known} {known} 0 0 0 0\n", rows.count));
    }
}
