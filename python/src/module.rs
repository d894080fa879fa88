//! Modules and regions.

use crate::error::{Failure, work};
use crate::judge;
use crate::results::{Measurement, Verdict};
use crate::tree::Tree;
use looptree::analyses::{DependenceSet, Oracle};
use looptree::cost_model::Cost;
use looptree::cost_model::targets::Vectors;
use looptree::driver::{self, Choices, Likely, Models, Optimizer, Session, Settings};
use looptree::explore::{Explorer, MoveSource, Problem};
use looptree::irgen::llvm;
use looptree::measure::{CallSetup, MeasureOptions, measure_ir, measure_kernel};
use looptree::names::{self, Unfound};
use looptree::transforms::{Context, Recipe, Step};
use looptree::tree::{Green, Kernel, Path, SourceLocation, text};
use looptree::tune::kernel_hash;
use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// What regions of a module share.
pub struct ModuleData {
    /// IR or bitcode; `None`: a loop tree.
    input: Option<Vec<u8>>,
    name: String,
    pub optimizer: Optimizer,
}

/// A region as plain data.
pub struct RegionData {
    /// No other region has it.
    pub id: u64,
    pub module: Arc<ModuleData>,
    pub label: String,
    function: Arc<str>,
    number: usize,
    location: Option<SourceLocation>,
    pub kernel: Arc<Kernel>,
    params: Vec<i64>,
    likely: Vec<Likely>,
    code: Option<Vectors>,
    models: Models,
    dependences: OnceLock<Result<Arc<DependenceSet>, String>>,
}

static REGIONS: AtomicU64 = AtomicU64::new(0);

impl ModuleData {
    fn session(&self) -> Session<'_> {
        Session::new(self.input.as_deref().unwrap_or_default(), &self.name, &self.optimizer)
    }
}

impl RegionData {
    /// Found when they are first asked for.
    fn dependences(&self) -> Result<Arc<DependenceSet>, Failure> {
        let found = self.dependences.get_or_init(|| {
            let problem = self.module.optimizer.problem(&self.label, &self.kernel, &self.likely);
            problem.map(|p| p.dependences).map_err(|e| e.to_string())
        });
        found.clone().map_err(Failure::Input)
    }

    pub fn oracle(&self) -> Result<Oracle, Failure> {
        let options = self.module.optimizer.settings.oracle;
        let oracle = Oracle::with_dependences(self.kernel.clone(), self.dependences()?, options);
        oracle.map_err(|e| Failure::Input(format!("{}: {e}", self.label)))
    }

    pub fn moves(&self, root: &Green) -> Vec<Step> {
        self.module.optimizer.moves().moves(&Context { kernel: &self.kernel, root }, &|_| true)
    }

    pub fn cost(&self, root: &Green) -> Cost {
        let original = looptree::tree::canonical(&self.kernel, &self.kernel.original);
        match *root == original {
            true => self.models.cost.cost_of_original(&self.kernel, &self.params),
            false => self.models.cost.cost(&self.kernel, root, &self.params),
        }
    }

    pub fn measure(
        &self,
        py: Python<'_>,
        trees: &[Tree],
        samples: Option<usize>,
    ) -> PyResult<Vec<Measurement>> {
        let mut options = MeasureOptions::default();
        options.samples = samples.unwrap_or(options.samples);
        work(py, || {
            let module = &self.module;
            let chosen =
                trees.iter().map(|t| module.optimizer.apply(&self.label, &self.kernel, &t.recipe, self.code));
            let chosen = chosen.collect::<Result<Vec<_>, _>>()?;
            let labels: Vec<String> = trees.iter().map(|t| format!("`{}`", t.recipe)).collect();
            let measured = match &module.input {
                None => {
                    let labels = labels.iter().map(String::as_str);
                    let list: Vec<_> = labels.zip(chosen.iter().map(driver::Chosen::variant)).collect();
                    measure_kernel(&self.kernel, &list, &self.params, &options)?
                }
                Some(bytes) => {
                    let session = module.session();
                    let arguments = session.argument_specs(&self.function)??;
                    let mut modules = Vec::new();
                    for (tree, chosen) in trees.iter().zip(chosen) {
                        let choices = Choices::from([((self.function.clone(), self.number), chosen)]);
                        // The original is measured as it is, like any other.
                        modules.push(match tree.recipe.0.is_empty() {
                            true => bytes.clone(),
                            false => session.emit(&choices, |m| m.to_bitcode())?,
                        });
                    }
                    let list = labels.iter().map(String::as_str).zip(modules.iter().map(|m| &m[..]));
                    let list: Vec<(&str, &[u8])> = list.collect();
                    let setup = CallSetup { arguments, seed: 1, others: Vec::new() };
                    measure_ir(bytes, &self.function, &list, &setup, &options)?
                }
            };
            let Some((original, variants)) = measured.split_first() else { return Ok(Vec::new()) };
            Ok(variants.iter().map(|v| Measurement::new(original, v)).collect())
        })
    }
}

/// The module with variants in the place of their regions.
pub fn emit(module: &Arc<ModuleData>, trees: &[Tree]) -> Result<String, Failure> {
    let mut choices = Choices::new();
    for tree in trees {
        let region = &tree.region;
        if !Arc::ptr_eq(&region.module, module) {
            return Err(Failure::Value(format!("{} is a region of another module", region.label)));
        }
        let chosen = module.optimizer.apply(&region.label, &region.kernel, &tree.recipe, region.code)?;
        if module.input.is_none() {
            return Ok(module.optimizer.emit(&region.kernel, &chosen)?);
        }
        if choices.insert((region.function.clone(), region.number), chosen).is_some() {
            return Err(Failure::Value(format!("{} is given twice", region.label)));
        }
    }
    Ok(module.session().emit(&choices, |m| m.to_string())?)
}

/// A file of C, C++, LLVM IR or a loop tree, with its loop nests.
#[pyclass(frozen, module = "looptree")]
pub struct Module {
    data: Arc<ModuleData>,
    regions: Vec<Arc<RegionData>>,
    /// What was not understood.
    #[pyo3(get)]
    remarks: Vec<String>,
}

#[pymethods]
impl Module {
    /// Loop nests, in the order of the file.
    #[getter]
    fn regions(&self) -> Vec<Region> {
        self.regions.iter().cloned().map(Region).collect()
    }

    /// Its name: the file.
    #[getter]
    fn name(&self) -> &str {
        &self.data.name
    }

    /// LLVM IR with variants in the place of their regions, each behind a run-time check; without any, as it was read.
    #[pyo3(signature = (*trees))]
    fn emit(&self, py: Python<'_>, trees: Vec<Tree>) -> PyResult<String> {
        work(py, || emit(&self.data, &trees))
    }

    /// A region by its label, such as `f#0`, or by any name of the function where it has only one.
    fn __getitem__(&self, label: &str) -> PyResult<Region> {
        let by_label =
            self.regions.iter().find(|r| r.label == label || names::label(&r.function, r.number) == label);
        if let Some(one) = by_label {
            return Ok(Region(one.clone()));
        }
        let functions: BTreeSet<&str> = self.regions.iter().map(|r| &*r.function).collect();
        let function = match names::find(label, functions) {
            Ok(function) => Some(function),
            Err(Unfound::None) => None,
            Err(Unfound::Several(candidates)) => {
                return Err(PyKeyError::new_err(format!("{label} may be any of {}", candidates.join(", "))));
            }
        };
        let named: Vec<&Arc<RegionData>> =
            self.regions.iter().filter(|r| Some(&*r.function) == function).collect();
        match named[..] {
            [one] => Ok(Region(one.clone())),
            [] => {
                let labels: Vec<&str> = self.regions.iter().map(|r| &*r.label).collect();
                Err(PyKeyError::new_err(format!("there is no {label}; there are: {}", labels.join(", "))))
            }
            _ => Err(PyKeyError::new_err(format!("{label} has several regions: {label}#0, {label}#1, ..."))),
        }
    }

    fn __len__(&self) -> usize {
        self.regions.len()
    }

    fn __repr__(&self) -> String {
        format!("<Module {}: {} regions>", self.data.name, self.regions.len())
    }
}

/// A loop nest, or several that belong together.
#[pyclass(frozen, module = "looptree")]
pub struct Region(Arc<RegionData>);

#[pymethods]
impl Region {
    /// `function#number`
    #[getter]
    fn label(&self) -> &str {
        &self.0.label
    }

    /// The function's name, as its source has it.
    #[getter]
    fn name(&self) -> String {
        names::readable(&self.0.function).into_owned()
    }

    /// The function's symbol.
    #[getter]
    fn function(&self) -> &str {
        &self.0.function
    }

    /// Number in the function.
    #[getter]
    fn number(&self) -> usize {
        self.0.number
    }

    /// `file:line`, where that is known.
    #[getter]
    fn location(&self) -> Option<String> {
        self.0.location.as_ref().map(ToString::to_string)
    }

    /// Values of the parameters that variants are ranked and measured for.
    #[getter]
    fn params(&self) -> BTreeMap<String, i64> {
        let names = self.0.kernel.params.iter().map(|p| p.name.to_string());
        names.zip(self.0.params.iter().copied()).collect()
    }

    /// The machine that costs are predicted for.
    #[getter]
    fn target(&self) -> String {
        self.0.models.target.name().to_string()
    }

    /// What is computed, as `.lt` text that `parse` reads.
    #[getter]
    fn text(&self) -> String {
        text::print_kernel(&self.0.kernel)
    }

    /// The hash of what is computed; names do not count.
    #[getter]
    fn kernel_hash(&self) -> String {
        kernel_hash(&self.0.kernel)
    }

    /// The original order.
    #[getter]
    fn tree(&self) -> Tree {
        let root = looptree::tree::canonical(&self.0.kernel, &self.0.kernel.original);
        Tree { region: self.0.clone(), root, recipe: Recipe::default(), place: Path::root() }
    }

    /// The variant that a recipe makes of the original.
    fn apply(&self, py: Python<'_>, recipe: &str) -> PyResult<Tree> {
        let tree = self.tree();
        work(py, || {
            let recipe = Recipe::parse(recipe, &self.0.module.optimizer.registry)?;
            let root = recipe.replay(&self.0.kernel, &tree.root)?;
            Ok(Tree { root, recipe, ..tree })
        })
    }

    /// Verdicts of many variants, on all cores.
    fn judge(&self, py: Python<'_>, trees: Vec<Tree>) -> PyResult<Vec<Verdict>> {
        self.require(&trees)?;
        work(py, || {
            judge::for_each(&trees, |t| Ok(Verdict::new(&self.0.kernel, &judge::judge(&self.0, &t.root)?)))
        })
    }

    /// Times of many variants, in turns with the original.
    #[pyo3(signature = (trees, samples = None))]
    fn measure(
        &self,
        py: Python<'_>,
        trees: Vec<Tree>,
        samples: Option<usize>,
    ) -> PyResult<Vec<Measurement>> {
        self.require(&trees)?;
        self.0.measure(py, &trees, samples)
    }

    /// What looptree's own search finds: legal variants, the cheapest first, the original among them.
    #[pyo3(signature = (max_variants = None))]
    fn explore(&self, py: Python<'_>, max_variants: Option<usize>) -> PyResult<Vec<Tree>> {
        work(py, || {
            let region = &self.0;
            let optimizer = &region.module.optimizer;
            let problem = Problem {
                kernel: region.kernel.clone(),
                params: region.params.clone(),
                dependences: region.dependences()?,
                oracle: optimizer.settings.oracle,
                idioms: optimizer.idioms.clone(),
            };
            let moves = optimizer.moves();
            let mut limits = optimizer.settings.limits;
            limits.variants = max_variants.unwrap_or(limits.variants);
            let explorer = Explorer {
                cost: &*region.models.cost,
                target: &*region.models.target,
                limits,
                ..optimizer.explorer(problem, &moves)
            };
            let variants = explorer.explore().variants.into_iter();
            let tree = |root, recipe| Tree { region: region.clone(), root, recipe, place: Path::root() };
            Ok(variants.map(|v| tree(v.root, v.recipe)).collect())
        })
    }

    fn __repr__(&self) -> String {
        format!("<Region {}>", self.0.label)
    }
}

impl Region {
    fn require(&self, trees: &[Tree]) -> PyResult<()> {
        match trees.iter().find(|t| t.region.id != self.0.id) {
            None => Ok(()),
            Some(other) => Err(PyValueError::new_err(format!(
                "a variant of {} is none of {}",
                other.region.label, self.0.label
            ))),
        }
    }
}

/// Reads a file: C or C++ (by clang-22, with these flags), LLVM IR (`.ll`, `.bc`), or a loop tree (`.lt`).
#[pyfunction]
#[pyo3(signature = (path, *, flags = vec![], function = None, params = BTreeMap::new(), default_param = 1000, target = "native"))]
pub fn lift(
    py: Python<'_>,
    path: PathBuf,
    flags: Vec<String>,
    function: Option<String>,
    params: BTreeMap<String, i64>,
    default_param: i64,
    target: &str,
) -> PyResult<Module> {
    let unrolls = driver::unrolls(&path, &flags);
    let settings = Settings {
        params,
        default_param,
        function,
        target: target.to_string(),
        unrolls,
        ..Settings::default()
    };
    let name = path.display().to_string();
    let read =
        |path: &PathBuf| std::fs::read(path).map_err(|e| Failure::Input(format!("cannot read {name}: {e}")));
    if path.extension().is_some_and(|e| e == "lt") {
        let bytes = read(&path)?;
        let text =
            String::from_utf8(bytes).map_err(|_| Failure::Input(format!("{name} is not UTF-8 text")))?;
        return work(py, || of_text(&text, &name, settings));
    }
    let bytes = if driver::is_source(&path) {
        work(py, || Ok(driver::compile_source(&path, &flags)?))?
    } else {
        let bytes = read(&path)?;
        driver::require_ir(&name, &bytes).map_err(Failure::from)?;
        if llvm::is_bitcode(&bytes) {
            try_in_child(py, &path)?;
        }
        bytes
    };
    work(py, || of_ir(bytes, name, settings))
}

/// Reads a loop tree from its text.
#[pyfunction]
#[pyo3(signature = (text, *, params = BTreeMap::new(), default_param = 1000, target = "native"))]
pub fn parse(
    py: Python<'_>,
    text: &str,
    params: BTreeMap<String, i64>,
    default_param: i64,
    target: &str,
) -> PyResult<Module> {
    let settings = Settings { params, default_param, target: target.to_string(), ..Settings::default() };
    work(py, || of_text(text, "<text>", settings))
}

fn of_text(source: &str, name: &str, settings: Settings) -> Result<Module, Failure> {
    let program = text::parse(source).map_err(|e| {
        let before = source.get(..e.span.start).unwrap_or(source);
        let line = before.matches('\n').count() + 1;
        Failure::Input(format!("{name}:{line}: {}", e.message))
    })?;
    settings.require_parameters(std::iter::once(&*program.kernel))?;
    let optimizer = Optimizer::new(settings)?;
    let data = Arc::new(ModuleData { input: None, name: name.to_string(), optimizer });
    let function = program.kernel.name.clone();
    let region = region(&data, &function, 0, None, program.kernel, Vec::new(), None);
    Ok(Module { data, regions: vec![region], remarks: Vec::new() })
}

fn of_ir(bytes: Vec<u8>, name: String, settings: Settings) -> Result<Module, Failure> {
    let optimizer = Optimizer::new(settings)?;
    let data = Arc::new(ModuleData { input: Some(bytes), name, optimizer });
    let session = data.session();
    let functions = session.kernels().map_err(|e| Failure::of_file(e, &data.name))?;
    session.require_names(&functions)?;
    let (mut regions, mut remarks) = (Vec::new(), Vec::new());
    for function in functions {
        for (number, r) in function.regions.into_iter().enumerate() {
            regions.push(region(
                &data,
                &function.name,
                number,
                r.location,
                r.kernel,
                r.likely,
                function.vectors,
            ));
        }
        remarks.extend(
            function.remarks.iter().map(|r| format!("{}: {} [{}]", function.name, r.message, r.code)),
        );
    }
    Ok(Module { data, regions, remarks })
}

fn region(
    module: &Arc<ModuleData>,
    function: &Arc<str>,
    number: usize,
    location: Option<SourceLocation>,
    kernel: Arc<Kernel>,
    likely: Vec<Likely>,
    code: Option<Vectors>,
) -> Arc<RegionData> {
    Arc::new(RegionData {
        id: REGIONS.fetch_add(1, Ordering::Relaxed),
        module: module.clone(),
        label: format!("{function}#{number}"),
        function: function.clone(),
        number,
        location,
        params: module.optimizer.settings.parameter_values(&kernel, &likely),
        kernel,
        likely,
        code,
        models: module.optimizer.models.for_code(code),
        dependences: OnceLock::new(),
    })
}

/// Of damaged bitcode LLVM's reader may end the process: it reads in another one first.
fn try_in_child(py: Python<'_>, path: &PathBuf) -> PyResult<()> {
    const SCRIPT: &str = "import sys; sys.path[:] = sys.argv[2:]; from looptree import _looptree as l; l._read_bitcode(sys.argv[1])";
    let sys = py.import("sys")?;
    let program: Option<String> = sys.getattr("executable")?.extract()?;
    let places: Vec<String> = sys.getattr("path")?.extract()?;
    let name = path.display();
    let Some(program) = program.filter(|p| !p.is_empty()) else {
        return Err(Failure::Input(format!(
            "{name} is bitcode, which may be damaged, and there is no other Python to try it in: make text of it with llvm-dis"
        ))
        .into());
    };
    let child = work(py, || {
        let mut child = Command::new(program);
        let output = child.args(["-c", SCRIPT]).arg(path).args(places).output();
        output.map_err(|e| Failure::Input(format!("Python cannot be started to try {name}: {e}")))
    })?;
    if child.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&child.stderr);
    let said = said.lines().last().unwrap_or_default();
    Err(Failure::Input(format!("{name}: the bitcode cannot be read ({}): {said}", child.status)).into())
}

/// Reads bitcode, and is lost where LLVM is.
#[pyfunction]
pub fn _read_bitcode(path: PathBuf) -> PyResult<()> {
    let bytes = std::fs::read(&path)?;
    let context = llvm::Context::new();
    let name = path.display().to_string();
    let read = context.parse(&bytes, &name).and_then(|module| module.verify());
    read.map_err(|e| Failure::Input(e.to_string()).into())
}
