//! Control flow as a tree: straight and branching code without loops ([`Piece`]), conditions around loops, loops.

use super::cfg::Cfg;
use super::values::{MAX_DISJUNCTS, Values};
use crate::llvm::{Inst, Opcode, Value};
use analyses::closed_forms::{LoopExit, Meaning, TripCount};
use rustc_hash::FxHashSet;

/// One part of a sequence.
pub(super) enum Item<'m> {
    Piece(Piece),
    If(Branch<'m>),
    Loop(Cycle<'m>),
    /// A loop that has no such shape; what is inside that has.
    Tangle(Vec<Item<'m>>, &'static str, usize),
    /// Control may leave here, or goes ways without such a shape; what is inside that has.
    Apart(Vec<Item<'m>>, &'static str, usize),
}

/// Code without loops: the first block dominates and the last one post-dominates the others.
pub(super) struct Piece {
    /// Ascending, so that every block comes after those that lead to it.
    pub(super) blocks: Vec<usize>,
}

/// Two ways that meet again and share no block before: each block has one place in the tree.
pub(super) struct Branch<'m> {
    pub(super) block: usize,
    pub(super) condition: Value<'m>,
    pub(super) yes: Vec<Item<'m>>,
    pub(super) no: Vec<Item<'m>>,
    pub(super) join: usize,
}

/// A loop with one exit.
pub(super) struct Cycle<'m> {
    pub(super) id: usize,
    pub(super) body: Vec<Item<'m>>,
    /// The block behind it.
    pub(super) exit: usize,
    /// How often it runs, or why that is not known.
    pub(super) count: Result<TripCount, &'static str>,
    /// Whether the exit is tested before the body.
    pub(super) test_first: bool,
}

/// The shape of a whole function.
pub(super) fn shape<'m>(values: &mut Values<'_, 'm>) -> Vec<Item<'m>> {
    let mut walker = Walker { cfg: values.cfg, values };
    match walker.walk(0, None, None) {
        Ok(items) => items,
        Err(why) => vec![Item::Apart(walker.loops_inside(None), why, 0)],
    }
}

/// The loop ends early, and the same code follows.
const SEVERAL_EXITS: &str =
    "the loop is left from several places, so how often it runs is not known before: it is opaque";
/// The loop ends early, and decides what follows.
const EXITS_DECIDE: &str = "the loop is left to several places, so which code runs behind it is a control dependence on what it computes";

const JUMP: &str = "a switch, or a jump of another kind";

struct Walker<'v, 'a, 'm> {
    cfg: &'a Cfg<'m>,
    values: &'v mut Values<'a, 'm>,
}

impl<'m> Walker<'_, '_, 'm> {
    /// From `b` until `stop`, inside of loop `around`.
    fn walk(
        &mut self,
        mut b: usize,
        stop: Option<usize>,
        around: Option<usize>,
    ) -> Result<Vec<Item<'m>>, &'static str> {
        let cfg = self.cfg;
        let mut items = Vec::new();
        let header = around.map(|l| cfg.loops[l].header);
        let mut first = true;
        while Some(b) != stop {
            let inside = cfg.loop_of[b];
            if inside != around {
                // Entering a loop at its header; anything else leaves `around`.
                let Some(l) = inside.filter(|&l| cfg.loops[l].header == b && cfg.loops[l].parent == around)
                else {
                    return Err("control leaves the loop from within");
                };
                match self.cycle(l) {
                    Ok(cycle) => {
                        b = cycle.exit;
                        items.push(Item::Loop(cycle));
                    }
                    Err(why) => {
                        let mut targets: Vec<usize> = cfg.loops[l].exits.iter().map(|e| e.1).collect();
                        targets.dedup();
                        items.push(self.tangle(l, why));
                        // Behind a loop with several exits is where they meet.
                        match targets[..] {
                            [] => return Ok(items),
                            [one] => b = one,
                            _ => {
                                let meet =
                                    targets.iter().skip(1).try_fold(targets[0], |a, &t| self.meet(a, t));
                                b = meet.ok_or("several exits of a loop do not meet")?;
                            }
                        }
                    }
                }
                first = false;
                continue;
            }
            if !first && Some(b) == header {
                break;
            }
            push_block(&mut items, b);
            let terminator = cfg.blocks[b].terminator().ok_or("a block has no end")?;
            match (&cfg.succs[b][..], terminator.opcode()) {
                ([], _) => break,
                (&[next], Opcode::Br) => {
                    if Some(next) == header {
                        break;
                    }
                    b = next;
                }
                (&[yes, no], Opcode::Br) if yes == no => b = yes,
                // Where it throws, control leaves.
                (&[next, _], Opcode::Invoke) => {
                    items.push(Item::Apart(Vec::new(), JUMP, b));
                    b = next;
                }
                (&[yes, no], Opcode::Br) => {
                    if let Some(l) = around
                        && let Some(&(_, out)) = cfg.loops[l].exits.iter().find(|e| e.0 == b)
                    {
                        if self.test(l).is_err() {
                            items.push(Item::Apart(Vec::new(), EXITS_DECIDE, b));
                        }
                        let next = if out == yes { no } else { yes };
                        if Some(next) == header {
                            break;
                        }
                        b = next;
                        first = false;
                        continue;
                    }
                    let condition = terminator.condition().ok_or("a branch has no condition")?;
                    // Not where control comes only once more through the loop around: there is code of the next iteration.
                    let again = |blocks: &[usize]| {
                        let mut ends = blocks.iter().chain([&b]).flat_map(|&x| &cfg.succs[x]);
                        ends.any(|next| Some(*next) == header)
                    };
                    let join =
                        cfg.ipdom[b].filter(|join| around.is_none_or(|l| cfg.loops[l].contains(*join)));
                    let meets = join.map(|join| (join, self.between(b, join)));
                    let Some((join, blocks)) = meets.filter(|(_, blocks)| !again(blocks)) else {
                        // The loops are found one by one, and nothing that comes behind them.
                        let ahead = self.ahead(b, around);
                        let inner = self.loops_among(around, |h| ahead.binary_search(&h).is_ok());
                        items.push(Item::Apart(inner, "two ways do not meet again", b));
                        return Ok(items);
                    };
                    let loop_free = blocks.iter().all(|&x| cfg.loop_of[x] == around);
                    let shared = self.is_shared(yes, no, join);
                    if loop_free && (shared || !self.is_guard(join, condition, &blocks)) {
                        blocks.iter().for_each(|&x| push_block(&mut items, x));
                    } else if shared {
                        // Walking both ways would describe the shared code twice, each time as if it were all: values
                        // that pass between the copies would be read where they are not written.
                        let inner = self.loops_among(around, |h| blocks.binary_search(&h).is_ok());
                        items.push(Item::Apart(
                            inner,
                            "the two ways of a condition around loops share code",
                            b,
                        ));
                    } else {
                        let yes = self.walk(yes, Some(join), around)?;
                        let no = self.walk(no, Some(join), around)?;
                        items.push(Item::If(Branch { block: b, condition, yes, no, join }));
                    }
                    b = join;
                }
                _ => return Err(JUMP),
            }
            first = false;
        }
        Ok(items)
    }

    fn meet(&self, a: usize, b: usize) -> Option<usize> {
        let chain = |mut x: usize| {
            let mut all = vec![x];
            while let Some(next) = self.cfg.ipdom[x] {
                all.push(next);
                x = next;
            }
            all
        };
        let others = chain(b);
        chain(a).into_iter().find(|x| others.contains(x))
    }

    /// Whether two ways share code before they reach `join`.
    fn is_shared(&self, yes: usize, no: usize, join: usize) -> bool {
        if yes == join || no == join {
            return false;
        }
        let (left, right) = (self.between(yes, join), self.between(no, join));
        let leads = |way: &[usize], from, x: &usize| *x == from || way.binary_search(x).is_ok();
        leads(&right, no, &yes) || left.iter().any(|x| leads(&right, no, x))
    }

    /// Blocks that `b` leads to without going through the header of the loop around once more, ascending.
    fn ahead(&self, b: usize, around: Option<usize>) -> Vec<usize> {
        let (mut found, mut work) = (Vec::new(), self.cfg.succs[b].clone());
        let mut seen = vec![false; self.cfg.blocks.len()];
        while let Some(x) = work.pop() {
            let inside =
                around.is_none_or(|l| x != self.cfg.loops[l].header && self.cfg.loops[l].contains(x));
            if inside && !seen[x] {
                seen[x] = true;
                found.push(x);
                work.extend(&self.cfg.succs[x]);
            }
        }
        found.sort_unstable();
        found
    }

    /// Blocks on the ways from `b` to `join`, without both, ascending.
    fn between(&self, b: usize, join: usize) -> Vec<usize> {
        let (mut found, mut work) = (Vec::new(), self.cfg.succs[b].clone());
        let mut seen = FxHashSet::default();
        while let Some(x) = work.pop() {
            if x != join && x != b && seen.insert(x) {
                found.push(x);
                work.extend(&self.cfg.succs[x]);
            }
        }
        found.sort_unstable();
        found
    }

    /// Whether a branch without loops is better a condition in the tree than inside of a statement: it is affine, no
    /// value passes into it, and none is merged behind it but what was loaded of one element or another.
    fn is_guard(&mut self, join: usize, condition: Value<'m>, blocks: &[usize]) -> bool {
        let cfg = self.cfg;
        let loaded = |v: Value<'m>| {
            let inst = v.as_inst().filter(|i| matches!(i.opcode(), Opcode::Load | Opcode::Phi));
            inst.and_then(|i| cfg.home(i)).is_some_and(|home| blocks.contains(&home))
        };
        let mut merged = blocks.iter().chain([&join]).flat_map(|&x| cfg.blocks[x].phis());
        if !merged.all(|phi| phi.incoming().into_iter().all(|(v, _)| loaded(v))) {
            return false;
        }
        // A value computed in front and used inside would have to pass through a scalar.
        let around = blocks.first().and_then(|&x| cfg.loop_of[x]);
        let passes = |v: Value<'m>| {
            v.as_inst().is_some_and(|i| {
                let data = i.opcode() == Opcode::Load || i.ty().is_float();
                data && cfg.home(i).is_some_and(|h| cfg.loop_of[h] == around && !blocks.contains(&h))
            })
        };
        let used = blocks.iter().flat_map(|&x| &cfg.insts[x]).flat_map(|i| i.operands());
        if used.into_iter().any(passes) {
            return false;
        }
        let Some(formula) = self.values.formula(condition, true) else { return false };
        let simple = |meaning: Meaning<Value<'m>>| match meaning {
            Meaning::Iteration(_) | Meaning::Quotient(_) => true,
            Meaning::Value(v) => {
                v.as_inst().is_none_or(|i| cfg.home(i).is_none_or(|h| cfg.loop_of[h].is_none()))
            }
        };
        formula.disjuncts.len() <= MAX_DISJUNCTS
            && formula
                .disjuncts
                .iter()
                .flatten()
                .all(|f| f.poly.degree() <= 1 && self.values.symbols().all(&f.poly, &simple))
    }

    fn cycle(&mut self, l: usize) -> Result<Cycle<'m>, &'static str> {
        let (from, exit, test_first) = self.test(l)?;
        let body = self.walk(self.cfg.loops[l].header, None, Some(l))?;
        let count = self.values.trip_count(LoopExit { id: l, from, test_first });
        Ok(Cycle { id: l, body, exit, count, test_first })
    }

    /// The only block that a loop is left from and the block behind, and whether it is left before its body.
    fn test(&self, l: usize) -> Result<(usize, usize, bool), &'static str> {
        let cfg = self.cfg;
        let data = &cfg.loops[l];
        let latch = match data.latches[..] {
            [] => return Err("control enters a cycle at two places"),
            [latch] => latch,
            _ => return Err("the loop has several latches"),
        };
        let [(from, exit)] = data.exits[..] else {
            let behind = |e: &(usize, usize)| self.next_with_code(e.1);
            let mut places = data.exits.iter().map(behind);
            let one = places.next().is_some_and(|first| places.all(|p| p == first));
            return Err(if one { SEVERAL_EXITS } else { EXITS_DECIDE });
        };
        let enters = |p: &usize| *p != latch && cfg.succs[*p].len() == 1 && cfg.ends_if[*p].is_none();
        if cfg.preds[exit].len() != 1 || !cfg.preds[data.header].iter().any(enters) {
            return Err("the loop has no block of its own in front or behind");
        }
        let test_first = from == data.header && from != latch;
        if !test_first && from != latch {
            return Err("the loop is left from its middle");
        }
        if test_first && cfg.insts[from].iter().any(|i| has_effect(*i)) {
            return Err("code with effects runs before the loop's test");
        }
        Ok((from, exit, test_first))
    }

    /// A loop that is no [`Cycle`]: its body one iteration long, else the loops in it.
    fn tangle(&mut self, l: usize, why: &'static str) -> Item<'m> {
        let data = &self.cfg.loops[l];
        // Else the body was walked in vain already.
        let body = match data.latches[..] {
            [_] if self.test(l).is_err() => self.walk(data.header, None, Some(l)).ok(),
            _ => None,
        };
        let inner = body.unwrap_or_else(|| self.loops_inside(Some(l)));
        Item::Tangle(inner, why, data.header)
    }

    /// The first block from here on that does more than go on to the next.
    fn next_with_code(&self, mut b: usize) -> usize {
        let goes_on = |b: usize| self.cfg.insts[b].iter().all(|i| i.is_phi() || i.is_terminator());
        while let [next] = self.cfg.succs[b][..]
            && next > b
            && goes_on(b)
        {
            b = next;
        }
        b
    }

    /// Shapes of the loops directly inside of one, or of the function.
    fn loops_inside(&mut self, parent: Option<usize>) -> Vec<Item<'m>> {
        self.loops_among(parent, |_| true)
    }

    /// As [`Walker::loops_inside`], of the loops with certain headers.
    fn loops_among(&mut self, parent: Option<usize>, among: impl Fn(usize) -> bool) -> Vec<Item<'m>> {
        let loops = &self.cfg.loops;
        let children: Vec<usize> =
            (0..loops.len()).filter(|&c| loops[c].parent == parent && among(loops[c].header)).collect();
        children
            .into_iter()
            .map(|c| match self.cycle(c) {
                Ok(cycle) => Item::Loop(cycle),
                Err(why) => self.tangle(c, why),
            })
            .collect()
    }
}

/// Whether an instruction does more than compute or read plainly.
pub(super) fn has_effect(inst: Inst<'_>) -> bool {
    use crate::llvm::Effects;
    let e = inst.effects();
    !e.contains(Effects::MARKER)
        && (e.intersects(Effects::WRITE | Effects::THROW | Effects::ATOMIC | Effects::VOLATILE)
            || !e.contains(Effects::WILL_RETURN))
}

fn push_block(items: &mut Vec<Item<'_>>, b: usize) {
    if let Some(Item::Piece(p)) = items.last_mut() {
        p.blocks.push(b);
    } else {
        items.push(Item::Piece(Piece { blocks: vec![b] }));
    }
}
