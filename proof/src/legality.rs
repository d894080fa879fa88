//! The oracle against enumeration: random kernels, random sequences of transformations, all small sizes.

use crate::brute_force::{
    Addresses, Beyond, Execution, carried, condition_holds, enumerate, order_violation, reads_unset,
    violation,
};
use crate::buffers::with_random_buffer;
use crate::kernels::{SMALL, Source};
use crate::soak::add_counts;
use analyses::dependences::Polyhedral;
use analyses::{Oracle, OracleOptions, Unsupported, Verdict, Witness};
use fastrand::Rng;
use loop_tree::interp::{Layout, Memory, RunOptions, run};
use loop_tree::{ArrayId, Green, Kernel, Node, Path, text};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use transforms::{Context, Merge, MoveOptions, Recipe, Registry, Step, moves};

/// Counts of a run.
#[derive(Clone, Default, Debug, Serialize, Deserialize)]
pub struct Tally {
    /// Kernels.
    pub kernels: u64,
    /// Kernels that the oracle, or enumeration, cannot describe.
    pub beyond: BTreeMap<String, u64>,
    /// Variants judged.
    pub judged: u64,
    /// `Always`
    pub always: u64,
    /// `Under`
    pub under: u64,
    /// `Never`
    pub never: u64,
    /// `Never`, and enumeration finds nothing wrong at any size: by cause.
    pub false_refusals: BTreeMap<String, u64>,
    /// Examples of these, one per cause.
    pub examples: BTreeMap<String, String>,
    /// Of the variants judged: those with buffers, and how many of them are allowed.
    pub buffered: (u64, u64),
    /// Executions of variants with buffers of which enumeration finds nothing wrong, with the result of the original.
    pub executed: u64,
    /// Loops that are said to be parallel, and are.
    pub parallel: u64,
    /// Loops that are not said to be parallel, though nothing is carried at any size.
    pub false_sequential: u64,
}

impl Tally {
    /// Adds the counts of another one.
    pub fn add(&mut self, other: &Tally) {
        self.kernels += other.kernels;
        self.judged += other.judged;
        self.always += other.always;
        self.under += other.under;
        self.never += other.never;
        self.buffered.0 += other.buffered.0;
        self.buffered.1 += other.buffered.1;
        self.executed += other.executed;
        self.parallel += other.parallel;
        self.false_sequential += other.false_sequential;
        add_counts(&mut self.beyond, &other.beyond);
        add_counts(&mut self.false_refusals, &other.false_refusals);
        for (cause, text) in &other.examples {
            self.examples.entry(cause.clone()).or_insert_with(|| text.clone());
        }
    }
}

/// A wrong answer of the oracle.
#[derive(Clone, Debug)]
pub struct Unsound {
    /// The kernel.
    pub text: String,
    /// The variant.
    pub recipe: String,
    /// What the oracle said.
    pub verdict: String,
    /// Values of the parameters.
    pub params: Vec<i64>,
    /// Where the arrays lie.
    pub places: Addresses,
    /// What is wrong.
    pub wrong: String,
}

impl std::fmt::Display for Unsound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "; recipe: {}", self.recipe)?;
        writeln!(f, "; the oracle says {}", self.verdict)?;
        writeln!(f, "; with parameters {:?} and arrays at {:?}: {}", self.params, self.places.0, self.wrong)?;
        f.write_str(&self.text)
    }
}

/// Small sizes of everything, so that small kernels show each case.
pub fn small_moves() -> MoveOptions {
    MoveOptions {
        tile_sizes: vec![2, 3],
        two_level_tiles: vec![(4, 2)],
        strip_sizes: vec![2, 3],
        unroll_factors: vec![2, 3],
        full_unroll: 4,
        jam_factors: vec![2, 3],
        peel: vec![1, 2],
        lanes: vec![2, 3, 4],
        ..MoveOptions::default()
    }
}

const SIZES: [(i64, i64); 9] = [(5, 4), (4, 6), (3, 3), (6, 2), (1, 5), (2, 1), (0, 3), (4, 0), (-1, 2)];

/// One size and one placing, and what the original does there.
struct Setting {
    params: Vec<i64>,
    original: Execution,
    places: Vec<Addresses>,
    /// The original reads what was not set: its result is not determined.
    unset: bool,
}

/// A kernel ready to be checked.
pub struct Subject {
    text: String,
    kernel: Arc<Kernel>,
    oracle: Oracle,
    settings: Vec<Setting>,
    /// Variants have buffers; those allowed are executed.
    storage: bool,
}

impl Subject {
    /// Reads a kernel and enumerates it. The error says why it is not a test. `storage`: variants have buffers.
    pub fn new(text: String, storage: bool) -> Result<Subject, String> {
        let kernel = text::parse(&text).map_err(|e| format!("text: {e}"))?.kernel;
        let oracle = Oracle::new(kernel.clone(), &Polyhedral::default(), OracleOptions::default());
        let oracle = oracle.map_err(|e| format!("oracle: {e}"))?;
        let mut settings = Vec::new();
        for (n, m) in SIZES {
            let params: Vec<i64> = [n, m].into_iter().take(kernel.params.len()).collect();
            let value = |c: &loop_tree::Constraint| {
                c.expression
                    .eval(&|_| None, &|p| params.get(p.index()).copied())
                    .is_some_and(|v| c.accepts(v))
            };
            if !kernel.context.iter().all(value) {
                continue;
            }
            let original = match enumerate(&kernel, &kernel.original, &params) {
                Ok(original) if original.instances.len() > 400 => continue,
                Ok(original) => original,
                Err(Beyond::TooMany) => continue,
                Err(error) => return Err(format!("enumeration: {error}")),
            };
            let places = all_places(&kernel);
            match violation(&kernel, &original, &original, &params, &places[0]) {
                Ok(None) => {
                    let unset = storage && reads_unset(&kernel, &original, &params, &places[0]) != Ok(false);
                    settings.push(Setting { params, original, places, unset });
                }
                Ok(Some(_)) => return Err("enumeration: an instance runs twice".to_owned()),
                Err(Beyond::Outside) => {}
                Err(error) => return Err(format!("enumeration: {error}")),
            }
        }
        if settings.iter().all(|s| s.original.instances.len() < 2) {
            return Err("enumeration: nothing runs".to_owned());
        }
        Ok(Subject { text, kernel, oracle, settings, storage })
    }

    /// The kernel.
    pub fn kernel(&self) -> &Arc<Kernel> {
        &self.kernel
    }

    /// Compares the oracle's answer on a tree with enumeration.
    pub fn check(&self, root: &Green, recipe: &Recipe, tally: &mut Tally) -> Result<(), Box<Unsound>> {
        let verdict = self.oracle.judge(root);
        tally.judged += 1;
        match &verdict {
            Verdict::Always => tally.always += 1,
            Verdict::Under(_) => tally.under += 1,
            Verdict::Never(_) => tally.never += 1,
        }
        let buffered = has_buffers(root);
        if buffered {
            tally.buffered.0 += 1;
            tally.buffered.1 += u64::from(verdict.is_legal());
        }
        let described = if buffered {
            format!("{recipe}\nvariant {{\n{}}}\n", text::print_tree(&self.kernel, root))
                .replace('\n', "\n; ")
        } else {
            recipe.to_string()
        };
        let unsound = |setting: &Setting, places: &Addresses, wrong: String, verdict: String| {
            let (text, recipe) = (self.text.clone(), described.clone());
            let (params, places) = (setting.params.clone(), places.clone());
            Box::new(Unsound { text, recipe, verdict, params, places, wrong })
        };
        let facts = if verdict.is_legal() { self.oracle.loop_facts(root) } else { BTreeMap::new() };
        let parallel: BTreeSet<Path> =
            facts.iter().filter(|(_, f)| f.parallel).map(|(path, _)| path.clone()).collect();
        assert_eq!(self.oracle.parallel(root, |_| false), parallel, "of {recipe}\n{}", self.text);
        let mut carries: BTreeMap<&Path, bool> = BTreeMap::new();
        let (mut wrong, mut complete) = (false, true);
        for setting in &self.settings {
            let Ok(variant) = enumerate(&self.kernel, root, &setting.params) else {
                complete = false;
                continue;
            };
            for (number, places) in setting.places.iter().enumerate() {
                let Some(conditions) = verdict.conditions() else {
                    // One place shows whether a refusal was needed.
                    if number == 0 {
                        let v = violation(&self.kernel, &setting.original, &variant, &setting.params, places);
                        wrong |= !matches!(v, Ok(None));
                        if buffered
                            && v == Ok(None)
                            && let Some(wrong) = self.executes_otherwise(setting, root, tally)
                        {
                            let verdict = "what enumeration does not say".to_owned();
                            return Err(unsound(setting, places, wrong, verdict));
                        }
                    }
                    continue;
                };
                let holds = |c| condition_holds(&self.kernel, &setting.original, c, &setting.params, places);
                if !conditions.iter().all(|c| holds(c) == Ok(true)) {
                    continue;
                }
                match violation(&self.kernel, &setting.original, &variant, &setting.params, places) {
                    Ok(Some(v)) => {
                        return Err(unsound(setting, places, format!("{v:?}"), format!("{verdict:?}")));
                    }
                    Ok(None) if buffered && number == 0 => {
                        if let Some(wrong) = self.executes_otherwise(setting, root, tally) {
                            return Err(unsound(setting, places, wrong, format!("{verdict:?}")));
                        }
                    }
                    Ok(None) => {}
                    Err(_) => complete = false,
                }
                for (path, facts) in &facts {
                    let carried = carried(&self.kernel, &variant, path, &setting.params, places);
                    match carried {
                        Ok(Some(v)) if facts.parallel => {
                            return Err(unsound(
                                setting,
                                places,
                                format!("{v:?}"),
                                format!("{path} is parallel"),
                            ));
                        }
                        Ok(Some(_)) => *carries.entry(path).or_default() = true,
                        _ => {}
                    }
                }
            }
        }
        for (path, facts) in &facts {
            if facts.parallel {
                tally.parallel += 1;
            } else if facts.parallel_if.is_none() && !carries.contains_key(path) {
                tally.false_sequential += 1;
            }
        }
        if let Verdict::Never(witness) = &verdict
            && !wrong
            && complete
            && !self.confirms(root, witness)
        {
            let order = if !buffered {
                ""
            } else if self.keeps_order(root) {
                "buffers: "
            } else {
                "buffers, in another order: "
            };
            let detail = match witness {
                Witness::Storage(broken) => format!(": {:?}", broken.problem),
                Witness::Unsupported(Unsupported::Buffer { why, .. }) => format!(": {why}"),
                _ => String::new(),
            };
            let cause = format!("{order}{}{detail}", witness.category());
            let example = format!("; {described}\n; {witness:?}\n{}", self.text);
            *tally.false_refusals.entry(cause.clone()).or_default() += 1;
            tally.examples.entry(cause).or_insert(example);
        }
        Ok(())
    }

    /// Whether the order of all that touches the same byte is that of the original, wherever it goes.
    fn keeps_order(&self, root: &Green) -> bool {
        self.settings.iter().all(|s| {
            let Ok(variant) = enumerate(&self.kernel, root, &s.params) else { return false };
            matches!(order_violation(&self.kernel, &s.original, &variant, &s.params, &s.places[0]), Ok(None))
        })
    }

    /// What is different where the interpreter executes both orders.
    fn executes_otherwise(&self, setting: &Setting, root: &Green, tally: &mut Tally) -> Option<String> {
        if !self.storage || setting.unset {
            return None;
        }
        let layout = Layout::disjoint(&self.kernel, &setting.params, &|_| SMALL).ok()?;
        let execute = |tree: &Green, reverse_parallel| {
            let mut memory = Memory::new(layout.clone());
            memory.fill(11);
            let options = RunOptions { reverse_parallel, ..RunOptions::default() };
            run(&self.kernel, tree, &mut memory, &options).map(|_| memory.bits())
        };
        let wanted = execute(&self.kernel.original, false).ok()?;
        for reverse in [false, true] {
            match execute(root, reverse) {
                Ok(bits) if bits == wanted => tally.executed += 1,
                Ok(_) => return Some("the interpreter gets another result".to_owned()),
                Err(error) => return Some(format!("the interpreter: {error}")),
            }
        }
        None
    }

    /// Whether the variant is wrong for the parameters of the witness's example.
    fn confirms(&self, root: &Green, witness: &Witness) -> bool {
        let params = match witness {
            Witness::Order(d) | Witness::Carried { dependence: d, .. } => &d.params,
            Witness::Coverage(c) => &c.params,
            _ => return false,
        };
        let params: Vec<i64> = params.iter().map(|p| p.1).collect();
        let (original, variant) =
            (enumerate(&self.kernel, &self.kernel.original, &params), enumerate(&self.kernel, root, &params));
        let (Ok(original), Ok(variant)) = (original, variant) else { return false };
        let places = Addresses::apart(&self.kernel);
        matches!(violation(&self.kernel, &original, &variant, &params, &places), Ok(Some(_)))
    }

    /// Checks up to `count` random variants.
    pub fn check_random(&self, rng: &mut Rng, count: usize, tally: &mut Tally) -> Result<(), Box<Unsound>> {
        let registry = Registry::standard();
        let options = small_moves();
        self.check(&self.kernel.original, &Recipe::default(), tally)?;
        let (mut left, mut attempts) = (count, count * 4);
        while left > 0 && attempts > 0 {
            let mut root = self.kernel.original.clone();
            let mut recipe = Recipe::default();
            // Where there are buffers: so many steps come before them.
            let before = rng.usize(0..=2);
            for number in 0..rng.usize(1..=4) + if self.storage { before } else { 0 } {
                attempts = attempts.saturating_sub(1);
                let buffer = self.storage && number >= before && (number == before || rng.u8(0..3) == 0);
                if buffer {
                    let Some(new) = with_random_buffer(&self.kernel, &root, rng) else { continue };
                    root = new;
                } else {
                    let cx = Context { kernel: &self.kernel, root: &root };
                    let usual = self.storage && rng.bool();
                    let Some(step) = random_step(&cx, &registry, &options, usual, rng) else { break };
                    let Ok(rewrite) = step.apply(&cx) else { continue };
                    root = rewrite.root;
                    recipe = recipe.with(step);
                }
                if root.summary().nodes > 300 {
                    break;
                }
                if !self.storage || has_buffers(&root) {
                    self.check(&root, &recipe, tally)?;
                    left = left.saturating_sub(1);
                }
            }
        }
        Ok(())
    }
}

/// Whether there is a buffer in the tree.
pub fn has_buffers(node: &Green) -> bool {
    matches!(node.node(), Node::Alloc(..)) || node.children().any(has_buffers)
}

/// What makes buffers worth having.
const USUAL: [&str; 14] = [
    "fuse",
    "interchange",
    "tile",
    "strip_mine",
    "distribute",
    "reorder",
    "skew",
    "pack",
    "replace",
    "transpose",
    "contract",
    "expand",
    "forward",
    "merge",
];

/// A random move: first the transformation, then the place, so that those with few places are seen as often. `usual`: one of
/// those that go with buffers.
pub fn random_step(
    cx: &Context<'_>,
    registry: &Registry,
    options: &MoveOptions,
    usual: bool,
    rng: &mut Rng,
) -> Option<Step> {
    let mut names: Vec<&str> = registry.iter().map(transforms::Registration::name).collect();
    names.retain(|name| !usual || USUAL.contains(name));
    for _ in 0..8 {
        let name = names[rng.usize(0..names.len())];
        let list = match name {
            // Blocks that load something twice, too.
            "merge" => merges(cx),
            _ => moves(cx, registry, &MoveOptions { only: vec![name.to_owned()], ..options.clone() }),
        };
        if !list.is_empty() {
            return Some(list[rng.usize(0..list.len())].clone());
        }
    }
    None
}

fn merges(cx: &Context<'_>) -> Vec<Step> {
    let sites = cx.sites().into_iter().map(|site| Step::new(Merge { target: site.path.into() }));
    sites.filter(|step| step.rewrite(cx).is_ok()).collect()
}

fn all_places(kernel: &Kernel) -> Vec<Addresses> {
    let mut result = vec![Addresses::apart(kernel)];
    for a in 0..kernel.arrays.len() {
        for b in 0..a {
            let (a, b) = (ArrayId::new(a), ArrayId::new(b));
            let size = i64::from(kernel.array(a).element.size());
            for delta in [0, size, -size, 2 * size, 1] {
                result.extend(Addresses::overlapping(kernel, a, b, delta));
            }
        }
    }
    result
}

/// Checks the kernel of a source; what is wrong is shrunk.
pub fn check_source(
    source: &Source,
    seed: u64,
    variants: usize,
    tally: &mut Tally,
) -> Result<(), Box<Unsound>> {
    tally.kernels += 1;
    let subject = match Subject::new(source.text(), source.has_storage()) {
        Ok(subject) => subject,
        Err(why) => {
            let why: String = why.chars().take(60).collect();
            *tally.beyond.entry(why).or_default() += 1;
            return Ok(());
        }
    };
    subject.check_random(&mut Rng::with_seed(seed), variants, tally).map_err(|found| shrink(source, found))
}

/// Whether the oracle is wrong about the kernel; not shrunk.
pub fn is_wrong(source: &Source, seed: u64, variants: usize) -> bool {
    let Ok(subject) = Subject::new(source.text(), source.has_storage()) else { return false };
    subject.check_random(&mut Rng::with_seed(seed), variants, &mut Tally::default()).is_err()
}

fn shrink(source: &Source, mut found: Box<Unsound>) -> Box<Unsound> {
    let mut best = source.clone();
    let mut attempts = 300;
    'again: loop {
        for candidate in best.simpler() {
            if attempts == 0 {
                return found;
            }
            attempts -= 1;
            let Ok(subject) = Subject::new(candidate.text(), candidate.has_storage()) else { continue };
            let again = subject.check_random(&mut Rng::with_seed(1), 150, &mut Tally::default());
            if let Err(smaller) = again {
                (best, found) = (candidate, smaller);
                continue 'again;
            }
        }
        return found;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::{generate, storage};

    #[test]
    fn the_oracle_agrees_with_enumeration_on_buffers() {
        let mut tally = Tally::default();
        let count = std::env::var("PROOF_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(80);
        for seed in 0..count {
            if let Err(unsound) = check_source(&storage::generate(seed), seed, 12, &mut tally) {
                panic!("seed {seed}\n{unsound}");
            }
        }
        eprintln!("{tally:#?}");
        for example in tally.examples.values() {
            eprintln!("{example}");
        }
        assert!(tally.buffered.0 > 300);
    }

    #[test]
    fn the_oracle_agrees_with_enumeration() {
        let mut tally = Tally::default();
        let count = std::env::var("PROOF_KERNELS").ok().and_then(|n| n.parse().ok()).unwrap_or(80);
        for seed in 0..count {
            if let Err(unsound) = check_source(&generate(seed, 3), seed, 12, &mut tally) {
                panic!("seed {seed}\n{unsound}");
            }
        }
        eprintln!("{tally:#?}");
        for example in tally.examples.values() {
            eprintln!("{example}");
        }
        assert!(tally.always > 100 && tally.never > 100);
    }
}
