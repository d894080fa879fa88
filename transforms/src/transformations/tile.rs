//! Tile: the loops of a band run block by block.
//! Elsewhere: blocking; `tile` (Halide, TVM, MLIR), strip-mining and interchange.
//!
//! ```lt before
//! for i in 0..N { for j in 0..N { S(i, j) } }
//! ```
//! ```recipe
//! tile(i, j; 32, 32)
//! ```
//! ```lt after
//! for t0 in 0..floor((N + 31)/32) { for t1 in 0..floor((N + 31)/32) {
//!   for i in 32*t0..min(N, 32*t0 + 32) { for j in 32*t1..min(N, 32*t1 + 32) { S(i, j) } }
//! } }
//! ```
//! Keeps the set of statement instances; changes their order.
//! Applies to perfectly nested loops, with bindings and affine guards between them. Bounds may use variables of the band:
//! tiles then start at multiples of the size, and the ranges of tiles are projected. `full` runs tiles that lie wholly in
//! the range apart from the others: their loops have a constant number of iterations and no minimum. A second list of
//! sizes tiles the points of a tile once more.

use super::strip_mine::Blocks;
use crate::loop_ref::Listed;
use crate::nest::{self, Band, Link};
use crate::{Arguments, BuiltIn, Context, LoopRef, MoveOptions, RecipeError, Refusal, Site, Step, Transform};
use loop_tree::{Affine, Bounds, Condition, Constraint, Green, LoopHeader, LoopKind, VarId};
use std::fmt;
use std::sync::Arc;

/// Tiles a band.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tile {
    /// The loops of the band, outermost first.
    pub band: Vec<LoopRef>,
    /// Iterations per tile and loop, for each level, outermost first.
    pub sizes: Vec<Vec<i64>>,
    /// Whether full tiles are separated from partial ones.
    pub full: bool,
}

impl Transform for Tile {
    fn name(&self) -> &'static str {
        "tile"
    }

    fn sizes(&self) -> Vec<i64> {
        self.sizes.concat()
    }

    fn with_sizes(&self, sizes: &[i64]) -> Option<Step> {
        let levels = sizes.chunks_exact(self.band.len().max(1));
        if !levels.remainder().is_empty() || levels.len() != self.sizes.len() {
            return None;
        }
        Some(Step::new(Self { sizes: levels.map(<[i64]>::to_vec).collect(), ..self.clone() }))
    }

    fn rewrite(&self, cx: &Context<'_>) -> Result<Green, Refusal> {
        self.written_out(cx, &[])
    }
}

impl Tile {
    /// The band tiled. With cells, the loops over the smallest tiles are written out: one copy for each cell, which has a value for each of these loops.
    pub(super) fn written_out(&self, cx: &Context<'_>, cells: &[Vec<i64>]) -> Result<Green, Refusal> {
        let band = nest::band(cx, &self.band)?;
        let (top, last) = (&band.loops[0], &band.loops[band.loops.len() - 1]); // `band` refuses an empty list
        if self.sizes.is_empty() || self.sizes.iter().any(|sizes| sizes.len() != band.loops.len()) {
            return Err(Refusal::new("sizes", &top.path, "each level needs a size for each loop"));
        }
        for (site, size) in self.sizes.iter().flat_map(|sizes| band.loops.iter().zip(sizes)) {
            nest::check_factor(site, *size, 1)?;
        }
        check_variables(&band)?;
        let nest = Nest {
            headers: band.loops.iter().map(|s| s.header.clone()).collect(),
            between: band.between.clone(),
            body: last.body.clone(),
        };
        let full = self.full.then_some(LoopKind::Sequential);
        let tiled = Tiling { cx, next: 0, full, cells }.levels(nest, &self.sizes);
        cx.replace(&top.path, tiled.map_err(|message| Refusal::new("bounds", &top.path, message))?)
    }
}

/// One loop in blocks: full ones of loops of a kind, then what remains.
pub(super) fn blocks(
    cx: &Context<'_>,
    site: &Site<'_>,
    size: i64,
    kind: LoopKind,
) -> Result<Green, &'static str> {
    let nest = Nest { headers: vec![site.header.clone()], between: vec![], body: site.body.clone() };
    Tiling { cx, next: 0, full: Some(kind), cells: &[] }.levels(nest, &[vec![size]])
}

/// Tile loops stand outside the band, where a variable of the band must mean nothing else.
fn check_variables(band: &Band<'_>) -> Result<(), Refusal> {
    let mut bound: Vec<VarId> = Vec::new();
    for (n, site) in band.loops.iter().enumerate() {
        let links = band.between.get(n).map_or(&[][..], |l| &l[..]);
        let by_links = links.iter().filter_map(|l| match l {
            Link::Let(v, _) => Some(*v),
            Link::Guard(_) => None,
        });
        for v in std::iter::once(site.header.var).chain(by_links) {
            if bound.contains(&v) {
                return Err(Refusal::new(
                    "shadowed",
                    &site.path,
                    "two bindings of the band have the same variable",
                ));
            }
            bound.push(v);
        }
    }
    Ok(())
}

/// A perfect nest, apart from its position.
struct Nest {
    headers: Vec<Arc<LoopHeader>>,
    between: Vec<Vec<Link>>,
    body: Green,
}

impl Nest {
    /// The loops with their body.
    fn build(&self, body: Green) -> Green {
        let mut result = body;
        for (n, header) in self.headers.iter().enumerate().rev() {
            let links = self.between.get(n).map_or(&[][..], |l| &l[..]);
            result = Green::for_loop(header.clone(), nest::wrap(links, result));
        }
        result
    }
}

struct Tiling<'a> {
    cx: &'a Context<'a>,
    /// Number of fresh variables used.
    next: u32,
    /// What full tiles are marked as, where they stand apart.
    full: Option<LoopKind>,
    /// In which order the smallest tiles are written out; empty: they are loops.
    cells: &'a [Vec<i64>],
}

/// One tiled loop.
struct Tiled {
    /// The loop over tiles.
    header: LoopHeader,
    /// The number of full tiles from the start, where it is one expression of the scope around the band.
    full_tiles: Option<Affine>,
    /// What must hold for the tile to be full.
    is_full: Vec<Constraint>,
    /// The loop over the points of any tile.
    points: Arc<LoopHeader>,
    /// The loop over the points of a full tile.
    full_points: Arc<LoopHeader>,
}

impl Tiling<'_> {
    fn levels(&mut self, nest: Nest, sizes: &[Vec<i64>]) -> Result<Green, &'static str> {
        let Some((sizes, rest)) = sizes.split_first() else { return Ok(nest.build(nest.body.clone())) };
        let tiles = self.tiles(&nest, sizes)?;
        let points = |full: bool| Nest {
            headers: tiles
                .iter()
                .map(|t| if full { t.full_points.clone() } else { t.points.clone() })
                .collect(),
            between: nest.between.clone(),
            body: nest.body.clone(),
        };
        let partial = self.levels(points(false), rest)?;
        if rest.is_empty() && !self.cells.is_empty() {
            return Ok(Green::seq(self.cells.iter().map(|cell| at(&tiles, cell, &partial))));
        }
        if self.full.is_none() {
            return Ok(around(&tiles, partial));
        }
        let full = self.levels(points(true), rest)?;
        if tiles.iter().all(|t| t.full_tiles.is_some()) {
            return Ok(by_range(&tiles, &full, &partial));
        }
        let condition = Condition::all(tiles.iter().flat_map(|t| t.is_full.clone()).collect());
        let otherwise =
            condition.negated(LARGEST_CONDITION).ok_or("full tiles have too complex a condition")?;
        if condition.is_always() {
            return Ok(around(&tiles, full));
        }
        let guards = [(condition, full), (otherwise, partial)].map(|(c, body)| Green::guard(c, body));
        Ok(around(&tiles, Green::seq(guards)))
    }

    fn tiles(&mut self, nest: &Nest, sizes: &[i64]) -> Result<Vec<Tiled>, &'static str> {
        let mut result: Vec<Tiled> = Vec::new();
        // For each loop so far: variable, first and last value in a tile.
        let mut boxes: Vec<(VarId, Affine, Affine)> = Vec::new();
        for (n, header) in nest.headers.iter().enumerate() {
            let between = &nest.between[..n];
            let lower: Vec<Affine> = header.lower().iter().map(|e| resolve(between, e)).collect();
            let upper: Vec<Affine> = header.upper().iter().map(|e| resolve(between, e)).collect();
            let inside = |e: &Affine| boxes.iter().any(|(v, ..)| e.uses(*v));
            let absolute = lower.len() > 1 || lower.iter().any(inside);
            if absolute && header.step != 1 {
                return Err("the step is not 1, and tiles cannot start at the lower bound");
            }
            let size = sizes.get(n).copied().unwrap_or(1);
            let blocks = Blocks { size, absolute };
            let block = self.cx.fresh(self.next);
            self.next += 1;
            let (tile_kind, point_kind) = nest::split_kind(header.kind);
            let least: Vec<Affine> =
                lower.iter().map(|e| extreme(e, &boxes, false)).collect::<Option<_>>().ok_or(TOO_COMPLEX)?;
            let most: Vec<Affine> =
                upper.iter().map(|e| extreme(e, &boxes, true)).collect::<Option<_>>().ok_or(TOO_COMPLEX)?;
            let (tile_lower, tile_upper) = blocks.range(header, &least, &most);
            let resolved = LoopHeader {
                bounds: Bounds::Affine { lower: lower.clone(), upper: upper.clone() },
                ..(**header).clone()
            };
            let points = Arc::new(blocks.points(header, block, point_kind));
            let width = size.saturating_mul(header.step);
            let (start, start_inside) = (blocks.start(&resolved, block), blocks.start(header, block));
            let full_points = nest::header(
                header.var,
                vec![start_inside.clone()],
                vec![start_inside.offset(width)],
                header.step,
                self.full.filter(|kind| *kind != LoopKind::Sequential).unwrap_or(point_kind),
            );
            let mut is_full = Vec::new();
            let whole = |u: &Affine| {
                lower.iter().all(|l| (u - l).as_constant().is_some_and(|extent| extent % width == 0))
            };
            for u in upper.iter().filter(|u| absolute || !whole(u)) {
                // The last value of the tile is in the range wherever in the tile the outer loops are.
                let least = extreme(u, &boxes, false).ok_or(TOO_COMPLEX)?;
                is_full.push(Constraint::ge(least, start.offset(width)));
            }
            if absolute {
                for l in &lower {
                    is_full.push(Constraint::ge(start.clone(), extreme(l, &boxes, true).ok_or(TOO_COMPLEX)?));
                }
            }
            let full_tiles = match (&lower[..], &upper[..]) {
                ([l], [u]) if !absolute && !inside(u) => Some((u - l).floor_div(width)),
                _ => None,
            };
            let last = start.offset(width.saturating_sub(1));
            boxes.push((header.var, start, last));
            let header = nest::header(block, tile_lower, tile_upper, 1, tile_kind);
            result.push(Tiled { header, full_tiles, is_full, points, full_points: Arc::new(full_points) });
        }
        Ok(result)
    }
}

const TOO_COMPLEX: &str = "a bound cannot be projected";
/// Above this many disjuncts, telling full tiles from others costs more than it brings.
const LARGEST_CONDITION: usize = 64;

/// A bound of an inner loop in terms of band variables and the scope around the band.
fn resolve(between: &[Vec<Link>], e: &Affine) -> Affine {
    between.iter().rev().fold(e.clone(), |e, links| nest::resolve(links, &e))
}

/// The least or greatest value of an expression over a tile.
fn extreme(e: &Affine, boxes: &[(VarId, Affine, Affine)], greatest: bool) -> Option<Affine> {
    let range =
        |v| boxes.iter().find(|(w, ..)| *w == v).map(|(_, first, last)| [first.clone(), last.clone()]);
    Some(e.extreme(greatest, &range)).filter(Affine::is_exact)
}

fn around(tiles: &[Tiled], body: Green) -> Green {
    tiles.iter().rev().fold(body, |body, t| Green::for_loop(t.header.clone(), body))
}

/// The points of one tile; none where it lies outside of the range, as their loops end there.
fn at(tiles: &[Tiled], cell: &[i64], points: &Green) -> Green {
    let bind = |body, (t, c): (&Tiled, &i64)| Green::bind(t.header.var, Affine::constant(*c), body);
    tiles.iter().zip(cell).rev().fold(points.clone(), bind)
}

/// Full tiles first, the remainder of each loop after its full tiles, so that the order of the tiles stays.
fn by_range(tiles: &[Tiled], full: &Green, partial: &Green) -> Green {
    let Some((tile, rest)) = tiles.split_first() else { return full.clone() };
    let Some(count) = &tile.full_tiles else { return around(tiles, partial.clone()) };
    let part = |lower: Vec<Affine>, upper: Vec<Affine>, body: Green| {
        nest::repeat(nest::header(tile.header.var, lower, upper, 1, tile.header.kind), body)
    };
    let zero = Affine::constant(0);
    let whole = part(vec![zero.clone()], vec![count.clone()], by_range(rest, full, partial));
    let remainder =
        part(vec![zero, count.clone()], tile.header.upper().to_vec(), around(rest, partial.clone()));
    Green::seq(whole.into_iter().chain(remainder))
}

impl BuiltIn for Tile {
    fn parse(arguments: &mut Arguments) -> Result<Self, RecipeError> {
        let band = arguments.loops(1..=8)?;
        let full = arguments.flag("full");
        let mut sizes = Vec::new();
        while let Some(level) = arguments.integers() {
            if level.len() != band.len() {
                return Err(arguments.error(format!("{} sizes for {} loops", level.len(), band.len())));
            }
            sizes.push(level);
        }
        if !(1..=2).contains(&sizes.len()) {
            return Err(arguments.error("`tile` needs sizes for one or two levels"));
        }
        Ok(Tile { band, sizes, full })
    }

    fn moves(cx: &Context<'_>, options: &MoveOptions) -> Vec<Self> {
        let mut result = Vec::new();
        for site in cx.sites() {
            let band = nest::longest_band(&site, options.band);
            for length in 2..=band.len() {
                let band = &band[..length];
                if !is_worth_tiling(band) {
                    continue;
                }
                let loops: Vec<LoopRef> = band.iter().map(|s| s.path.clone().into()).collect();
                let one = options.tile_sizes.iter().map(|size| vec![vec![*size; length]]);
                let two =
                    options.two_level_tiles.iter().map(|(a, b)| vec![vec![*a; length], vec![*b; length]]);
                for sizes in one.chain(two) {
                    let fits = |s: &Site<'_>| {
                        s.header
                            .constant_trip_count()
                            .is_some_and(|count| sizes[0].iter().all(|size| count <= *size))
                    };
                    if band.iter().all(fits) {
                        continue;
                    }
                    let step = Tile { band: loops.clone(), sizes, full: false };
                    if options.full_tiles {
                        result.push(Tile { full: true, ..step.clone() });
                    }
                    result.push(step);
                }
            }
        }
        result
    }
}

/// What runs in lanes is not tiled again.
fn is_worth_tiling(band: &[Site<'_>]) -> bool {
    band.iter().all(|s| s.header.kind != LoopKind::Vector)
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tile({}", Listed(&self.band))?;
        for sizes in &self.sizes {
            write!(f, "; {}", Listed(sizes))?;
        }
        f.write_str(if self.full { "; full)" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::*;
    use crate::{Context, Recipe, Registry};
    use loop_tree::{Node, Path, Red};

    #[test]
    fn full_tiles_by_range() {
        let k = kernel(&[("S", "i j")]);
        check(
            &k,
            "for i in 0..N { for j in 0..8 { S } }",
            "tile(i, j; 4, 4; full)",
            "for t0 in 0..floor(N/4) { for t1 in 0..2 { for i in 4*t0..4*t0 + 4 { for j in 4*t1..4*t1 + 4 { S } } } }
             for t0 in max(0, floor(N/4))..floor((N + 3)/4) { for t1 in 0..2 {
               for i in 4*t0..min(N, 4*t0 + 4) { for j in 4*t1..4*t1 + 4 { S } } } }",
        );
    }

    #[test]
    fn triangles_are_tiled_from_zero() {
        let k = kernel(&[("S", "i j")]);
        check(
            &k,
            "for i in 0..N { for j in i..N { S } }",
            "tile(i, j; 4, 4)",
            "for t0 in 0..floor((N + 3)/4) { for t1 in t0..floor((N + 3)/4) {
               for i in 4*t0..min(N, 4*t0 + 4) { for j in max(i, 4*t1)..min(N, 4*t1 + 4) { S } } } }",
        );
    }

    #[test]
    fn full_tiles_of_a_triangle_stand_behind_a_guard() {
        let k = kernel(&[("S", "i j")]);
        let before = tree(&k, "for i in 0..N { for j in i..N { S } }");
        let recipe = Recipe::parse("tile(i, j; 4, 4; full)", &Registry::standard()).unwrap();
        let after = recipe.replay(&k, &before).unwrap();
        for params in parameters() {
            assert_eq!(sorted(&k, &before, &params), sorted(&k, &after, &params));
        }
        let full = Red::at(&after, &Path::parse("@0.0.0").unwrap()).unwrap();
        let points = Context { kernel: &k, root: full.green() }.sites();
        assert!(matches!(full.green().node(), Node::Guard(..)));
        assert!(points.iter().all(|s| s.header.constant_trip_count() == Some(4)), "{full:?}");
    }

    #[test]
    fn two_levels() {
        let k = kernel(&[("S", "i")]);
        check(
            &k,
            "for i in 0..N { S }",
            "tile(i; 8; 2)",
            "for t0 in 0..floor((N + 7)/8) { for t1 in 0..min(4, floor((N - 8*t0 + 1)/2)) {
               for i in 8*t0 + 2*t1..min(N, 8*t0 + 2*t1 + 2) { S } } }",
        );
    }

    #[test]
    fn structure_is_demanded() {
        let k = kernel(&[("S", "i j"), ("T", "i")]);
        refuse(&k, "for i in 0..N { T for j in 0..N { S } }", "tile(i, j; 4, 4)", "imperfect");
        refuse(&k, "for i in 0..N { for j in 0..N { S } }", "tile(j, i; 4, 4)", "innermost");
        refuse(&k, "for i in 0..N { for j in 0..N { S } }", "tile(i, j; 4, 0)", "factor");
        refuse(&k, "for i in 0..N { for j in i..N step 2 { S } }", "tile(i, j; 4, 4)", "bounds");
    }
}
