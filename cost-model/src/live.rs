//! What an iteration holds in registers between the definition and the last use of a value, and what it costs to hold too much.

use rustc_hash::{FxHashMap, FxHashSet};

/// The values of an iteration, by number, in order of their uses.
#[derive(Default)]
pub(crate) struct Live {
    /// A value, where it is defined or used; whether it is a floating-point value.
    uses: Vec<(u32, bool)>,
    /// Uses of floating-point constants by operations, and how many different ones there are.
    constant_uses: usize,
    constants: Vec<u32>,
    /// Those that are in registers of their own while the loop runs.
    elsewhere: FxHashSet<u32>,
}

/// Accesses of the stack and of constants in memory that an iteration makes for want of registers.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
pub(crate) struct Spills {
    pub stores: f64,
    pub loads: f64,
}

impl Spills {
    /// Of values that take so many registers each.
    pub fn times(self, registers: f64) -> Spills {
        Spills { stores: self.stores * registers, loads: self.loads * registers }
    }
}

impl Live {
    /// A value is defined or used here.
    pub fn value(&mut self, number: u32, float: bool) {
        if !self.elsewhere.contains(&number) {
            self.uses.push((number, float));
        }
    }

    /// A value just defined, or loaded before the loop, is the one of an accumulator.
    pub fn accumulates(&mut self, number: u32) {
        while self.uses.pop_if(|u| u.0 == number).is_some() {}
        self.elsewhere.insert(number);
    }

    /// An operation takes a constant.
    pub fn constant(&mut self, number: u32) {
        self.constant_uses += 1;
        if !self.constants.contains(&number) {
            self.constants.push(number);
        }
    }

    /// What does not fit into so many registers. Constants go first: they need not be stored, and each operation then takes them from
    /// memory. Of the other values that one goes which is used last. `all`: integers are in vectors, too.
    pub fn spills(&self, registers: usize, all: bool) -> Spills {
        let kept: Vec<u32> = self.uses.iter().filter(|u| all || u.1).map(|u| u.0).collect();
        let next = next_uses(&kept);
        let most = most_at_once(&kept, &next);
        let beyond = most + self.constants.len() > registers;
        let constants = if beyond { self.constant_uses as f64 } else { 0.0 };
        if most <= registers {
            return Spills { stores: 0.0, loads: constants };
        }
        let (stores, loads) = farthest_first(&kept, &next, registers.max(1));
        Spills { stores: stores as f64, loads: loads as f64 + constants }
    }
}

/// For each use, the next one of the same value.
fn next_uses(uses: &[u32]) -> Vec<Option<usize>> {
    let mut next = vec![None; uses.len()];
    let mut later: FxHashMap<u32, usize> = FxHashMap::default();
    for (at, value) in uses.iter().enumerate().rev() {
        next[at] = later.insert(*value, at);
    }
    next
}

/// The greatest number of values that are between their first and their last use.
fn most_at_once(uses: &[u32], next: &[Option<usize>]) -> usize {
    let mut seen: FxHashSet<u32> = FxHashSet::default();
    let (mut live, mut most) = (0usize, 0);
    for (value, next) in uses.iter().zip(next) {
        let first = seen.insert(*value);
        match (first, next.is_some()) {
            (true, true) => live += 1,
            (false, false) => live -= 1,
            _ => {}
        }
        most = most.max(live);
    }
    most
}

/// Stores to the stack and loads from it, if that value goes which is used again last (Belady, "A study of replacement algorithms for a
/// virtual-storage computer", 1966).
fn farthest_first(uses: &[u32], next: &[Option<usize>], registers: usize) -> (usize, usize) {
    let mut held: Vec<(u32, usize)> = Vec::with_capacity(registers + 1);
    let mut stored: FxHashSet<u32> = FxHashSet::default();
    let mut loads = 0;
    for (at, value) in uses.iter().enumerate() {
        match held.iter().position(|h| h.0 == *value) {
            Some(place) => {
                held.swap_remove(place);
            }
            None if stored.contains(value) => loads += 1,
            None => {}
        }
        let Some(next) = next[at] else { continue };
        held.push((*value, next));
        if held.len() > registers
            && let Some(last) = (0..held.len()).max_by_key(|h| held[*h].1)
        {
            stored.insert(held.swap_remove(last).0);
        }
    }
    (stored.len(), loads)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn live(uses: &[u32]) -> Live {
        let mut live = Live::default();
        uses.iter().for_each(|u| live.value(*u, true));
        live
    }

    #[test]
    fn what_fits_is_held() {
        assert_eq!(live(&[1, 2, 1, 2]).spills(2, false), Spills::default());
    }

    #[test]
    fn of_too_many_the_one_used_last_is_stored_and_comes_back() {
        assert_eq!(live(&[1, 2, 3, 3, 2, 1]).spills(2, false), Spills { stores: 1.0, loads: 1.0 });
    }

    #[test]
    fn constants_leave_their_registers_first() {
        let mut live = live(&[1, 2, 1, 2]);
        (0..5).for_each(|_| live.constant(9));
        assert_eq!(live.spills(3, false), Spills::default());
        assert_eq!(live.spills(2, false), Spills { stores: 0.0, loads: 5.0 });
    }
}
