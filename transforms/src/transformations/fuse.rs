//! Fuse: two loops of a sequence become one.
//! Elsewhere: `compute_with` (Halide), `fuse` (Exo), loop jamming, `-loop-fusion` (LLVM).
//!
//! ```lt before
//! for i in 0..N { S(i) }
//! for j in 1..M { T(j) }
//! ```
//! ```recipe
//! fuse(i, j)
//! ```
//! ```lt after
//! for i in 0..min(N, 1) { S(i) }
//! for t0 in 1..min(N, M) { let i = t0 { S(i) } let j = t0 { T(j) } }
//! for i in max(1, M)..N { S(i) }
//! for j in max(1, N)..M { T(j) }
//! ```
//! Keeps the set of statement instances; iteration `j + shift` of the second loop moves to iteration `j` of the first.
//! Applies to loops in one sequence, also below bindings and affine guards. What stands between them goes before the first
//! where it touches nothing that the first loop does, else after the second. Where the ranges differ, what is not
//! common is split off either loop as loops of its own, before and after; or, with `guard`, one loop runs over both
//! ranges, which must then differ by constants, and each body runs where its own range is. Guards above the loops stay
//! outside: where they differ, the loops are fused where both hold, and stand alone where only one does.

use crate::nest::{self, Link};
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Site, Transform};
use loop_tree::{
    AccessKind, Affine, ArrayId, Condition, Green, GuardCondition, Kernel, LoopHeader, LoopKind, Node, Path,
    StmtId, VarId,
};
use std::fmt;

/// What happens to iterations that only one of the loops has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Remainder {
    /// They become loops before and after the fused one.
    #[default]
    Split,
    /// The fused loop runs over both ranges, and its bodies are guarded.
    Guard,
}

/// Fuses `first` with the loop after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fuse {
    /// The first loop.
    pub first: LoopRef,
    /// The second; `None`: the next sibling of the first.
    pub second: Option<LoopRef>,
    /// Iteration `k` of the fused loop runs iteration `k + shift` of the second one.
    pub shift: i64,
    /// What happens where ranges differ.
    pub remainder: Remainder,
}

/// One of the loops to fuse.
#[derive(Clone)]
struct Part<'a> {
    site: Site<'a>,
    /// When the loop runs at all, in terms of the scope around the sequence.
    condition: Condition,
    /// Bindings between the sequence and the loop.
    links: Vec<Link>,
    /// Range of the fused variable, in terms of the scope around the sequence.
    lower: Vec<Affine>,
    upper: Vec<Affine>,
    /// The loop's variable is the fused one plus this.
    shift: i64,
}

/// Where the loops to fuse stand.
struct Parts<'a> {
    sequence: Path,
    /// Position of the first loop in the sequence.
    index: usize,
    /// Position of the second one.
    other: usize,
    first: Part<'a>,
    second: Part<'a>,
}

impl Transform for Fuse {
    fn name(&self) -> &'static str {
        "fuse"
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let Parts { sequence, index, other, first, second } = self.parts(cx)?;
        let fused = match self.remainder {
            Remainder::Split => split(cx, &first, &second)?,
            Remainder::Guard => vec![guarded(cx, &first, &second)?],
        };
        let fused = where_both_run(&first, &second, fused)?;
        let node = cx.node(&sequence)?;
        let children: Vec<Green> = (index..other).filter_map(|n| node.child(n)).cloned().collect();
        let (before, after) = around(cx.kernel, &children[0], &children[1..]);
        cx.replace(&sequence, node.splice(index..other + 1, [before, fused, after].concat()))
    }
}

impl Fuse {
    fn parts<'a>(&self, cx: &Context<'a>) -> Result<Parts<'a>, Refusal> {
        let first = cx.site(&self.first)?;
        let (sequence, index, first_links) = place(cx, &first)?;
        let second = match &self.second {
            Some(reference) => cx.site(reference)?,
            None => {
                let node = cx.node(&sequence)?;
                let next = (index + 1..node.child_count()).find_map(|n| {
                    let (links, inner) = nest::links(node.child(n)?);
                    inner.as_loop()?;
                    let mut path = sequence.child(n);
                    path.0.extend(std::iter::repeat_n(0, links.len()));
                    Some(path)
                });
                let none = || Refusal::new("not-adjacent", &first.path, "no loop follows in its sequence");
                cx.site_at(&next.ok_or_else(none)?)?
            }
        };
        let (other, other_index, second_links) = place(cx, &second)?;
        if other != sequence || other_index <= index {
            return Err(Refusal::new(
                "not-adjacent",
                &first.path,
                "the second loop does not follow the first in its sequence",
            )
            .and(&second.path)
            .help("move it there, or distribute the loops around"));
        }
        if first.header.step != second.header.step {
            return Err(
                Refusal::new("steps", &first.path, "the loops have different steps").and(&second.path)
            );
        }
        if self.shift.unsigned_abs() > nest::LARGEST_FACTOR.unsigned_abs() {
            return Err(Refusal::new(
                "factor",
                &first.path,
                format!("a shift of {} is too large", self.shift),
            ));
        }
        let first = part(first, first_links, 0);
        let second = part(second, second_links, self.shift);
        Ok(Parts { sequence, index, other: other_index, first, second })
    }

    /// Loops that stand in one sequence, below bindings and affine guards: each with so many that follow it; outer ones first.
    pub fn pairs(cx: &Context<'_>, reach: usize) -> Vec<(Path, Path)> {
        let mut result = Vec::new();
        let mut walk = cx.root.walk();
        while let Some(node) = walk.next() {
            let Node::Seq(children) = node.node() else { continue };
            let sequence = walk.path();
            let mut loops = Vec::new();
            for (index, child) in children.iter().enumerate() {
                let (links, inner) = nest::links(child);
                if inner.as_loop().is_some() {
                    let mut path = sequence.child(index);
                    path.0.extend(std::iter::repeat_n(0, links.len()));
                    loops.push(path);
                }
            }
            for (number, first) in loops.iter().enumerate() {
                let following = loops[number + 1..].iter().take(reach);
                result.extend(following.map(|second| (first.clone(), second.clone())));
            }
        }
        result
    }

    /// Ways of fusing two loops, smallest shifts first; none where the tree does not have the structure.
    ///
    /// # Errors
    /// Where the loops do not stand in one sequence, or have different steps.
    pub fn ways(
        cx: &Context<'_>,
        first: &Path,
        second: &Path,
        options: &MoveOptions,
    ) -> Result<Vec<Self>, Refusal> {
        let remainder = Remainder::Split;
        let plain =
            Fuse { first: first.clone().into(), second: Some(second.clone().into()), shift: 0, remainder };
        let Parts { first, second, .. } = plain.parts(cx)?;
        let mut shifts: Vec<i64> = (-options.shift..=options.shift).collect();
        shifts.extend(suggested_shifts(cx.kernel, &first, &second));
        shifts.sort_by_key(|d| (d.unsigned_abs(), *d < 0));
        shifts.dedup();
        let mut result = Vec::new();
        for shift in shifts {
            let step = Fuse { shift, ..plain.clone() };
            let shifted = second.shifted(shift);
            let same = shifted.lower == first.lower && shifted.upper == first.upper;
            if same || split(cx, &first, &shifted).is_ok() {
                result.push(step.clone());
            }
            if !same && union(&first, &shifted).is_some() {
                result.push(Fuse { remainder: Remainder::Guard, ..step });
            }
        }
        Ok(result)
    }
}

impl BuiltIn for Fuse {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let mut loops = arguments.loops(1..=2)?;
        let shift = arguments.keyed_integer("shift")?.unwrap_or(0);
        let remainder = if arguments.flag("guard") { Remainder::Guard } else { Remainder::Split };
        let second = if loops.len() == 2 { loops.pop() } else { None };
        Ok(Fuse { first: loops.remove(0), second, shift, remainder })
    }

    fn moves(cx: &Context<'_>, options: &MoveOptions) -> Vec<Self> {
        // Lanes that do the same side by side are together already.
        let lanes = |path: &Path| {
            cx.node(path).is_ok_and(|node| node.as_loop().is_some_and(|(h, _)| h.kind == LoopKind::Vector))
        };
        let ways = |(first, second): (Path, Path)| Fuse::ways(cx, &first, &second, options);
        let mut pairs = Fuse::pairs(cx, 1);
        pairs.retain(|(first, _)| !lanes(first));
        // As all moves are: in the order of the tree.
        pairs.sort();
        pairs.into_iter().filter_map(|pair| ways(pair).ok()).flatten().collect()
    }
}

impl fmt::Display for Fuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "fuse({}", self.first)?;
        if let Some(second) = &self.second {
            write!(f, ", {second}")?;
        }
        if self.shift != 0 {
            write!(f, "; shift={}", self.shift)?;
        }
        f.write_str(if self.remainder == Remainder::Guard { "; guard)" } else { ")" })
    }
}

/// The parts between two loops that go before the first, and those that go after the second: these touch what the first
/// loop does, or what a part that stays behind does.
fn around(kernel: &Kernel, first: &Green, between: &[Green]) -> (Vec<Green>, Vec<Green>) {
    let mut left = touched(kernel, first);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for part in between {
        let mine = touched(kernel, part);
        let meets = |(a, writes): &(ArrayId, bool)| {
            left.iter().any(|(b, other)| (*writes || *other) && (a == b || kernel.may_overlap(*a, *b)))
        };
        if mine.iter().any(meets) {
            left.extend(mine);
            after.push(part.clone());
        } else {
            before.push(part.clone());
        }
    }
    (before, after)
}

/// The arrays that statements of a tree access, and whether they may write them.
fn touched(kernel: &Kernel, tree: &Green) -> Vec<(ArrayId, bool)> {
    let mut list = Vec::new();
    for id in tree.leaves() {
        let accesses = kernel.statements.get(id.index()).into_iter().flat_map(|s| &s.accesses);
        list.extend(accesses.map(|a| (a.array, a.kind != AccessKind::Read)));
    }
    list.sort();
    list.dedup();
    list
}

/// The sequence that a loop stands in, its position, and the links between.
fn place(cx: &Context<'_>, site: &Site<'_>) -> Result<(Path, usize, Vec<Link>), Refusal> {
    let mut links = Vec::new();
    let mut path = site.path.clone();
    while let Some((parent, index)) = path.split_last() {
        let node = cx.node(&parent)?;
        if matches!(node.node(), Node::Seq(_)) {
            links.reverse();
            return Ok((parent, index, links));
        }
        let Some((link, _)) = Link::of(node) else { break };
        links.push(link);
        path = parent;
    }
    Err(Refusal::new("not-adjacent", &site.path, "the loop stands alone")
        .help("a loop is fused with a sibling"))
}

fn part(site: Site<'_>, above: Vec<Link>, shift: i64) -> Part<'_> {
    let mut condition = Condition::always();
    let mut links: Vec<Link> = Vec::new();
    for link in above {
        match &link {
            Link::Let(..) => links.push(link),
            Link::Guard(guard) => {
                if let GuardCondition::Affine(own) = &**guard {
                    condition = condition.and(&nest::resolve_condition(&links, own));
                }
            }
        }
    }
    let resolved = |bounds: &[Affine]| {
        bounds.iter().map(|e| nest::resolve(&links, e).offset(-shift)).collect::<Vec<_>>()
    };
    let (lower, upper) = (resolved(site.header.lower()), resolved(site.header.upper()));
    Part { site, condition, links, lower, upper, shift }
}

/// Conjunctions of the negation of a guard at most.
const MOST: usize = 4;

/// The fused loops where both conditions hold, and either loop as it was where only its own does.
fn where_both_run(a: &Part<'_>, b: &Part<'_>, fused: Vec<Green>) -> Result<Vec<Green>, Refusal> {
    let guard = |condition: Condition, body: Green| {
        if condition.is_always() { body } else { Green::guard(condition, body) }
    };
    let both = a.condition.and(&b.condition);
    let mut result = vec![guard(both, Green::seq(fused))];
    if a.condition == b.condition {
        return Ok(result);
    }
    for (part, other) in [(a, b), (b, a)] {
        let without = other.condition.negated(MOST).ok_or_else(|| {
            Refusal::new("guards", &a.site.path, "the conditions around the loops are too complex")
                .and(&b.site.path)
        })?;
        let alone = part.condition.and(&without);
        if !alone.is_never() {
            result.push(guard(alone, part.whole()));
        }
    }
    Ok(result)
}

impl Part<'_> {
    /// With another shift.
    fn shifted(&self, shift: i64) -> Self {
        let by = self.shift - shift;
        let moved = |bounds: &[Affine]| bounds.iter().map(|e| e.offset(by)).collect();
        Part { lower: moved(&self.lower), upper: moved(&self.upper), shift, ..self.clone() }
    }

    /// The body below its bindings, for one iteration of the fused loop.
    fn instance(&self, fused: VarId) -> Green {
        let value = Affine::var(fused).offset(self.shift);
        nest::wrap(&self.links, Green::bind(self.site.header.var, value, self.site.body.clone()))
    }

    /// The loop as it was, without its guards.
    fn whole(&self) -> Green {
        nest::wrap(&self.links, Green::for_loop(self.site.header.clone(), self.site.body.clone()))
    }

    /// A loop over a part of the range, given in terms of the fused variable; nothing where that is empty.
    fn piece(&self, cx: &Context<'_>, lower: Vec<Affine>, upper: Vec<Affine>) -> Option<Green> {
        let header = &self.site.header;
        let hidden = |v: VarId| lower.iter().chain(&upper).any(|e| e.uses(v));
        let captures = self.links.iter().any(|l| matches!(l, Link::Let(v, _) if hidden(*v)));
        if captures {
            let fused = cx.fresh(0);
            let header = nest::header(fused, lower, upper, header.step, header.kind);
            return nest::repeat(header, self.instance(fused));
        }
        let shifted = |bounds: Vec<Affine>| bounds.iter().map(|e| e.offset(self.shift)).collect();
        let range = nest::header(header.var, shifted(lower), shifted(upper), header.step, header.kind);
        Some(nest::wrap(&self.links, nest::repeat(range, self.site.body.clone())?))
    }
}

/// The fused loop; the plain form where both loops have the same variable.
fn together(
    cx: &Context<'_>,
    lower: Vec<Affine>,
    upper: Vec<Affine>,
    a: &Part<'_>,
    b: &Part<'_>,
) -> Option<Green> {
    let step = a.site.header.step;
    let kind = LoopKind::Sequential; // whether the marks still hold is not known
    let var = a.site.header.var;
    if var == b.site.header.var && b.shift == 0 && a.links.is_empty() && b.links.is_empty() {
        let body = Green::seq([a.site.body.clone(), b.site.body.clone()]);
        return nest::repeat(nest::header(var, lower, upper, step, kind), body);
    }
    let fused = cx.fresh(0);
    let body = Green::seq([a.instance(fused), b.instance(fused)]);
    nest::repeat(nest::header(fused, lower, upper, step, kind), body)
}

fn split(cx: &Context<'_>, a: &Part<'_>, b: &Part<'_>) -> Result<Vec<Green>, Refusal> {
    let refuse = |message: &str| {
        Err(Refusal::new("ranges", &a.site.path, message)
            .and(&b.site.path)
            .help("split one of the loops first"))
    };
    let (same_lower, same_upper) = (a.lower == b.lower, a.upper == b.upper);
    let both = |x: &[Affine], y: &[Affine]| x.iter().chain(y).cloned().collect::<Vec<_>>();
    if a.site.header.step != 1 && !(same_lower && same_upper) {
        return refuse("the ranges differ and the step is not 1");
    }
    // `x` is below the other's range, or above it, where its single bound says so.
    if !same_lower && (a.lower.len() > 1 || b.lower.len() > 1) {
        return refuse("the lower bounds differ, and one is a maximum");
    }
    if !same_upper && (a.upper.len() > 1 || b.upper.len() > 1) {
        return refuse("the upper bounds differ, and one is a minimum");
    }
    let mut result = Vec::new();
    if !same_lower {
        result.extend(a.piece(cx, a.lower.clone(), both(&a.upper, &b.lower)));
        result.extend(b.piece(cx, b.lower.clone(), both(&b.upper, &a.lower)));
    }
    result.extend(together(cx, both(&a.lower, &b.lower), both(&a.upper, &b.upper), a, b));
    if !same_upper {
        // The other's lower bound matters only where the other loop is empty.
        result.extend(a.piece(cx, [&a.lower[..], &b.lower, &b.upper].concat(), a.upper.clone()));
        result.extend(b.piece(cx, [&b.lower[..], &a.lower, &a.upper].concat(), b.upper.clone()));
    }
    Ok(result)
}

/// The range that holds both, where all bounds differ by constants.
fn union(a: &Part<'_>, b: &Part<'_>) -> Option<(Vec<Affine>, Vec<Affine>)> {
    let step = a.site.header.step;
    let wider = |x: &[Affine], y: &[Affine], below: bool| match (x, y) {
        _ if x == y => Some(x.to_vec()),
        ([p], [q]) => {
            let difference = (p - q).as_constant()?;
            let aligned = !below || difference % step == 0;
            aligned.then(|| vec![if (difference < 0) == below { p.clone() } else { q.clone() }])
        }
        _ => None,
    };
    Some((wider(&a.lower, &b.lower, true)?, wider(&a.upper, &b.upper, false)?))
}

fn guarded(cx: &Context<'_>, a: &Part<'_>, b: &Part<'_>) -> Result<Green, Refusal> {
    let Some((lower, upper)) = union(a, b) else {
        return Err(Refusal::new("ranges", &a.site.path, "the ranges do not differ by constants")
            .and(&b.site.path)
            .help("fuse without `guard`"));
    };
    let fused = cx.fresh(0);
    let own = |part: &Part<'_>| {
        let beyond =
            |bounds: &[Affine], union: &[Affine]| if bounds == union { vec![] } else { bounds.to_vec() };
        let (lower, upper) = (beyond(&part.lower, &lower), beyond(&part.upper, &upper));
        nest::guard_between(&Affine::var(fused), &lower, &upper, part.instance(fused))
    };
    let body = Green::seq([own(a), own(b)]);
    let header: LoopHeader =
        nest::header(fused, lower.clone(), upper.clone(), a.site.header.step, LoopKind::Sequential);
    Ok(nest::repeat(header, body).unwrap_or_else(Green::empty))
}

/// Shifts that give both loops the same range, or make both touch the same element in the same iteration.
fn suggested_shifts(kernel: &Kernel, a: &Part<'_>, b: &Part<'_>) -> Vec<i64> {
    const LARGEST: i64 = 64;
    let mut result = Vec::new();
    if let ([p], [q]) = (&a.lower[..], &b.lower[..]) {
        result.extend((q - p).as_constant());
    }
    let (i, j) = (a.site.header.var, b.site.header.var);
    for (x, array_x, subscripts_x) in accesses(kernel, a.site.body) {
        for (y, array_y, subscripts_y) in accesses(kernel, b.site.body) {
            if array_x != array_y || x.len() != y.len() {
                continue;
            }
            for (p, q) in subscripts_x.iter().zip(&subscripts_y) {
                let c = p.coefficient(i);
                if c != 0 && c == q.coefficient(j) {
                    let rest = (p - &Affine::var(i).scale(c)) - (q - &Affine::var(j).scale(c));
                    result.extend(rest.as_constant().filter(|r| r % c == 0).map(|r| r / c));
                }
            }
        }
    }
    result.retain(|d| d.abs() <= LARGEST);
    result
}

type Subscripts<'k> = Vec<(&'k [Affine], loop_tree::ArrayId, Vec<Affine>)>;

/// Accesses with subscripts of the statements in a tree, each statement once.
fn accesses<'k>(kernel: &'k Kernel, tree: &Green) -> Subscripts<'k> {
    let mut statements: Vec<StmtId> = tree.leaves().collect();
    statements.sort();
    statements.dedup();
    let known = statements.iter().filter_map(|id| kernel.statements.get(id.index()));
    known
        .flat_map(|s| &s.accesses)
        .filter_map(|a| a.subscripts.as_ref().map(|s| (&s[..], a.array, s.clone())))
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn equal_ranges_need_nothing_else() {
        let k = kernel(&[("S", "i"), ("T", "j")]);
        let tree = "for i in 0..N { S } for j in 0..N { T }";
        check(&k, tree, "fuse(@0, @1); distribute(t0)", tree);
        check(
            &k,
            "for i in 0..N { S } for j in 1..N + 1 { T }",
            "fuse(@0; shift=1)",
            "for t0 in 0..N { let i = t0 { S } let j = t0 + 1 { T } }",
        );
    }

    #[test]
    fn guards_run_over_both_ranges() {
        let k = kernel(&[("S", "i"), ("T", "j")]);
        check(
            &k,
            "for i in 0..N { S } for j in 1..N + 2 { T }",
            "fuse(@0, @1; guard)",
            "for t0 in 0..N + 2 { if N - t0 - 1 >= 0 { let i = t0 { S } } if t0 - 1 >= 0 { let j = t0 { T } } }",
        );
        refuse(&k, "for i in 0..N { S } for j in 0..M { T }", "fuse(@0, @1; guard)", "ranges");
    }

    #[test]
    fn inner_loops_fuse_below_bindings() {
        let k = kernel(&[("S", "i j"), ("T", "k l")]);
        check(
            &k,
            "for i in 0..N { for j in 0..i { S } } for k in 0..N { for l in 0..k { T } }",
            "fuse(@0, @1); fuse(j, l)",
            "for t0 in 0..N { for t1 in 0..t0 { let i = t0 { let j = t1 { S } } let k = t0 { let l = t1 { T } } } }",
        );
    }

    #[test]
    fn guards_stay_outside() {
        let k = kernel(&[("S", "i"), ("T", "j")]);
        check(
            &k,
            "if N >= 3 { for i in 0..M { S } } if N >= 3 { for j in 0..M { T } }",
            "fuse(@0.0, @1.0)",
            "if N >= 3 { for t0 in 0..M { let i = t0 { S } let j = t0 { T } } }",
        );
        check(
            &k,
            "for i in 0..M { S } if N >= 3 { for j in 0..M { T } }",
            "fuse(@0, @1.0)",
            "if N >= 3 { for t0 in 0..M { let i = t0 { S } let j = t0 { T } } } if N <= 2 { for i in 0..M { S } }",
        );
        check(
            &k,
            "if N >= 3 { for i in 0..M { S } } if N <= 9 { for j in 0..M { T } }",
            "fuse(@0.0, @1.0)",
            "if N >= 3 && N <= 9 { for t0 in 0..M { let i = t0 { S } let j = t0 { T } } }
             if N >= 3 && N >= 10 { for i in 0..M { S } }
             if N <= 2 && N <= 9 { for j in 0..M { T } }",
        );
    }

    #[test]
    fn structure_is_demanded() {
        let k = kernel(&[("S", "i"), ("T", "j"), ("U", "")]);
        refuse(&k, "for i in 0..N { S }", "fuse(i)", "not-adjacent");
        refuse(&k, "for j in 0..N { T } for i in 0..N { S }", "fuse(i, j)", "not-adjacent");
        refuse(&k, "for i in max(0, M)..N { S } for j in 0..N { T }", "fuse(i, j)", "ranges");
    }
}
