//! Trees as loops and conditions.

use crate::arith::Use;
use crate::code::{Code, Level};
use crate::emitter::{Base, Binder, Emitter, is_simple};
use crate::error::CgenError;
use loop_tree::{Affine, ArrayId, Bounds, Green, GuardCondition, LoopHeader, LoopKind, Node, VarId};
use std::cell::Cell;

impl Emitter<'_> {
    /// Emits the tree; `alone`: nothing else is in the block of C around it.
    pub(crate) fn tree(&mut self, node: &Green, alone: bool) -> Result<(), CgenError> {
        self.declare_privates();
        match node.node() {
            Node::Seq(children) => {
                let alone = alone && children.len() == 1;
                for (index, child) in children.iter().enumerate() {
                    self.below(index, |e| e.tree(child, alone))?;
                }
                Ok(())
            }
            Node::Loop(header, body) if header.kind == LoopKind::Vector => {
                self.vector_loop(header, body, alone)
            }
            Node::Loop(header, _) if header.kind == LoopKind::Library => {
                let call = self.calls.get(&self.path);
                self.library_call(call.ok_or_else(|| self.unsupported("a loop marked for a library"))?)
            }
            Node::Loop(header, body) => self.counted(header, body),
            Node::Let(var, value, body) => self.bound(*var, value, body, alone),
            Node::Guard(condition, body) => {
                let test = match &**condition {
                    GuardCondition::Affine(c) => self.condition(c)?,
                    GuardCondition::Predicate { array, value } => {
                        let loaded = self.predicate(*array)?;
                        if *value { loaded } else { Code::prefix("!", &loaded) }
                    }
                };
                self.only_where(&test, |e| e.below(0, |e| e.tree(body, true)))
            }
            Node::Stmt(id, _) => self.statement(*id),
            Node::Alloc(buffer, body) => self.buffer(buffer, body, alone),
            Node::Version(_) if self.lanes.is_some() => {
                Err(self.unsupported("a version inside of a vector loop"))
            }
            Node::Version(alternatives) => {
                let mut otherwise = "";
                for (index, alternative) in alternatives.iter().enumerate() {
                    let test = self.runtime_conditions(&alternative.conditions)?;
                    let head = match &test {
                        Some(test) => format!("{otherwise}if ({})", test.text),
                        None => otherwise.trim_end().to_string(),
                    };
                    let body = &alternative.body;
                    self.block(&head, |e| e.below(index, |e| e.tree(body, true)))?;
                    if test.is_none() {
                        break;
                    }
                    otherwise = "else ";
                }
                Ok(())
            }
        }
    }

    /// The value of a predicate.
    fn predicate(&self, array: ArrayId) -> Result<Code, CgenError> {
        match &self.arrays[array.index()] {
            Base::Pointer(name) => Ok(Code::primary(format!("{name}[0]"))),
            Base::Variable(_) => Ok(self.element_of(array, &[], &[])?.code),
        }
    }

    pub(crate) fn new_binder(
        &mut self,
        name: String,
        range: Option<emission::ranges::Range>,
        meaning: Option<Affine>,
    ) -> usize {
        self.binders.push(Binder { name, range, meaning, is_used: Cell::new(false) });
        self.binders.len() - 1
    }

    fn counted(&mut self, header: &LoopHeader, body: &Green) -> Result<(), CgenError> {
        let around = self.place.clone();
        self.place = format!("the loop of {}", self.kernel.variable_name(header.var));
        let Bounds::Affine { lower, upper } = &header.bounds else {
            return Err(self.unsupported("a loop that a condition ends"));
        };
        // Those inside run as others do.
        let shares = header.kind == LoopKind::Parallel && self.shared.is_none() && self.lanes.is_none();
        if shares {
            self.shared = Some(self.path.clone());
            self.out.directive("#ifdef _OPENMP");
            self.out.directive("#pragma omp parallel for schedule(static)");
            self.out.directive("#endif");
        }
        let result = self.count(header.var, [lower, upper], header.step, |e| {
            e.place = around.clone();
            e.below(0, |e| e.tree(body, true))
        });
        self.place = around;
        if shares {
            self.shared = None;
        }
        result
    }

    /// `for (v = lower; v < upper; v += step)`
    pub(crate) fn count(
        &mut self,
        var: VarId,
        [lower, upper]: [&[Affine]; 2],
        step: i64,
        body: impl FnOnce(&mut Self) -> Result<(), CgenError>,
    ) -> Result<(), CgenError> {
        if lower.iter().chain(upper).any(|e| self.differs(e)) {
            return Err(self.unsupported("a loop whose lanes have bounds of their own"));
        }
        let (lower, least) = self.extreme(lower, true)?;
        let (upper, greatest) = self.extreme(upper, false)?;
        let range = Self::counter_range(least, greatest);
        let name = self.names.fresh(&self.kernel.variable_name(var));
        let next = match step {
            1 => format!("++{name}"),
            step => format!("{name} += {step}"),
        };
        let again = Code::binary(&Code::primary(&*name), "<", &upper, Level::Order);
        let head = format!("for (int64_t {name} = {}; {}; {next})", lower.text, again.text);
        let binder = self.new_binder(name.clone(), range, None);
        self.scope.enter_loop(var, binder);
        let result = self.block(&head, body);
        self.scope.leave();
        self.names.release(&name);
        result
    }

    fn bound(&mut self, var: VarId, value: &Affine, body: &Green, alone: bool) -> Result<(), CgenError> {
        let full = self.in_full(value);
        let resolved = self.scope.resolved(value);
        let range = self.value_range(&resolved).filter(|r| r.fits());
        // What lanes have of their own has no name outside of them.
        if is_simple(&resolved) || is_simple(&full) || self.differs(&full) {
            // Written out wherever it is used.
            let binder = self.new_binder(String::new(), range, None);
            let value = if is_simple(&resolved) && !self.differs(&full) { resolved } else { full };
            self.scope.enter_let(var, &value, binder);
            let result = self.below(0, |e| e.tree(body, alone));
            self.scope.leave();
            return result;
        }
        let name = self.names.fresh(&self.kernel.variable_name(var));
        let binder = self.new_binder(name.clone(), range, Some(full));
        self.scope.enter_loop(var, binder);
        let known = self.temporaries.len();
        let inside = self.apart(|e| {
            e.out.depth += usize::from(!alone);
            e.below(0, |e| e.tree(body, true))
        });
        self.scope.leave();
        self.names.release(&name);
        let inside = inside?;
        if !self.binders[binder].is_used.get() {
            // Nobody asks for it.
            let inside = inside.all.into_iter();
            let depth = usize::from(!alone);
            self.out.all.extend(inside.map(|(d, line)| (d.saturating_sub(depth), line)));
            return Ok(());
        }
        // Only now, as what it uses has to be declared then.
        let int = self.int(value, Use::Value)?;
        let declaration = format!("const int64_t {name} = {};", int.code.text);
        if alone {
            self.out.push(declaration);
            self.out.all.extend(inside.all);
        } else {
            self.out.open("");
            self.out.push(declaration);
            self.out.all.extend(inside.all);
            self.out.close();
            for name in self.temporaries.drain(known..) {
                self.names.release(&name);
            }
        }
        Ok(())
    }
}
