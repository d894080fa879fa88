//! From the predicates under which blocks run.

use fixedbitset::FixedBitSet;
use std::collections::BTreeMap;

use super::graph::Ways;
use super::{Body, BodyFlow, ControlFlow};

/// Each block has the predicate under which it runs, over the conditions that branches test: branches on the same
/// condition agree. What is over more conditions than fit is answered by the graph.
#[derive(Clone, Copy, Debug)]
pub struct FromPredicates;

/// Conditions in a predicate at most: a truth table then has 1024 bits.
const MAX_CONDITIONS: usize = 10;

/// A truth table: one bit for each outcome of all conditions.
type Table = FixedBitSet;

struct Predicates {
    ways: Ways,
    /// `None` where too many conditions, or unknown ones, decide.
    tables: Vec<Option<Table>>,
    truth: Table,
}

impl ControlFlow for FromPredicates {
    fn analyse(&self, body: &Body) -> Box<dyn BodyFlow> {
        let mut number: BTreeMap<u32, usize> = BTreeMap::new();
        for test in body.blocks.iter().filter_map(|b| b.test) {
            let next = number.len();
            if next < MAX_CONDITIONS {
                number.entry(test.condition).or_insert(next);
            }
        }
        let outcomes = 1usize << number.len();
        let mut truth = Table::with_capacity(outcomes);
        truth.insert_range(..);
        let mut tables = vec![Some(Table::with_capacity(outcomes)); body.blocks.len()];
        if let Some(first) = tables.first_mut() {
            *first = Some(truth.clone());
        }
        for (b, block) in body.blocks.iter().enumerate() {
            let decided = block.test.and_then(|t| {
                let number = number.get(&t.condition)?;
                let holds: Table = (0..outcomes).filter(|outcome| outcome >> number & 1 == 1).collect();
                let fails = &truth ^ &holds;
                Some(if t.positive { [holds, fails] } else { [fails, holds] })
            });
            let same = block.successors.iter().all(|s| *s == block.successors[0]);
            for (way, target) in block.successors.iter().enumerate() {
                let Some(target) = target.filter(|t| *t > b && *t < tables.len()) else { continue };
                let taken = match (&tables[b], &decided) {
                    (Some(here), _) if same => Some(here.clone()),
                    (Some(here), Some(outcomes)) => outcomes.get(way).map(|o| here & o),
                    _ => None,
                };
                let before = tables[target].take();
                tables[target] = taken.zip(before).map(|(t, b)| &t | &b);
            }
        }
        Box::new(Predicates { ways: Ways::new(body), tables, truth })
    }
}

impl Predicates {
    fn tables(&self, a: usize, b: usize) -> Option<(&Table, &Table)> {
        self.tables.get(a)?.as_ref().zip(self.tables.get(b)?.as_ref())
    }
}

impl BodyFlow for Predicates {
    fn always_runs(&self, block: usize) -> bool {
        let known = self.tables.get(block).and_then(|t| t.as_ref());
        known.is_some_and(|t| *t == self.truth) || self.ways.always_runs(block)
    }

    fn dominates(&self, a: usize, b: usize) -> bool {
        // Blocks are in the order in which they run.
        let implied = |(x, y): (&Table, &Table)| a <= b && y.is_subset(x) && !y.is_clear();
        self.tables(a, b).is_some_and(implied) || self.ways.dominates(a, b)
    }

    fn excludes(&self, a: usize, b: usize) -> bool {
        let apart = |(x, y): (&Table, &Table)| x.is_disjoint(y);
        (a != b && self.tables(a, b).is_some_and(apart)) || self.ways.excludes(a, b)
    }
}
