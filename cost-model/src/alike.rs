//! Loops whose own code takes the same, whatever else is in their trees: most drafts of a search differ from others in one of
//! many loops, and what takes long of pricing is to look at each statement.

use crate::clang::Plan;
use crate::linear::Linear;
use crate::lower::{Leaf, Loop, Lowered, Touch};
use crate::remembered::Remembered;
use loop_tree::hash128;
use std::hash::{Hash, Hasher};

/// What the code of a loop takes, in all of its runs.
#[derive(Clone, Copy)]
pub(crate) struct Execution {
    /// Cycles of computation in all, and those of them for entries and remainders.
    pub compute: f64,
    pub entry: f64,
    /// Cycles in which it loads and stores.
    pub busy: f64,
    /// How many threads are at work.
    pub threads: f64,
    /// What becomes of it.
    pub plan: Plan,
}

/// New code of loops, by [what it depends on](depends).
pub(crate) type Executions = Remembered<Execution, 8192>;

/// All that the code of a loop that executes these leaves depends on.
pub(crate) fn depends(program: &Lowered<'_>, index: usize, leaves: &[usize]) -> u128 {
    hash128(&Depends { program, index, leaves })
}

/// Of one kernel on one target.
struct Depends<'p, 'k> {
    program: &'p Lowered<'k>,
    index: usize,
    leaves: &'p [usize],
}

impl Hash for Depends<'_, '_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let loops = &self.program.loops;
        let own = &loops[self.index];
        own.header.hash(state);
        for at in self.program.path(Some(self.index)) {
            a_loop(&loops[at], state);
        }
        // What stands beside it: it may be alone in the loop around, and sums are handed to calls there.
        if let Some(around) = own.parent.map(|p| &loops[p]) {
            (around.inner.len(), around.leaves.len()).hash(state);
            for leaf in around.leaves.iter().map(|l| &self.program.leaves[*l]) {
                std::ptr::from_ref(leaf.statement).hash(state);
                leaf.touches.iter().for_each(|t| (t.array, t.write).hash(state));
            }
        }
        (self.leaves.len(), self.program.is_innermost(self.index)).hash(state);
        // What loops write that run between them is not known behind them.
        for pair in self.leaves.windows(2) {
            let between = self.program.leaves[pair[0] + 1..pair[1]].iter().flat_map(|leaf| &leaf.touches);
            between.filter(|t| t.write).for_each(|t| (t.array, true).hash(state));
            false.hash(state);
        }
        for leaf in self.leaves.iter().map(|l| &self.program.leaves[*l]) {
            // Lanes around it.
            for at in self.program.path(leaf.parent).take_while(|at| *at != self.index) {
                a_loop(&loops[at], state);
            }
            self.leaf(leaf, state);
        }
    }
}

impl Depends<'_, '_> {
    fn leaf<H: Hasher>(&self, leaf: &Leaf<'_>, state: &mut H) {
        let Leaf {
            statement,
            id,
            copy,
            parent: _,
            runs: _,
            probability,
            guarded,
            under,
            varying_guard,
            kept,
            touches,
        } = leaf;
        // A statement has one place as long as its kernel is priced.
        (std::ptr::from_ref(*statement), id, copy, probability.to_bits(), guarded, under, varying_guard)
            .hash(state);
        (&kept[..], touches.len()).hash(state);
        for Touch { array, address, write, bytes, private, carried } in touches {
            // A buffer has a number, which is another's in other trees.
            let of_buffer = array.checked_sub(self.program.facts.kernel.arrays.len());
            let buffer = of_buffer.and_then(|b| self.program.buffers.get(b));
            (array, buffer.map(|(of, bytes)| (of, bytes.to_bits())), write, bytes.to_bits()).hash(state);
            (private, carried, address.is_some()).hash(state);
            address.iter().for_each(|a| linear(a, state));
        }
    }
}

/// A loop around, or one of lanes inside.
fn a_loop<H: Hasher>(l: &Loop, state: &mut H) {
    let Loop {
        header,
        parent: _,
        depth,
        trip,
        constant,
        exact,
        spread,
        steady,
        extent,
        below,
        runs,
        skipped: _,
        middle,
        begins,
        leaves: _,
        inner: _,
        guards,
        varying_guards,
        settled: _,
        unrolled_inside,
    } = l;
    (header.kind, header.step, depth, constant.map(f64::to_bits)).hash(state);
    [trip, spread, runs, middle, begins].map(|number| number.to_bits()).hash(state);
    (exact, steady, guards, varying_guards, unrolled_inside).hash(state);
    (extent.is_some(), below.len()).hash(state);
    extent.iter().chain(below).for_each(|form| linear(form, state));
}

fn linear<H: Hasher>(form: &Linear, state: &mut H) {
    (form.terms.len(), form.constant.to_bits()).hash(state);
    form.terms.iter().for_each(|(depth, c)| (depth, c.to_bits()).hash(state));
}

#[cfg(test)]
mod tests {
    use super::depends;
    use crate::facts::Facts;
    use crate::lower::lower;
    use crate::unroll::Unrolled;
    use loop_tree::text;

    #[test]
    fn what_loops_write_between_statements_is_told_apart() {
        let source = "nest @k[N] { array A: f64[N] array B: f64[N] array C: f64[N]
            for i in 0..N { S: A[i] = C[i] * 2.0 for j in 0..N { T: A[j] = A[j] + 1.0 } U: C[i] = A[i] * 3.0
                for k in 0..N { V: B[k] = B[k] + 1.0 } } }";
        let kernel = text::parse(source).expect("it parses").kernel;
        let facts = Facts::new(&kernel, &[300]);
        let (t, v) = ("for j in 0..N { T }", "for k in 0..N { V }");
        let key = |first: &str, second: &str| {
            let nest = format!("for i in 0..N {{ S {first} U {second} }}");
            let tree = text::parse_tree(&kernel, &nest).expect("it parses");
            let program = lower(&facts, &Unrolled::not(&tree));
            depends(&program, 0, &program.executed(Some(0)))
        };
        assert_eq!(key(t, v), key(t, v));
        assert_ne!(key(t, v), key(v, t));
        // Nor is a loop in which none is left one around others.
        assert_ne!(key("", v), key("", ""));
    }
}
