//! The cheapest set that meets each of several sets: a weighted hitting set, by branch and bound with a bound by dual ascent.

use fixedbitset::FixedBitSet as Set;

/// A set that meets all.
pub struct Cover {
    /// Its members.
    pub set: Set,
    /// Nothing that meets all weighs less.
    pub bound: u64,
}

/// The cheapest set that meets all of `sets`, none of which is empty; the best so far when no branchings are `left`.
pub fn cheapest(weights: &[u64], sets: &[Set], left: &mut usize) -> Cover {
    let none = Set::with_capacity(weights.len());
    let mut cover = Cover { set: none.clone(), bound: 0 };
    for part in parts(minimal(sets)) {
        let mut search = Search { weights, sets: &part, best: greedy(weights, &part), left: *left };
        let root = search.dual(&none, &none);
        search.branch(&mut none.clone(), &mut none.clone(), 0);
        // What a search that was cut off has not seen may be as cheap as the bound at its root.
        cover.bound += if search.left > 0 { weight(weights, &search.best) } else { root };
        *left = search.left;
        cover.set.union_with(&search.best);
    }
    cover
}

/// Those that include no other.
fn minimal(sets: &[Set]) -> Vec<Set> {
    let mut sets = sets.to_vec();
    sets.sort_by_key(|s| s.count_ones(..));
    let mut kept: Vec<Set> = Vec::new();
    for set in sets {
        if !kept.iter().any(|k| set.is_superset(k)) {
            kept.push(set);
        }
    }
    kept
}

/// Groups that have no members in common.
fn parts(sets: Vec<Set>) -> Vec<Vec<Set>> {
    let mut parts: Vec<(Set, Vec<Set>)> = Vec::new();
    for set in sets {
        let (mut members, mut group) = (set.clone(), vec![set]);
        let (joined, apart): (Vec<_>, Vec<_>) =
            parts.into_iter().partition(|(m, _)| !m.is_disjoint(&members));
        parts = apart;
        for (other, sets) in joined {
            members.union_with(&other);
            group.extend(sets);
        }
        parts.push((members, group));
    }
    parts.into_iter().map(|(_, sets)| sets).collect()
}

fn weight(weights: &[u64], set: &Set) -> u64 {
    set.ones().map(|n| weights[n]).sum()
}

/// Takes what meets most for its weight, then leaves out what is not needed.
fn greedy(weights: &[u64], sets: &[Set]) -> Set {
    let mut chosen = Set::with_capacity(weights.len());
    loop {
        let open: Vec<&Set> = sets.iter().filter(|s| s.is_disjoint(&chosen)).collect();
        let met = |n: usize| open.iter().filter(|s| s.contains(n)).count() as u128;
        let candidates = open.iter().flat_map(|s| s.ones());
        // met / weight, without division.
        let Some(best) = candidates.max_by(|a, b| {
            (met(*a) * u128::from(weights[*b])).cmp(&(met(*b) * u128::from(weights[*a]))).then(b.cmp(a))
        }) else {
            break;
        };
        chosen.insert(best);
    }
    let mut members: Vec<usize> = chosen.ones().collect();
    members.sort_by_key(|n| std::cmp::Reverse((weights[*n], *n)));
    for n in members {
        chosen.remove(n);
        if sets.iter().any(|s| s.is_disjoint(&chosen)) {
            chosen.insert(n);
        }
    }
    chosen
}

struct Search<'a> {
    weights: &'a [u64],
    sets: &'a [Set],
    best: Set,
    left: usize,
}

impl Search<'_> {
    /// What is needed at least beside the chosen ones, without the excluded ones: prices of sets that no member exceeds.
    fn dual(&self, chosen: &Set, excluded: &Set) -> u64 {
        let mut left = self.weights.to_vec();
        let mut sum = 0;
        for set in self.sets.iter().filter(|s| s.is_disjoint(chosen)) {
            let members = || set.ones().filter(|n| !excluded.contains(*n));
            let Some(price) = members().map(|n| left[n]).min() else { return u64::MAX };
            members().for_each(|n| left[n] -= price);
            sum += price;
        }
        sum
    }

    fn branch(&mut self, chosen: &mut Set, excluded: &mut Set, cost: u64) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        if cost.saturating_add(self.dual(chosen, excluded)) >= weight(self.weights, &self.best) {
            return;
        }
        // The set with the fewest members left is met by one of them.
        let open = self.sets.iter().filter(|s| s.is_disjoint(chosen));
        let left = |s: &Set| s.ones().filter(|n| !excluded.contains(*n)).collect::<Vec<usize>>();
        let Some(members) = open.map(left).min_by_key(Vec::len) else {
            self.best = chosen.clone();
            return;
        };
        for n in &members {
            chosen.insert(*n);
            self.branch(chosen, excluded, cost + self.weights[*n]);
            chosen.remove(*n);
            excluded.insert(*n);
        }
        members.iter().for_each(|n| excluded.remove(*n));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nothing_is_cheaper(
            weights in prop::collection::vec(1_u64..100, 10),
            sets in prop::collection::vec(prop::collection::vec(0_usize..10, 1..5), 0..14),
        ) {
            let sets: Vec<Set> = sets.into_iter().map(Set::from_iter).collect();
            let mut left = usize::MAX;
            let found = cheapest(&weights, &sets, &mut left);
            prop_assert!(sets.iter().all(|s| !s.is_disjoint(&found.set)));
            let all = (0..1_usize << 10).map(|bits| Set::from_iter((0..10).filter(|n| bits >> n & 1 == 1)));
            let best = all.filter(|c| sets.iter().all(|s| !s.is_disjoint(c))).map(|c| weight(&weights, &c)).min();
            prop_assert_eq!(Some(weight(&weights, &found.set)), best);
            prop_assert_eq!(Some(found.bound), best);
            // Cut off at once, it still meets all, and its bound is none too high.
            let hasty = cheapest(&weights, &sets, &mut 1);
            prop_assert!(sets.iter().all(|s| !s.is_disjoint(&hasty.set)));
            prop_assert!(Some(hasty.bound) <= best);
        }
    }
}
