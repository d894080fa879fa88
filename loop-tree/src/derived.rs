//! What a statement computes of one element of an array and of what never changes, such as `alpha*A[i, k]`: a buffer may hold that
//! in the place of the element.

use crate::{
    AccessKind, ArrayId, BinaryOp, Intrinsic, Kernel, OpId, OpKind, Statement, StmtFlags, StmtId, Storage,
};

/// Operations of a statement that depend on one element of an array, and else on what never changes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Derived {
    /// Loads the element.
    pub load: OpId,
    /// What depends on it: each on the one before, and nothing else does. Not empty.
    pub chain: Vec<OpId>,
    /// All that the last one takes, in order: the load, the chain, and what else that uses.
    pub all: Vec<OpId>,
}

impl Derived {
    /// The greatest such operation of the type of the array's elements; `None` if there is none, or if the statement touches the
    /// array elsewhere too.
    pub fn of(kernel: &Kernel, id: StmtId, array: ArrayId) -> Option<Derived> {
        let statement = kernel.statements.get(id.index())?;
        let element = kernel.arrays.get(array.index())?.element;
        let mut accesses = statement.accesses().filter(|(_, a)| a.array == array);
        let (access, a) = accesses.next()?;
        let mut loads = statement.ops().filter(|(_, op)| op.kind.access() == Some(access));
        let (load, op) = loads.next()?;
        if accesses.next().is_some()
            || loads.next().is_some()
            || a.kind != AccessKind::Read
            || op.kind != OpKind::Load(access)
            || op.mask.is_some()
            || op.ty != element
            || statement.flags.intersects(StmtFlags::MAY_TRAP.complement())
        {
            return None;
        }
        let invariant = invariants(kernel, statement);
        let (mut chain, mut kept, mut last) = (Vec::new(), 0, load);
        loop {
            let uses =
                |op: &crate::Op| op.kind.operands().contains(&last) || op.mask.is_some_and(|m| m.op == last);
            let mut users = statement.ops().filter(|(_, op)| uses(op));
            let (Some((user, op)), None) = (users.next(), users.next()) else { break };
            let known = |o: &OpId| *o == last || invariant[o.index()];
            if op.mask.is_some() || !is_arithmetic(&op.kind) || !op.kind.operands().iter().all(known) {
                break;
            }
            chain.push(user);
            if op.ty == element {
                kept = chain.len();
            }
            last = user;
        }
        chain.truncate(kept);
        let mut all = vec![*chain.last()?];
        let mut next = 0;
        while let Some(id) = all.get(next) {
            for operand in statement.op(*id).kind.operands() {
                if !all.contains(&operand) {
                    all.push(operand);
                }
            }
            next += 1;
        }
        all.sort_unstable();
        Some(Derived { load, chain, all })
    }

    /// The operation whose value is kept.
    pub fn result(&self) -> OpId {
        self.chain.last().copied().unwrap_or(self.load)
    }
}

/// By operation, whether its value is the same in all instances, and known before the first one.
fn invariants(kernel: &Kernel, statement: &Statement) -> Vec<bool> {
    let written = |array: ArrayId| {
        let writes =
            |s: &Statement| s.accesses.iter().any(|a| a.array == array && a.kind != AccessKind::Read);
        kernel.statements.iter().any(|s| writes(s))
    };
    let given = |array: ArrayId| kernel.array(array).storage == Storage::LiveIn && !written(array);
    let mut result: Vec<bool> = Vec::with_capacity(statement.ops.len());
    for op in &statement.ops {
        let is = match &op.kind {
            OpKind::Const(_) => true,
            OpKind::Affine(e) => e.is_invariant(),
            OpKind::Load(access) => {
                let access = statement.access(*access);
                access.subscripts.as_ref().is_some_and(Vec::is_empty) && given(access.array)
            }
            kind => is_arithmetic(kind) && kind.operands().iter().all(|o| result[o.index()]),
        };
        result.push(is && op.mask.is_none());
    }
    result
}

/// Whether it computes, of its operands alone and whatever they are.
fn is_arithmetic(kind: &OpKind) -> bool {
    use BinaryOp::{SDiv, SRem, UDiv, URem};
    match kind {
        OpKind::Binary(op, ..) => !matches!(op, SDiv | SRem | UDiv | URem),
        OpKind::Cast(..) | OpKind::Call(Intrinsic::FNeg, _) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text;

    #[test]
    fn the_greatest_operation_that_depends_on_one_element() {
        let program = "nest @t[N] {
            array A: f64[N]
            array B: f64[N]
            array H: f32[N]
            scalar alpha: f64 in
            scalar beta: f64
            for i in 0..N {
              S0: B[i] = B[i] + alpha * A[i]
              S1: B[i] = B[i] + (2.0 * A[i]) * (A[i] - 1.0)
              S2: B[i] = B[i] + beta * A[i]
              S3: B[i] = B[i] + alpha * (A[i] - 1.0) * alpha
              S4: B[i] = A[i]
              S5: B[i] = B[i] * alpha
            }
            S6: beta = 0.0
        }";
        let kernel = text::parse(program).expect("it parses").kernel;
        let found = |statement: usize, array: &str| {
            let array = kernel.find_array(array).expect("an array");
            Derived::of(&kernel, StmtId::new(statement), array).map(|d| d.chain.len())
        };
        assert_eq!(found(0, "A"), Some(1));
        // Two elements; what is written; nothing is computed; more is written than read.
        assert_eq!([found(1, "A"), found(2, "A"), found(4, "A"), found(5, "B")], [None; 4]);
        assert_eq!(found(3, "A"), Some(3));
        assert_eq!(found(0, "B"), None);
    }
}
