//! The cheapest set that meets each of several sets: a weighted hitting set, by branch and bound with a bound by dual ascent.

/// A set of small numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Set(Vec<u64>);

impl Set {
    /// Of these.
    pub fn of(numbers: impl IntoIterator<Item = usize>) -> Set {
        let mut set = Set::default();
        numbers.into_iter().for_each(|n| set.insert(n));
        set
    }

    /// Whether it is in.
    pub fn contains(&self, n: usize) -> bool {
        self.0.get(n / 64).is_some_and(|word| word >> (n % 64) & 1 == 1)
    }

    fn insert(&mut self, n: usize) {
        if self.0.len() <= n / 64 {
            self.0.resize(n / 64 + 1, 0);
        }
        self.0[n / 64] |= 1 << (n % 64);
    }

    fn remove(&mut self, n: usize) {
        if let Some(word) = self.0.get_mut(n / 64) {
            *word &= !(1 << (n % 64));
        }
    }

    fn meets(&self, other: &Set) -> bool {
        self.0.iter().zip(&other.0).any(|(a, b)| a & b != 0)
    }

    fn includes(&self, other: &Set) -> bool {
        other.0.iter().enumerate().all(|(n, word)| word & !self.0.get(n).copied().unwrap_or(0) == 0)
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        self.0
            .iter()
            .enumerate()
            .flat_map(|(n, word)| (0..64).filter(move |b| word >> b & 1 == 1).map(move |b| 64 * n + b))
    }
}

/// A set that meets all.
pub struct Cover {
    /// Its members.
    pub set: Set,
    /// Nothing that meets all weighs less.
    pub bound: u64,
}

/// The cheapest set that meets all of `sets`, none of which is empty; the best so far when no branchings are `left`.
pub fn cheapest(weights: &[u64], sets: &[Set], left: &mut usize) -> Cover {
    let mut cover = Cover { set: Set::default(), bound: 0 };
    for part in parts(minimal(sets)) {
        let mut search = Search { weights, sets: &part, best: greedy(weights, &part), left: *left };
        let root = search.dual(&Set::default(), &Set::default());
        search.branch(&mut Set::default(), &mut Set::default(), 0);
        // What a search that was cut off has not seen may be as cheap as the bound at its root.
        cover.bound += if search.left > 0 { weight(weights, &search.best) } else { root };
        *left = search.left;
        search.best.iter().for_each(|n| cover.set.insert(n));
    }
    cover
}

/// Those that include no other.
fn minimal(sets: &[Set]) -> Vec<Set> {
    let mut sets = sets.to_vec();
    sets.sort_by_key(|s| s.iter().count());
    let mut kept: Vec<Set> = Vec::new();
    for set in sets {
        if !kept.iter().any(|k| set.includes(k)) {
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
        let (joined, apart): (Vec<_>, Vec<_>) = parts.into_iter().partition(|(m, _)| m.meets(&members));
        parts = apart;
        for (other, sets) in joined {
            other.iter().for_each(|n| members.insert(n));
            group.extend(sets);
        }
        parts.push((members, group));
    }
    parts.into_iter().map(|(_, sets)| sets).collect()
}

fn weight(weights: &[u64], set: &Set) -> u64 {
    set.iter().map(|n| weights[n]).sum()
}

/// Takes what meets most for its weight, then leaves out what is not needed.
fn greedy(weights: &[u64], sets: &[Set]) -> Set {
    let mut chosen = Set::default();
    loop {
        let open: Vec<&Set> = sets.iter().filter(|s| !s.meets(&chosen)).collect();
        let met = |n: usize| open.iter().filter(|s| s.contains(n)).count() as u128;
        let candidates = open.iter().flat_map(|s| s.iter());
        // met / weight, without division.
        let Some(best) = candidates.max_by(|a, b| {
            (met(*a) * u128::from(weights[*b])).cmp(&(met(*b) * u128::from(weights[*a]))).then(b.cmp(a))
        }) else {
            break;
        };
        chosen.insert(best);
    }
    let mut members: Vec<usize> = chosen.iter().collect();
    members.sort_by_key(|n| std::cmp::Reverse((weights[*n], *n)));
    for n in members {
        chosen.remove(n);
        if !sets.iter().all(|s| s.meets(&chosen)) {
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
        for set in self.sets.iter().filter(|s| !s.meets(chosen)) {
            let members = || set.iter().filter(|n| !excluded.contains(*n));
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
        let open = self.sets.iter().filter(|s| !s.meets(chosen));
        let left = |s: &Set| s.iter().filter(|n| !excluded.contains(*n)).collect::<Vec<usize>>();
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
            let sets: Vec<Set> = sets.into_iter().map(Set::of).collect();
            let mut left = usize::MAX;
            let found = cheapest(&weights, &sets, &mut left);
            prop_assert!(sets.iter().all(|s| s.meets(&found.set)));
            let all = (0..1_usize << 10).map(|bits| Set::of((0..10).filter(|n| bits >> n & 1 == 1)));
            let best = all.filter(|c| sets.iter().all(|s| s.meets(c))).map(|c| weight(&weights, &c)).min();
            prop_assert_eq!(Some(weight(&weights, &found.set)), best);
            prop_assert_eq!(Some(found.bound), best);
            // Cut off at once, it still meets all, and its bound is none too high.
            let hasty = cheapest(&weights, &sets, &mut 1);
            prop_assert!(sets.iter().all(|s| s.meets(&hasty.set)));
            prop_assert!(Some(hasty.bound) <= best);
        }
    }
}
