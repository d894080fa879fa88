//! What a tree executes and touches, in order, without values.

use super::compile::{StatementCode, Visitor, compile, values};
use super::machine::address;
use super::memory::Layout;
use super::{InterpError, InterpErrorKind};
use crate::{AccessId, AccessKind, ArrayId, Green, Kernel, StmtId};

/// One execution of a statement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Instance {
    /// The statement.
    pub statement: StmtId,
    /// Values of its dims.
    pub dims: Vec<i64>,
}

/// One access of one instance.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Touch {
    /// Position of the instance in what [`instances`] lists.
    pub instance: usize,
    /// The access of its statement.
    pub access: AccessId,
    /// The array.
    pub array: ArrayId,
    /// First byte in the layout.
    pub address: usize,
    /// Number of bytes.
    pub size: usize,
    /// Read or write; masks are not evaluated, what is under one may write.
    pub kind: AccessKind,
}

/// The statement instances in the order of execution; at most `limit` iterations and instances. Arrays are taken not to
/// overlap where a version asks. Predicates and unbounded loops are an error: values would decide.
pub fn instances(
    kernel: &Kernel,
    tree: &Green,
    params: &[i64],
    limit: u64,
) -> Result<Vec<Instance>, InterpError> {
    Ok(list(kernel, tree, params, None, limit)?.instances)
}

/// The instances, and all their accesses in order (also those under masks and those of no operation). An access without
/// subscripts is an error. Buffers are not looked at: each access is of its array.
pub fn accesses(
    kernel: &Kernel,
    tree: &Green,
    layout: &Layout,
    limit: u64,
) -> Result<(Vec<Instance>, Vec<Touch>), InterpError> {
    if layout.arrays.len() != kernel.arrays.len()
        || layout.arrays.iter().zip(&kernel.arrays).any(|(p, a)| p.extents.len() != a.rank())
    {
        return Err(InterpErrorKind::OtherLayout.into());
    }
    let listing = list(kernel, tree, layout.params(), Some(layout), limit)?;
    Ok((listing.instances, listing.touches))
}

fn list<'a>(
    kernel: &Kernel,
    tree: &Green,
    params: &[i64],
    layout: Option<&'a Layout>,
    limit: u64,
) -> Result<Listing<'a>, InterpError> {
    let compiled = compile(kernel, tree, params, layout)?;
    let mut listing = Listing { layout, instances: Vec::new(), touches: Vec::new(), left: limit, limit };
    compiled.walk(&mut listing)?;
    Ok(listing)
}

struct Listing<'a> {
    layout: Option<&'a Layout>,
    instances: Vec<Instance>,
    touches: Vec<Touch>,
    left: u64,
    limit: u64,
}

impl Visitor for Listing<'_> {
    fn statement(&mut self, id: StmtId, code: &StatementCode, slots: &[i64]) -> Result<(), InterpErrorKind> {
        if let Some(layout) = self.layout {
            for a in &code.accesses {
                self.touches.push(Touch {
                    instance: self.instances.len(),
                    access: a.id,
                    array: a.array,
                    address: address(layout, a, slots)?,
                    size: layout.arrays[a.array.index()].element.size() as usize,
                    kind: a.kind,
                });
            }
        }
        self.instances.push(Instance { statement: id, dims: values(&code.dims, slots) });
        Ok(())
    }

    fn predicate(&mut self, _: ArrayId, _: Option<&[i64]>) -> Result<bool, InterpErrorKind> {
        Err(InterpErrorKind::NeedsValues)
    }

    fn tick(&mut self) -> Result<(), InterpErrorKind> {
        self.left = self.left.checked_sub(1).ok_or(InterpErrorKind::Fuel(self.limit))?;
        Ok(())
    }
}
