//! Numbers of values: what is computed of equal operands is equal, and computed once.

use loop_tree::{Constant, Op, OpId, OpKind, ScalarType, StmtId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Numbers of operands.
pub(crate) type Operands = SmallVec<[u32; 3]>;

/// An operation where it stands.
pub(crate) struct Site<'a> {
    pub statement: StmtId,
    pub index: usize,
    pub op: &'a Op,
    /// Whether every iteration does it.
    pub always: bool,
}

/// What has been computed, as values of type `V`.
#[derive(Default)]
pub(crate) struct Numbers<V> {
    /// By copies of a statement.
    copies: FxHashMap<(StmtId, usize, Operands), V>,
    /// By other statements, wherever in them. Not by copies, which are far from each other: what they compute at different places of a
    /// statement, of rows of neighbours, is more than stays in registers (16 rows of `life` side by side lose).
    alike: FxHashMap<(OpKind, ScalarType, Operands), (StmtId, V)>,
    constants: FxHashMap<Constant, u32>,
    /// How many were given out.
    last: u32,
}

impl<V: Clone> Numbers<V> {
    /// A number that no value has.
    pub fn next(&mut self) -> u32 {
        self.last += 1;
        self.last
    }

    /// The number of a constant.
    pub fn of_constant(&mut self, constant: Constant) -> u32 {
        let next = self.last + 1;
        let number = *self.constants.entry(constant).or_insert(next);
        self.last = self.last.max(number);
        number
    }

    /// What the operation has computed of these operands, or another that is like it.
    pub fn known(&self, site: &Site<'_>, operands: &Operands) -> Option<V> {
        let copy = self.copies.get(&(site.statement, site.index, operands.clone())).cloned();
        copy.or_else(|| {
            let kind = without_operands(&site.op.kind).filter(|_| site.always)?;
            let (by, value) = self.alike.get(&(kind, site.op.ty, operands.clone()))?;
            (*by != site.statement).then(|| value.clone())
        })
    }

    /// What it has computed now.
    pub fn remember(&mut self, site: &Site<'_>, operands: Operands, value: V) {
        if let Some(kind) = without_operands(&site.op.kind).filter(|_| site.always) {
            let made = || (site.statement, value.clone());
            self.alike.entry((kind, site.op.ty, operands.clone())).or_insert_with(made);
        }
        self.copies.insert((site.statement, site.index, operands), value);
    }
}

/// An operation without its operands, where others may be like it.
fn without_operands(kind: &OpKind) -> Option<OpKind> {
    let any = OpId::new(0);
    Some(match kind {
        OpKind::Binary(kind, ..) => OpKind::Binary(*kind, any, any),
        OpKind::Cast(kind, _) => OpKind::Cast(*kind, any),
        OpKind::Compare(predicate, ..) => OpKind::Compare(*predicate, any, any),
        OpKind::Select(..) => OpKind::Select(any, any, any),
        OpKind::Call(function, _) => OpKind::Call(*function, Vec::new()),
        _ => return None,
    })
}
