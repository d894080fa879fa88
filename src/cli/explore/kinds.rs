//! Variants that differ in more than sizes.

use looptree::explore::Variant;
use std::collections::HashMap;

/// The steps of a recipe, without the sizes in them.
type Kind = Vec<String>;

fn kind(variant: &Variant) -> Kind {
    variant.recipe.0.iter().map(|step| without_sizes(&step.to_string())).collect()
}

/// A step without numbers behind its `;`: loops are in front of it, and may have numbers in their paths.
fn without_sizes(step: &str) -> String {
    let Some((loops, rest)) = step.split_once(';') else { return step.to_string() };
    let is_size = |word: &&str| word.trim_start_matches('-').chars().all(|c| c.is_ascii_digit());
    let words = rest.split([';', ',', ' ', ')']).filter(|w| !w.is_empty() && !is_size(w));
    words.fold(loops.to_string(), |kind, word| kind + "; " + word)
}

/// Ranks of the variants that are shown: of each kind the first, in order, as many as are wanted; where there are not as many
/// kinds, those that come first of the others too.
pub fn shown(variants: &[Variant], most: usize) -> Vec<usize> {
    let mut met = HashMap::new();
    let (first, others): (Vec<usize>, Vec<usize>) =
        (0..variants.len()).partition(|&rank| met.insert(kind(&variants[rank]), ()).is_none());
    let mut ranks: Vec<usize> = first.into_iter().chain(others).take(most).collect();
    ranks.sort_unstable();
    ranks
}

/// For each variant how many others differ from it in sizes only.
pub fn alike(variants: &[Variant]) -> Vec<usize> {
    let kinds: Vec<Kind> = variants.iter().map(kind).collect();
    let mut count: HashMap<&Kind, usize> = HashMap::new();
    for kind in &kinds {
        *count.entry(kind).or_default() += 1;
    }
    kinds.iter().map(|kind| count[kind] - 1).collect()
}

#[cfg(test)]
mod tests {
    use super::without_sizes;

    #[test]
    fn sizes_are_no_part_of_a_kind() {
        for (step, kind) in [
            ("tile(@1.0.0; 256)", "tile(@1.0.0"),
            ("tile(@1, @1.0; 32, 64; full)", "tile(@1, @1.0; full"),
            ("unroll(i; full)", "unroll(i; full"),
            ("shift(i; -1)", "shift(i"),
            ("pack(@1.0; A; computed)", "pack(@1.0; A; computed"),
            ("interchange(@1)", "interchange(@1)"),
        ] {
            assert_eq!(without_sizes(step), kind);
        }
    }
}
