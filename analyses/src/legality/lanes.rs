//! Vector loops: do lanes that run in lock step, operation by operation, keep the order?
//!
//! Then the vector loop is the innermost of all: each operation is executed by all lanes, in their order, before the next one. A
//! dependence between lanes is kept where the loops further in, and then the text, put its source before its target. So what
//! has to be asked is the question about order, with the lanes' loop left out. The tree as it stands must be legal too, which keeps
//! what does not know lanes right.
//!
//! Beyond that a vector loop must be one that is emitted as such: what is marked is what runs.

use super::{Oracle, Witness, order};
use crate::mutation::{self, Rule};
use crate::places::{Place, PlacedLoop, Unsupported};
use crate::reroll::Rolled;
use loop_tree::{Affine, LoopKind, OpKind, Statement, StmtFlags, VarId};

/// Lanes that emission makes vectors of, at most.
const MOST_LANES: i64 = 64;

impl Oracle {
    /// An example of a dependence from one place to another that the lanes of a shared vector loop break.
    pub(super) fn broken_in_lanes(&self, check: usize, a: &Place, b: &Place, level: usize) -> order::Answer {
        let on = &self.checks[check].on;
        // Each lane copies from and to buffers of its own, before and after all that it does with them.
        let copied =
            |p: &Place| p.buffers.iter().any(|b| b.loops > level && on.contains(&Some(b.buffer.array)));
        if self.checks[check].reduction || copied(a) || copied(b) {
            return self.carried(check, a, b, level);
        }
        if mutation::off(Rule::LockStep) {
            return Ok(None);
        }
        self.orders().ask(check, a, b, order::Question::Lanes(level))
    }
}

/// Why some vector loop around the places cannot be emitted as one.
pub(super) fn check(oracle: &Oracle, rolled: &Rolled, places: &[Place]) -> Result<(), Witness> {
    for place in places {
        let mut marked = place.loops.iter().enumerate().filter(|(_, l)| l.kind == LoopKind::Vector);
        let Some((level, l)) = marked.next() else { continue };
        let nested = marked.next().is_some();
        let why = match nested {
            true => Some("a vector loop inside of another one"),
            false => reason(oracle.kernel().statement(place.statement), place, level, l),
        };
        if let Some(why) = why {
            let path = rolled.origin(&place.path.prefix(l.depth));
            return Err(Witness::Unsupported(Unsupported::Lanes { path, why }));
        }
    }
    Ok(())
}

fn reason(statement: &Statement, place: &Place, level: usize, l: &PlacedLoop) -> Option<&'static str> {
    let ([lower], [upper]) = (&l.lower[..], &l.upper[..]) else { return Some(LENGTH) };
    let lanes = (upper - lower).as_constant().map(|extent| (extent - 1).div_euclid(l.step) + 1);
    if lanes.is_none_or(|lanes| lanes > MOST_LANES) {
        return Some(LENGTH);
    }
    let differs = |e: &Affine| e.uses(VarId::new(level));
    if place.loops[level + 1..].iter().any(|inner| inner.lower.iter().chain(&inner.upper).any(differs)) {
        return Some("the lanes have different bounds of a loop inside");
    }
    let own = place.buffers.iter().filter(|b| b.loops > level);
    if own
        .flat_map(|b| b.buffer.windows())
        .flat_map(|w| &w.0)
        .any(|r| r.lower.iter().chain(&r.upper).any(differs))
    {
        return Some("the lanes copy different elements into buffers");
    }
    if !StmtFlags::MAY_TRAP.contains(statement.flags) {
        return Some("a statement that does more than compute");
    }
    let some_lanes =
        !place.predicates.is_empty() || place.conditions.iter().flatten().any(|c| differs(&c.expression));
    let called = |op: &&loop_tree::Op| matches!(op.kind, OpKind::Pure(..));
    if statement.ops.iter().filter(called).any(|op| some_lanes || op.mask.is_some()) {
        return Some("a function that is called by some lanes only");
    }
    None
}

const LENGTH: &str = "the number of lanes is not a constant, 64 at most";
