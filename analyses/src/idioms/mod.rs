//! Idioms: what a nest computes, where it has a name.
//!
//! Matrix products, dot products, copies, scans and the like are recognised by operations and accesses: a [`View`] of one store of a statement
//! under some loops says which element is written, and what from, as a sum of products; in which order the program names or
//! nests its loops does not matter. Where a function of a library computes the same, the idiom says how it is called
//! ([`Call`](loop_tree::Call)).
//!
//! An idiom of one's own is one more [`Idiom`] in the list:
//!
//! ```
//! use analyses::idioms::{Found, Idiom, Idioms, View};
//!
//! struct Squares;
//! impl Idiom for Squares {
//!     fn recognise(&self, view: &View<'_>) -> Option<Found> {
//!         let [term] = &view.terms()?[..] else { return None };
//!         let [a, b] = &term.factors[..] else { return None };
//!         (a == b && view.moves(a)).then(|| Found::new("squares"))
//!     }
//! }
//!
//! let program = loop_tree::text::parse(
//!     "nest @squares[N] {
//!        array A: f64[N]
//!        array B: f64[N]
//!        for i in 0..N { S: B[i] = A[i] * A[i] }
//!      }",
//! )?;
//! let mut idioms = Idioms::standard();
//! idioms.register(Squares);
//! let found = idioms.of_kernel(&program.kernel);
//! assert_eq!(found[0].text(&program.kernel), "squares over i: B[i] = A[i] * A[i]");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod calls;
mod moves;
mod products;
mod scans;
mod vectors;
mod view;

pub(crate) use calls::marked;
pub use calls::{Granted, Offer, float};
pub use view::{Along, Element, Factor, Term, View};

use loop_tree::text::print_affine;
use loop_tree::{Kernel, ReductionOp, StmtId, VarId};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Recognises a family of idioms.
pub trait Idiom: Send + Sync {
    /// What the loops of the view compute together, if it is of this family.
    fn recognise(&self, view: &View<'_>) -> Option<Found>;

    /// The function of a library that computes it. That the arrays do not overlap is seen to.
    fn call(&self, _view: &View<'_>) -> Option<Offer> {
        None
    }
}

/// What an idiom says of a view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Its name.
    pub name: &'static str,
    /// What is particular about it: an operand that is transposed, a scale.
    pub notes: Vec<String>,
}

impl Found {
    /// The name alone.
    pub fn new(name: &'static str) -> Found {
        Found { name, notes: Vec::new() }
    }

    /// With a note, where there is something to note.
    pub fn noting(mut self, note: Option<String>) -> Found {
        self.notes.extend(note);
        self
    }
}

/// A store of a statement that is part of an idiom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Known {
    /// The name of the idiom.
    pub name: &'static str,
    /// What is particular about it.
    pub notes: Vec<String>,
    /// The statement.
    pub statement: StmtId,
    /// The loops of the original that are part of it, outermost first.
    pub loops: Vec<VarId>,
    /// What is stored: `C[i, j] += A[i, k] * B[k, j]`.
    pub formula: String,
}

impl Known {
    /// `matrix product over i, k, j: C[i, j] += A[i, k] * B[k, j]; B transposed`
    pub fn text(&self, kernel: &Kernel) -> String {
        let loops: Vec<String> = self.loops.iter().map(|v| kernel.variable_name(*v)).collect();
        let notes: String = self.notes.iter().map(|n| format!("; {n}")).collect();
        format!("{} over {}: {}{notes}", self.name, loops.join(", "), self.formula)
    }
}

/// Libraries that the idioms of this crate know, beside the C library.
pub const LIBRARIES: [&str; 1] = ["cblas"];

/// Functions of libraries that the idioms of this crate know.
pub const FUNCTIONS: [&str; 14] = [
    "memcpy",
    "memset",
    "cblas_daxpy",
    "cblas_ddot",
    "cblas_dgemm",
    "cblas_dgemv",
    "cblas_dger",
    "cblas_dscal",
    "cblas_saxpy",
    "cblas_sdot",
    "cblas_sgemm",
    "cblas_sgemv",
    "cblas_sger",
    "cblas_sscal",
];

/// Idioms in the order in which they are asked, with the libraries that may be called for them.
#[derive(Clone, Default)]
pub struct Idioms {
    list: Vec<Arc<dyn Idiom>>,
    libraries: BTreeSet<String>,
    reorders: bool,
}

impl Idioms {
    /// None.
    pub fn empty() -> Idioms {
        Idioms::default()
    }

    /// Those of this crate, which may call the C library.
    pub fn standard() -> Idioms {
        let mut idioms = Idioms::empty();
        idioms.allow("c");
        idioms.register(products::Products);
        idioms.register(vectors::Vectors);
        idioms.register(scans::Scans);
        idioms.register(moves::Moves);
        idioms
    }

    /// Adds one, which is asked last.
    pub fn register(&mut self, idiom: impl Idiom + 'static) {
        self.list.push(Arc::new(idiom));
    }

    /// Lets functions of a library be called: `c`, `cblas`, or what idioms of one's own know.
    pub fn allow(&mut self, library: &str) {
        self.libraries.insert(library.to_string());
    }

    /// Lets libraries round in another order also where the flags of operations do not.
    pub fn allow_reordering(&mut self) {
        self.reorders = true;
    }

    fn has_library(&self, name: &str) -> bool {
        self.libraries.contains(name)
    }

    /// What is known of a view: what the first idiom says that knows it.
    pub fn recognise(&self, view: &View<'_>) -> Option<Found> {
        self.list.iter().find_map(|idiom| idiom.recognise(view))
    }

    /// What the statements of a kernel are known as, in their order: each store under as many of its loops as possible, from the
    /// innermost outwards.
    pub fn of_kernel(&self, kernel: &Kernel) -> Vec<Known> {
        let views = view::of_kernel(kernel);
        let known = views.iter().filter_map(|whole| {
            let tried = (0..whole.loops.len()).map(|outside| whole.inside(outside));
            let (found, view) = tried.filter_map(|view| Some((self.recognise(&view)?, view))).next()?;
            Some(Known {
                name: found.name,
                notes: found.notes,
                statement: view.statement,
                loops: view.loops.iter().map(|l| l.var).collect(),
                formula: formula(kernel, &view),
            })
        });
        known.collect()
    }
}

impl std::fmt::Debug for Idioms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} idioms", self.list.len())
    }
}

/// What a view stores.
fn formula(kernel: &Kernel, view: &View<'_>) -> String {
    let target = view.written.text(kernel);
    let product = |t: &Term| {
        let factors: Vec<String> = t.factors.iter().map(|f| f.text(kernel)).collect();
        if factors.is_empty() { "1".to_string() } else { factors.join(" * ") }
    };
    let Some(terms) = view.terms() else { return format!("{target} = ...") };
    if let Some(by) = view.update {
        let other: String = terms.iter().map(&product).collect();
        return match by {
            ReductionOp::Mul | ReductionOp::FMul => format!("{target} *= {other}"),
            _ => format!("{target} = {}({target}, {other})", by.name()),
        };
    }
    let (own, others): (Vec<&Term>, Vec<&Term>) =
        terms.iter().partition(|t| matches!(&t.factors[..], [f] if f.element() == Some(&view.written)));
    let negative = others.iter().all(|t| t.negative) && !others.is_empty();
    let sign = |t: &Term, first: bool| match (t.negative != negative, first) {
        (true, true) => "-",
        (true, false) => " - ",
        (false, true) => "",
        (false, false) => " + ",
    };
    let sum: String =
        others.iter().enumerate().map(|(n, t)| sign(t, n == 0).to_string() + &product(t)).collect();
    match (own.len(), negative) {
        (0, false) => format!("{target} = {sum}"),
        (0, true) => format!("{target} = -({sum})"),
        (_, false) => format!("{target} += {sum}"),
        (_, true) => format!("{target} -= {sum}"),
    }
}

/// `[i, j + 1]`
fn subscripts(kernel: &Kernel, subscripts: &[loop_tree::Affine]) -> String {
    let list: Vec<String> = subscripts.iter().map(|e| print_affine(kernel, e)).collect();
    if list.is_empty() { String::new() } else { format!("[{}]", list.join(", ")) }
}
