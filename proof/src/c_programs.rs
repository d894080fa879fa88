//! Random C functions for a whole compiler: nests of loops, most of them affine, some nearly so.
//!
//! [`generate()`] makes a [`Function`] from a seed; [`fit`] gives its arrays the extents that its accesses need and proves,
//! by walking all iterations for all tested parameter values, that nothing overflows, leaves its array or runs for long.
//! What does not fit is not a test. [`text`] writes C; [`shrink`] looks for a smaller function that fails the same way.
//!
//! **Invariant.** A fitted function has no undefined behaviour on its runs: signed arithmetic on data is masked or done
//! in unsigned types, divisors are not zero, shifts are short, conversions to integers are guarded.

pub mod fit;
mod generate;
pub mod index;
pub mod scenario;
pub mod shrink;
pub mod text;

pub use fit::{Fitted, Misfit};
pub use generate::{Profile, generate};
pub use index::{Index, IntType};

/// Type of array elements and scalars.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Element {
    /// An integer.
    Int(IntType),
    /// `float`
    F32,
    /// `double`
    F64,
}

impl Element {
    /// Bytes.
    pub fn size(self) -> usize {
        match self {
            Element::Int(t) => t.bits() as usize / 8,
            Element::F32 => 4,
            Element::F64 => 8,
        }
    }

    /// Whether it is an integer type.
    pub fn is_int(self) -> bool {
        matches!(self, Element::Int(_))
    }
}

/// An integer argument with its value in each run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Param {
    /// Its type.
    pub ty: IntType,
    /// One value per run.
    pub values: Vec<i64>,
    /// Where the function finds it.
    pub kept: Kept,
}

/// Where a parameter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kept {
    /// An argument.
    Passed,
    /// Behind a pointer, and read wherever it is used.
    Pointed,
    /// In a variable of the file, and read wherever it is used.
    Global,
}

/// How an array is declared and addressed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// `T *a`, one subscript.
    Flat,
    /// `T a[][C]`, `T a[][C][D]`: constant inner extents.
    Constant,
    /// `T a[][n + C]`: inner extents from a parameter.
    Variable {
        /// The parameter.
        param: usize,
    },
    /// `T *a`, addressed as `a[i * (n + extra) + j]`, whether or not `j` stays below the row.
    Linear {
        /// The parameter of the row length; none: the row length is `extra`.
        param: Option<usize>,
        /// Constant part of the row length.
        extra: i64,
    },
    /// `T a[C]`, a variable of the function, zero at first.
    Local,
    /// `T *a = malloc(C)`, set by a loop at first, and freed at the end.
    Temporary,
}

impl Layout {
    /// Whether it is the function's own, not an argument.
    pub fn is_local(self) -> bool {
        matches!(self, Layout::Local | Layout::Temporary)
    }
}

/// An array.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Array {
    /// Type of its elements.
    pub element: Element,
    /// Declaration.
    pub layout: Layout,
    /// Subscripts.
    pub rank: usize,
    /// Declared `restrict`; then no other array overlaps it in any run.
    pub restrict: bool,
    /// Declared `volatile`.
    pub volatile: bool,
    /// By which names it is accessed.
    pub named: Named,
}

/// By which names an array is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Named {
    /// The argument or variable that is the array.
    Itself,
    /// Its address is behind a pointer, and read wherever it is used.
    Behind,
    /// A static pointer of the file leads to it, and is read wherever it is used.
    Static,
    /// By itself and by a static pointer, in turns.
    Twice,
}

impl Named {
    /// Whether a static pointer leads to the array.
    pub fn is_static(self) -> bool {
        matches!(self, Named::Static | Named::Twice)
    }
}

/// A local scalar.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Scalar {
    /// Its type.
    pub ty: Element,
    /// Initial value.
    pub init: i64,
    /// Grows by small steps only, so that signed arithmetic on it cannot overflow.
    pub bounded: bool,
}

/// A function of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Function {
    /// Integer arguments.
    pub params: Vec<Param>,
    /// Arrays.
    pub arrays: Vec<Array>,
    /// Scalars.
    pub scalars: Vec<Scalar>,
    /// Number of loop variables; each is bound by one loop.
    pub variables: usize,
    /// The body.
    pub body: Vec<Stmt>,
    /// Scalar returned at the end; none: zero.
    pub result: Option<usize>,
}

/// A statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Stmt {
    /// `place op= value`
    Assign(Lvalue, AssignOp, Value),
    /// A loop.
    Loop(Box<Loop>),
    /// `if`
    If(Condition, Vec<Stmt>, Vec<Stmt>),
    /// `switch (index & 3)` with a body for 0, 1 and otherwise.
    Switch(Index, [Vec<Stmt>; 3]),
    /// `break`
    Break,
    /// `continue`
    Continue,
    /// `return` of the result.
    Return,
    /// A call that does not return, as of `abort`: the caller of the function goes on. It is told of the result so far, too.
    End(Index),
    /// A call that the compiler cannot see through.
    Call(Index),
}

/// Left side of an assignment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lvalue {
    /// An element.
    Element(usize, Vec<Index>),
    /// An element at a place that depends on data, as of [`Value::Indirect`].
    Indirect(usize, Index, Box<Value>),
    /// A scalar.
    Scalar(usize),
}

/// How a value is combined with the old one.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AssignOp {
    Set,
    Add,
    Sub,
    Mul,
    Xor,
    Max,
}

/// How a loop is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// `for (i = lower; i < upper; i += step)`
    Less,
    /// `for (i = lower; i <= upper; i += step)`
    LessEqual,
    /// `for (i = lower; i != upper; i += step)`
    NotEqual,
    /// `for (i = upper; i > lower; i -= step)`
    Greater,
    /// `for (i = upper; i >= lower; i -= step)`
    GreaterEqual,
    /// `for (i = upper; i-- > lower;)`
    CountDown,
    /// `i = lower; while (i < upper) { ...; i += step; }`
    While,
    /// `i = lower; do { ...; i += step; } while (i < upper);`
    DoWhile,
    /// `for (i = lower;; i += step) { if (i >= upper) break; ... }`
    Endless,
}

/// A loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Loop {
    /// Its variable.
    pub var: usize,
    /// Type of the variable.
    pub ty: IntType,
    /// How it is written.
    pub form: Form,
    /// Lower end.
    pub lower: Index,
    /// Upper end.
    pub upper: Index,
    /// Distance of consecutive values.
    pub step: i64,
    /// What it repeats.
    pub body: Vec<Stmt>,
}

/// A condition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Compares indices.
    Index(Index, Compare, Index),
    /// Compares data.
    Data(Value, Compare, Value),
    /// Both.
    And(Box<Condition>, Box<Condition>),
    /// One or both.
    Or(Box<Condition>, Box<Condition>),
    /// Not.
    Not(Box<Condition>),
}

/// A comparison.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Compare {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An expression on data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A constant; for floating point in quarters.
    Constant(Element, i64),
    /// An element.
    Element(usize, Vec<Index>),
    /// An element at a place that depends on data: `a[index + (b & 3)]` with `b` an integer.
    Indirect(usize, Index, Box<Value>),
    /// A scalar.
    Scalar(usize),
    /// An index, converted.
    Index(Element, Index),
    /// Arithmetic in a type, to which both sides are converted; integers wrap.
    Arith(Element, Arith, Box<Value>, Box<Value>),
    /// Signed arithmetic on masked operands, which the compiler may take not to overflow.
    Masked(IntType, Arith, Box<Value>, Box<Value>),
    /// A function of one floating-point number.
    Function(MathFunction, Box<Value>),
    /// A conversion.
    Convert(Element, Box<Value>),
    /// `condition ? a : b`, both of the type.
    Select(Element, Box<Condition>, Box<Value>, Box<Value>),
}

/// An operator on data.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arith {
    Add,
    Sub,
    Mul,
    /// Guarded against zero; on unsigned integers or floating point.
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    /// Bits that go around.
    Rotate,
    /// How many zeros are in front of the first operand and behind it.
    Zeros,
}

/// Pure functions.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MathFunction {
    Fabs,
    Sqrt,
    Floor,
    Ceil,
}
