//! Kernels: what is being computed, independent of the order.
//!
//! A kernel is immutable and shared by all variants. The order of the original program is a tree too
//! ([`Kernel::original`]): domains and dependences are derived from it.

use crate::types::names;
use crate::{
    AccessId, Affine, ArrayId, BinaryOp, Buffer, CastOp, ComparePredicate, Constant, Constraint, Green,
    Intrinsic, OpFlags, OpId, ParamId, ReductionOp, RuntimeCondition, ScalarType, StmtId, VarId,
};
use std::fmt;
use std::sync::Arc;

/// A symbolic integer: an argument or a live-in value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Param {
    /// Name, unique among parameters, variables and arrays.
    pub name: Arc<str>,
    /// Integer type of the value.
    pub ty: ScalarType,
}

/// An induction variable of the original program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Variable {
    /// Name, unique among parameters, variables and arrays.
    pub name: Arc<str>,
    /// Whether its loop stays one, for whoever compiles it.
    pub kept: Option<Kept>,
}

/// What the source says to the compiler of a loop. In every variant the loop is still there: one after the other, its iterations do what
/// belongs to it, and nothing else. Where it stands, what is around it and what its body looks like may change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kept {
    /// It may become vectors.
    Loop,
    /// One iteration at a time.
    Scalar,
}

names!(
    /// What an array is made of.
    Storage {
        /// Memory of the surrounding program, visible before and after.
        Memory = "memory",
        /// A scalar of dimension zero (or an expanded one) that is set before the region.
        LiveIn = "in",
        /// A scalar whose last value is used after the region; its value before the region may be used too.
        LiveOut = "out",
        /// Temporary: no value enters or leaves the region.
        Local = "local",
    }
);

/// Arrays of different classes never overlap; different arrays of one class may, but those that lie in different objects: two
/// variables of a file are apart, and a pointer may lead into either.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct AliasClass {
    /// Its number.
    pub class: u32,
    /// The object that the array lies in, where it is known.
    pub object: Option<u32>,
}

impl AliasClass {
    /// Of arrays in objects of which nothing is known.
    pub fn new(class: u32) -> AliasClass {
        AliasClass { class, object: None }
    }

    /// Whether two arrays may share bytes.
    pub fn meets(self, other: AliasClass) -> bool {
        let apart = self.object.zip(other.object).is_some_and(|(a, b)| a != b);
        self.class == other.class && !apart
    }
}

/// A memory object with rectangular shape, row-major. Dimension zero: a scalar.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Array {
    /// Name, unique among parameters, variables and arrays.
    pub name: Arc<str>,
    /// Type of the elements.
    pub element: ScalarType,
    /// Extents, affine in parameters; only the outermost may be unknown.
    pub extents: Vec<Option<Affine>>,
    /// Where it lives and who sees it.
    pub storage: Storage,
    /// Which other arrays it may overlap.
    pub alias: AliasClass,
}

impl Array {
    /// Number of subscripts.
    pub fn rank(&self) -> usize {
        self.extents.len()
    }

    /// Whether it is a scalar.
    pub fn is_scalar(&self) -> bool {
        self.extents.is_empty()
    }

    /// Whether it is a scalar of the program's own, which no memory holds.
    pub fn is_local_scalar(&self) -> bool {
        self.is_scalar() && self.storage == Storage::Local
    }
}

names!(
    /// How an access touches its element.
    AccessKind {
        /// Reads.
        Read = "read",
        /// Writes whenever the statement instance executes.
        Write = "write",
        /// Writes perhaps: under a mask, or somewhere in the array.
        MayWrite = "maywrite",
    }
);

/// Which element of which array a statement instance touches.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Access {
    /// The array.
    pub array: ArrayId,
    /// One subscript per dimension, over [`Statement::dims`] and parameters. `None`: any element.
    pub subscripts: Option<Vec<Affine>>,
    /// Read or write.
    pub kind: AccessKind,
}

/// An operation executes only where another one of type `i1` has a given value (and executes itself).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mask {
    /// An earlier operation of the same statement, of type `i1`.
    pub op: OpId,
    /// The value it must have.
    pub value: bool,
}

/// What an operation computes from earlier ones.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum OpKind {
    /// A constant.
    Const(Constant),
    /// An affine expression over the statement's dims and parameters, reduced to the width of the type
    /// (two's complement).
    Affine(Affine),
    /// Whether an affine constraint holds (`i1`).
    Test(Constraint),
    /// Loads through a read access.
    Load(AccessId),
    /// Stores an operand through a write access. Its own value is not used.
    Store(AccessId, OpId),
    /// Loads the element that an operand of type `i64` numbers, row-major, through a read access of any element.
    LoadAt(AccessId, OpId),
    /// Stores the second operand to the element that the first one numbers, through a write access of any element.
    StoreAt(AccessId, OpId, OpId),
    /// Binary arithmetic.
    Binary(BinaryOp, OpId, OpId),
    /// Conversion to the operation's type.
    Cast(CastOp, OpId),
    /// Comparison of two operands (`i1`).
    Compare(ComparePredicate, OpId, OpId),
    /// `if operand 0 then operand 1 else operand 2`; an operand whose mask is false must not be chosen.
    Select(OpId, OpId, OpId),
    /// A pure function.
    Call(Intrinsic, Vec<OpId>),
    /// A function that only its owner knows, by number: its result depends on its operands alone, it returns, and it does
    /// nothing else.
    Pure(u32, Vec<OpId>),
    /// Something only its owner understands; its operands are kept alive. Statements with it are
    /// [`StmtFlags::OPAQUE`].
    Opaque(u32, Vec<OpId>),
}

impl OpKind {
    /// Operands, in order.
    pub fn operands(&self) -> Vec<OpId> {
        match self {
            OpKind::Const(_) | OpKind::Affine(_) | OpKind::Test(_) | OpKind::Load(_) => vec![],
            OpKind::Store(_, a) | OpKind::LoadAt(_, a) | OpKind::Cast(_, a) => vec![*a],
            OpKind::StoreAt(_, a, b) | OpKind::Binary(_, a, b) | OpKind::Compare(_, a, b) => vec![*a, *b],
            OpKind::Select(a, b, c) => vec![*a, *b, *c],
            OpKind::Call(_, ops) | OpKind::Pure(_, ops) | OpKind::Opaque(_, ops) => ops.clone(),
        }
    }

    /// The access that it goes through.
    pub fn access(&self) -> Option<AccessId> {
        match self {
            OpKind::Load(a) | OpKind::LoadAt(a, _) | OpKind::Store(a, _) | OpKind::StoreAt(a, ..) => Some(*a),
            _ => None,
        }
    }

    /// Whether it stores.
    pub fn is_store(&self) -> bool {
        matches!(self, OpKind::Store(..) | OpKind::StoreAt(..))
    }
}

/// One operation of a statement; SSA: operands are earlier operations.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Op {
    /// What it computes.
    pub kind: OpKind,
    /// Type of its result (of the stored value for a store).
    pub ty: ScalarType,
    /// Where it executes; `None`: always.
    pub mask: Option<Mask>,
    /// Poison-generating and fast-math flags.
    pub flags: OpFlags,
    /// Index of the IR instruction it came from, in a table of its owner (metadata, debug location). Loads and stores are numbered in
    /// the order of the program.
    pub origin: Option<u32>,
}

bitflags::bitflags! {
    /// What keeps a statement from being moved freely, beyond its accesses.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct StmtFlags: u16 {
        /// Side effects beyond its accesses: stays in place relative to every other statement.
        const SIDE_EFFECTS = 1;
        /// Volatile access: keeps its order relative to other volatile and side-effecting statements.
        const VOLATILE = 1 << 1;
        /// Atomic, `unordered` or `monotonic`.
        const ATOMIC_RELAXED = 1 << 2;
        /// Atomic, acquire, release, or stronger; fences.
        const ATOMIC_ORDERED = 1 << 3;
        /// May throw or unwind.
        const MAY_THROW = 1 << 4;
        /// May not return.
        const MAY_NOT_RETURN = 1 << 5;
        /// Not understood: may read and write all memory. Only its owner may know how to regenerate it.
        const OPAQUE = 1 << 6;
        /// A division or other operation that is undefined for some operands.
        const MAY_TRAP = 1 << 7;
    }
}

/// A reduction: the statement's only effect is `array[subscripts] = op(array[subscripts], value)`, where reordering
/// its own instances does not change the result.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Reduction {
    /// The operator.
    pub op: ReductionOp,
    /// The read access of the accumulator.
    pub read: AccessId,
    /// The write access of the accumulator.
    pub write: AccessId,
}

/// Where in the source text something came from.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SourceLocation {
    /// File name as the front end gave it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1; 0 is unknown.
    pub column: u32,
}

impl fmt::Display for SourceLocation {
    /// `file.c:12`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The smallest unit that transformations move.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Statement {
    /// Name, unique in the kernel.
    pub name: Arc<str>,
    /// The original induction variables around it, outermost first: an instance is a point of their values.
    pub dims: Arc<[VarId]>,
    /// Operations in order.
    pub ops: Vec<Op>,
    /// Accesses; loads and stores refer to them. Accesses that no operation refers to over-approximate an
    /// opaque operation.
    pub accesses: Vec<Access>,
    /// Whether and how its instances may be reordered among themselves.
    pub reduction: Option<Reduction>,
    /// Further properties.
    pub flags: StmtFlags,
    /// Source location.
    pub location: Option<SourceLocation>,
}

impl Statement {
    /// The operation.
    pub fn op(&self, id: OpId) -> &Op {
        &self.ops[id.index()]
    }

    /// The access.
    pub fn access(&self, id: AccessId) -> &Access {
        &self.accesses[id.index()]
    }

    /// Operations with their ids.
    pub fn ops(&self) -> impl Iterator<Item = (OpId, &Op)> {
        self.ops.iter().enumerate().map(|(i, op)| (OpId::new(i), op))
    }

    /// Accesses with their ids.
    pub fn accesses(&self) -> impl Iterator<Item = (AccessId, &Access)> {
        self.accesses.iter().enumerate().map(|(i, a)| (AccessId::new(i), a))
    }
}

/// What one function or region computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    /// Name, as of the function.
    pub name: Arc<str>,
    /// Parameters, by [`ParamId`].
    pub params: Vec<Param>,
    /// Original induction variables, by [`VarId`].
    pub variables: Vec<Variable>,
    /// Arrays, by [`ArrayId`].
    pub arrays: Vec<Array>,
    /// Statements, by [`StmtId`].
    pub statements: Vec<Arc<Statement>>,
    /// Constraints on parameters that always hold.
    pub context: Vec<Constraint>,
    /// Conditions that any variant other than the original code must check before it runs: what the description
    /// above took for granted.
    pub assumptions: Vec<RuntimeCondition>,
    /// Functions of libraries that new code may not call: the source says so, or has something else of that name.
    pub no_calls: Vec<Arc<str>>,
    /// The order of the original program.
    pub original: Green,
}

impl Kernel {
    /// Number of original induction variables; [`VarId`]s from here on are fresh.
    pub fn var_count(&self) -> u32 {
        self.variables.len() as u32
    }

    /// Whether the variable is an original induction variable.
    pub fn is_original(&self, var: VarId) -> bool {
        var.0 < self.var_count()
    }

    /// The statement.
    pub fn statement(&self, id: StmtId) -> &Arc<Statement> {
        &self.statements[id.index()]
    }

    /// The array.
    pub fn array(&self, id: ArrayId) -> &Array {
        &self.arrays[id.index()]
    }

    /// The parameter.
    pub fn param(&self, id: ParamId) -> &Param {
        &self.params[id.index()]
    }

    /// Statements with their ids.
    pub fn statements(&self) -> impl Iterator<Item = (StmtId, &Arc<Statement>)> {
        self.statements.iter().enumerate().map(|(i, s)| (StmtId::new(i), s))
    }

    /// The parameter of that name.
    pub fn find_param(&self, name: &str) -> Option<ParamId> {
        self.params.iter().position(|p| &*p.name == name).map(ParamId::new)
    }

    /// The array of that name.
    pub fn find_array(&self, name: &str) -> Option<ArrayId> {
        self.arrays.iter().position(|a| &*a.name == name).map(ArrayId::new)
    }

    /// The statement of that name.
    pub fn find_statement(&self, name: &str) -> Option<StmtId> {
        self.statements.iter().position(|s| &*s.name == name).map(StmtId::new)
    }

    /// The original variable of that name.
    pub fn find_variable(&self, name: &str) -> Option<VarId> {
        self.variables.iter().position(|v| &*v.name == name).map(VarId::new)
    }

    /// Whether two different arrays may share bytes.
    pub fn may_overlap(&self, a: ArrayId, b: ArrayId) -> bool {
        a == b || self.array(a).alias.meets(self.array(b).alias)
    }

    /// Whether all accesses of an array say which elements they touch: else no check can tell where.
    pub fn is_bounded(&self, array: ArrayId) -> bool {
        let somewhere = |a: &Access| a.array == array && a.subscripts.is_none();
        !self.statements.iter().any(|s| s.accesses.iter().any(somewhere))
    }

    /// Whether a call of that name is one of a library's function.
    pub fn may_call(&self, function: &str) -> bool {
        *self.name != *function && self.no_calls.iter().all(|name| **name != *function)
    }

    /// What holds of parameters wherever the kernel says what its program does.
    pub fn constraints(&self) -> impl Iterator<Item = &Constraint> {
        self.context.iter().chain(self.assumptions.iter().filter_map(RuntimeCondition::parameter))
    }

    /// What the source says of the loop of a variable.
    pub fn kept(&self, var: VarId) -> Option<Kept> {
        self.variables.get(var.index())?.kept
    }

    /// The leaf for a statement.
    pub fn leaf(&self, id: StmtId) -> Green {
        Green::stmt(id, self.statement(id).dims.clone())
    }

    /// Name of a variable: the original name, or `t0`, `t1`, ... as [`generated_name`](Self::generated_name) has it.
    pub fn variable_name(&self, var: VarId) -> String {
        match self.variables.get(var.index()) {
            Some(v) => v.name.to_string(),
            None if let Some(k) = Buffer::index_of(var) => format!("{}{k}", self.generated_name("x")),
            None => format!("{}{}", self.generated_name("t"), var.0 - self.var_count()),
        }
    }

    /// What generated names begin with: the letter, behind as many underscores as make no name of the kernel begin so and go on
    /// with a number.
    pub fn generated_name(&self, letter: &str) -> String {
        let names = || {
            (self.params.iter().map(|p| &p.name))
                .chain(self.arrays.iter().map(|a| &a.name))
                .chain(self.variables.iter().map(|v| &v.name))
        };
        let mut prefix = String::from(letter);
        let clashes = |prefix: &str| {
            let numbered = |rest: &str| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit());
            names().any(|name| name.strip_prefix(prefix).is_some_and(numbered))
        };
        while clashes(&prefix) {
            prefix.insert(0, '_');
        }
        prefix
    }
}
