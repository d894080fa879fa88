//! The control-flow graph in numbers: reachable blocks in reverse postorder, dominators both ways, natural loops.

use rustc_hash::FxHashMap;

use crate::llvm::{Block, Function, Inst, Value};

/// The graph of one function. Blocks are numbered in reverse postorder; unreachable ones are left out.
pub struct Cfg<'m> {
    pub(super) function: Function<'m>,
    pub(super) blocks: Vec<Block<'m>>,
    /// Instructions as they were before any block was split.
    pub(super) insts: Vec<Vec<Inst<'m>>>,
    home: FxHashMap<Inst<'m>, usize>,
    pub(super) succs: Vec<Vec<usize>>,
    pub(super) preds: Vec<Vec<usize>>,
    /// Immediate dominator; of the entry itself.
    pub(super) idom: Vec<usize>,
    /// Immediate post-dominator, where all ways meet before the function ends.
    pub(super) ipdom: Vec<Option<usize>>,
    /// Outer loops before inner ones.
    pub(super) loops: Vec<NaturalLoop>,
    /// The innermost loop of a block.
    pub(super) loop_of: Vec<Option<usize>>,
    /// Whether some cycle is no natural loop.
    pub(super) irreducible: bool,
}

/// A natural loop.
pub(crate) struct NaturalLoop {
    pub(super) header: usize,
    pub(super) latches: Vec<usize>,
    /// Ascending.
    pub(super) blocks: Vec<usize>,
    pub(super) parent: Option<usize>,
    /// Edges that leave it.
    pub(super) exits: Vec<(usize, usize)>,
}

impl NaturalLoop {
    pub(super) fn contains(&self, block: usize) -> bool {
        self.blocks.binary_search(&block).is_ok()
    }
}

impl<'m> Cfg<'m> {
    /// `None` for declarations.
    pub(super) fn new(function: Function<'m>) -> Option<Cfg<'m>> {
        let entry = function.entry()?;
        let blocks = reverse_postorder(entry);
        let number: FxHashMap<Block<'m>, usize> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let succs: Vec<Vec<usize>> =
            blocks.iter().map(|b| b.successors().iter().map(|s| number[s]).collect()).collect();
        let insts: Vec<Vec<Inst<'m>>> = blocks.iter().map(|b| b.insts()).collect();
        let home = insts.iter().enumerate().flat_map(|(b, l)| l.iter().map(move |i| (*i, b))).collect();
        let mut preds = vec![Vec::new(); blocks.len()];
        for (from, targets) in succs.iter().enumerate() {
            for &to in targets {
                if !preds[to].contains(&from) {
                    preds[to].push(from);
                }
            }
        }
        let idom = dominators(&preds);
        let ipdom = post_dominators(&succs);
        let mut cfg = Cfg {
            function,
            loop_of: vec![None; blocks.len()],
            blocks,
            insts,
            home,
            succs,
            preds,
            idom,
            ipdom,
            loops: Vec::new(),
            irreducible: false,
        };
        cfg.find_loops();
        Some(cfg)
    }

    /// The function.
    pub fn function(&self) -> Function<'m> {
        self.function
    }

    /// The block of a number.
    pub fn block(&self, number: usize) -> Option<Block<'m>> {
        self.blocks.get(number).copied()
    }

    /// The header of a loop and the innermost loop around it.
    pub fn loop_at(&self, number: usize) -> Option<(usize, Option<usize>)> {
        self.loops.get(number).map(|l| (l.header, l.parent))
    }

    /// The block of an instruction; `None` where it is unreachable.
    pub fn home(&self, inst: Inst<'m>) -> Option<usize> {
        self.home.get(&inst).copied()
    }

    /// `(loop, value at first, value for the next iteration)` of a phi in the header of a loop with one latch.
    pub(super) fn recurrence(&self, phi: Inst<'m>) -> Option<(usize, Value<'m>, Value<'m>)> {
        let block = self.home(phi)?;
        let l = self.loop_of[block].filter(|&l| self.loops[l].header == block)?;
        let [latch] = self.loops[l].latches[..] else { return None };
        match phi.incoming()[..] {
            [(a, from), (b, _)] if from == self.blocks[latch] => Some((l, b, a)),
            [(a, _), (b, from)] if from == self.blocks[latch] => Some((l, a, b)),
            _ => None,
        }
    }

    /// Whether every way to `b` goes through `a`.
    pub(super) fn dominates(&self, a: usize, mut b: usize) -> bool {
        // Dominators have smaller numbers.
        while b > a {
            b = self.idom[b];
        }
        a == b
    }

    /// Whether `inner` is `outer` or inside of it.
    pub(super) fn loop_within(&self, inner: usize, outer: usize) -> bool {
        let mut at = Some(inner);
        while let Some(l) = at {
            if l == outer {
                return true;
            }
            at = self.loops[l].parent;
        }
        false
    }

    fn find_loops(&mut self) {
        for header in 0..self.blocks.len() {
            let (mut latches, mut entering) = (Vec::new(), false);
            for &p in &self.preds[header] {
                if self.dominates(header, p) {
                    latches.push(p);
                } else if p >= header {
                    entering = true;
                }
            }
            self.irreducible |= entering;
            if latches.is_empty() {
                continue;
            }
            let (mut inside, mut work) = (vec![header], latches.clone());
            while let Some(b) = work.pop() {
                if !inside.contains(&b) {
                    inside.push(b);
                    work.extend(&self.preds[b]);
                }
            }
            inside.sort_unstable();
            let parent = self.loop_of[header];
            let id = self.loops.len();
            let mut exits = Vec::new();
            for &b in &inside {
                self.loop_of[b] = Some(id);
                exits.extend(
                    self.succs[b].iter().filter(|s| inside.binary_search(s).is_err()).map(|&s| (b, s)),
                );
            }
            self.loops.push(NaturalLoop { header, latches, blocks: inside, parent, exits });
        }
    }
}

fn reverse_postorder<'m>(entry: Block<'m>) -> Vec<Block<'m>> {
    let mut order = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    seen.insert(entry);
    let mut stack = vec![(entry, entry.successors(), 0)];
    while let Some((block, succs, at)) = stack.last_mut() {
        if let Some(&next) = succs.get(*at) {
            *at += 1;
            if seen.insert(next) {
                stack.push((next, next.successors(), 0));
            }
        } else {
            order.push(*block);
            stack.pop();
        }
    }
    order.reverse();
    order
}

/// Whether control may come to some block twice.
pub fn has_cycle(function: Function<'_>) -> bool {
    let Some(entry) = function.entry() else { return false };
    let order = reverse_postorder(entry);
    let number: FxHashMap<Block<'_>, usize> = order.iter().enumerate().map(|(at, b)| (*b, at)).collect();
    order.iter().enumerate().any(|(at, b)| b.successors().iter().any(|s| number[s] <= at))
}

/// Cooper, Harvey and Kennedy's iteration on reverse postorder numbers.
fn dominators(preds: &[Vec<usize>]) -> Vec<usize> {
    let mut idom: Vec<Option<usize>> = vec![None; preds.len()];
    idom[0] = Some(0);
    let mut changed = true;
    while changed {
        changed = false;
        for b in 1..preds.len() {
            let mut new: Option<usize> = None;
            for &p in preds[b].iter().filter(|&&p| idom[p].is_some()) {
                new = Some(match new {
                    None => p,
                    Some(mut a) => {
                        let mut c = p;
                        while a != c {
                            while a > c {
                                a = idom[a].unwrap_or(0);
                            }
                            while c > a {
                                c = idom[c].unwrap_or(0);
                            }
                        }
                        a
                    }
                });
            }
            if new.is_some() && idom[b] != new {
                idom[b] = new;
                changed = true;
            }
        }
    }
    idom.into_iter().enumerate().map(|(i, d)| d.unwrap_or(i)).collect()
}

/// On the reversed graph with one virtual end; blocks that never reach an end have none.
fn post_dominators(succs: &[Vec<usize>]) -> Vec<Option<usize>> {
    let count = succs.len();
    // Postorder of the reversed graph from the virtual end, which gets number 0.
    let mut back: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (from, targets) in succs.iter().enumerate() {
        for &to in targets {
            back[to].push(from);
        }
    }
    let ends: Vec<usize> = (0..count).filter(|&b| succs[b].is_empty()).collect();
    let mut seen = vec![false; count];
    let mut order = Vec::new();
    for &end in &ends {
        if seen[end] {
            continue;
        }
        seen[end] = true;
        let mut stack = vec![(end, 0)];
        while let Some((block, at)) = stack.last_mut() {
            if let Some(&next) = back[*block].get(*at) {
                *at += 1;
                if !seen[next] {
                    seen[next] = true;
                    stack.push((next, 0));
                }
            } else {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    let mut place = vec![usize::MAX; count];
    for (i, &b) in order.iter().enumerate() {
        place[b] = i + 1;
    }
    let mut preds: Vec<Vec<usize>> = vec![Vec::new()];
    for &b in &order {
        let mut list: Vec<usize> = succs[b].iter().map(|&s| place[s]).filter(|&p| p != usize::MAX).collect();
        if succs[b].is_empty() {
            list.push(0);
        }
        preds.push(list);
    }
    let idom = dominators(&preds);
    (0..count)
        .map(|b| match place[b] {
            usize::MAX => None,
            at => match idom[at] {
                0 => None,
                d => Some(order[d - 1]),
            },
        })
        .collect()
}
