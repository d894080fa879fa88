//! Fusion as a pass by itself: which neighbouring loops become one, and why the others do not.
//!
//! Pairs of loops of one sequence are tried, those of outer sequences first; what is fused is tried with what follows it, so that
//! chains become one loop. LLVM's LoopFuse goes the same way; here each pair is tried with shifts and with ranges split or guarded,
//! what stands between moves where it may, the oracle proves the result, and the cost model has to accept it.
//!
//! ```
//! use looptree::driver::{Optimizer, Settings};
//! use looptree::fusion::{FusionOptions, Outcome};
//!
//! let program = looptree::tree::text::parse(
//!     "nest @two[N] {
//!        array A: f64[N]
//!        array B: f64[N]
//!        for i in 0..N { S: A[i] = A[i] + 1.0 }
//!        for j in 1..N { T: B[j] = A[j] }
//!      }",
//! )?;
//! let optimizer = Optimizer::new(Settings::default())?;
//! let fusion = optimizer.fuse("two", &program.kernel, &[], &optimizer.models, &FusionOptions::default())?;
//! assert!(matches!(fusion.pairs[0].outcome, Outcome::Fused { .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod start;

pub(crate) use start::Start;

use crate::driver::{DriverError, Likely, Models, Optimizer};
use analyses::{Oracle, Verdict, Witness};
use cost_model::Prepared;
use loop_tree::{Green, Kernel, Path, RuntimeCondition, SourceLocation, canonical};
use rustc_hash::FxHashSet;
use std::fmt;
use std::sync::Arc;
use transforms::{Context, Fuse, MoveOptions, Recipe, Refusal, Step};

/// Relative difference of predictions below which they say nothing.
const TIE: f64 = 0.02;

/// What a pass of fusion does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusionOptions {
    /// Also where the result is predicted to be slower.
    pub always: bool,
    /// Loops that follow a loop in its sequence and are tried with it: more than one where those between may step aside.
    pub reach: usize,
    /// Pairs that are tried at most.
    pub pairs: usize,
}

impl Default for FusionOptions {
    fn default() -> Self {
        FusionOptions { always: false, reach: 4, pairs: 400 }
    }
}

/// What became of a kernel.
#[derive(Clone, Debug)]
pub struct Fusion {
    /// The steps.
    pub recipe: Recipe,
    /// The tree that they make.
    pub root: Green,
    /// Conditions under which it is valid.
    pub conditions: Vec<RuntimeCondition>,
    /// Pairs in the order in which they were tried: all neighbours, and others where they were fused.
    pub pairs: Vec<Pair>,
    /// Predicted cycles of the original, and of the result.
    pub cycles: [f64; 2],
    /// Whether pairs were left that [`FusionOptions::pairs`] does not allow to try.
    pub cut: bool,
}

/// Two loops of one sequence.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The first one.
    pub first: LoopName,
    /// The one that follows.
    pub second: LoopName,
    /// What became of them.
    pub outcome: Outcome,
}

/// How a loop is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopName {
    /// Its variable; `i + j` of a loop fused of two.
    pub variables: String,
    /// Loops around it.
    pub depth: usize,
    /// The place of its first statement.
    pub location: Option<SourceLocation>,
}

/// What became of a pair.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// One loop.
    Fused {
        /// How: a step, behind another where what stands between has to go first.
        steps: Recipe,
        /// What has to hold, beside what the steps before ask for.
        conditions: Vec<RuntimeCondition>,
        /// Predicted gain of it.
        gain: f64,
    },
    /// Legal, and left alone as it is predicted to be slower.
    Slower {
        /// The best way.
        steps: Recipe,
        /// Predicted gain of it, below 1.
        gain: f64,
    },
    /// No way is legal.
    Illegal {
        /// The plainest way.
        steps: Recipe,
        /// What forbids that.
        witness: Box<Witness>,
    },
    /// There is no way.
    Refused(Refusal),
}

impl Outcome {
    /// A stable short name.
    pub fn code(&self) -> &'static str {
        match self {
            Outcome::Fused { .. } => "Fused",
            Outcome::Slower { .. } => "NotBeneficial",
            Outcome::Illegal { witness, .. } => match **witness {
                Witness::Quota | Witness::Unsupported(_) | Witness::Inexact(_) | Witness::Isl(_) => {
                    "NotProved"
                }
                _ => "InvalidDependencies",
            },
            Outcome::Refused(_) => "NotAdjacent",
        }
    }
}

impl fmt::Display for LoopName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.variables)?;
        match &self.location {
            Some(l) => write!(f, " (line {})", l.line),
            None => Ok(()),
        }
    }
}

impl Optimizer {
    /// Fuses what neighbouring loops of a kernel can be fused.
    ///
    /// # Errors
    /// Where the kernel's dependences cannot be had.
    pub fn fuse(
        &self,
        label: &str,
        kernel: &Arc<Kernel>,
        likely: &[Likely],
        models: &Models,
        options: &FusionOptions,
    ) -> Result<Fusion, DriverError> {
        let problem = self.problem(label, kernel, likely)?;
        let params = problem.params.clone();
        let prepared = models.cost.prepare(kernel, &params);
        let oracle = self.patient(label, problem)?;
        let pass = Pass { kernel, oracle: &oracle, cost: &*prepared, moves: &self.settings.moves, options };
        Ok(pass.run())
    }
}

impl Fusion {
    /// Adds what became of a pair: again, where the loops were something else before.
    fn tell(&mut self, pair: Pair) {
        let same = |p: &Pair| {
            let apart = !matches!(p.outcome, Outcome::Fused { .. });
            apart && p.first == pair.first && p.second == pair.second
        };
        self.pairs.retain(|p| !same(p));
        self.pairs.push(pair);
    }
}

/// Pairs of loops, as trees: paths change with every step.
type Tried = FxHashSet<(Green, Green)>;

/// What a pass works with.
struct Pass<'a> {
    kernel: &'a Kernel,
    oracle: &'a Oracle,
    cost: &'a dyn Prepared,
    moves: &'a MoveOptions,
    options: &'a FusionOptions,
}

impl Pass<'_> {
    fn run(&self) -> Fusion {
        let root = canonical(self.kernel, &self.kernel.original);
        let cycles = self.cost.cycles(&root);
        let mut fusion = Fusion {
            recipe: Recipe::default(),
            root,
            conditions: Vec::new(),
            pairs: Vec::new(),
            cycles: [cycles; 2],
            cut: false,
        };
        // What gains comes first: what does not may stand in its way.
        let least = [1.0 + TIE, if self.options.always { 0.0 } else { 1.0 - TIE }];
        let mut closed = Tried::default();
        for least in least {
            let mut tried = Tried::default();
            while self.step(&mut fusion, least, &mut closed, &mut tried) {}
        }
        fusion
    }

    /// Fuses the next pair that gains at least so much; `false`: there is none. `closed` are pairs that cannot be fused, `tried` those
    /// that gain less.
    fn step(&self, fusion: &mut Fusion, least: f64, closed: &mut Tried, tried: &mut Tried) -> bool {
        let last = least <= 1.0;
        let root = fusion.root.clone();
        let cx = Context { kernel: self.kernel, root: &root };
        let mut neighbour: Option<Path> = None;
        for (first, second) in Fuse::pairs(&cx, self.options.reach) {
            let adjacent = neighbour.as_ref() != Some(&first);
            neighbour = Some(first.clone());
            let (Some(a), Some(b)) = (root.at(&first), root.at(&second)) else { continue };
            // What a fusion has split off its own loops is not put back.
            if a.leaves().any(|s| b.leaves().any(|t| s == t)) {
                continue;
            }
            let key = (a.clone(), b.clone());
            if closed.contains(&key) || !tried.insert(key.clone()) {
                continue;
            }
            if closed.len() + tried.len() > self.options.pairs {
                fusion.cut = true;
                return false;
            }
            let pair = |outcome| {
                let [first, second] = [&first, &second].map(|path| self.name(&root, path));
                Pair { first, second, outcome }
            };
            let best = match self.try_pair(&cx, &first, &second, fusion.cycles[1]) {
                Ok(best) => best,
                Err(outcome) => {
                    closed.insert(key);
                    if adjacent {
                        fusion.tell(pair(outcome));
                    }
                    continue;
                }
            };
            let gain = fusion.cycles[1].max(1.0) / best.cycles.max(1.0);
            // A row does not join a nest for nothing.
            let alike = self.options.always || a.summary().loop_depth == b.summary().loop_depth;
            if gain < least || (last && !alike) {
                if last && adjacent {
                    fusion.tell(pair(Outcome::Slower { steps: best.steps, gain }));
                }
                continue;
            }
            let Best { steps, tree, conditions, cycles } = best;
            let known = |c: &&RuntimeCondition| !fusion.conditions.contains(c);
            let more = conditions.iter().filter(known).cloned().collect();
            fusion.tell(pair(Outcome::Fused { steps: steps.clone(), conditions: more, gain }));
            fusion.recipe.0.extend(steps.0);
            fusion.root = tree;
            fusion.conditions = conditions;
            fusion.cycles[1] = cycles;
            return true;
        }
        false
    }

    /// The plainest legal way of fusing a pair that is not predicted to be slower; else the legal way that takes least, of those that take
    /// about as much the plainest.
    fn try_pair(&self, cx: &Context<'_>, first: &Path, second: &Path, now: f64) -> Result<Best, Outcome> {
        let enough = now / (1.0 - TIE);
        let (mut best, mut forbidden, mut refused): (Option<Best>, _, _) = (None, None, None);
        for Start { steps, root, pair: [first, second] } in Start::all(cx, first, second) {
            if best.as_ref().is_some_and(|b| b.cycles <= enough) {
                break;
            }
            let cx = Context { kernel: self.kernel, root: &root };
            let ways = match Fuse::ways(&cx, &first, &second, self.moves) {
                Ok(ways) => ways,
                Err(refusal) => {
                    refused.get_or_insert(refusal);
                    continue;
                }
            };
            for way in ways {
                let step = Step::from(way);
                let tree = match step.apply(&cx) {
                    Ok(rewrite) => rewrite.root,
                    Err(refusal) => {
                        refused.get_or_insert(refusal);
                        continue;
                    }
                };
                let cycles = self.cost.cycles(&tree);
                // Judging takes far longer than pricing: what could not be chosen is not judged.
                if best.as_ref().is_some_and(|b| b.cycles * (1.0 - TIE) <= cycles || b.cycles <= enough) {
                    continue;
                }
                let steps = steps.with(step);
                match self.oracle.judge(&tree) {
                    Verdict::Always => best = Some(Best { steps, tree, conditions: Vec::new(), cycles }),
                    Verdict::Under(conditions) => best = Some(Best { steps, tree, conditions, cycles }),
                    Verdict::Never(witness) => {
                        forbidden.get_or_insert(Outcome::Illegal { steps, witness: Box::new(witness) });
                    }
                }
            }
        }
        let none = || Refusal::new("ranges", first, "no way of fusing them is known").and(second);
        best.ok_or_else(|| forbidden.unwrap_or_else(|| Outcome::Refused(refused.unwrap_or_else(none))))
    }

    /// The name of the loop at a path.
    fn name(&self, root: &Green, path: &Path) -> LoopName {
        let mut variables = Vec::new();
        if let Some(node) = root.at(path)
            && let Some((header, body)) = node.as_loop()
        {
            let mut walk = body.walk();
            while let Some(inner) = walk.next() {
                match inner.node() {
                    // The loops that it is made of.
                    loop_tree::Node::Let(var, value, _) if value.uses(header.var) => {
                        let name = self.kernel.variable_name(*var);
                        if self.kernel.is_original(*var) && !variables.contains(&name) {
                            variables.push(name);
                        }
                    }
                    loop_tree::Node::Loop(..) => walk.prune(),
                    _ => {}
                }
            }
            if variables.is_empty() {
                variables.push(self.kernel.variable_name(header.var));
            }
        }
        let around = (0..path.0.len()).filter(|n| {
            let above = Path(path.0[..*n].iter().copied().collect());
            root.at(&above).is_some_and(|node| node.as_loop().is_some())
        });
        let statements = root.at(path).into_iter().flat_map(|node| node.leaves());
        let location =
            statements.filter_map(|id| self.kernel.statement(id).location.clone()).min_by_key(|l| l.line);
        LoopName { variables: variables.join(" + "), depth: around.count(), location }
    }
}

/// A way of fusing a pair.
struct Best {
    steps: Recipe,
    tree: Green,
    conditions: Vec<RuntimeCondition>,
    cycles: f64,
}
