//! From the graph alone.

use super::{Body, BodyFlow, ControlFlow};

/// Dominance by the ways through the graph; branches are taken to be independent.
#[derive(Clone, Copy, Debug)]
pub struct FromGraph;

impl ControlFlow for FromGraph {
    fn analyse(&self, body: &Body) -> Box<dyn BodyFlow> {
        Box::new(Ways::new(body))
    }
}

/// The ways through a body.
pub(super) struct Ways {
    always: Vec<bool>,
    successors: Vec<Vec<usize>>,
}

impl Ways {
    /// Cost: linear in the edges; each question too.
    pub(super) fn new(body: &Body) -> Ways {
        let count = body.blocks.len();
        let mut always = Vec::with_capacity(count);
        // Ways ascend: one that avoids a block has an edge over it. `count` stands for the outside.
        let mut furthest = 0;
        for (b, block) in body.blocks.iter().enumerate() {
            always.push(furthest <= b);
            let last = block.successors.iter().map(|s| s.unwrap_or(count)).max().unwrap_or(count);
            furthest = furthest.max(last);
        }
        let inside = |b: &super::Block| b.successors.iter().flatten().copied().collect();
        Ways { always, successors: body.blocks.iter().map(inside).collect() }
    }

    /// Whether a way leads from `a` to `b` that avoids a block.
    fn reaches(&self, a: usize, b: usize, avoiding: Option<usize>) -> bool {
        if Some(a) == avoiding {
            return false;
        }
        let mut seen = vec![false; self.successors.len()];
        let mut work = vec![a];
        while let Some(at) = work.pop() {
            if at == b {
                return true;
            }
            for &s in &self.successors[at] {
                if s <= b && Some(s) != avoiding && !std::mem::replace(&mut seen[s], true) {
                    work.push(s);
                }
            }
        }
        false
    }

    fn has(&self, block: usize) -> bool {
        block < self.successors.len()
    }
}

impl BodyFlow for Ways {
    fn always_runs(&self, block: usize) -> bool {
        self.always.get(block).copied().unwrap_or(false)
    }

    fn dominates(&self, a: usize, b: usize) -> bool {
        self.has(a) && self.has(b) && (a == b || !self.reaches(0, b, Some(a)))
    }

    fn excludes(&self, a: usize, b: usize) -> bool {
        let (a, b) = (a.min(b), a.max(b));
        a != b && self.has(b) && !self.reaches(a, b, None)
    }
}
