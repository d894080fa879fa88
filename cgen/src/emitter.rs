//! State of the emission of one tree.

use crate::code::Lines;
use crate::error::CgenError;
use crate::helpers::Helper;
use crate::lanes::{Lanes, VectorType};
use crate::names::Names;
use emission::ranges::{Limits, Range};
use emission::scope::Scope;
use loop_tree::{Affine, ArrayId, Calls, Kernel, Path, ScalarType, Statement};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// What is known of a variable of the scope.
#[derive(Clone, Debug)]
pub(crate) struct Binder {
    pub(crate) name: String,
    pub(crate) range: Option<Range>,
    /// Over places, where it is declared as a constant.
    pub(crate) meaning: Option<Affine>,
    pub(crate) is_used: Cell<bool>,
}

/// A parameter of the kernel in C.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    /// Whether it has 64 bits.
    pub(crate) wide: bool,
}

/// What the elements of an array are counted from.
#[derive(Clone, Debug)]
pub(crate) enum Base {
    /// Elements from a pointer on.
    Pointer(String),
    /// A variable.
    Variable(String),
}

/// A buffer in effect.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) name: String,
    /// Whether its elements are numbered row-major, as those of arrays: else it is an array of arrays, or a variable.
    pub(crate) flat: bool,
    /// Lanes of the vector loop around, each of which has elements of its own; else 1.
    pub(crate) lanes: u32,
}

/// A private scalar, or the one that each of several lanes has.
#[derive(Clone, Debug)]
pub(crate) struct Private {
    pub(crate) name: String,
    pub(crate) lanes: u32,
}

/// State of the emission of one tree.
pub(crate) struct Emitter<'k> {
    pub(crate) kernel: &'k Kernel,
    /// Calls in the place of loops that are marked so.
    pub(crate) calls: &'k Calls,
    pub(crate) limits: Limits,
    /// Whether the run-time check holds here: else parameters may be anything within the limits.
    pub(crate) inside: bool,
    pub(crate) names: Names,
    pub(crate) params: Vec<Parameter>,
    pub(crate) arrays: Vec<Base>,
    /// Names of the first byte that an array's accesses touch, and of one past the last.
    pub(crate) byte_ranges: BTreeMap<ArrayId, [String; 2]>,
    /// Names of private scalars, by place in the tree.
    pub(crate) privates: BTreeMap<(Path, ArrayId), Private>,
    /// Those that are declared at the beginning of a body.
    pub(crate) declared: BTreeMap<Path, Vec<(ScalarType, Private)>>,
    /// Pointers to memory of buffers, by path.
    pub(crate) heap: BTreeMap<Path, String>,
    /// Bytes of buffers on the stack so far.
    pub(crate) on_stack: i64,
    /// The parallel loop around, whose iterations threads share.
    pub(crate) shared: Option<Path>,
    /// The vector loop around.
    pub(crate) lanes: Option<Lanes>,
    /// Types of vectors that are used.
    pub(crate) vectors: RefCell<BTreeSet<VectorType>>,
    /// By number of [`Emitter::binders`].
    pub(crate) scope: Scope<usize, Store>,
    pub(crate) binders: Vec<Binder>,
    pub(crate) helpers: RefCell<BTreeSet<Helper>>,
    pub(crate) out: Lines,
    /// Declarations that belong in front of the `if` whose lines are being made.
    pub(crate) in_front: Vec<String>,
    /// Names declared in the blocks around, which end with these.
    pub(crate) temporaries: Vec<String>,
    pub(crate) path: Path,
    /// What errors are about.
    pub(crate) place: String,
}

impl Emitter<'_> {
    /// The helper's name; the file will define it.
    pub(crate) fn helper(&self, helper: Helper) -> String {
        self.helpers.borrow_mut().insert(helper);
        helper.name()
    }

    pub(crate) fn unsupported(&self, what: impl Into<String>) -> CgenError {
        CgenError::Unsupported { what: what.into(), place: self.place.clone() }
    }

    /// A name for what is declared in the block that is being emitted.
    pub(crate) fn temporary(&mut self, wanted: &str) -> String {
        let name = self.names.fresh(wanted);
        self.temporaries.push(name.clone());
        name
    }

    /// A block of C.
    pub(crate) fn block(
        &mut self,
        head: &str,
        f: impl FnOnce(&mut Self) -> Result<(), CgenError>,
    ) -> Result<(), CgenError> {
        let known = self.temporaries.len();
        self.out.open(head);
        f(self)?;
        self.out.close();
        for name in self.temporaries.drain(known..) {
            self.names.release(&name);
        }
        Ok(())
    }

    /// Emits a child.
    pub(crate) fn below(
        &mut self,
        index: usize,
        f: impl FnOnce(&mut Self) -> Result<(), CgenError>,
    ) -> Result<(), CgenError> {
        let child = self.path.child(index);
        let parent = std::mem::replace(&mut self.path, child);
        let result = f(self);
        self.path = parent;
        result
    }

    /// What a function emits as lines of its own, at the depth of the others.
    pub(crate) fn apart(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<(), CgenError>,
    ) -> Result<Lines, CgenError> {
        let inner = Lines { all: Vec::new(), depth: self.out.depth };
        let outer = std::mem::replace(&mut self.out, inner);
        let result = f(self);
        let inner = std::mem::replace(&mut self.out, outer);
        result.map(|()| inner)
    }

    pub(crate) fn array_name(&self, id: ArrayId) -> &str {
        &self.kernel.array(id).name
    }
}

/// A statement for messages: its name, and where it is from.
pub(crate) fn told(statement: &Statement) -> String {
    match &statement.location {
        Some(location) => format!("{location}: {}", statement.name),
        None => statement.name.to_string(),
    }
}

/// Whether an expression is so simple that it needs no name.
pub(crate) fn is_simple(e: &Affine) -> bool {
    e.terms().len() <= 1 && !e.has_divisions()
}
