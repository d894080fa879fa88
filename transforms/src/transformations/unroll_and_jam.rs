//! Unroll-and-jam: unroll an outer loop and fuse the copies inside its inner loops.
//! Elsewhere: register tiling; `-loop-unroll-and-jam` (LLVM), `unroll` of an outer loop (Halide).
//!
//! ```lt before
//! for i in 0..N { for j in 0..M { S(i, j) } }
//! ```
//! ```recipe
//! unroll_and_jam(i; 2)
//! ```
//! ```lt after
//! for t0 in 0..floor(N/2) { for j in 0..M { let i = 2*t0 { S(i, j) } let i = 2*t0 + 1 { S(i, j) } } }
//! for i in max(0, 2*floor(N/2))..N { for j in 0..M { S(i, j) } }
//! ```
//! Keeps the set of statement instances. Copies of each innermost statement come next to each other: parts of a sequence
//! are jammed one by one, but what stands between loops stays together. Where the range of an inner loop depends on the
//! unrolled variable, the iterations that all copies share are jammed, and the rest of each copy runs before and after.
//! Applies to loops with one bound at each end that contain a loop. What cannot be jammed (a run-time predicate, storage,
//! versions) is repeated as a whole.

use super::unroll::{Grouped, MOST_COPIES};
use crate::nest::{self, Link};
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Step, Transform};
use loop_tree::{Affine, Bounds, Green, LoopHeader, LoopKind, Node, StmtId, VarId};
use std::collections::BTreeMap;
use std::fmt;

/// Unrolls a loop by `factor` and jams the copies.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnrollAndJam {
    /// The loop.
    pub target: LoopRef,
    /// How many iterations become one: 2 to 128.
    pub factor: i64,
}

impl Transform for UnrollAndJam {
    fn name(&self) -> &'static str {
        "unroll_and_jam"
    }

    fn sizes(&self) -> Vec<i64> {
        vec![self.factor]
    }

    fn with_sizes(&self, sizes: &[i64]) -> Option<Step> {
        let [factor] = *sizes else { return None };
        Some(Step::new(Self { factor, ..self.clone() }))
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        if site.body.summary().loop_depth == 0 {
            return Err(
                Refusal::new("innermost", &site.path, "there is no loop inside").help("unroll it instead")
            );
        }
        let grouped = Grouped::new(cx, &site, self.factor)?;
        let var = site.header.var;
        let copies = Copies(grouped.values.iter().map(|v| vec![Link::Let(var, v.clone())]).collect());
        let jammed = copies.jam(site.body);
        cx.replace(&site.path, grouped.build(&site, jammed))
    }
}

/// What stands around each copy. All copies have the same kinds of links.
#[derive(Clone)]
struct Copies(Vec<Vec<Link>>);

impl Copies {
    fn repeated(&self, node: &Green) -> Green {
        Green::seq(self.0.iter().map(|links| nest::wrap(links, node.clone())))
    }

    fn binds(&self, var: VarId) -> bool {
        self.0.first().is_some_and(|links| links.iter().any(|l| l.binds(var)))
    }

    /// Whether a link of a copy could be moved inside something that binds the variable.
    fn may_enter(&self, var: VarId) -> bool {
        !self.binds(var) && !self.0.iter().flatten().any(|l| l.uses(var))
    }

    fn depends(&self, link: &Link) -> bool {
        self.0
            .first()
            .is_some_and(|links| links.iter().any(|l| matches!(l, Link::Let(v, _) if link.uses(*v))))
    }

    fn with(&self, link: &Link) -> Copies {
        Copies(self.0.iter().map(|links| links.iter().cloned().chain([link.clone()]).collect()).collect())
    }

    fn jam(&self, node: &Green) -> Green {
        if let Some((link, below)) = Link::of(node) {
            let bound = match &link {
                Link::Let(v, _) => Some(*v),
                Link::Guard(_) => None,
            };
            return match bound {
                _ if self.depends(&link) => self.with(&link).jam(below),
                Some(v) if !self.may_enter(v) => self.repeated(node),
                _ => nest::wrap(&[link], self.jam(below)),
            };
        }
        match node.node() {
            Node::Seq(children) => {
                let has_loop = |g: &Green| g.summary().loop_depth > 0;
                if !children.iter().any(has_loop) {
                    return Green::seq(children.iter().map(|child| self.jam(child)));
                }
                // What stands between loops keeps its order, as sums and the choice of the best of them need.
                let all: Vec<Green> = children.iter().cloned().collect();
                let parts = all.chunk_by(|a, b| !has_loop(a) && !has_loop(b));
                Green::seq(parts.map(|part| match part {
                    [one] => self.jam(one),
                    run => self.repeated(&Green::seq(run.iter().cloned())),
                }))
            }
            Node::Loop(header, body) if self.may_enter(header.var) => self.jam_loop(node, header, body),
            _ => self.repeated(node),
        }
    }

    fn jam_loop(&self, node: &Green, header: &LoopHeader, body: &Green) -> Green {
        let Bounds::Affine { lower, upper } = &header.bounds else { return self.repeated(node) };
        let depends = |bounds: &[Affine]| bounds.iter().any(|e| e_depends(self, e));
        if !depends(lower) && !depends(upper) {
            return Green::for_loop(jammed_header(header, lower.clone(), upper.clone()), self.jam(body));
        }
        // The greatest lower and least upper bound of all copies must be known for each single bound.
        let (Some(first), Some(last)) = (self.meeting(lower, true), self.meeting(upper, false)) else {
            return self.repeated(node);
        };
        if header.step != 1 {
            return self.repeated(node);
        }
        let both = |a: &[Affine], b: &[Affine]| a.iter().chain(b).cloned().collect::<Vec<_>>();
        let own = |bounds: &[Affine], links: &[Link]| {
            bounds.iter().map(|e| nest::resolve(links, e)).collect::<Vec<_>>()
        };
        let piece = |links: &[Link], lower: Vec<Affine>, upper: Vec<Affine>| {
            // Outside of the copy's links, so that its bounds are in the scope around.
            let range = nest::header(header.var, lower, upper, 1, header.kind);
            nest::repeat(range, nest::wrap(links, body.clone()))
        };
        let mut result = Vec::new();
        for links in &self.0 {
            if depends(lower) {
                result.extend(piece(links, own(lower, links), both(&own(upper, links), &first)));
            }
        }
        let common = jammed_header(header, first.clone(), last.clone());
        result.extend(nest::repeat(common, self.jam(body)));
        for links in &self.0 {
            if depends(upper) {
                // `first` matters where no iteration is common.
                result.extend(piece(
                    links,
                    [&own(lower, links)[..], &first, &last].concat(),
                    own(upper, links),
                ));
            }
        }
        Green::seq(result)
    }

    /// The greatest (or least) value of a bound over all copies, where that is one of them.
    fn meeting(&self, bounds: &[Affine], greatest: bool) -> Option<Vec<Affine>> {
        if !bounds.iter().any(|e| e_depends(self, e)) {
            return Some(bounds.to_vec());
        }
        let [bound] = bounds else { return None };
        let values: Vec<Affine> = self.0.iter().map(|links| nest::resolve(links, bound)).collect();
        let mut values = values.into_iter();
        let first = values.next()?;
        values
            .try_fold(first, |best, value| {
                let more = (&value - &best).as_constant()? > 0;
                Some(if more == greatest { value } else { best })
            })
            .map(|best| vec![best])
    }
}

fn e_depends(copies: &Copies, e: &Affine) -> bool {
    let mut found = false;
    e.for_each_var(&mut |v| found |= copies.binds(v));
    found
}

fn jammed_header(header: &LoopHeader, lower: Vec<Affine>, upper: Vec<Affine>) -> LoopHeader {
    let kind = if header.kind == LoopKind::Parallel { LoopKind::Sequential } else { header.kind };
    nest::header(header.var, lower, upper, header.step, kind)
}

impl BuiltIn for UnrollAndJam {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        let factor = arguments.one_integer()?;
        Ok(UnrollAndJam { target, factor })
    }

    fn moves(cx: &Context<'_>, options: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        for site in cx.sites() {
            // Iterations that are groups already: a larger factor makes the same groups in order, and several tiles one larger one.
            let grouped = unrolled(site.body, site.header.var) || nest::is_over_tiles(&site);
            let copies = most_copies(site.body);
            if site.body.summary().loop_depth == 0 || site.header.single_bounds().is_none() || grouped {
                continue;
            }
            let count = site.header.constant_trip_count();
            let fits = |f: &&i64| {
                (2..=MOST_COPIES).contains(*f)
                    && count.is_none_or(|count| count >= **f)
                    && **f * copies <= options.jam_copies
            };
            // Of a short loop all of it, too, so that nothing is left over.
            let largest = options.jam_factors.iter().copied().max().unwrap_or(0);
            let all = count.filter(|count| *count < largest && !options.jam_factors.contains(count));
            for factor in options.jam_factors.iter().chain(&all).filter(fits) {
                result.push(UnrollAndJam { target: site.path.clone().into(), factor: *factor });
            }
        }
        result
    }
}

/// How often the innermost body that has most copies of one statement has it.
fn most_copies(node: &Green) -> i64 {
    if node.summary().loop_depth > 0 {
        return node.children().map(most_copies).max().unwrap_or(1);
    }
    let mut seen: BTreeMap<StmtId, i64> = BTreeMap::new();
    node.leaves().for_each(|s| *seen.entry(s).or_default() += 1);
    seen.into_values().max().unwrap_or(1)
}

/// Whether a variable inside is a multiple of this one, so that one iteration stands for several.
fn unrolled(body: &Green, var: VarId) -> bool {
    if !body.has_free(var) {
        return false;
    }
    match body.node() {
        Node::Let(_, value, _) if value.coefficient(var) > 1 => true,
        _ => body.children().any(|c| unrolled(c, var)),
    }
}

impl fmt::Display for UnrollAndJam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unroll_and_jam({}; {})", self.target, self.factor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::*;

    #[test]
    fn copies_of_each_statement_come_together() {
        let k = kernel(&[("S", "i j"), ("T", "i j k")]);
        check(
            &k,
            "for i in 0..8 { for j in 0..M { S for k in 0..M { T } } }",
            "unroll_and_jam(i; 2)",
            "for t0 in 0..4 { for j in 0..M {
               let i = 2*t0 { S } let i = 2*t0 + 1 { S }
               for k in 0..M { let i = 2*t0 { T } let i = 2*t0 + 1 { T } } } }",
        );
    }

    #[test]
    fn between_loops_copies_keep_their_order() {
        let k = kernel(&[("S", "i"), ("T", "i j"), ("U", "i"), ("V", "i")]);
        check(
            &k,
            "for i in 0..8 { S for j in 0..M { T } U V }",
            "unroll_and_jam(i; 2)",
            "for t0 in 0..4 {
               let i = 2*t0 { S } let i = 2*t0 + 1 { S }
               for j in 0..M { let i = 2*t0 { T } let i = 2*t0 + 1 { T } }
               let i = 2*t0 { U V } let i = 2*t0 + 1 { U V } }",
        );
    }

    #[test]
    fn a_loop_is_not_jammed_twice() {
        let k = kernel(&[("S", "i j")]);
        let moves = |text: &str| {
            let root = tree(&k, text);
            let cx = Context { kernel: &k, root: &root };
            let moves = UnrollAndJam::moves(&cx, &MoveOptions::default());
            moves.into_iter().map(|m| m.to_string()).collect::<Vec<_>>()
        };
        let once = "for t0 in 0..4 { for j in 0..M { let i = 2*t0 { S } let i = 2*t0 + 1 { S } } }";
        assert!(moves(once).is_empty(), "{:?}", moves(once));
        let skewed = "for i in 0..8 { for t0 in 2*i..2*i + M { let j = t0 - 2*i { S } } }";
        assert!(!moves(skewed).is_empty());
        // As often as it runs, and no oftener.
        let short = moves("for i in 0..3 { for j in 0..M { S } }");
        assert_eq!(short, ["unroll_and_jam(@; 2)", "unroll_and_jam(@; 3)"]);
    }

    #[test]
    fn iterations_that_there_are_not_are_no_copies() {
        let k = kernel(&[("S", "i j")]);
        refuse(&k, "for i in 0..3 { for j in 0..M { S } }", "unroll_and_jam(i; 4)", "factor");
    }

    #[test]
    fn an_innermost_loop_has_nothing_to_jam() {
        let k = kernel(&[("S", "i")]);
        refuse(&k, "for i in 0..N { S }", "unroll_and_jam(i; 2)", "innermost");
    }
}
