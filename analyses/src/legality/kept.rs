//! Loops of which the source says something to the compiler: they are still loops, and of the same statements.

use super::Witness;
use crate::mutation::{self, Rule};
use loop_tree::{Green, Kernel, LoopKind, Occurrence, Path, StmtId, VarId, occurrences};
use std::collections::{BTreeMap, BTreeSet};

/// Refuses a tree in which such a loop is made vectors, unrolled, joined with another one, or without some of its statements. Parts of its
/// range, and tiles, are loops of the same statements.
pub(super) fn check(kernel: &Kernel, root: &Green) -> Result<(), Witness> {
    let kept: BTreeSet<VarId> =
        (0..kernel.variables.len()).map(VarId::new).filter(|v| kernel.kept(*v).is_some()).collect();
    if kept.is_empty() || mutation::off(Rule::Kept) {
        return Ok(());
    }
    let all = occurrences(root);
    let of = |var: &VarId| {
        let statements = kernel.statements.iter().enumerate();
        let inside = statements.filter(|(_, s)| s.dims.contains(var)).map(|(id, _)| StmtId::new(id));
        inside.collect::<BTreeSet<StmtId>>()
    };
    for var in kept {
        let altered = || Witness::Kept { name: kernel.variable_name(var).into() };
        let statements = of(&var);
        let mut loops: BTreeMap<Path, BTreeSet<StmtId>> = BTreeMap::new();
        for occurrence in all.iter().filter(|o| statements.contains(&o.statement)) {
            loops.insert(home(occurrence, var).ok_or_else(altered)?, BTreeSet::new());
        }
        for occurrence in &all {
            for (at, inside) in &mut loops {
                if at.contains(&occurrence.path) {
                    inside.insert(occurrence.statement);
                }
            }
        }
        if loops.values().any(|inside| *inside != statements) {
            return Err(altered());
        }
    }
    Ok(())
}

/// The loop that counts a variable for a leaf.
fn home(occurrence: &Occurrence, var: VarId) -> Option<Path> {
    let at = occurrence.around.iter().rposition(|node| node.binds() == Some(var))?;
    let (header, _) = occurrence.around[at].as_loop()?;
    (header.kind == LoopKind::Sequential).then(|| occurrence.path.prefix(at))
}
