//! Which variants stand for all.

use looptree::explore::Variant;
use std::collections::{BTreeMap, BTreeSet};

/// Of the first this many, each is measured.
const TOP: usize = 8;

/// Ranks of `count` variants, fewer where there are fewer, in order: the first ones, the best and the worst after each kind of last
/// step, then ranks at equal distances. The original is not among them.
pub fn spread(variants: &[Variant], count: usize) -> Vec<usize> {
    let kinds: Vec<Option<&str>> = variants.iter().map(|v| v.recipe.0.last().map(|s| s.name())).collect();
    of_kinds(&kinds, count)
}

/// No kind: the original.
fn of_kinds(kinds: &[Option<&str>], count: usize) -> Vec<usize> {
    let ranks: Vec<usize> = (0..kinds.len()).filter(|r| kinds[*r].is_some()).collect();
    let mut by_kind: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for rank in &ranks {
        by_kind.entry(kinds[*rank].unwrap_or("")).or_insert((*rank, *rank)).1 = *rank;
    }
    let firsts = ranks.iter().copied().take(TOP);
    let wanted = firsts.chain(by_kind.values().map(|k| k.0)).chain(by_kind.values().map(|k| k.1));
    let mut chosen = BTreeSet::new();
    for rank in wanted {
        if chosen.len() < count {
            chosen.insert(rank);
        }
    }
    let rest: Vec<usize> = ranks.into_iter().filter(|r| !chosen.contains(r)).collect();
    let more = count.saturating_sub(chosen.len()).min(rest.len());
    chosen.extend((0..more).map(|i| rest[i * rest.len() / more]));
    chosen.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spread_has_the_first_every_kind_and_the_rest_evenly() {
        let mut kinds: Vec<Option<&str>> = vec![Some("tile"); 100];
        kinds[3] = None;
        kinds[50] = Some("fuse");
        kinds[70] = Some("fuse");
        kinds[60] = Some("fuse");
        let chosen = of_kinds(&kinds, 20);
        assert_eq!(chosen.len(), 20);
        assert_eq!(chosen[..8], [0, 1, 2, 4, 5, 6, 7, 8]);
        assert!([50, 70, 99].iter().all(|r| chosen.contains(r)));
        assert!(chosen.is_sorted() && !chosen.contains(&3));
        assert_eq!(of_kinds(&kinds[..5], 30), [0, 1, 2, 4]);
        assert_eq!(of_kinds(&[], 30), [0_usize; 0]);
    }
}
