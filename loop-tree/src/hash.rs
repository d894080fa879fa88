//! Hashes of 128 bits of what implements [`Hash`].

use std::hash::{Hash, Hasher};

/// XXH3 of the value: equal for equal values, in every run.
pub fn hash128(value: &impl Hash) -> u128 {
    let mut bytes = Bytes(Vec::with_capacity(512));
    value.hash(&mut bytes);
    xxhash_rust::xxh3::xxh3_128(&bytes.0)
}

/// All that is hashed, in order: to hash it at once takes less than to hash it bit by bit.
struct Bytes(Vec<u8>);

impl Hasher for Bytes {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        xxhash_rust::xxh3::xxh3_64(&self.0)
    }
}
