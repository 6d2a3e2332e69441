use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use crate::SchemaError;

/// Results by name, found out once. Failures are kept as well: a type without schema fails with every sample.
#[derive(Debug)]
pub(crate) struct Cache<T>(RwLock<HashMap<String, Result<T, SchemaError>>>);

impl<T> Default for Cache<T> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}

impl<T: Clone> Cache<T> {
    pub(crate) fn find_or(&self, name: &str, make: impl FnOnce() -> Result<T, SchemaError>) -> Result<T, SchemaError> {
        if let Some(found) = self.0.read().unwrap_or_else(PoisonError::into_inner).get(name) {
            return found.clone();
        }
        let made = make();
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), made.clone());
        made
    }

    /// Drops failures and what does not pass.
    pub(crate) fn retain(&mut self, pass: impl Fn(&T) -> bool) {
        let map = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        map.retain(|_, result| result.as_ref().is_ok_and(&pass));
    }

    pub(crate) fn clear(&mut self) {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
