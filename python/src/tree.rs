//! Trees and their nodes.

use crate::error::{Failure, work};
use crate::judge;
use crate::module::{RegionData, emit};
use crate::results::{Cost, Measurement, Move, Verdict};
use looptree::transforms::{Context, Recipe, Step};
use looptree::tree::{Green, Node, Path, text};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use std::sync::Arc;

/// A node of a variant; the root is the variant.
#[pyclass(frozen, eq, hash, from_py_object, module = "looptree")]
#[derive(Clone)]
pub struct Tree {
    pub region: Arc<RegionData>,
    /// The whole variant.
    pub root: Green,
    /// The steps that lead to it.
    pub recipe: Recipe,
    /// Where the node is.
    pub place: Path,
}

impl PartialEq for Tree {
    fn eq(&self, other: &Tree) -> bool {
        (self.region.id, &self.root, &self.place) == (other.region.id, &other.root, &other.place)
    }
}

impl std::hash::Hash for Tree {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.region.id, self.root.structural_hash(), &self.place.0).hash(state);
    }
}

impl Tree {
    fn node(&self) -> &Green {
        // Made with the place of a node only.
        self.root.at(&self.place).unwrap_or(&self.root)
    }

    fn after(&self, steps: Vec<Step>) -> Result<Tree, Failure> {
        let root = Recipe(steps.clone()).replay(&self.region.kernel, &self.root)?;
        let recipe = Recipe(self.recipe.0.iter().cloned().chain(steps).collect());
        Ok(Tree { region: self.region.clone(), root, recipe, place: Path::root() })
    }
}

#[pymethods]
impl Tree {
    /// The node as text.
    #[getter]
    fn text(&self) -> String {
        text::print_tree(&self.region.kernel, self.node())
    }

    /// `seq`, `loop`, `let`, `guard`, `stmt`, `alloc` or `version`.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.node().node() {
            Node::Seq(_) => "seq",
            Node::Loop(..) => "loop",
            Node::Let(..) => "let",
            Node::Guard(..) => "guard",
            Node::Stmt(..) => "stmt",
            Node::Alloc(..) => "alloc",
            Node::Version(_) => "version",
        }
    }

    /// The variable that it binds, or the name of the statement; `None` for others.
    #[getter]
    fn name(&self) -> Option<String> {
        let kernel = &self.region.kernel;
        match self.node().node() {
            Node::Loop(header, _) => Some(kernel.variable_name(header.var)),
            Node::Let(variable, ..) => Some(kernel.variable_name(*variable)),
            Node::Stmt(id, _) => Some(kernel.statement(*id).name.to_string()),
            _ => None,
        }
    }

    /// Of a loop: `sequential`, `parallel`, `vector` or `library`.
    #[getter]
    fn loop_kind(&self) -> Option<&'static str> {
        let (header, _) = self.node().as_loop()?;
        Some(header.kind.name())
    }

    /// Where it is, as recipes write it: `@0.1`.
    #[getter]
    fn path(&self) -> String {
        self.place.to_string()
    }

    /// The steps that lead to this variant, as text.
    #[getter]
    fn recipe(&self) -> String {
        self.recipe.to_string()
    }

    /// How many steps.
    #[getter]
    fn steps(&self) -> usize {
        self.recipe.0.len()
    }

    /// Nodes, with itself.
    #[getter]
    fn nodes(&self) -> u32 {
        self.node().summary().nodes
    }

    /// Statements in it.
    #[getter]
    fn leaves(&self) -> u32 {
        self.node().summary().leaves
    }

    /// Loops on the deepest path.
    #[getter]
    fn depth(&self) -> u32 {
        self.node().summary().loop_depth
    }

    /// Below it, in order.
    #[getter]
    fn children(&self) -> Vec<Tree> {
        (0..self.node().child_count()).map(|n| Tree { place: self.place.child(n), ..self.clone() }).collect()
    }

    /// The whole variant.
    #[getter]
    fn root(&self) -> Tree {
        Tree { place: Path::root(), ..self.clone() }
    }

    /// The node of the variant at a path, such as `@0.1`.
    fn at(&self, path: &str) -> PyResult<Tree> {
        let place = Path::parse(path)
            .ok_or_else(|| PyValueError::new_err(format!("`{path}` is no path: write @, @0, @0.1")))?;
        match self.root.at(&place) {
            Some(_) => Ok(Tree { place, ..self.clone() }),
            None => Err(PyIndexError::new_err(format!("there is no node at {path}"))),
        }
    }

    /// Steps that could be tried on the variant. Neither legality nor all of structure is looked at.
    fn moves(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let list = work(py, || Ok(self.region.moves(&self.root)))?;
        Ok(list.iter().map(Step::to_string).collect())
    }

    /// The variant after a step, or several.
    fn apply(&self, py: Python<'_>, recipe: &str) -> PyResult<Tree> {
        work(py, || {
            let steps = Recipe::parse(recipe, &self.region.module.optimizer.registry)?;
            self.after(steps.0)
        })
    }

    /// Whether the variant computes the same.
    fn judge(&self, py: Python<'_>) -> PyResult<Verdict> {
        work(py, || Ok(Verdict::new(&self.region.kernel, &judge::judge(&self.region, &self.root)?)))
    }

    /// Predicted cycles of the variant.
    fn cost(&self, py: Python<'_>) -> PyResult<Cost> {
        work(py, || Ok(Cost::new(&self.region.cost(&self.root))))
    }

    /// All moves that apply, each judged and priced; at most `limit` of them, evenly spread.
    #[pyo3(signature = (limit = None))]
    fn successors(&self, py: Python<'_>, limit: Option<usize>) -> PyResult<Vec<Move>> {
        let found = work(py, || {
            let mut steps = self.region.moves(&self.root);
            if let Some(limit) = limit.filter(|l| *l < steps.len()) {
                let count = steps.len();
                steps = (0..limit).map(|n| steps[n * count / limit].clone()).collect();
            }
            judge::for_each(&steps, |step| {
                let context = Context { kernel: &self.region.kernel, root: &self.root };
                let Ok(rewrite) = step.apply(&context) else { return Ok(None) };
                let verdict = judge::judge(&self.region, &rewrite.root)?;
                let verdict = Verdict::new(&self.region.kernel, &verdict);
                let cycles = self.region.cost(&rewrite.root).cycles;
                let tree = Tree {
                    region: self.region.clone(),
                    root: rewrite.root,
                    recipe: self.recipe.with(step.clone()),
                    place: Path::root(),
                };
                Ok(Some((step.to_string(), tree, verdict, cycles)))
            })
        })?;
        let moves = found.into_iter().flatten();
        moves.map(|(step, tree, verdict, cycles)| Move::new(py, step, tree, verdict, cycles)).collect()
    }

    /// Compiles the variant, compares what it computes with the original, bit for bit, and times both in turns.
    #[pyo3(signature = (samples = None))]
    fn measure(&self, py: Python<'_>, samples: Option<usize>) -> PyResult<Measurement> {
        let mut list = self.region.measure(py, std::slice::from_ref(self), samples)?;
        list.pop().ok_or_else(|| PyValueError::new_err("nothing was measured"))
    }

    /// LLVM IR of the module with this variant in the place of its region, behind a run-time check.
    fn emit(&self, py: Python<'_>) -> PyResult<String> {
        work(py, || emit(&self.region.module, std::slice::from_ref(self)))
    }

    fn __repr__(&self) -> String {
        format!("<Tree {} {} of {}: {}>", self.kind(), self.path(), self.region.label, self.recipe)
    }

    fn __str__(&self) -> String {
        self.text()
    }
}
