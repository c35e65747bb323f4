//! Answers of a server: columns by name and type, and rows made of them.

use crate::error::ClickHouseError;
use crate::http::Node;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int64Type, UInt64Type};
use arrow_array::{Array, ArrowPrimitiveType, RecordBatch, StringArray};
use chronoscope_model::ClassId;

/// Some rows of an answer.
pub struct ResultRows<'a> {
    /// The server that answered, for errors.
    pub node: &'a Node,
    /// The rows.
    pub batch: &'a RecordBatch,
}

impl<'a> ResultRows<'a> {
    fn column(&self, name: &str) -> Result<&'a dyn Array, ClickHouseError> {
        let column = self.batch.column_by_name(name);
        column.map(AsRef::as_ref).ok_or_else(|| self.node.unexpected_column(name))
    }

    /// A column of numbers; where it is null the value means nothing.
    ///
    /// # Errors
    /// [`ClickHouseError::Strange`] when the column is missing or of another type.
    pub fn numbers<T: ArrowPrimitiveType>(
        &self,
        name: &str,
    ) -> Result<&'a [T::Native], ClickHouseError> {
        let column = self.column(name)?.as_primitive_opt::<T>();
        column.map(|column| &column.values()[..]).ok_or_else(|| self.node.unexpected_column(name))
    }

    /// A column of ids.
    ///
    /// # Errors
    /// [`ClickHouseError::Strange`] when the column is missing or of another type.
    pub fn ids(&self, name: &str) -> Result<&'a [u64], ClickHouseError> {
        self.numbers::<UInt64Type>(name)
    }

    /// A column of nanoseconds, as instants or as durations.
    ///
    /// # Errors
    /// [`ClickHouseError::Strange`] when the column is missing or of another type.
    pub fn times(&self, name: &str) -> Result<&'a [i64], ClickHouseError> {
        self.numbers::<Int64Type>(name)
    }

    /// A column of texts.
    ///
    /// # Errors
    /// [`ClickHouseError::Strange`] when the column is missing or of another type.
    pub fn texts(&self, name: &str) -> Result<&'a StringArray, ClickHouseError> {
        self.column(name)?.as_string_opt::<i32>().ok_or_else(|| self.node.unexpected_column(name))
    }

    /// The list of texts in a row of a column of such.
    ///
    /// # Errors
    /// [`ClickHouseError::Strange`] when the column is missing or of another type.
    pub fn text_lists(&self, name: &str, row: usize) -> Result<Vec<String>, ClickHouseError> {
        let strange = || self.node.unexpected_column(name);
        let list = self.column(name)?.as_list_opt::<i32>().ok_or_else(strange)?.value(row);
        let texts = list.as_string_opt::<i32>().ok_or_else(strange)?;
        Ok(texts.iter().map(|text| text.unwrap_or_default().to_owned()).collect())
    }

    /// A column of lists of ids.
    ///
    /// # Errors
    /// [`ClickHouseError::Strange`] when the column is missing or of another type.
    pub fn id_lists(&self, name: &str) -> Result<Vec<Vec<u64>>, ClickHouseError> {
        let lists = self.number_lists::<UInt64Type>(name)?.into_iter();
        Ok(lists.map(<[u64]>::to_vec).collect())
    }

    /// A column of lists of numbers: each row's.
    ///
    /// # Errors
    /// [`ClickHouseError::Strange`] when the column is missing or of another type.
    pub fn number_lists<T: ArrowPrimitiveType>(
        &self,
        name: &str,
    ) -> Result<Vec<&'a [T::Native]>, ClickHouseError> {
        let strange = || self.node.unexpected_column(name);
        let column = self.column(name)?.as_list_opt::<i32>().ok_or_else(strange)?;
        let numbers = column.values().as_primitive_opt::<T>().ok_or_else(strange)?.values();
        let list = |ends: &[i32]| {
            let [from, until] = [ends.first(), ends.last()].map(|end| usize::try_from(*end?).ok());
            numbers.get(from?..until?)
        };
        let ends = column.value_offsets().windows(2);
        ends.map(|ends| list(ends).ok_or_else(strange)).collect()
    }

    /// A column of lists of class ids.
    ///
    /// # Errors
    /// [`ClickHouseError::Strange`] when the column is missing or of another type.
    pub fn lists(&self, name: &str) -> Result<Vec<Vec<ClassId>>, ClickHouseError> {
        let lists = self.id_lists(name)?.into_iter();
        Ok(lists.map(|list| list.into_iter().map(ClassId).collect()).collect())
    }
}
