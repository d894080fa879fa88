//! Control flow inside of a body: what runs whenever the body does, before what, and what never together.
//!
//! A body is code without loops. What asks numbers blocks and conditions and knows no more; implementations:
//! [`FromGraph`] looks at the graph alone, [`FromPredicates`] also at which branches test the same condition.

mod graph;
mod predicates;

pub use graph::FromGraph;
pub use predicates::FromPredicates;

/// What a branch tests.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Test {
    /// The condition: the same number means the same value during one execution of the body.
    pub condition: u32,
    /// Whether the first successor is taken where the condition holds, rather than where it does not.
    pub positive: bool,
}

/// A block of a body.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Block {
    /// Where control goes: to a later block, or out of the body where `None`.
    pub successors: Vec<Option<usize>>,
    /// What decides between two successors; `None` where that is not known.
    pub test: Option<Test>,
}

/// Blocks in topological order: successors have greater numbers, each block but the first has a predecessor.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Body {
    /// The first is where the body is entered.
    pub blocks: Vec<Block>,
}

/// Analyses bodies.
pub trait ControlFlow: Send + Sync + std::fmt::Debug {
    /// Analyses a body.
    fn analyse(&self, body: &Body) -> Box<dyn BodyFlow>;
}

/// What is known of a body. Answers hold in each execution; `false` may mean "not known". Blocks that the body does not
/// have have no answer but `false`.
pub trait BodyFlow {
    /// Whether a block runs whenever the body does.
    fn always_runs(&self, block: usize) -> bool;
    /// Whether `a` has run, or is, wherever `b` runs.
    fn dominates(&self, a: usize, b: usize) -> bool;
    /// Whether two blocks never run in the same execution.
    fn excludes(&self, a: usize, b: usize) -> bool;
}

/// Names that [`control_flow_by_name`] knows.
pub const CONTROL_FLOW: [&str; 2] = ["cfg", "predicates"];

/// The implementation of that name.
pub fn control_flow_by_name(name: &str) -> Option<Box<dyn ControlFlow>> {
    match name {
        "cfg" => Some(Box::new(FromGraph)),
        "predicates" => Some(Box::new(FromPredicates)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Condition, and whether it holds on the first way.
    type Tested = Option<(u32, bool)>;

    fn body(blocks: &[(&[Option<usize>], Tested)]) -> Body {
        let block = |&(successors, test): &(&[Option<usize>], Tested)| Block {
            successors: successors.to_vec(),
            test: test.map(|(condition, positive)| Test { condition, positive }),
        };
        Body { blocks: blocks.iter().map(block).collect() }
    }

    /// `if (c) { 1 } else { 2 }; 3: if (second) { 4 }; 5`
    fn two_branches(second: (u32, bool)) -> Body {
        body(&[
            (&[Some(1), Some(2)], Some((0, true))),
            (&[Some(3)], None),
            (&[Some(3)], None),
            (&[Some(4), Some(5)], Some(second)),
            (&[Some(5)], None),
            (&[None], None),
        ])
    }

    #[test]
    fn the_graph_knows_of_ways() {
        let flow = FromGraph.analyse(&two_branches((0, true)));
        let always: Vec<bool> = (0..7).map(|b| flow.always_runs(b)).collect();
        assert_eq!(always, [true, false, false, true, false, true, false]);
        assert!(flow.excludes(1, 2) && flow.excludes(2, 1) && !flow.excludes(1, 4) && !flow.excludes(1, 1));
        assert!(flow.dominates(0, 4) && flow.dominates(3, 4) && flow.dominates(4, 4));
        assert!(!flow.dominates(1, 3) && !flow.dominates(4, 5) && !flow.dominates(4, 3));
    }

    #[test]
    fn predicates_know_that_the_same_condition_is_tested_twice() {
        let flow = FromPredicates.analyse(&two_branches((0, false)));
        assert!(flow.excludes(1, 4) && !flow.excludes(2, 4));
        assert!(flow.dominates(2, 4) && !flow.dominates(1, 4) && !flow.dominates(4, 2));
        assert!(flow.always_runs(3) && !flow.always_runs(4));
        let other = FromPredicates.analyse(&two_branches((1, false)));
        assert!(!other.excludes(1, 4) && !other.dominates(2, 4));
    }

    #[test]
    fn a_block_that_both_outcomes_reach_in_two_ways_always_runs() {
        // 0: c ? 1 : 2; 1: c ? 3 : out; 2: c ? out : 3.
        let all = body(&[
            (&[Some(1), Some(2)], Some((0, true))),
            (&[Some(3), None], Some((0, true))),
            (&[None, Some(3)], Some((0, true))),
            (&[None], None),
        ]);
        assert!(FromPredicates.analyse(&all).always_runs(3));
        assert!(!FromGraph.analyse(&all).always_runs(3));
    }

    #[test]
    fn with_many_conditions_predicates_know_what_the_graph_knows() {
        let mut blocks: Vec<(Vec<Option<usize>>, Tested)> = Vec::new();
        for n in 0..40 {
            blocks.push((vec![Some(2 * n + 1), Some(2 * n + 2)], Some((n as u32, true))));
            blocks.push((vec![Some(2 * n + 2)], None));
        }
        blocks.push((vec![None], None));
        let list: Vec<_> = blocks.iter().map(|(s, t)| (&s[..], *t)).collect();
        let (graph, predicates) = (FromGraph.analyse(&body(&list)), FromPredicates.analyse(&body(&list)));
        for a in 0..list.len() {
            assert_eq!(graph.always_runs(a), predicates.always_runs(a));
            for b in 0..list.len() {
                assert_eq!(graph.dominates(a, b), predicates.dominates(a, b), "{a} {b}");
                assert_eq!(graph.excludes(a, b), predicates.excludes(a, b), "{a} {b}");
            }
        }
    }

    #[test]
    fn undecided_branches_and_empty_bodies_are_no_surprise() {
        let undecided = body(&[(&[Some(1), None], None), (&[], None)]);
        for name in CONTROL_FLOW {
            let analysis = control_flow_by_name(name).expect("a known name");
            let flow = analysis.analyse(&undecided);
            assert!(flow.always_runs(0) && !flow.always_runs(1) && flow.dominates(0, 1));
            let nothing = analysis.analyse(&Body::default());
            assert!(!nothing.always_runs(0) && !nothing.dominates(0, 1) && !nothing.excludes(0, 1));
        }
        assert!(control_flow_by_name("guesses").is_none());
    }
}
