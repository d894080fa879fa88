//! Conditions under which elements are stored: a compiler that finds all cases together selects a value and stores once.

use super::Scan;
use crate::chains::Value;
use loop_tree::{Mask, Op, Statement};
use smallvec::SmallVec;

/// What decides whether an operation is executed: values by number, each with what it is then, innermost first. Empty: always.
pub(super) type Case = SmallVec<[(u32, bool); 2]>;

/// Cases in which an element was stored, since it was in any case; those apart from each other whose values differ in the first.
#[derive(Default)]
pub(super) struct Cases(SmallVec<[Case; 1]>);

impl Cases {
    /// Whether it depends on any what the element holds.
    pub fn is_any(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether it is one of them.
    pub fn contain(&self, case: &Case) -> bool {
        self.0.contains(case)
    }

    /// Adds a case; how many others it makes one store with.
    pub fn add(&mut self, mut case: Case) -> usize {
        let mut joined = 0;
        while let Some(at) = self.0.iter().position(|other| are_opposite(other, &case)) {
            self.0.swap_remove(at);
            case.remove(0);
            joined += 1;
        }
        if case.is_empty() {
            self.0.clear();
        } else if !self.contain(&case) {
            self.0.push(case);
        }
        joined
    }
}

impl Scan<'_> {
    /// The case in which an operation is executed under a mask; `guarded`: by a condition of loop variables, too. That new code finds
    /// all cases of an element together is not counted on: each is like no other.
    pub(super) fn case(&mut self, statement: &Statement, op: &Op, values: &[Value], guarded: bool) -> Case {
        let mut case = Case::new();
        let mut mask = op.mask.filter(|_| self.by_data);
        while let Some(Mask { op, value }) = mask {
            let number = values.get(op.index()).and_then(|v| v.number).filter(|_| self.aliases.is_some());
            case.push((number.unwrap_or_else(|| self.numbers.next()), value));
            mask = statement.ops[op.index()].mask;
        }
        if guarded {
            // Numbers of guards are none of values.
            case.push((u32::MAX - self.under as u32, true));
        }
        case
    }
}

/// Whether one is where the last value that decides is so, the other one where it is not.
fn are_opposite(a: &Case, b: &Case) -> bool {
    match (&a[..], &b[..]) {
        ([(a, is), around @ ..], [(b, is_too), around_too @ ..]) => {
            a == b && is != is_too && around == around_too
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cases_are_one_store_in_whatever_order() {
        let case = |values: &[(u32, bool)]| Case::from_slice(values);
        let all = [case(&[(2, true)]), case(&[(3, false), (2, false)]), case(&[(3, true), (2, false)])];
        for order in [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1]] {
            let mut cases = Cases::default();
            let joined: usize = order.iter().map(|n| cases.add(all[*n].clone())).sum();
            assert!(joined == 2 && !cases.is_any());
        }
        let mut two = Cases::default();
        assert_eq!(two.add(all[0].clone()) + two.add(all[1].clone()), 0);
        assert!(two.is_any() && two.contain(&all[1]));
        assert_eq!(two.add(case(&[])), 0);
        assert!(!two.is_any());
    }
}
