//! What a tree executes, in order.

use super::{Beyond, MAX_INSTANCES};
use loop_tree::{
    Affine, ArrayId, Bounds, Buffer, Condition, Constraint, Green, GuardCondition, Kernel, LoopKind, Node,
    Path, PrivateElement, Privates, StmtId, VarId, Window, occurrences,
};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Where an access goes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Route {
    /// To the array itself.
    Memory,
    /// To a buffer: number of its execution, and the place, linear.
    Buffer(u32, i64),
    /// To a buffer that has no such place.
    Outside,
}

/// One execution of a statement.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Instance {
    /// The statement.
    pub statement: StmtId,
    /// Values of its dims.
    pub dims: Vec<i64>,
    /// Which leaf of the tree, and the value of the loop variable (or position) at each element of its path.
    pub leaf: usize,
    /// See `leaf`.
    pub time: Vec<i64>,
    /// By access; empty: all of them to memory.
    pub routes: Vec<Route>,
    /// The predicates around it, and where they are read.
    pub tests: Vec<(ArrayId, Route)>,
}

/// One element of a buffer that is filled or written back.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Copy {
    /// The array that the buffer stands for.
    pub array: ArrayId,
    /// Subscripts of the element.
    pub element: Vec<i64>,
    /// Where it is read.
    pub from: Route,
    /// Where it is written.
    pub to: Route,
    /// From the array into the buffer, or back.
    pub fill: bool,
    /// What is kept is what this statement computes of the element.
    pub by: Option<StmtId>,
    /// The binder of the buffer, as [`Instance::leaf`] and [`Instance::time`].
    pub leaf: usize,
    /// See `leaf`.
    pub time: Vec<i64>,
}

/// A predicate that is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Test {
    /// The predicate.
    pub array: ArrayId,
    /// The value that lets the steps before `end` run.
    pub value: bool,
    /// Where it is read.
    pub route: Route,
    /// The element, if it is a private scalar that is not in a buffer; `None` where nothing says which.
    pub element: Option<Vec<i64>>,
    /// The first step that is not under it.
    pub end: usize,
}

/// What happens, one after the other.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Step {
    /// An instance, by its number.
    Run(usize),
    /// A copy.
    Copy(Copy),
    /// A test of a predicate.
    Test(Test),
}

/// What a tree executes.
#[derive(Clone, Debug)]
pub struct Execution {
    /// In order; those under predicates, too.
    pub instances: Vec<Instance>,
    /// In order.
    pub steps: Vec<Step>,
    /// Whether there are buffers.
    pub buffered: bool,
    /// By number of an execution of a buffer: the statement that takes what is there for what it computes.
    pub computed: FxHashMap<u32, StmtId>,
    /// Paths of the leaves, by [`Instance::leaf`].
    pub leaves: Vec<Path>,
    /// Loops marked parallel.
    pub parallel: BTreeSet<Path>,
    /// Loops whose iterations are lanes.
    pub vector: BTreeSet<Path>,
    /// Scalars of which iterations have their own.
    pub privates: Privates,
    /// Slots of those that each leaf touches outside of buffers.
    pub slots: Vec<Vec<PrivateElement>>,
}

/// Lists what a tree executes for given parameters.
pub fn enumerate(kernel: &Kernel, root: &Green, params: &[i64]) -> Result<Execution, Beyond> {
    let mut walk = Walk {
        kernel,
        params,
        scope: Vec::new(),
        frames: Vec::new(),
        entered: 0,
        path: Path::root(),
        time: Vec::new(),
        tests: Vec::new(),
        known: BTreeMap::new(),
        result: Execution {
            instances: vec![],
            steps: vec![],
            buffered: root.summary().has_storage_or_versions,
            computed: FxHashMap::default(),
            leaves: vec![],
            parallel: BTreeSet::new(),
            vector: BTreeSet::new(),
            privates: Privates::of(kernel),
            slots: vec![],
        },
    };
    walk.node(root)?;
    let mut result = walk.result;
    if !result.privates.is_empty() {
        let mut slots = FxHashMap::default();
        for leaf in occurrences(root) {
            let touched = result.privates.touched(kernel, &leaf).unwrap_or_default();
            let outside = touched.into_iter().map(|(_, slot)| slot);
            slots.insert(leaf.path.clone(), outside.collect::<Vec<_>>());
        }
        result.slots = result.leaves.iter().map(|l| slots.get(l).cloned().unwrap_or_default()).collect();
    }
    Ok(result)
}

struct Walk<'a> {
    kernel: &'a Kernel,
    params: &'a [i64],
    scope: Vec<(VarId, i64)>,
    frames: Vec<Frame>,
    /// Executions of buffers so far.
    entered: u32,
    path: Path,
    time: Vec<i64>,
    tests: Vec<(ArrayId, Route)>,
    known: BTreeMap<Path, usize>,
    result: Execution,
}

/// A buffer in effect.
struct Frame {
    number: u32,
    buffer: Arc<Buffer>,
    extents: Vec<i64>,
    /// Variables bound around it.
    scope: Vec<(VarId, i64)>,
}

fn eval(e: &Affine, scope: &[(VarId, i64)], params: &[i64]) -> Result<i64, Beyond> {
    let var = |v| scope.iter().rev().find(|(w, _)| *w == v).map(|(_, value)| *value);
    e.eval(&var, &|p| params.get(p.index()).copied()).ok_or(Beyond::NoValue)
}

impl Walk<'_> {
    fn eval(&self, e: &Affine) -> Result<i64, Beyond> {
        eval(e, &self.scope, self.params)
    }

    fn holds(&self, constraint: &Constraint) -> Result<bool, Beyond> {
        Ok(constraint.accepts(self.eval(&constraint.expression)?))
    }

    fn condition(&self, condition: &Condition) -> Result<bool, Beyond> {
        for conjunction in &condition.disjuncts {
            let mut all = true;
            for c in conjunction {
                all &= self.holds(c)?;
            }
            if all {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Where an element lies for accesses under the first `depth` buffers. `index`: its subscripts and the instance's dims.
    fn route(&self, array: ArrayId, index: &[i64], depth: usize) -> Result<Route, Beyond> {
        let Some(frame) = self.frames[..depth].iter().rev().find(|f| f.buffer.array == array) else {
            return Ok(Route::Memory);
        };
        let mut scope = frame.scope.clone();
        scope.extend(index.iter().enumerate().map(|(k, value)| (Buffer::index(k), *value)));
        let mut place = 0i64;
        for (dim, extent) in frame.buffer.dims.iter().zip(&frame.extents) {
            let at = eval(&dim.subscript, &scope, self.params)?;
            if !(0..*extent).contains(&at) {
                return Ok(Route::Outside);
            }
            place = place.checked_mul(*extent).and_then(|p| p.checked_add(at)).ok_or(Beyond::NoValue)?;
        }
        Ok(Route::Buffer(frame.number, place))
    }

    /// Where each access of an instance goes.
    fn routes(&self, statement: StmtId, dims: &[i64]) -> Result<Vec<Route>, Beyond> {
        let statement = self.kernel.statement(statement);
        if !statement.accesses.iter().any(|a| self.frames.iter().any(|f| f.buffer.array == a.array)) {
            return Ok(Vec::new());
        }
        let own: Vec<(VarId, i64)> = statement.dims.iter().copied().zip(dims.iter().copied()).collect();
        let one = |access: &loop_tree::Access| {
            if !self.frames.iter().any(|f| f.buffer.array == access.array) {
                return Ok(Route::Memory);
            }
            let subscripts = access.subscripts.as_ref().ok_or(Beyond::Unbounded)?;
            let mut index = Vec::new();
            for s in subscripts {
                index.push(eval(s, &own, self.params)?);
            }
            index.extend(dims);
            self.route(access.array, &index, self.frames.len())
        };
        statement.accesses.iter().map(one).collect()
    }

    fn leaf(&mut self) -> usize {
        let next = self.result.leaves.len();
        let leaf = *self.known.entry(self.path.clone()).or_insert(next);
        if leaf == next {
            self.result.leaves.push(self.path.clone());
        }
        leaf
    }

    fn step(&mut self, step: Step) -> Result<(), Beyond> {
        if self.result.steps.len() >= MAX_INSTANCES {
            return Err(Beyond::TooMany);
        }
        self.result.steps.push(step);
        Ok(())
    }

    /// Copies a window between the innermost buffer and what is around it.
    fn copy(&mut self, array: ArrayId, window: Option<&Window>, fill: bool) -> Result<(), Beyond> {
        let Some(window) = window else { return Ok(()) };
        let mut elements: Vec<Vec<i64>> = vec![vec![]];
        for range in &window.0 {
            let (mut from, mut to) = (i64::MIN, i64::MAX);
            for e in &range.lower {
                from = from.max(self.eval(e)?);
            }
            for e in &range.upper {
                to = to.min(self.eval(e)?);
            }
            let count = to.saturating_sub(from).max(0);
            if elements.len() as i128 * i128::from(count) > MAX_INSTANCES as i128 {
                return Err(Beyond::TooMany);
            }
            elements = elements
                .iter()
                .flat_map(|outer| (from..to).map(|value| [&outer[..], &[value]].concat()))
                .collect();
        }
        let leaf = self.leaf();
        let by = self.frames.last().and_then(|f| f.buffer.by).filter(|_| fill);
        for element in elements {
            let depth = self.frames.len();
            let (inside, outside) =
                (self.route(array, &element, depth)?, self.route(array, &element, depth - 1)?);
            let (from, to) = if fill { (outside, inside) } else { (inside, outside) };
            let time = self.time.clone();
            self.step(Step::Copy(Copy { array, element, from, to, fill, by, leaf, time }))?;
        }
        Ok(())
    }

    /// A predicate is read, and what is under it follows.
    fn test(&mut self, array: ArrayId, value: bool, body: &Green) -> Result<(), Beyond> {
        let route = self.route(array, &[], self.frames.len())?;
        let element = self.result.privates.variables(array).map(<[_]>::to_vec);
        let element = element.map(|vars| vars.iter().map(|v| self.eval(&Affine::var(*v)).ok()).collect());
        let element = element.unwrap_or(Some(Vec::new()));
        let at = self.result.steps.len();
        self.step(Step::Test(Test { array, value, route, element, end: 0 }))?;
        self.tests.push((array, route));
        self.child(0, 0, body)?;
        self.tests.pop();
        let after = self.result.steps.len();
        if let Some(Step::Test(test)) = self.result.steps.get_mut(at) {
            test.end = after;
        }
        Ok(())
    }

    fn child(&mut self, index: usize, time: i64, node: &Green) -> Result<(), Beyond> {
        self.path.0.push(index as u32);
        self.time.push(time);
        let result = self.node(node);
        self.path.0.pop();
        self.time.pop();
        result
    }

    fn node(&mut self, node: &Green) -> Result<(), Beyond> {
        match node.node() {
            Node::Seq(children) => {
                children.iter().enumerate().try_for_each(|(i, c)| self.child(i, i as i64, c))
            }
            Node::Loop(header, body) => {
                let Bounds::Affine { lower, upper } = &header.bounds else { return Err(Beyond::Unbounded) };
                let (mut from, mut to) = (i64::MIN, i64::MAX);
                for e in lower {
                    from = from.max(self.eval(e)?);
                }
                for e in upper {
                    to = to.min(self.eval(e)?);
                }
                match header.kind {
                    LoopKind::Sequential | LoopKind::Library => false,
                    LoopKind::Parallel => self.result.parallel.insert(self.path.clone()),
                    LoopKind::Vector => self.result.vector.insert(self.path.clone()),
                };
                let mut value = from;
                let mut rounds = 0;
                while value < to {
                    rounds += 1;
                    if rounds > MAX_INSTANCES {
                        return Err(Beyond::TooMany);
                    }
                    self.scope.push((header.var, value));
                    self.child(0, value, body)?;
                    self.scope.pop();
                    value = value.checked_add(header.step.max(1)).ok_or(Beyond::NoValue)?;
                }
                Ok(())
            }
            Node::Let(var, value, body) => {
                let value = self.eval(value)?;
                self.scope.push((*var, value));
                self.child(0, 0, body)?;
                self.scope.pop();
                Ok(())
            }
            Node::Guard(condition, body) => match &**condition {
                GuardCondition::Affine(c) => {
                    if self.condition(c)? {
                        self.child(0, 0, body)
                    } else {
                        Ok(())
                    }
                }
                GuardCondition::Predicate { array, value } => self.test(*array, *value, body),
            },
            Node::Stmt(statement, dims) => {
                let dims: Vec<i64> =
                    dims.iter().map(|v| self.eval(&Affine::var(*v))).collect::<Result<_, _>>()?;
                let (leaf, routes) = (self.leaf(), self.routes(*statement, &dims)?);
                self.step(Step::Run(self.result.instances.len()))?;
                let (time, tests) = (self.time.clone(), self.tests.clone());
                self.result.instances.push(Instance {
                    statement: *statement,
                    dims,
                    leaf,
                    time,
                    routes,
                    tests,
                });
                Ok(())
            }
            Node::Alloc(buffer, body) => {
                let extents = buffer.dims.iter().map(|d| eval(&d.extent, &[], self.params));
                let extents = extents.collect::<Result<Vec<_>, _>>()?;
                let (number, scope) = (self.entered, self.scope.clone());
                self.entered += 1;
                self.result.computed.extend(buffer.by.map(|by| (number, by)));
                self.frames.push(Frame { number, buffer: buffer.clone(), extents, scope });
                self.copy(buffer.array, buffer.fill.as_ref(), true)?;
                self.child(0, 0, body)?;
                self.copy(buffer.array, buffer.write_back.as_ref(), false)?;
                self.frames.pop();
                Ok(())
            }
            Node::Version(_) => Err(Beyond::Unbounded),
        }
    }
}
