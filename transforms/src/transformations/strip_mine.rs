//! Strip-mine: a loop becomes a loop over blocks and a loop inside each block.
//! Elsewhere: `split` (Halide, TVM), `divide_loop` (Exo), sectioning, blocking of one loop.
//!
//! ```lt before
//! for i in 0..N { S(i) }
//! ```
//! ```recipe
//! strip_mine(i; 32)
//! ```
//! ```lt after
//! for t0 in 0..floor((N + 31)/32) { for i in 32*t0..min(N, 32*t0 + 32) { S(i) } }
//! ```
//! Keeps the statement instances and their order.
//! Blocks are counted from the lower bound; where that is a maximum, or on request, from zero (`absolute`), as tiles must
//! be when bounds depend on other tiled loops. Then the step must be 1.

use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Step, Transform, nest};
use loop_tree::{Affine, Green, LoopHeader, LoopKind, VarId};
use std::fmt;

/// Splits a loop into blocks of `size` iterations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StripMine {
    /// The loop.
    pub target: LoopRef,
    /// Iterations per block, at least 1.
    pub size: i64,
    /// Whether blocks start at multiples of `size`, not at the lower bound.
    pub absolute: bool,
}

impl Transform for StripMine {
    fn name(&self) -> &'static str {
        "strip_mine"
    }

    fn sizes(&self) -> Vec<i64> {
        vec![self.size]
    }

    fn with_sizes(&self, sizes: &[i64]) -> Option<Step> {
        let [size] = *sizes else { return None };
        Some(Step::new(Self { size, ..self.clone() }))
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        let site = cx.site(&self.target)?;
        nest::check_factor(&site, self.size, 1)?;
        let header = site.header;
        let absolute = self.absolute || header.lower().len() > 1;
        if absolute && header.step != 1 {
            return Err(Refusal::new(
                "steps",
                &site.path,
                "blocks cannot start at multiples: the step is not 1",
            ));
        }
        let block = cx.fresh(0);
        let (outer_kind, inner_kind) = nest::split_kind(header.kind);
        let blocks = Blocks { size: self.size, absolute };
        let (lower, upper) = blocks.range(header, header.lower(), header.upper());
        let outer = nest::header(block, lower, upper, 1, outer_kind);
        let inner = blocks.points(header, block, inner_kind);
        cx.replace(&site.path, Green::for_loop(outer, Green::for_loop(inner, site.body.clone())))
    }
}

/// How a range is cut into blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    pub size: i64,
    pub absolute: bool,
}

impl Blocks {
    /// Values per block.
    fn width(&self, step: i64) -> i64 {
        self.size.saturating_mul(step)
    }

    /// Bounds of the block number, for a range between `lower` and `upper`.
    pub fn range(
        &self,
        header: &LoopHeader,
        lower: &[Affine],
        upper: &[Affine],
    ) -> (Vec<Affine>, Vec<Affine>) {
        let width = self.width(header.step);
        match lower {
            [origin] if !self.absolute => {
                (vec![Affine::constant(0)], upper.iter().map(|u| (u - origin).ceil_div(width)).collect())
            }
            _ => (
                lower.iter().map(|l| l.floor_div(width)).collect(),
                upper.iter().map(|u| u.ceil_div(width)).collect(),
            ),
        }
    }

    /// First value of a block.
    pub fn start(&self, header: &LoopHeader, block: VarId) -> Affine {
        let multiple = Affine::var(block).scale(self.width(header.step));
        match header.lower() {
            [origin] if !self.absolute => origin + &multiple,
            _ => multiple,
        }
    }

    /// The loop over one block.
    pub fn points(&self, header: &LoopHeader, block: VarId, kind: LoopKind) -> LoopHeader {
        let width = self.width(header.step);
        let start = self.start(header, block);
        let end = start.offset(width);
        let (mut lower, mut upper) = (vec![start], vec![end]);
        match header.lower() {
            [origin] if !self.absolute => {
                // A whole number of blocks ends where the last block does.
                let whole =
                    |u: &&Affine| (*u - origin).as_constant().is_none_or(|extent| extent % width != 0);
                upper.extend(header.upper().iter().filter(whole).cloned());
            }
            all => {
                lower.extend(all.iter().cloned());
                upper.extend(header.upper().iter().cloned());
            }
        }
        nest::header(header.var, lower, upper, header.step, kind)
    }
}

impl BuiltIn for StripMine {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let target = arguments.one_loop()?;
        let size = arguments.one_integer()?;
        let absolute = arguments.flag("absolute");
        Ok(StripMine { target, size, absolute })
    }

    fn moves(cx: &Context<'_>, options: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        for site in cx.sites() {
            for size in &options.strip_sizes {
                if site.header.constant_trip_count().is_none_or(|count| count > *size) {
                    result.push(StripMine { target: site.path.clone().into(), size: *size, absolute: false });
                }
            }
        }
        result
    }
}

impl fmt::Display for StripMine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let absolute = if self.absolute { "; absolute" } else { "" };
        write!(f, "strip_mine({}; {}{absolute})", self.target, self.size)
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;

    #[test]
    fn blocks_from_zero() {
        let k = kernel(&[("S", "i")]);
        check(
            &k,
            "for i in 1..N { S }",
            "strip_mine(i; 4; absolute)",
            "for t0 in 0..floor((N + 3)/4) { for i in max(1, 4*t0)..min(N, 4*t0 + 4) { S } }",
        );
    }

    #[test]
    fn whole_blocks_have_no_minimum() {
        let k = kernel(&[("S", "i")]);
        check(
            &k,
            "for i in 2..14 { S }",
            "strip_mine(i; 4)",
            "for t0 in 0..3 { for i in 4*t0 + 2..4*t0 + 6 { S } }",
        );
        check(&k, "for i in 0..3 { S }", "strip_mine(i; 4)", "for i in 0..3 { S }");
        refuse(&k, "for i in 0..N { S }", "strip_mine(i; 0)", "factor");
        refuse(&k, "for i in 0..N step 3 { S }", "strip_mine(i; 4; absolute)", "steps");
    }
}
