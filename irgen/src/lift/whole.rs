//! The tree of a whole function, made of the trees of its regions and of opaque statements.

use std::sync::Arc;

use loop_tree::{
    Access, AccessKind, Affine, AliasClass, ArrayId, Atom, Bounds, Constraint, Green, Kernel, LoopHeader,
    LoopKind, Node, OpKind, ParamId, Statement, StmtFlags, StmtId, Storage, VarId, Variable, canonical,
};

use super::region::Draft;
use super::select::Part;

/// The kernel of a function; statements of regions appear as in the region, under numbers and names of their own.
pub(super) fn whole(name: &str, parts: &[Part], drafts: &[Draft<'_>]) -> Kernel {
    let mut joined = Joined {
        kernel: Kernel {
            name: name.into(),
            params: Vec::new(),
            variables: Vec::new(),
            arrays: Vec::new(),
            statements: Vec::new(),
            context: Vec::new(),
            assumptions: Vec::new(),
            no_calls: Vec::new(),
            original: Green::empty(),
        },
        drafts,
        placed: Vec::new(),
    };
    for d in drafts {
        joined.place(&d.kernel);
    }
    let root = joined.tree(parts);
    let root = canonical(&joined.kernel, &root);
    joined.kernel.original = root;
    joined.kernel
}

/// Where the tables of a region begin in those of the whole.
#[derive(Clone, Copy)]
struct Offsets {
    params: u32,
    variables: u32,
    arrays: u32,
    statements: u32,
}

struct Joined<'d, 'm> {
    kernel: Kernel,
    drafts: &'d [Draft<'m>],
    placed: Vec<Offsets>,
}

impl Joined<'_, '_> {
    fn place(&mut self, part: &Kernel) {
        let k = &mut self.kernel;
        let at = Offsets {
            params: k.params.len() as u32,
            variables: k.variables.len() as u32,
            arrays: k.arrays.len() as u32,
            statements: k.statements.len() as u32,
        };
        let taken = |name: &str, k: &Kernel| {
            k.find_param(name).is_some() || k.find_array(name).is_some() || k.find_variable(name).is_some()
        };
        let unique = |name: &Arc<str>, k: &Kernel| {
            let mut wanted = name.clone();
            let mut n = 1;
            while taken(&wanted, k) {
                n += 1;
                wanted = format!("{name}_{n}").into();
            }
            wanted
        };
        for p in &part.params {
            let name = unique(&p.name, k);
            k.params.push(loop_tree::Param { name, ty: p.ty });
        }
        for v in &part.variables {
            let name = unique(&v.name, k);
            k.variables.push(Variable { name, kept: v.kept });
        }
        for a in &part.arrays {
            let name = unique(&a.name, k);
            // Memory of different regions may be the same.
            let alias = if a.storage == Storage::Memory {
                AliasClass::new(0)
            } else {
                AliasClass::new(k.arrays.len() as u32 + 1)
            };
            let extents = a.extents.iter().map(|e| e.as_ref().map(|e| at.affine(e))).collect();
            k.arrays.push(loop_tree::Array { name, extents, alias, ..a.clone() });
        }
        for s in &part.statements {
            let name = format!("S{}", k.statements.len()).into();
            k.statements.push(Arc::new(at.statement(s, name)));
        }
        self.placed.push(at);
    }

    fn tree(&mut self, parts: &[Part]) -> Green {
        let mut children = Vec::new();
        for part in parts {
            let child = match part {
                Part::Region(n) => {
                    let original = self.drafts[*n].kernel.original.clone();
                    self.placed[*n].green(&original)
                }
                Part::Opaque => self.opaque(),
                Part::Either(inner) => self.tree(inner),
                Part::Loop(inner) => {
                    let var = VarId(
                        self.kernel.variables.len() as u32 + 1000 + self.kernel.statements.len() as u32,
                    );
                    let rest = self.opaque();
                    let body = Green::seq([self.tree(inner), rest]);
                    let bounds = Bounds::Unbounded { exit: None };
                    Green::for_loop(LoopHeader { var, bounds, step: 1, kind: LoopKind::Sequential }, body)
                }
            };
            children.push(child);
        }
        Green::seq(children)
    }

    /// Code that may do anything to memory.
    fn opaque(&mut self) -> Green {
        let id = StmtId::new(self.kernel.statements.len());
        let memory = self.kernel.arrays.iter().enumerate().filter(|(_, a)| !a.is_scalar());
        let accesses = memory
            .map(|(a, _)| Access { array: ArrayId::new(a), subscripts: None, kind: AccessKind::MayWrite })
            .collect();
        let statement = Statement {
            name: format!("S{}", id.0).into(),
            dims: Arc::from([]),
            ops: Vec::new(),
            accesses,
            reduction: None,
            flags: StmtFlags::OPAQUE
                | StmtFlags::SIDE_EFFECTS
                | StmtFlags::MAY_THROW
                | StmtFlags::MAY_NOT_RETURN,
            location: None,
        };
        self.kernel.statements.push(Arc::new(statement));
        Green::stmt(id, Arc::from([]))
    }
}

impl Offsets {
    fn affine(&self, e: &Affine) -> Affine {
        e.map_atoms(&mut |atom| match atom {
            Atom::Var(v) => Some(Affine::var(VarId(v.0 + self.variables))),
            Atom::Param(p) => Some(Affine::param(ParamId(p.0 + self.params))),
            Atom::Div(_) => None,
        })
    }

    fn constraint(&self, c: &Constraint) -> Constraint {
        Constraint { expression: self.affine(&c.expression), relation: c.relation }
    }

    fn dims(&self, dims: &[VarId]) -> Arc<[VarId]> {
        dims.iter().map(|v| VarId(v.0 + self.variables)).collect()
    }

    fn statement(&self, s: &Statement, name: Arc<str>) -> Statement {
        let mut s = s.clone();
        s.name = name;
        s.dims = self.dims(&s.dims);
        for a in &mut s.accesses {
            a.array = ArrayId(a.array.0 + self.arrays);
            a.subscripts = a.subscripts.as_ref().map(|list| list.iter().map(|e| self.affine(e)).collect());
        }
        for op in &mut s.ops {
            // Origins belong to the region.
            op.origin = None;
            match &mut op.kind {
                OpKind::Affine(e) => *e = self.affine(e),
                OpKind::Test(c) => *c = self.constraint(c),
                _ => {}
            }
        }
        s
    }

    fn green(&self, g: &Green) -> Green {
        match g.node() {
            Node::Seq(c) => Green::seq(c.iter().map(|c| self.green(c))),
            Node::Stmt(id, dims) => Green::stmt(StmtId(id.0 + self.statements), self.dims(dims)),
            Node::Loop(h, body) => {
                let mut header = LoopHeader::clone(h);
                header.var = VarId(h.var.0 + self.variables);
                if let Bounds::Affine { lower, upper } = &mut header.bounds {
                    lower.iter_mut().chain(upper).for_each(|e| *e = self.affine(e));
                }
                Green::for_loop(header, self.green(body))
            }
            Node::Let(v, e, body) => {
                Green::bind(VarId(v.0 + self.variables), self.affine(e), self.green(body))
            }
            Node::Guard(c, body) => {
                let condition = match &**c {
                    loop_tree::GuardCondition::Affine(c) => {
                        let mut c = c.clone();
                        c.disjuncts.iter_mut().flatten().for_each(|x| *x = self.constraint(x));
                        loop_tree::GuardCondition::Affine(c)
                    }
                    loop_tree::GuardCondition::Predicate { array, value } => {
                        loop_tree::GuardCondition::Predicate {
                            array: ArrayId(array.0 + self.arrays),
                            value: *value,
                        }
                    }
                };
                Green::guarded(Arc::new(condition), self.green(body))
            }
            // Lifting makes neither.
            Node::Alloc(..) | Node::Version(_) => g.clone(),
        }
    }
}
