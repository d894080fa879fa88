//! What was found once for each of many trees of one kernel.

use rustc_hash::FxHashMap;
use std::sync::{Mutex, PoisonError};

/// Values by hash, about `AT_MOST` of them at a time: then it is begun anew.
pub(crate) struct Remembered<V, const AT_MOST: usize>(Mutex<FxHashMap<u128, V>>);

impl<V, const AT_MOST: usize> Default for Remembered<V, AT_MOST> {
    fn default() -> Self {
        Remembered(Mutex::default())
    }
}

impl<V: Clone, const AT_MOST: usize> Remembered<V, AT_MOST> {
    /// The value of a key, found unless it is known. Others may find it at the same time.
    pub fn or_find(&self, key: u128, find: impl FnOnce() -> V) -> V {
        let known = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(value) = known().get(&key) {
            return value.clone();
        }
        let value = find();
        let mut known = known();
        if known.len() >= AT_MOST {
            known.clear();
        }
        known.insert(key, value.clone());
        value
    }
}

#[cfg(test)]
mod tests {
    use super::Remembered;

    #[test]
    fn finds_once_and_holds_no_more_than_it_may() {
        let remembered = Remembered::<u128, 2>::default();
        let known = |key| remembered.or_find(key, || 0) != 0;
        assert_eq!(remembered.or_find(1, || 10), 10);
        assert_eq!(remembered.or_find(1, || 11), 10);
        remembered.or_find(2, || 20);
        remembered.or_find(3, || 30);
        assert!(known(3));
        assert!(!known(1));
    }
}
