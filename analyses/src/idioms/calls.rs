//! Calls of library functions that compute what a nest does.

use super::Idioms;
use super::view::{Element, Factor, Term, View};
use loop_tree::{
    Affine, Argument, Call, Calls, Constant, Constraint, Green, Kernel, LoopKind, OpFlags, Path, Returned,
    RuntimeCondition, ScalarType,
};
use std::collections::BTreeSet;

/// Flags of floating-point operations under which a library may compute as it does: sums reordered, products fused into them, and nothing
/// infinite or no number.
const LOOSE: OpFlags =
    OpFlags::REASSOC.union(OpFlags::CONTRACT).union(OpFlags::NNAN).union(OpFlags::NINF).union(OpFlags::NSZ);

/// A call that computes what a view does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The call.
    pub call: Call,
    /// Whether numbers may come out rounded otherwise.
    pub rounds: bool,
}

impl Offer {
    /// A call without arguments yet, under the loops of the view; `None` where they are no rectangle that is walked step by step.
    pub fn new(view: &View<'_>, library: &str, function: &str) -> Option<Offer> {
        let lengths: Option<Vec<Affine>> = view.loops.iter().map(|l| l.length()).collect();
        let call = Call {
            function: function.into(),
            library: library.into(),
            arguments: Vec::new(),
            lengths: lengths.filter(|_| view.is_rectangular())?,
            returns: Returned::Nothing,
        };
        Some(Offer { call, rounds: false })
    }

    /// With further arguments.
    pub fn with(mut self, arguments: impl IntoIterator<Item = Argument>) -> Offer {
        self.call.arguments.extend(arguments);
        self
    }
}

/// A call with what must hold at run time.
pub type Granted = (Call, BTreeSet<RuntimeCondition>);

impl Idioms {
    /// The calls of a legal tree.
    pub fn calls(&self, kernel: &Kernel, root: &Green) -> Calls {
        let call = |path: Path| Some((path.clone(), self.call_at(kernel, root, &path).ok()?.0));
        marked(root).into_iter().filter_map(call).collect()
    }

    /// The call that does what the loop at a path does, under which conditions; else why there is none.
    ///
    /// # Errors
    /// Why no function may be called for it.
    pub fn call_at(&self, kernel: &Kernel, root: &Green, path: &Path) -> Result<Granted, &'static str> {
        let view = super::view::at(kernel, root, path)?;
        let offered: Vec<Offer> = self.list.iter().filter_map(|idiom| idiom.call(&view)).collect();
        let mut allowed = offered.iter().filter(|o| self.has_library(&o.call.library)).peekable();
        if allowed.peek().is_none() {
            return Err("no function of a library that is allowed computes this");
        }
        let Some(offer) = allowed.find(|o| kernel.may_call(&o.call.function)) else {
            return Err(
                "its function is no library's here: the source has it itself, or asks for no built-in functions",
            );
        };
        let floats = view.statement().ops.iter().filter(|op| op.ty.is_float() && op.kind.access().is_none());
        let loose = || {
            let computed = floats.filter(|op| !matches!(op.kind, loop_tree::OpKind::Const(_)));
            computed.into_iter().all(|op| op.flags.contains(LOOSE))
        };
        if offer.rounds && !self.reorders && !loose() {
            return Err(
                "the library rounds in another order, which the flags of its operations do not allow",
            );
        }
        let mut conditions = BTreeSet::new();
        let written = view.written.array;
        for other in view.elements().filter(|e| **e != view.written) {
            if other.array == written {
                return Err("it reads elsewhere in the array that it writes");
            }
            if kernel.may_overlap(other.array, written) {
                if !kernel.is_bounded(other.array) || !kernel.is_bounded(written) {
                    return Err("whether arrays overlap cannot be tested");
                }
                let (a, b) = (other.array.min(written), other.array.max(written));
                conditions.insert(RuntimeCondition::NoOverlap(a, b));
            }
        }
        for argument in &offer.call.arguments {
            let Argument::Int(e) = argument else { continue };
            let fits = Constraint::ge(Affine::constant(i32::MAX.into()), e.clone());
            match fits.as_constant() {
                Some(true) => {}
                Some(false) => return Err("a size is no `int`"),
                None if e.is_invariant() => _ = conditions.insert(RuntimeCondition::Parameter(fits)),
                None => return Err("a size that changes may be no `int`"),
            }
        }
        Ok((offer.call.clone(), conditions))
    }
}

impl View<'_> {
    /// The element that is touched first, by the first iteration of all loops.
    pub fn first(&self, e: &Element) -> Option<Vec<Affine>> {
        let lower = |v| self.loops.iter().find(|l| l.var == v).and_then(|l| l.lower.first().cloned());
        let first: Vec<Affine> = e.subscripts.iter().map(|s| s.substitute(&lower)).collect();
        first.iter().all(Affine::is_exact).then_some(first)
    }

    /// The address of that element.
    pub fn pointer(&self, e: &Element) -> Option<Argument> {
        (!self.kernel.array(e.array).is_scalar()).then_some(Argument::Pointer(e.array, self.first(e)?))
    }

    /// Elements from one to the next along a subscript.
    pub fn stride(&self, e: &Element, position: usize) -> Option<Affine> {
        let extents = &self.kernel.array(e.array).extents;
        extents[position + 1..].iter().try_fold(Affine::constant(1), |product, extent| {
            product.times(extent.as_ref()?).filter(Affine::is_exact)
        })
    }

    /// What a term is scaled with, as an argument: a constant or a value that does not change, of the type.
    pub fn scale(&self, term: &Term, ty: ScalarType) -> Option<Argument> {
        let fixed: Vec<&Factor> = term.factors.iter().filter(|f| !self.moves(f)).collect();
        match fixed[..] {
            [] => Some(Argument::Number(float(ty, if term.negative { -1.0 } else { 1.0 })?)),
            [Factor::Constant(c)] if c.ty == ty => {
                let value = match ty {
                    ScalarType::F64 => f64::from_bits(c.bits),
                    ScalarType::F32 => f32::from_bits(c.bits as u32).into(),
                    _ => return None,
                };
                Some(Argument::Number(float(ty, if term.negative { -value } else { value })?))
            }
            [Factor::Element(e)] if self.kernel.array(e.array).element == ty && self.has_place(e) => {
                let Element { array, subscripts } = e.clone();
                Some(Argument::Value { array, subscripts, negative: term.negative })
            }
            _ => None,
        }
    }

    /// Whether an element can be named outside of its statement: others are in registers that only the nest knows.
    pub fn has_place(&self, e: &Element) -> bool {
        !self.kernel.array(e.array).is_local_scalar()
    }

    /// All elements that are touched.
    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        let read = self.terms().unwrap_or_default().iter().flat_map(|t| &t.factors).flat_map(|f| match f {
            Factor::Element(e) => std::slice::from_ref(e),
            Factor::Other(list) => &list[..],
            _ => &[],
        });
        std::iter::once(&self.written).chain(read)
    }

    /// The floating-point type of all elements, if it is one.
    pub fn float_type(&self) -> Option<ScalarType> {
        let ty = self.kernel.array(self.written.array).element;
        let same = |e: &Element| self.kernel.array(e.array).element == ty;
        (ty.is_float() && self.elements().all(same)).then_some(ty)
    }
}

/// A floating-point number as a constant.
pub fn float(ty: ScalarType, value: f64) -> Option<Constant> {
    let bits = match ty {
        ScalarType::F64 => value.to_bits(),
        ScalarType::F32 => u64::from((value as f32).to_bits()),
        _ => return None,
    };
    Some(Constant { ty, bits })
}

/// `cblas_dgemm` of `gemm`, for the type.
pub(super) fn cblas(view: &View<'_>, name: &str) -> Option<Offer> {
    let letter = if view.float_type()? == ScalarType::F64 { 'd' } else { 's' };
    let of = |e: &Element| view.has_place(e);
    let offer = Offer::new(view, "cblas", &format!("cblas_{letter}{name}"))?;
    view.elements().all(of).then_some(Offer { rounds: true, ..offer })
}

/// The loops of these roles are one, and this is it.
pub(super) fn only<T: Copy>(list: &[T]) -> Option<T> {
    match list {
        [one] => Some(*one),
        _ => None,
    }
}

/// The loops of a tree that are marked for a library, in order.
pub(crate) fn marked(root: &Green) -> Vec<Path> {
    let mut walk = root.walk();
    let mut result = Vec::new();
    while let Some((header, _)) = walk.next_loop() {
        if header.kind == LoopKind::Library {
            result.push(walk.path());
        }
    }
    result
}
