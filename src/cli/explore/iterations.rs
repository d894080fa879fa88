//! The first iterations of a nest, and which of their instances depend on one another: small enough to be drawn.

use looptree::analyses::Dependence;
use looptree::analyses::dependences::Component;
use looptree::tree::interp::{Instance, instances};
use looptree::tree::{AccessId, Affine, Bounds, Green, GuardCondition, Kernel, Node, StmtId};
use serde::Serialize;
use std::collections::BTreeMap;

/// Iterations of each loop, the more the fewer loops there are.
const EACH: [i64; 4] = [6, 4, 3, 2];
/// Instances and iterations at most.
const MOST: u64 = 3000;
/// Pairs drawn of one dependence, and of all.
const PAIRS: usize = 60;
const PAIRS_IN_ALL: usize = 6000;

/// The values of two statements' loops: what comes first, and what comes after.
pub type Pair = (Vec<i64>, Vec<i64>);

/// What is told of them.
#[derive(Serialize, Debug)]
pub struct Iterations {
    /// Of each loop at most.
    pub each: i64,
    /// By statement: the values of its loops.
    pub instances: Vec<Vec<Vec<i64>>>,
}

/// The first instances, in the original order.
pub struct First {
    each: i64,
    instances: Vec<Instance>,
    params: Vec<i64>,
}

/// `None` where data decides which those are, and where there are too many. Statements under predicates count as executed.
pub fn first(kernel: &Kernel, params: &[i64]) -> Option<First> {
    EACH.into_iter().find_map(|each| {
        let instances = instances(kernel, &shortened(&kernel.original, each), params, MOST).ok()?;
        Some(First { each, instances, params: params.to_vec() })
    })
}

/// The tree with so many iterations of each loop at most, and without predicates.
fn shortened(tree: &Green, each: i64) -> Green {
    match tree.node() {
        Node::Guard(condition, body) if matches!(**condition, GuardCondition::Predicate { .. }) => {
            return shortened(body, each);
        }
        Node::Loop(header, body) => {
            let mut header = (**header).clone();
            let step = header.step;
            if let Bounds::Affine { lower, upper } = &mut header.bounds {
                upper.extend(lower.iter().map(|l| l + &Affine::constant(each * step)));
            }
            return Green::for_loop(header, shortened(body, each));
        }
        _ => {}
    }
    let children = tree.children().enumerate();
    children.fold(tree.clone(), |changed, (at, child)| changed.with_child(at, shortened(child, each)))
}

impl First {
    /// What is told.
    pub fn summary(&self, kernel: &Kernel) -> Iterations {
        let of = |id: StmtId| self.of(id).map(|(_, i)| i.dims.clone()).collect();
        Iterations { each: self.each, instances: kernel.statements().map(|(id, _)| of(id)).collect() }
    }

    fn of(&self, statement: StmtId) -> impl Iterator<Item = (usize, &Instance)> {
        self.instances.iter().enumerate().filter(move |(_, i)| i.statement == statement)
    }

    /// Of each dependence the pairs that are to be drawn: of each target the last source.
    pub fn pairs(&self, kernel: &Kernel, dependences: &[Dependence]) -> Vec<Vec<Pair>> {
        let mut left = PAIRS_IN_ALL;
        let mut of = |d: &Dependence| {
            let pairs = self.pairs_of(kernel, d, left.min(PAIRS)).unwrap_or_default();
            left -= pairs.len();
            pairs
        };
        dependences.iter().map(&mut of).collect()
    }

    fn pairs_of(&self, kernel: &Kernel, d: &Dependence, most: usize) -> Option<Vec<Pair>> {
        let (from, to) = (d.source_access?, d.target_access?);
        let array = |id: StmtId, access: AccessId| kernel.statement(id).access(access).array;
        // Between arrays that overlap, which elements meet is not known.
        if array(d.source, from) != array(d.target, to) {
            return None;
        }
        let mut sources: BTreeMap<Vec<i64>, Vec<usize>> = BTreeMap::new();
        for (at, instance) in self.of(d.source) {
            sources.entry(self.element(kernel, instance, from)?).or_default().push(at);
        }
        let mut pairs = Vec::new();
        for (at, target) in self.of(d.target).take_while(|_| most > 0) {
            let touched = sources.get(&self.element(kernel, target, to)?);
            let before = touched.into_iter().flatten().rev().filter(|s| **s < at);
            let mut before = before.map(|s| &self.instances[*s]);
            // A private scalar's dependences are those of one iteration.
            if let Some(source) = before.find(|s| within(d.distance(), &s.dims, &target.dims)) {
                pairs.push((source.dims.clone(), target.dims.clone()));
            }
            if pairs.len() == most {
                break;
            }
        }
        Some(pairs)
    }

    fn element(&self, kernel: &Kernel, instance: &Instance, access: AccessId) -> Option<Vec<i64>> {
        let statement = kernel.statement(instance.statement);
        let dim = |v| statement.dims.iter().position(|d| *d == v).map(|at| instance.dims[at]);
        let param = |p: looptree::tree::ParamId| self.params.get(p.index()).copied();
        let subscripts = statement.access(access).subscripts.as_ref()?;
        subscripts.iter().map(|s| s.eval(&dim, &param)).collect()
    }
}

fn within(distance: &[Component], source: &[i64], target: &[i64]) -> bool {
    let differences = source.iter().zip(target).map(|(s, t)| t - s);
    distance
        .iter()
        .zip(differences)
        .all(|(c, d)| c.min.is_none_or(|m| m <= d) && c.max.is_none_or(|m| d <= m))
}

#[cfg(test)]
mod tests {
    use super::*;
    use looptree::analyses::dependences_by_name;
    use looptree::tree::text;

    fn pairs(source: &str) -> Vec<Vec<Pair>> {
        let kernel = text::parse(source).expect("a kernel").kernel;
        let dependences = dependences_by_name("polyhedral").expect("an analysis");
        let set = dependences.dependences(&kernel).expect("dependences");
        let params: Vec<i64> = kernel.params.iter().map(|_| 1000).collect();
        first(&kernel, &params).expect("iterations").pairs(&kernel, &set.dependences)
    }

    #[test]
    fn pairs_are_those_of_the_relation() {
        let all = pairs(
            "nest @f[N] { array A: f64[N, N] for i in 1..N { for j in 0..N - 1 { S: A[i, j] = A[i - 1, j + 1] } } }",
        );
        assert_eq!(all.len(), 1);
        assert!(all[0].contains(&(vec![1, 1], vec![2, 0])));
        assert!(all[0].iter().all(|(s, t)| (t[0] - s[0], t[1] - s[1]) == (1, -1)));
    }

    #[test]
    fn what_is_private_to_an_iteration_is_not_carried() {
        let all = pairs(
            "nest @f[N] { array A: f64[N] scalar x: f64 local for i in 0..N { S: x = A[i] T: A[i] = x * 2.0 } }",
        );
        assert!(all.iter().flatten().all(|(s, t)| s == t), "{all:?}");
        assert!(all.iter().any(|p| p.len() == 6), "{all:?}");
    }
}
