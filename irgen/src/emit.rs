//! Loop trees to LLVM IR.
//!
//! [`emit_region`] puts a variant in place of a lifted region: one run-time check, the new code, and the original code,
//! unchanged, where the check fails. [`emit_function`] makes a function of its own from a kernel, for kernels that do
//! not come from IR.
//!
//! Every instance computes with the flags it had; a reduction, whose instances may change their order, loses those that
//! intermediate results may break. Scalars live in stack slots, which any `-O1` pipeline promotes.

mod address;
mod ahead;
mod alignment;
mod arith;
mod buffers;
mod call;
mod check;
mod chosen;
mod element;
mod fetch;
mod function;
mod gathers;
mod held;
mod hints;
mod kept;
mod lanes;
mod library;
mod nest;
mod owners;
mod pairs;
mod reached;
mod region;
mod scopes;
mod settled;
mod slots;
mod spot;
mod statement;
mod threads;
mod variant;

pub use alignment::align_variables;
pub use call::add_trampoline;
pub use function::{FunctionParameter, emit_function, function_parameters};
pub use owners::tell_owners_apart;
pub use region::{Emitted, emit_region};
pub use variant::Variant;

use crate::lift::CallBinding;
use crate::llvm::{Builder, Inst, LlvmError, LoopHint, Metadata, Module, Value};
use arith::Known;
use buffers::{Memory, Store};
use emission::{Inexact, conditions, extent, ranges, scope};
use fetch::Around;
use kept::Registers;
use lanes::Lanes;
use loop_tree::{Calls, Green, Kernel, Path, RuntimeCondition, VarId};
use ranges::Limits;
use scope::Scope;
use scopes::Scopes;
use slots::Slots;
use std::collections::{BTreeMap, BTreeSet};
use threads::Thread;

/// Why a tree was not emitted. The module may hold unfinished blocks then: drop it.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// The tree holds something that has no IR yet.
    #[error("{what} cannot be emitted")]
    Unsupported {
        /// What it is.
        what: &'static str,
    },
    /// A variable is used outside of its binder.
    #[error("the variable {name} is not bound where it is used")]
    Unbound {
        /// Its name.
        name: String,
    },
    /// A coefficient overflowed.
    #[error("an expression has coefficients beyond 64 bits")]
    Inexact,
    /// Disjointness is required of arrays whose accesses have no bounds.
    #[error("whether {} and {} overlap cannot be tested: some access has no bounds", arrays[0], arrays[1])]
    NoRange {
        /// Their names.
        arrays: [String; 2],
    },
    /// LLVM refused.
    #[error(transparent)]
    Llvm(#[from] LlvmError),
}

impl From<Inexact> for EmitError {
    fn from(_: Inexact) -> Self {
        EmitError::Inexact
    }
}

impl EmitError {
    fn unbound(name: String) -> Self {
        EmitError::Unbound { name }
    }
}

/// Where an array lives in the emitted code.
#[derive(Clone, Copy)]
enum Base<'m> {
    /// In memory, the element with all subscripts zero at `base + offset` bytes.
    Memory {
        base: Value<'m>,
        offset: i64,
        /// Divides the address of every element, in bytes.
        alignment: u32,
    },
    /// In a stack slot.
    Scalar { slot: Value<'m> },
}

/// State of one emission.
struct Emitter<'m, 'k> {
    module: &'m Module<'m>,
    builder: Builder<'m>,
    kernel: &'k Kernel,
    root: &'k Green,
    /// Threads that share the iterations of loops marked parallel, at most.
    threads: u32,
    /// Bits of the vectors that are asked for.
    vector_bits: Option<u32>,
    /// The one that runs what is emitted now, where it is in a function for threads.
    thread: Option<Thread<'m>>,
    /// Parameters as `i64`, never poison.
    params: Vec<Value<'m>>,
    limits: Limits,
    /// Whether it makes a function of its own, whose arrays are whole objects.
    own_function: bool,
    /// Whether the builder stands behind the run-time check.
    inside: bool,
    bases: Vec<Base<'m>>,
    slots: Slots<'m>,
    origins: &'k [Inst<'m>],
    /// What the region calls without anything being known of it, with arguments as they are in front of it.
    called: Vec<CallBinding<'m>>,
    /// Debug location of what has no origin.
    location: Option<Metadata<'m>>,
    scopes: Scopes<'m>,
    /// Loops, by path, that carry no dependence.
    parallel: &'k BTreeSet<Path>,
    /// What compilers are told of the loops of variables, where the source says so.
    hints: BTreeMap<VarId, Vec<LoopHint>>,
    /// Calls in the place of loops that are marked so.
    calls: &'k Calls,
    /// Access groups of the parallel loops around the builder's place.
    groups: Vec<Metadata<'m>>,
    memory: Memory<'m>,
    scope: Scope<Known<'m>, Store<'m>>,
    registers: Registers<'m>,
    /// The loop around the builder's place.
    around: Option<Around>,
    /// The vector loop around the builder's place.
    lanes: Option<Lanes<'m>>,
    /// Guards that stand outside of the loop around them, and whether they hold.
    settled: BTreeMap<Path, bool>,
    path: Path,
}

impl<'m, 'k> Emitter<'m, 'k> {
    /// In a region's function, of whose parameters, arrays and instructions nothing is said yet. `moving`: the arrays that do not stay in
    /// their place.
    fn new(
        module: &'m Module<'m>,
        builder: Builder<'m>,
        kernel: &'k Kernel,
        variant: Variant<'k>,
        conditions: &[RuntimeCondition],
        moving: &[bool],
    ) -> Result<Self, EmitError> {
        let Variant { root, parallel, threads, calls, vector_bits, .. } = variant;
        Ok(Emitter {
            module,
            builder,
            kernel,
            root,
            threads,
            vector_bits,
            thread: None,
            params: Vec::new(),
            limits: Limits::of(kernel, root, conditions)?,
            own_function: false,
            inside: false,
            bases: Vec::new(),
            slots: Slots::new(),
            origins: &[],
            called: Vec::new(),
            location: None,
            scopes: Scopes::new(module, kernel, conditions, moving, &emission::buffers::find(root)),
            parallel,
            hints: BTreeMap::new(),
            calls,
            groups: Vec::new(),
            memory: Memory::default(),
            scope: Scope::default(),
            registers: Registers::new(kernel, conditions),
            around: None,
            lanes: None,
            settled: BTreeMap::new(),
            path: Path::root(),
        })
    }
}
