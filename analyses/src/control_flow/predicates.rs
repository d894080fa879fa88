//! From the predicates under which blocks run.

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
#[derive(Clone, PartialEq, Eq)]
struct Table(Vec<u64>);

impl Table {
    fn constant(conditions: usize, value: bool) -> Table {
        let bits = 1usize << conditions;
        let word = if bits >= 64 { u64::MAX } else { (1 << bits) - 1 };
        Table(vec![if value { word } else { 0 }; bits.div_ceil(64)])
    }

    /// Where a condition holds.
    fn condition(conditions: usize, number: usize) -> Table {
        let mut table = Table::constant(conditions, false);
        for outcome in (0..1usize << conditions).filter(|o| o >> number & 1 == 1) {
            table.0[outcome / 64] |= 1 << (outcome % 64);
        }
        table
    }

    fn combine(&self, other: &Table, by: impl Fn(u64, u64) -> u64) -> Table {
        Table(self.0.iter().zip(&other.0).map(|(a, b)| by(*a, *b)).collect())
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|w| *w == 0)
    }
}

struct Predicates {
    ways: Ways,
    /// `None` where too many conditions, or unknown ones, decide.
    tables: Vec<Option<Table>>,
    truth: Table,
}

impl ControlFlow for FromPredicates {
    fn name(&self) -> &'static str {
        "predicates"
    }

    fn analyse(&self, body: &Body) -> Box<dyn BodyFlow> {
        let mut number: BTreeMap<u32, usize> = BTreeMap::new();
        for test in body.blocks.iter().filter_map(|b| b.test) {
            let next = number.len();
            if next < MAX_CONDITIONS {
                number.entry(test.condition).or_insert(next);
            }
        }
        let conditions = number.len();
        let truth = Table::constant(conditions, true);
        let mut tables = vec![Some(Table::constant(conditions, false)); body.blocks.len()];
        if let Some(first) = tables.first_mut() {
            *first = Some(truth.clone());
        }
        for (b, block) in body.blocks.iter().enumerate() {
            let decided = block.test.and_then(|t| {
                let holds = Table::condition(conditions, *number.get(&t.condition)?);
                let fails = holds.combine(&truth, |h, t| !h & t);
                Some(if t.positive { [holds, fails] } else { [fails, holds] })
            });
            let same = block.successors.iter().all(|s| *s == block.successors[0]);
            for (way, target) in block.successors.iter().enumerate() {
                let Some(target) = target.filter(|t| *t > b && *t < tables.len()) else { continue };
                let taken = match (&tables[b], &decided) {
                    (Some(here), _) if same => Some(here.clone()),
                    (Some(here), Some(outcomes)) => outcomes.get(way).map(|o| here.combine(o, |h, o| h & o)),
                    _ => None,
                };
                let before = tables[target].take();
                tables[target] = taken.zip(before).map(|(t, b)| t.combine(&b, |t, b| t | b));
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
        let implied =
            |(x, y): (&Table, &Table)| a <= b && y.combine(x, |y, x| y & !x).is_empty() && !y.is_empty();
        self.tables(a, b).is_some_and(implied) || self.ways.dominates(a, b)
    }

    fn excludes(&self, a: usize, b: usize) -> bool {
        let apart = |(x, y): (&Table, &Table)| x.combine(y, |x, y| x & y).is_empty();
        (a != b && self.tables(a, b).is_some_and(apart)) || self.ways.excludes(a, b)
    }
}
