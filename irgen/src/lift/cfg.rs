//! The control-flow graph in numbers: reachable blocks in reverse postorder, dominators both ways, loops.

use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::llvm::{Block, Function, Inst, Opcode, Value};

/// The graph of one function. Blocks are numbered in reverse postorder; unreachable ones are left out, and so are those from which
/// all ways come to an `unreachable`, as after a failed assertion: what goes on has to hold that they are not reached.
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
    /// Of a block with a condition one way of which is left out: whether it is the one where the condition holds.
    pub(super) ends_if: Vec<Option<bool>>,
    /// Outer loops before inner ones.
    pub(super) loops: Vec<NaturalLoop>,
    /// The innermost loop of a block.
    pub(super) loop_of: Vec<Option<usize>>,
    /// What counts iterations, by `strides.cpp`; looked for when the first of them is wanted.
    pub(super) strides: OnceCell<Vec<Inst<'m>>>,
}

/// A natural loop, or a cycle that control enters at several places.
pub(crate) struct NaturalLoop {
    /// The first of its blocks.
    pub(super) header: usize,
    /// None where control enters at several places.
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
        let ending = ending(&reverse_postorder(entry, Block::successors));
        let goes_on = |b: Block<'m>| ways(b, &ending).0;
        let blocks = reverse_postorder(entry, goes_on);
        let number: FxHashMap<Block<'m>, usize> = blocks.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let succs: Vec<Vec<usize>> =
            blocks.iter().map(|b| goes_on(*b).iter().map(|s| number[s]).collect()).collect();
        let ends_if = blocks.iter().map(|b| ways(*b, &ending).1).collect();
        let insts: Vec<Vec<Inst<'m>>> = blocks.iter().map(|b| b.insts()).collect();
        let home = insts.iter().enumerate().flat_map(|(b, l)| l.iter().map(move |i| (*i, b))).collect();
        let mut preds = vec![Vec::new(); blocks.len()];
        for (from, targets) in succs.iter().enumerate() {
            for &to in targets {
                // Ascending.
                if preds[to].last() != Some(&from) {
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
            ends_if,
            loops: Vec::new(),
            strides: OnceCell::new(),
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

    /// Blocks that lead to a block, or to an end that it is part of; the block itself, where it has a number.
    pub(super) fn leading_to(&self, block: Block<'m>) -> Vec<usize> {
        let (mut leading, mut seen, mut todo) = (Vec::new(), FxHashSet::default(), vec![block]);
        while let Some(block) = todo.pop() {
            match block.terminator().and_then(|t| self.home(t)) {
                Some(number) => leading.push(number),
                None if seen.insert(block) => todo.extend(block.predecessors()),
                None => {}
            }
        }
        leading
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
        let mut cycles = Vec::new();
        let mut work = vec![(0..self.blocks.len()).collect::<Vec<usize>>()];
        while let Some(blocks) = work.pop() {
            for inside in components(&self.succs, &blocks) {
                let has = |b: &usize| inside.binary_search(b).is_ok();
                let entered = inside.iter().filter(|b| !self.preds[**b].iter().all(has)).count();
                let header = inside[0];
                let latches = self.preds[header].iter().copied().filter(|p| entered == 1 && has(p)).collect();
                work.push(inside[1..].to_vec());
                cycles.push((header, latches, inside));
            }
        }
        // A header is part of no cycle inside of its own.
        cycles.sort_unstable_by_key(|(header, ..)| *header);
        for (id, (header, latches, inside)) in cycles.into_iter().enumerate() {
            let parent = self.loop_of[header];
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

/// Blocks from which all ways come to an `unreachable`, or leave the function by an exception, and none goes in circles; none where the
/// first of them all is one.
/// `blocks`: in reverse postorder.
fn ending<'m>(blocks: &[Block<'m>]) -> FxHashSet<Block<'m>> {
    let mut ending = FxHashSet::default();
    for block in blocks.iter().rev() {
        let ends = match &block.successors()[..] {
            [] => {
                block.terminator().is_some_and(|t| matches!(t.opcode(), Opcode::Unreachable | Opcode::Resume))
            }
            targets => targets.iter().all(|t| ending.contains(t)),
        };
        if ends {
            ending.insert(*block);
        }
    }
    if blocks.first().is_some_and(|entry| ending.contains(entry)) {
        ending.clear();
    }
    ending
}

/// Where a block leads to, without the way of a condition that is left out, and which that is.
fn ways<'m>(block: Block<'m>, ending: &FxHashSet<Block<'m>>) -> (Vec<Block<'m>>, Option<bool>) {
    let all = block.successors();
    let is_branch = block.terminator().is_some_and(|t| t.opcode() == Opcode::Br);
    match all[..] {
        [yes, no] if is_branch && ending.contains(&yes) != ending.contains(&no) => {
            match ending.contains(&yes) {
                true => (vec![no], Some(true)),
                false => (vec![yes], Some(false)),
            }
        }
        _ => (all, None),
    }
}

/// The cycles of the graph of some blocks, which are ascending: the largest sets in which each block leads to each. Tarjan's
/// algorithm. Ascending inside.
fn components(succs: &[Vec<usize>], blocks: &[usize]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let place = |b: usize| blocks.binary_search(&b).ok();
    let (mut index, mut low) = (vec![NEW; blocks.len()], vec![NEW; blocks.len()]);
    let mut open = vec![false; blocks.len()];
    let (mut stack, mut found, mut next) = (Vec::new(), Vec::new(), 0);
    for root in 0..blocks.len() {
        if index[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((at, edge)) = calls.last_mut() {
            let at = *at;
            if *edge == 0 {
                (index[at], low[at]) = (next, next);
                next += 1;
                open[at] = true;
                stack.push(at);
            }
            if let Some(&target) = succs[blocks[at]].get(*edge) {
                *edge += 1;
                match place(target) {
                    Some(to) if index[to] == NEW => calls.push((to, 0)),
                    Some(to) if open[to] => low[at] = low[at].min(index[to]),
                    _ => {}
                }
                continue;
            }
            calls.pop();
            if let Some(&(caller, _)) = calls.last() {
                low[caller] = low[caller].min(low[at]);
            }
            if low[at] == index[at] {
                let first = stack.iter().rposition(|x| *x == at).unwrap_or(0);
                let mut component: Vec<usize> = stack.split_off(first);
                component.iter().for_each(|x| open[*x] = false);
                component.iter_mut().for_each(|x| *x = blocks[*x]);
                component.sort_unstable();
                let is_cycle = component.len() > 1 || succs[component[0]].contains(&component[0]);
                if is_cycle {
                    found.push(component);
                }
            }
        }
    }
    found
}

pub(super) fn reverse_postorder<'m>(
    entry: Block<'m>,
    successors: impl Fn(Block<'m>) -> Vec<Block<'m>>,
) -> Vec<Block<'m>> {
    let mut order = Vec::new();
    let mut seen = rustc_hash::FxHashSet::default();
    seen.insert(entry);
    let mut stack = vec![(entry, successors(entry), 0)];
    while let Some((block, succs, at)) = stack.last_mut() {
        if let Some(&next) = succs.get(*at) {
            *at += 1;
            if seen.insert(next) {
                stack.push((next, successors(next), 0));
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
    let order = reverse_postorder(entry, Block::successors);
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
