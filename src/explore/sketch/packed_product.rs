//! Products of matrices as libraries compute them: a tile of the result stays in registers, as vectors along its rows, while the
//! loop of the sum runs over a panel that stays in the first level of cache; what the tile takes of both factors is packed.

use super::register_tile::{bands, loop_at};
use super::{Desk, Draft, Sketch, Stage};
use crate::explore::region::Region;
use crate::explore::variant::Variant;
use cost_model::Target;
use loop_tree::{
    AccessKind, Affine, Bounds, Derived, Green, Intrinsic, Kernel, LoopHeader, LoopKind, Node, OpKind, Path,
    ScalarType, VarId, occurrences,
};
use std::sync::Arc;
use transforms::{Factor, LoopRef, Pack, Permute, Step, Tile, Unroll, UnrollAndJam, Vectorize};

/// Tiles of registers over packed panels, in a few shapes, with and without a pack of the other factor.
pub struct PackedProduct;

/// Rows and vectors of a register tile.
const SHAPES: [[i64; 2]; 4] = [[4, 4], [8, 2], [3, 4], [4, 2]];
/// Of the first level of cache, what the panel takes.
const PANEL: f64 = 0.75;
/// Terms of a sum that are worth a panel; panels have multiples of it, or a power of two.
const SHORTEST: i64 = 16;

impl Sketch for PackedProduct {
    fn name(&self) -> &str {
        "packed product"
    }

    fn stage(&self) -> Stage {
        Stage::Nest
    }

    fn share(&self) -> f64 {
        0.75
    }

    fn draw(&self, desk: &mut Desk<'_, '_, '_>, start: &Variant, region: &Region) -> Vec<Variant> {
        let Some(top) = region.outermost(&start.root) else { return vec![] };
        let kernel = desk.kernel();
        let products: Vec<Product> = bands(&start.root, &top)
            .iter()
            .filter_map(|band| Product::of(&kernel, &start.root, band))
            .collect();
        let drafts = products.iter().flat_map(|product| product.drafts(desk, start)).collect();
        desk.judge_promising(drafts, start)
    }
}

/// What loops and arrays are to a sum of products.
struct Product {
    /// The outermost of three loops of a perfect nest.
    top: Path,
    /// Which of them walks along rows of the result, which across, and which adds up.
    lanes: usize,
    rows: usize,
    sum: usize,
    /// Iterations of the sum, where they are known.
    terms: Option<i64>,
    /// Of the elements of the result.
    element: ScalarType,
    /// Whether terms are added as they are multiplied.
    fused: bool,
    /// The factor that each row has elements of its own of; whether something is computed of each of these.
    across: Option<(Arc<str>, bool)>,
    /// The factor that each lane has elements of its own of.
    along: Option<Arc<str>>,
}

/// Copies of a register tile.
#[derive(Clone, Copy)]
struct Shape {
    rows: i64,
    vectors: i64,
    lanes: i64,
    /// Terms of the sum whose panel fits.
    terms: i64,
}

impl Product {
    /// The three innermost loops of a perfect nest, if they are one.
    fn of(kernel: &Kernel, root: &Green, band: &[Path]) -> Option<Product> {
        let top = band.get(band.len().checked_sub(3)?)?;
        let all = occurrences(root.at(top)?);
        let [one] = &all[..] else { return None };
        let headers: Vec<&Arc<LoopHeader>> = one.loops().collect();
        if headers.len() != 3 || one.around.len() != 3 || !is_box(&headers) {
            return None;
        }
        let statement = kernel.statement(one.statement);
        let resolved = |e: &Affine| one.resolve(e);
        // By access: whether each loop's variable is in its last subscript with stride one, and whether it is elsewhere.
        let walks = |subscripts: &[Affine], var: VarId| {
            let Some((last, rest)) = subscripts.split_last() else { return (false, false) };
            let last = resolved(last);
            let elsewhere = rest.iter().any(|e| resolved(e).uses(var));
            (last.coefficient(var) == 1 && !elsewhere, elsewhere || last.uses(var))
        };
        let mut written = statement.accesses.iter().filter(|a| a.kind != AccessKind::Read);
        let (result, None) = (written.next()?, written.next()) else { return None };
        let subscripts = result.subscripts.as_deref()?;
        let role = |wanted: (bool, bool)| {
            let mut found = (0..3).filter(|n| walks(subscripts, headers[*n].var) == wanted);
            found.next().filter(|_| found.next().is_none())
        };
        let (lanes, rows, sum) = (role((true, true))?, role((false, true))?, role((false, false))?);
        let mut product = Product {
            top: top.clone(),
            lanes,
            rows,
            sum,
            terms: headers[sum].constant_trip_count(),
            element: kernel.array(result.array).element,
            fused: statement
                .ops
                .iter()
                .any(|op| matches!(op.kind, OpKind::Call(Intrinsic::FMulAdd | Intrinsic::Fma, _))),
            across: None,
            along: None,
        };
        let name = |array| Arc::<str>::from(&*kernel.array(array).name);
        for access in statement.accesses.iter().filter(|a| a.array != result.array) {
            let subscripts = access.subscripts.as_deref()?;
            let [lane, row, term] = [lanes, rows, sum].map(|n| walks(subscripts, headers[n].var));
            match (lane, row, term) {
                ((true, _), (_, false), (_, true)) if product.along.is_none() => {
                    product.along = Some(name(access.array));
                }
                ((_, false), (_, true), (_, true)) if product.across.is_none() => {
                    let computed = Derived::of(kernel, one.statement, access.array).is_some();
                    product.across = Some((name(access.array), computed));
                }
                ((_, false), (_, false), _) => {}
                _ => return None,
            }
        }
        let apart =
            |(across, _): &(Arc<str>, bool)| product.along.as_ref().is_some_and(|along| along != across);
        product.across.as_ref().is_some_and(apart).then_some(product)
    }

    fn drafts(&self, desk: &Desk<'_, '_, '_>, start: &Variant) -> Vec<Draft> {
        let shapes = self.shapes(desk.target());
        let mut result = Vec::new();
        // Those that gain most first: there may be room for few.
        for across in [true, false] {
            result.extend(shapes.iter().filter_map(|shape| self.draft(desk, start, *shape, across)));
        }
        result
    }

    /// The largest tiles that registers hold, besides what is shared by the vectors of a row and by the rows of a vector, and a
    /// product that is yet to be added.
    fn shapes(&self, target: &dyn Target) -> Vec<Shape> {
        let lanes = i64::from(target.lanes(self.element));
        let first = target.caches().first().map_or(0, |c| c.bytes) as f64;
        let registers = i64::from(target.vector_registers());
        let others = 1 + i64::from(!self.fused);
        let fits = |[rows, vectors]: &&[i64; 2]| rows * vectors + rows + others <= registers;
        let most = SHAPES.iter().filter(fits).map(|[rows, vectors]| rows * vectors).max().unwrap_or(0);
        let shapes = SHAPES.iter().filter(fits).filter(|[rows, vectors]| rows * vectors == most);
        let shape = |[rows, vectors]: &[i64; 2]| {
            let row = (vectors * lanes * i64::from(self.element.size())) as f64;
            let longest = ((PANEL * first / row) as i64).max(1);
            // More than one panel, so that there is something to reuse a tile's part of the factors for.
            let longest = self.terms.map_or(longest, |terms| longest.min(terms - 1)).max(1);
            // About as many terms in each.
            let even = self.terms.map_or(longest, |terms| {
                let panels = (terms - 1) / longest + 1;
                longest.min((terms - 1) / panels + SHORTEST)
            });
            let even = even - even % SHORTEST;
            let power = 1 << longest.ilog2();
            let shape = |terms| Shape { rows: *rows, vectors: *vectors, lanes, terms };
            let both = [power, even].into_iter().take(if even == power { 1 } else { 2 });
            both.filter(|terms| lanes > 1 && *terms >= SHORTEST).map(shape).collect::<Vec<_>>()
        };
        shapes.flat_map(shape).collect()
    }

    /// Blocks of the sum outermost; in these, panels of vectors along rows of the result; in these, rows, as many as are copied
    /// side by side, around the sum.
    fn draft(
        &self,
        desk: &Desk<'_, '_, '_>,
        start: &Variant,
        shape: Shape,
        pack_across: bool,
    ) -> Option<Draft> {
        let at = |draft: &Draft, top: &Path, depth: usize| loop_at(&draft.root, top, depth);
        let apply = |draft: &Draft, step: Step| desk.apply(draft, step).ok();
        let jam = |target: Path| Step::new(UnrollAndJam { target: target.into(), factor: shape.rows });
        let permute = |order: [Path; 3]| Step::new(Permute { order: order.map(LoopRef::from).to_vec() });
        let pack = |target: Path, array: &Arc<str>, computed: bool| {
            Step::new(Pack { target: target.into(), array: array.clone(), order: vec![], computed })
        };
        let tile = |target: Path, size: i64, full: bool| {
            Step::new(Tile { band: vec![target.into()], sizes: vec![vec![size]], full })
        };

        let mut draft = Draft::from(start);
        let top = self.top.clone();
        draft = apply(&draft, tile(at(&draft, &top, self.sum)?, shape.terms, false))?;
        // The sum is where it was, one deeper, as are the loops that it was around.
        let now = |n: usize| at(&draft, &top, n + usize::from(n >= self.sum));
        let blocks = at(&draft, &top, self.sum)?;
        let order = [blocks, now(self.lanes)?, now(self.rows)?, now(self.sum)?];
        draft = apply(&draft, Step::new(Permute { order: order.map(LoopRef::from).to_vec() }))?;
        let panels = at(&draft, &top, 1)?;
        let panels = match self.across.as_ref().filter(|_| pack_across) {
            Some((array, computed)) => {
                draft = apply(&draft, pack(panels.clone(), array, *computed))?;
                panels.child(0)
            }
            None => panels,
        };
        let width = shape.vectors * shape.lanes;
        draft = apply(&draft, tile(panels.clone(), width, true))?;
        let parts = match draft.root.at(&panels)?.node() {
            Node::Seq(parts) => (0..parts.len()).map(|n| panels.child(n)).collect(),
            _ => vec![panels],
        };
        let mut main = None;
        // Last first: what one part becomes leaves the paths of those before.
        for part in parts.into_iter().rev() {
            // A single panel is no loop.
            let around = (draft.root.at(&part)?.summary().loop_depth as usize).checked_sub(3)?;
            let [lanes, rows, sum] = [0, 1, 2].map(|n| at(&draft, &part, around + n));
            let (lanes, rows, sum) = (lanes?, rows?, sum?);
            let full = trip_count(&draft.root, &lanes) == Some(width);
            let first = lanes.clone();
            draft = apply(&draft, permute([rows, sum, lanes]))?;
            match full {
                true => main = Some(first),
                false => draft = apply(&draft, jam(first))?,
            }
        }
        let panel = main?;
        draft = apply(&draft, pack(panel.clone(), self.along.as_ref()?, false))?;
        let rows = panel.child(0);
        let lanes = at(&draft, &rows, 2)?;
        draft = apply(&draft, Step::new(Vectorize { target: lanes.clone().into(), lanes: shape.lanes }))?;
        let vectors = draft.root.at(&lanes)?.as_loop()?.0;
        if vectors.kind != LoopKind::Vector {
            draft = apply(&draft, Step::new(Unroll { target: lanes.into(), factor: Factor::Full }))?;
        }
        apply(&draft, jam(rows))
    }
}

/// Whether the loops' bounds use none of their variables, so that any order of them is a perfect nest.
fn is_box(headers: &[&Arc<LoopHeader>]) -> bool {
    headers.iter().all(|header| {
        let bounds = || header.lower().iter().chain(header.upper());
        matches!(header.bounds, Bounds::Affine { .. })
            && header.step == 1
            && header.kind == LoopKind::Sequential
            && headers.iter().all(|other| bounds().all(|e| !e.uses(other.var)))
    })
}

fn trip_count(root: &Green, path: &Path) -> Option<i64> {
    root.at(path)?.as_loop()?.0.constant_trip_count()
}
