//! A column of words or of small numbers, written as a dictionary straight from the keys.
//!
//! The Parquet library looks the text of every row up in a hash table, also where Arrow's
//! dictionary has told the texts apart already. Here a row costs a look into an array, and a run of
//! equal rows becomes one run of the file. What is written is what the library writes: one
//! dictionary page and `RLE_DICTIONARY` data pages (version 1) for a row group, zstd at level 1,
//! the offset index, and bounds and number of nulls of the row group where they are wanted.
//! Unlike the library's, a dictionary has no largest size: a text is written once, however many
//! there are.
//!
//! Not here: pages' own bounds (our files have none), and columns inside of others.

use super::hybrid;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int32Type, UInt8Type, UInt16Type, UInt32Type};
use arrow_array::{Array, ArrayRef, ArrowPrimitiveType, DictionaryArray, StringArray};
use arrow_buffer::NullBuffer;
use arrow_schema::DataType;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::data_type::ByteArray;
use parquet::errors::ParquetError;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::statistics::{Statistics, ValueStatistics};
use parquet::file::writer::{SerializedPageWriter, SerializedRowGroupWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::Write;

/// Higher levels cost more time than they save bytes.
pub(super) const ZSTD_LEVEL: i32 = 1;

/// Rows of a page, as the library comes to with our chunks of 8192 rows: what a selection of rows
/// reads at least.
const PAGE_ROWS: usize = 24_576;

/// In place of an index: not in the dictionary of this row group yet.
const UNKNOWN: u32 = u32::MAX;

/// A column of the row group that is open.
pub(super) struct DictionaryColumn {
    descr: ColumnDescPtr,
    has_bounds: bool,
    dictionary: Dictionary,
    /// Indices of the open page's values, without nulls.
    indices: Vec<u32>,
    /// Levels of the open page: 1 for a value, 0 for null; empty for a column without nulls.
    levels: Vec<u32>,
    page_rows: usize,
    /// Pages that are complete, with their rows.
    pages: Vec<(CompressedPage, usize)>,
    null_count: u64,
    zstd: zstd::bulk::Compressor<'static>,
}

/// The values of a row group, each once, in the order of their coming.
#[derive(Default)]
struct Dictionary {
    /// The values in encoding `PLAIN`.
    plain: Vec<u8>,
    count: u32,
    /// The values that keys of rows refer to; `index_by_key` has the index of each in this
    /// dictionary.
    values: Option<StringArray>,
    index_by_key: Vec<u32>,
    index_by_text: HashMap<Box<str>, u32>,
    index_by_number: HashMap<u32, u32, BuildHasherDefault<NumberHasher>>,
    texts: Option<(Box<str>, Box<str>)>,
    numbers: Option<(u32, u32)>,
}

impl DictionaryColumn {
    /// Whether a column of this type is written here.
    pub(super) fn suits(kind: &DataType) -> bool {
        match kind {
            DataType::Dictionary(key, value) => {
                (&**key, &**value) == (&DataType::Int32, &DataType::Utf8)
            }
            DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => true,
            _ => false,
        }
    }

    /// A column without rows.
    pub(super) fn new(descr: ColumnDescPtr, has_bounds: bool) -> Result<Self, ParquetError> {
        Ok(Self {
            descr,
            has_bounds,
            dictionary: Dictionary::default(),
            indices: Vec::with_capacity(PAGE_ROWS),
            levels: Vec::new(),
            page_rows: 0,
            pages: Vec::new(),
            null_count: 0,
            zstd: zstd::bulk::Compressor::new(ZSTD_LEVEL)?,
        })
    }

    /// Adds the rows of a column that [`Self::suits`].
    pub(super) fn write(&mut self, array: &ArrayRef) -> Result<(), ParquetError> {
        if array.null_count() > 0 && self.descr.max_def_level() == 0 {
            return Err(self.strange("null in a column without nulls"));
        }
        let mut from = 0;
        while from < array.len() {
            let count = (array.len() - from).min(PAGE_ROWS - self.page_rows);
            self.write_part(&array.slice(from, count))?;
            from += count;
            if self.page_rows == PAGE_ROWS {
                self.end_page()?;
            }
        }
        Ok(())
    }

    fn write_part(&mut self, array: &ArrayRef) -> Result<(), ParquetError> {
        let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
        match array.data_type() {
            DataType::UInt8 => self.write_numbers::<UInt8Type>(array, nulls),
            DataType::UInt16 => self.write_numbers::<UInt16Type>(array, nulls),
            DataType::UInt32 => self.write_numbers::<UInt32Type>(array, nulls),
            _ => {
                let words = array.as_dictionary_opt::<Int32Type>();
                let words = words.ok_or_else(|| self.strange("neither words nor numbers"))?;
                self.write_words(words, nulls)?;
            }
        }
        self.page_rows += array.len();
        if self.descr.max_def_level() > 0 {
            match nulls {
                Some(nulls) => self.levels.extend(nulls.iter().map(u32::from)),
                None => self.levels.resize(self.page_rows, 1),
            }
            self.null_count += array.null_count() as u64;
        }
        Ok(())
    }

    fn write_words(
        &mut self,
        words: &DictionaryArray<Int32Type>,
        nulls: Option<&NullBuffer>,
    ) -> Result<(), ParquetError> {
        let values = words.values().as_string_opt::<i32>();
        let values = values.ok_or_else(|| self.strange("words that are not texts"))?;
        let dictionary = &mut self.dictionary;
        dictionary.point_at(values);
        let mut write = |key: i32| {
            let key = key.cast_unsigned() as usize;
            let index = match dictionary.index_by_key.get(key) {
                Some(&UNKNOWN) if values.is_null(key) => UNKNOWN,
                Some(&UNKNOWN) => dictionary.learn_word(key, values.value(key)),
                Some(index) => *index,
                None => UNKNOWN,
            };
            self.indices.push(index);
            index != UNKNOWN
        };
        let keys = words.keys().values();
        let known = match nulls {
            None => keys.iter().all(|key| write(*key)),
            Some(nulls) => nulls.valid_indices().all(|row| write(keys[row])),
        };
        if known { Ok(()) } else { Err(self.strange("a key without a word")) }
    }

    fn write_numbers<T: ArrowPrimitiveType<Native: Into<u32>>>(
        &mut self,
        array: &ArrayRef,
        nulls: Option<&NullBuffer>,
    ) {
        let numbers = array.as_primitive::<T>().values();
        let mut last = None;
        let mut write = |number: u32| {
            let index = match last {
                Some((before, index)) if before == number => index,
                _ => self.dictionary.number(number),
            };
            last = Some((number, index));
            self.indices.push(index);
        };
        match nulls {
            None => numbers.iter().for_each(|number| write((*number).into())),
            Some(nulls) => nulls.valid_indices().for_each(|row| write(numbers[row].into())),
        }
    }

    fn end_page(&mut self) -> Result<(), ParquetError> {
        if self.page_rows == 0 {
            return Ok(());
        }
        let mut page = Vec::new();
        if self.descr.max_def_level() > 0 {
            page.extend_from_slice(&[0; 4]);
            hybrid::encode(&self.levels, 1, &mut page);
            let size = u32::try_from(page.len() - 4)?;
            page[..4].copy_from_slice(&size.to_le_bytes());
        }
        let width = hybrid::width(self.dictionary.count.saturating_sub(1));
        page.push(width.to_le_bytes()[0]);
        hybrid::encode(&self.indices, width, &mut page);
        let compressed = Page::DataPage {
            buf: self.zstd.compress(&page)?.into(),
            num_values: u32::try_from(self.page_rows)?,
            encoding: Encoding::RLE_DICTIONARY,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        self.pages.push((CompressedPage::new(compressed, page.len()), self.page_rows));
        self.indices.clear();
        self.levels.clear();
        self.page_rows = 0;
        Ok(())
    }

    /// Ends the row group: its pages go into `group`, and the next begins.
    pub(super) fn end_group<W: Write + Send>(
        &mut self,
        group: &mut SerializedRowGroupWriter<'_, W>,
    ) -> Result<(), ParquetError> {
        self.end_page()?;
        let mut sink = TrackedWrite::new(Vec::new());
        let mut writer = SerializedPageWriter::new(&mut sink);
        let dictionary = Page::DictionaryPage {
            buf: self.zstd.compress(&self.dictionary.plain)?.into(),
            num_values: self.dictionary.count,
            encoding: Encoding::PLAIN,
            is_sorted: false,
        };
        let plain_size = i32::try_from(self.dictionary.plain.len())?; // as the format has it
        let written = writer.write_page(CompressedPage::new(dictionary, plain_size as usize))?;
        let data_offset = i64::try_from(written.bytes_written)?;
        let (mut uncompressed, mut row_count) = (written.uncompressed_size, 0);
        let page_count = i32::try_from(self.pages.len())?;
        let mut offsets = OffsetIndexBuilder::new();
        for (page, rows) in self.pages.drain(..) {
            let written = writer.write_page(page)?;
            offsets.append_row_count(i64::try_from(rows)?);
            let size = i32::try_from(written.compressed_size)?;
            offsets.append_offset_and_size(i64::try_from(written.offset)?, size);
            uncompressed += written.uncompressed_size;
            row_count += rows as u64;
        }
        let bytes = Bytes::from(sink.into_inner()?);
        let stats = |page_type, encoding, count| PageEncodingStats { page_type, encoding, count };
        let mut metadata = ColumnChunkMetaData::builder(self.descr.clone())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL)?))
            .set_encodings(vec![Encoding::PLAIN, Encoding::RLE, Encoding::RLE_DICTIONARY])
            .set_page_encoding_stats(vec![
                stats(PageType::DICTIONARY_PAGE, Encoding::PLAIN, 1),
                stats(PageType::DATA_PAGE, Encoding::RLE_DICTIONARY, page_count),
            ])
            .set_total_compressed_size(i64::try_from(bytes.len())?)
            .set_total_uncompressed_size(i64::try_from(uncompressed)?)
            .set_num_values(i64::try_from(row_count)?)
            .set_dictionary_page_offset(Some(0))
            .set_data_page_offset(data_offset);
        if self.has_bounds {
            let is_text = self.descr.physical_type() == parquet::basic::Type::BYTE_ARRAY;
            metadata = metadata.set_statistics(self.dictionary.bounds(is_text, self.null_count));
        }
        let closed = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: row_count,
            metadata: metadata.build()?,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(offsets.build()),
        };
        self.dictionary = Dictionary::default();
        self.null_count = 0;
        group.append_column(&bytes, closed)
    }

    fn strange(&self, what: &str) -> ParquetError {
        ParquetError::General(format!("column {}: {what}", self.descr.path()))
    }
}

impl Dictionary {
    /// Makes keys point at these texts from now on.
    fn point_at(&mut self, values: &StringArray) {
        let same = |known: &StringArray| {
            known.len() == values.len()
                && known.offsets().as_ptr() == values.offsets().as_ptr()
                && known.values().as_ptr() == values.values().as_ptr()
        };
        // Kept and therefore alive: nothing else can come to lie where it lies.
        if !self.values.as_ref().is_some_and(same) {
            self.values = Some(values.clone());
            self.index_by_key.clear();
            self.index_by_key.resize(values.len(), UNKNOWN);
        }
    }

    #[cold]
    fn learn_word(&mut self, key: usize, text: &str) -> u32 {
        let index = match self.index_by_text.get(text) {
            Some(index) => *index, // of other keys: several arrays have come, or one has it twice
            None => self.add_word(text),
        };
        self.index_by_key[key] = index;
        index
    }

    fn add_word(&mut self, text: &str) -> u32 {
        // Texts in a file have at most 64 KiB.
        let size = u32::try_from(text.len()).unwrap_or(u32::MAX);
        self.plain.extend_from_slice(&size.to_le_bytes());
        self.plain.extend_from_slice(text.as_bytes());
        match &mut self.texts {
            None => self.texts = Some((text.into(), text.into())),
            Some((min, _)) if text < &**min => *min = text.into(),
            Some((_, max)) if text > &**max => *max = text.into(),
            Some(_) => {}
        }
        self.index_by_text.insert(text.into(), self.count);
        self.count += 1;
        self.count - 1
    }

    fn number(&mut self, number: u32) -> u32 {
        let count = self.count;
        let index = *self.index_by_number.entry(number).or_insert(count);
        if index == count {
            self.plain.extend_from_slice(&number.to_le_bytes());
            let (min, max) = self.numbers.unwrap_or((number, number));
            self.numbers = Some((min.min(number), max.max(number)));
            self.count += 1;
        }
        index
    }

    /// Bounds as the library writes them: exact, and without the deprecated fields, which are
    /// signed.
    fn bounds(&self, is_text: bool, null_count: u64) -> Statistics {
        let nulls = Some(null_count);
        if is_text {
            let bytes = |text: &str| ByteArray::from(text.as_bytes().to_vec());
            let (min, max) = self.texts.as_ref().map(|(min, max)| (bytes(min), bytes(max))).unzip();
            return ValueStatistics::new(min, max, None, nulls, false).into();
        }
        let of = |(min, max): (u32, u32)| (min.cast_signed(), max.cast_signed());
        let (min, max) = self.numbers.map(of).unzip();
        ValueStatistics::new(min, max, None, nulls, false).into()
    }
}

/// Spreads numbers of processes and threads, which differ in their low bits, over all bits.
#[derive(Default)]
struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        // 2^64 by the golden ratio, odd; the table takes its bits from both ends.
        let product = (self.0 ^ u64::from(number)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = product ^ (product >> 32);
    }
}
