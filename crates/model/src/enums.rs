use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, DictionaryArray, PrimitiveArray, StringArray};
use arrow_buffer::{ArrowNativeType, NullBuffer};
use logpose_schema::wpistruct::EnumNames;

/// A column of an enum while it grows. The dictionary has all names, then the numbers that turned up without one.
#[derive(Debug)]
pub(crate) struct Names {
    numbers: Vec<i64>,
    texts: Vec<String>,
    others: HashMap<i128, i32>,
    keys: Vec<i32>,
}

impl Names {
    pub(crate) fn new(names: &EnumNames) -> Self {
        let (numbers, texts) = names.iter().map(|(number, name)| (number, name.to_owned())).unzip();
        Self { numbers, texts, others: HashMap::new(), keys: Vec::new() }
    }

    /// Adds a number; it may be of any 64-bit type.
    pub(crate) fn push(&mut self, number: i128) {
        let named = i64::try_from(number).ok().and_then(|number| self.numbers.binary_search(&number).ok());
        let key = match named {
            Some(at) => i32::usize_as(at),
            None => *self.others.entry(number).or_insert_with(|| {
                self.texts.push(number.to_string());
                i32::usize_as(self.texts.len() - 1)
            }),
        };
        self.keys.push(key);
    }

    /// Adds a place for a null.
    pub(crate) fn push_nothing(&mut self) {
        self.keys.push(0);
    }

    pub(crate) fn finish(self, nulls: Option<NullBuffer>) -> ArrayRef {
        let keys = PrimitiveArray::<Int32Type>::new(self.keys.into(), nulls);
        Arc::new(DictionaryArray::new(keys, Arc::new(StringArray::from_iter_values(self.texts))))
    }
}
