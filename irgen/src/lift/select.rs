//! Which parts of a function become regions, and cutting their blocks out.

use super::called::is_of_call;
use super::cfg::Cfg;
use super::leaves::{Refusal, refuse};
use super::region::{Draft, contains, describable, draft, draft_around_calls, too_large};
use super::remedies::remedy;
use super::shape::Item;
use super::values::Values;
use super::{ArrayBinding, LoopBinding, Region, Remark, source_location};
use crate::llvm::{Block, Function, Inst, Result, Value};
use loop_tree::SourceLocation;

/// A part of the function, for the tree of the whole.
pub(super) enum Part {
    /// A draft, by number.
    Region(usize),
    /// Code that is not described.
    Opaque,
    /// A loop around other parts.
    Loop(Vec<Part>),
    /// Parts of which some are executed.
    Either(Vec<Part>),
}

/// Prefixes of a run that are tried one item shorter each time; then they are halved.
const MAX_TRIES: usize = 16;

const COMPUTED_ELSEWHERE: &str = "a size is computed in loops in front, which are described without it";

/// What selection found so far.
pub(super) struct Selection<'m> {
    pub(super) name: String,
    pub(super) drafts: Vec<Draft<'m>>,
    pub(super) remarks: Vec<Remark>,
    /// Loops that are described in no region, by number, and why.
    pub(super) left: Vec<(usize, &'static str, String)>,
}

impl<'m> Selection<'m> {
    pub(super) fn new(name: &str) -> Selection<'m> {
        Selection { name: name.to_string(), drafts: Vec::new(), remarks: Vec::new(), left: Vec::new() }
    }

    /// The largest runs of items that can be described, from outside to inside.
    pub(super) fn select(&mut self, values: &mut Values<'_, 'm>, items: &[Item<'m>]) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut at = 0;
        while at < items.len() {
            let is_shaped = |i: &&Item<'m>| !matches!(i, Item::Tangle(..) | Item::Apart(..));
            let run = items[at..].iter().take_while(is_shaped).count();
            if run == 0 {
                parts.push(self.apart(values, &items[at]));
                at += 1;
                continue;
            }
            self.run(values, &items[at..at + run], &mut parts);
            at += run;
        }
        parts
    }

    /// What has no shape: why, and what is inside.
    fn apart(&mut self, values: &mut Values<'_, 'm>, item: &Item<'m>) -> Part {
        let (Item::Tangle(inner, why, at) | Item::Apart(inner, why, at)) = item else { return Part::Opaque };
        if has_loop(item) {
            let first = values.cfg.insts.get(*at).and_then(|l| l.first()).copied();
            self.remark(place(values.cfg, first, "control"), "control", why, "", depth(item));
        }
        match item {
            Item::Apart(..) => Part::Either(self.select(values, inner)),
            _ => {
                self.left.extend(values.cfg.loop_of[*at].map(|l| (l, "control", (*why).to_owned())));
                Part::Loop(self.select(values, inner))
            }
        }
    }

    /// Tries the run as a whole, else its loops one by one, longest prefix first.
    fn run(&mut self, values: &mut Values<'_, 'm>, items: &[Item<'m>], parts: &mut Vec<Part>) {
        let mut at = 0;
        // Items that cannot be described even alone; asked for when a run is refused, so that it is not tried again and
        // again with fewer items behind the one that is in the way.
        let mut alone: Option<Vec<bool>> = None;
        while at < items.len() {
            if !has_loop(&items[at]) {
                parts.push(Part::Opaque);
                at += 1;
                continue;
            }
            let mut end = at + describable(values.cfg, &items[at..]).max(1);
            let mut refused = items.get(end).map(|_| too_large(values.cfg, &[]));
            let mut tries = 0;
            let found = loop {
                if let Some(alone) = &alone {
                    end = (at + 1..end).find(|&i| alone[i] || alone[at]).unwrap_or(end);
                }
                // A run ends with a loop.
                while end > at + 1 && !has_loop(&items[end - 1]) {
                    end -= 1;
                }
                match draft(values, &self.name, &items[at..end]) {
                    Ok(d) if !self.is_lost(values.cfg, &d) => break Some(d),
                    Ok(_) => refused = Some(refuse(None, "control", COMPUTED_ELSEWHERE)),
                    Err(r) => refused = Some(r),
                }
                if end == at + 1 {
                    break None;
                }
                if alone.is_none() {
                    alone = Some(items.iter().map(|item| self.is_refused_alone(values, item)).collect());
                }
                tries += 1;
                // Refused for what the items are together: few more attempts.
                end = if tries <= MAX_TRIES { end - 1 } else { at + (end - at).div_ceil(2) };
            };
            match found {
                Some(d) => {
                    // What ended the run, if it had to be shorter than wished for.
                    if let Some(r) = refused {
                        self.refused(values.cfg, r, 0);
                    }
                    parts.push(Part::Region(self.drafts.len()));
                    self.drafts.push(d);
                    at = end;
                }
                None => {
                    let (drafts, left, remarks) = (self.drafts.len(), self.left.len(), self.remarks.len());
                    let calls = refused.as_ref().is_some_and(is_of_call);
                    if let Some(r) = refused {
                        if let Item::Loop(c) = &items[at] {
                            self.left.push((c.id, r.code, r.message.clone()));
                        }
                        // Of the nest, where nothing in it is to blame alone.
                        let inst = r.inst.or_else(|| first_of(values.cfg, &items[at]));
                        self.refused(values.cfg, Refusal { inst, ..r }, depth(&items[at]));
                    }
                    let mut part = self.descend(values, &items[at]);
                    // Where nothing inside may move anyway, the nest is described around its calls.
                    if calls
                        && self.drafts[drafts..].iter().all(|d| !d.calls.is_empty())
                        && let Ok(d) = draft_around_calls(values, &self.name, &items[at])
                    {
                        self.remarks[remarks..].iter_mut().for_each(|r| r.depth = 0);
                        self.left.truncate(left);
                        self.drafts.truncate(drafts);
                        part = Part::Region(drafts);
                        self.drafts.push(d);
                    }
                    parts.push(part);
                    at += 1;
                }
            }
        }
    }

    /// Whether a draft takes what only another one computes, which new code of that one does not: nothing but what is used
    /// behind a region leaves it.
    fn is_lost(&self, cfg: &Cfg<'m>, draft: &Draft<'m>) -> bool {
        let bases = draft.arrays.iter().filter_map(|a| match a {
            ArrayBinding::Memory { base, .. } => Some(*base),
            ArrayBinding::Scalar { .. } => None,
        });
        let reads = draft.apart.reads.iter();
        let read = reads.flat_map(|r| [Some(r.base), r.guard.map(|(condition, _)| condition)]).flatten();
        let params = draft.params.iter().flat_map(|p| p.factors.iter().copied());
        let mut taken = params.chain(bases).chain(read).filter_map(Value::as_inst);
        let within = |i: Inst<'m>, other: &Draft<'m>| {
            cfg.home(i).is_some_and(|home| other.place.blocks.contains(&home))
        };
        taken.any(|i| {
            self.drafts.iter().filter(|other| within(i, other)).any(|other| {
                i.value().users().into_iter().filter_map(Value::as_inst).all(|user| within(user, other))
            })
        })
    }

    /// Whether the item is refused for something in itself.
    fn is_refused_alone(&self, values: &mut Values<'_, 'm>, item: &Item<'m>) -> bool {
        has_loop(item)
            && draft(values, &self.name, std::slice::from_ref(item))
                .err()
                .and_then(|r| r.inst)
                .is_some_and(|inst| values.cfg.home(inst).is_some_and(|b| contains(item, values.cfg, b)))
    }

    fn descend(&mut self, values: &mut Values<'_, 'm>, item: &Item<'m>) -> Part {
        match item {
            Item::Loop(c) => Part::Loop(self.select(values, &c.body)),
            Item::If(b) => {
                let mut all = self.select(values, &b.yes);
                all.extend(self.select(values, &b.no));
                Part::Either(all)
            }
            Item::Tangle(..) | Item::Apart(..) => self.apart(values, item),
            Item::Piece(_) => Part::Opaque,
        }
    }

    fn refused(&mut self, cfg: &Cfg<'m>, r: Refusal<'m>, depth: usize) {
        self.remark(place(cfg, r.inst, r.code), r.code, &r.message, r.help, depth);
    }

    pub(super) fn remark(
        &mut self,
        location: Option<SourceLocation>,
        code: &'static str,
        message: &str,
        help: &'static str,
        depth: usize,
    ) {
        let help = if help.is_empty() { remedy(code, message) } else { help };
        let remark = Remark { location, code, message: message.to_owned(), help, depth };
        // What is in the way of loops inside, too, is told once.
        let told = |r: &&mut Remark| Remark { depth, ..(**r).clone() } == remark;
        match self.remarks.iter_mut().find(told) {
            Some(told) => told.depth = told.depth.max(depth),
            None => self.remarks.push(remark),
        }
    }
}

/// Where it is that something is in the way: of what is about a loop, where that begins. In the function itself, not in what was
/// inlined there.
fn place<'m>(cfg: &Cfg<'m>, inst: Option<Inst<'m>>, code: &str) -> Option<SourceLocation> {
    let around = || {
        let of = cfg.loop_of[inst.and_then(|i| cfg.home(i))?]?;
        let mut latches = cfg.loops[of].latches.iter().filter_map(|&l| cfg.blocks[l].terminator());
        latches.find_map(|latch| source_location(latch.loop_location_in_function()?))
    };
    let own = || source_location(inst?.location_in_function()?);
    match code {
        "trip-count" | "control" | "empty" => around().or_else(own),
        _ => own().or_else(around),
    }
}

/// An instruction of the item's first loop.
fn first_of<'m>(cfg: &Cfg<'m>, item: &Item<'m>) -> Option<Inst<'m>> {
    let of = |items: &[Item<'m>]| items.iter().find_map(|i| first_of(cfg, i));
    match item {
        Item::Piece(_) => None,
        Item::Loop(c) => cfg.insts[cfg.loops[c.id].header].first().copied(),
        Item::Tangle(inner, ..) | Item::Apart(inner, ..) => of(inner),
        Item::If(b) => of(&b.yes).or_else(|| of(&b.no)),
    }
}

/// Levels of loops.
fn depth(item: &Item<'_>) -> usize {
    let deepest = |items: &[Item<'_>]| items.iter().map(depth).max().unwrap_or(0);
    match item {
        Item::Piece(_) => 0,
        Item::Loop(c) => 1 + deepest(&c.body),
        Item::Tangle(inner, ..) => 1 + deepest(inner),
        Item::Apart(inner, ..) => deepest(inner),
        Item::If(b) => deepest(&b.yes).max(deepest(&b.no)),
    }
}

pub(super) fn has_loop(item: &Item<'_>) -> bool {
    match item {
        Item::Piece(_) => false,
        Item::Loop(_) | Item::Tangle(..) => true,
        Item::If(b) => b.yes.iter().chain(&b.no).any(has_loop),
        Item::Apart(inner, ..) => inner.iter().any(has_loop),
    }
}

/// Gives a region blocks of its own at both ends.
pub(super) fn cut<'m>(function: Function<'m>, blocks: &[Block<'m>], draft: Draft<'m>) -> Result<Region<'m>> {
    let before = draft.place.begin.block();
    let entry = draft.place.begin.split_block("region.entry")?;
    let last = blocks[draft.place.behind];
    let first = last.insts().into_iter().find(|i| !i.is_phi());
    let exit = match first {
        Some(first) => first.split_block("region.exit")?,
        None => last,
    };
    let bind = |&(_, latch): &(usize, usize)| LoopBinding { latch: blocks[latch] };
    let loops: Vec<LoopBinding<'m>> = draft.loops.iter().map(bind).collect();
    let first = || draft.kernel.statements.iter().find_map(|s| s.location.clone());
    let start = loops.first().and_then(LoopBinding::location).or_else(first);
    Ok(Region {
        loops,
        invented: draft.invented,
        kernel: draft.kernel,
        function,
        before,
        entry,
        last,
        exit,
        params: draft.params,
        arrays: draft.arrays,
        origins: draft.origins,
        calls: draft.calls,
        apart: draft.apart,
        location: start,
    })
}
