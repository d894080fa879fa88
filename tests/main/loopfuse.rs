//! Chains of loops are fused where that is legal, with whatever it takes, and refused with the right reason where not.
//! `loopfuse/README.md` says what the first lines of each module mean.

use looptree::analyses::Witness;
use looptree::driver::{Chosen, DriverError, LiftedKernel, LiftedKernels, Optimizer, Session, Settings};
use looptree::fusion::{FusionOptions, Outcome, Pair};
use looptree::irgen::emit::add_trampoline;
use looptree::irgen::llvm::{Analyses, CodeModel, Context, Jit, OptLevel, TargetMachine, TypeKind};
use looptree::measure::{ArgumentSpec, CallSetup, MeasureOptions, measure_ir};
use looptree::transforms::Recipe;
use looptree::tree::{Affine, Green, Kernel, Node, Path, RuntimeCondition, ScalarType, canonical};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Modules that do not do yet what their first lines say, and why. The test fails when one begins to.
const NOT_YET: &[(&str, &str)] = &[];

const FUNCTION: &str = "test";

/// What a module says about itself.
struct Case {
    name: String,
    text: String,
    fields: BTreeMap<String, String>,
    run: BTreeMap<String, String>,
}

impl Case {
    fn new(name: &str, text: String) -> Case {
        let lines = text.lines().take_while(|l| l.starts_with(';'));
        let pairs = lines.filter_map(|l| l.trim_start_matches([';', ' ']).split_once(": "));
        let known =
            ["expect", "loops", "distance", "shift", "reverse", "strip", "difference", "depth", "run"];
        let fields: BTreeMap<String, String> = pairs
            .filter(|(key, _)| known.contains(key))
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        let run = fields.get("run").map(String::as_str).unwrap_or_default().split_whitespace();
        let run = run.filter_map(|p| p.split_once('=')).map(|(k, v)| (k.to_owned(), v.to_owned())).collect();
        Case { name: name.to_owned(), fields, run, text }
    }

    fn number(&self, key: &str) -> Option<i64> {
        self.fields.get(key).and_then(|v| v.parse().ok())
    }

    fn loops(&self) -> usize {
        self.number("loops").unwrap_or(2) as usize
    }

    /// Components of the distance vector, outermost first.
    fn distance(&self) -> Option<Vec<i64>> {
        let text = self.fields.get("distance")?;
        Some(text.trim_matches(['(', ')']).split(',').map(|c| c.trim().parse().expect("a number")).collect())
    }

    /// The word behind `refuse` or `fuse-under`.
    fn expects(&self, what: &str) -> Option<&str> {
        self.fields["expect"].strip_prefix(what)?.strip_prefix(' ')
    }

    fn settings(&self) -> Settings {
        let ints = self.run.iter().filter_map(|(k, v)| Some((k.clone(), v.parse().ok()?)));
        Settings { params: ints.collect(), function: Some(FUNCTION.to_owned()), ..Settings::default() }
    }

    /// Arguments of the function: as many elements as each array needs.
    fn arguments(&self) -> Vec<ArgumentSpec> {
        let elements: usize = self.run["elements"].parse().expect("a size");
        let element = ScalarType::I32;
        assert_eq!(self.run["type"], element.name());
        let context = Context::new();
        let module = context.parse(self.text.as_bytes(), &self.name).expect("it is IR");
        let function = module.function(FUNCTION).expect("there is a function `test`");
        let spec = |value: looptree::irgen::llvm::Value<'_>| match value.ty().kind() {
            TypeKind::Pointer(_) => ArgumentSpec::Pointer {
                name: value.name(),
                element,
                before: 0,
                after: elements * element.size() as usize,
                observed: true,
            },
            _ => ArgumentSpec::Int(self.run[&value.name()].parse().expect("a number")),
        };
        function.params().iter().map(|p| spec(p.value())).collect()
    }
}

fn cases() -> Vec<Case> {
    let directory = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/loopfuse");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("the modules are there") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|e| e == "ll") {
            let name = path.file_stem().and_then(|n| n.to_str()).expect("a plain name");
            found.push(Case::new(name, std::fs::read_to_string(&path).expect("text")));
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

/// Loops that follow each other, with the code between: a sequence, and the positions of the loops in it.
struct Chain {
    sequence: Path,
    places: Vec<usize>,
}

/// The outermost sequence of several loops in a tree.
fn chain(tree: &Green, at: &Path) -> Option<Chain> {
    let holds_loop = |n: &usize| tree.child(*n).is_some_and(|c| c.summary().loop_depth > 0);
    let places: Vec<usize> = (0..tree.child_count()).filter(holds_loop).collect();
    match (tree.node(), &places[..]) {
        (Node::Loop(..), _) => None,
        (Node::Seq(_), [_, _, ..]) => Some(Chain { sequence: at.clone(), places }),
        (_, [one]) => chain(tree.child(*one)?, &at.child(*one)),
        _ => None,
    }
}

fn node<'t>(tree: &'t Green, path: &Path) -> &'t Green {
    path.0.iter().fold(tree, |at, index| at.child(*index as usize).expect("a path of this tree"))
}

/// The loop below conditions and bindings.
fn the_loop(tree: &Green, mut path: Path) -> Path {
    while node(tree, &path).as_loop().is_none() {
        path = path.child(0);
    }
    path
}

fn loops_in(tree: &Green) -> usize {
    tree.walk().filter(|node| node.as_loop().is_some()).count()
}

struct Lab<'a> {
    case: &'a Case,
    session: Session<'a>,
}

impl Lab<'_> {
    fn recipe(&self, text: &str) -> Recipe {
        Recipe::parse(text, &self.session.optimizer.registry).expect("a recipe")
    }

    fn replay(&self, kernel: &Kernel, recipe: &str) -> Option<Green> {
        let recipe = self.recipe(recipe);
        recipe.replay(kernel, &canonical(kernel, &kernel.original)).ok()
    }

    /// The verdict on a recipe; `None` where it does not apply.
    fn judge(&self, kernel: &Arc<Kernel>, recipe: &str) -> Option<Result<Chosen, Witness>> {
        let recipe = self.recipe(recipe);
        match self.session.optimizer.apply(FUNCTION, kernel, &recipe, None) {
            Ok(chosen) => Some(Ok(chosen)),
            Err(DriverError::Illegal { witness, .. }) => Some(Err(*witness)),
            Err(DriverError::Replay { .. }) => None,
            Err(other) => panic!("{}: {other}", self.case.name),
        }
    }

    /// Ways to make one loop of the first two of a chain: the code between goes in front or behind, what only one of the
    /// loops runs is guarded or split off.
    fn ways(&self, kernel: &Kernel, before: &str, shift: i64) -> Vec<String> {
        let tree = self.replay(kernel, before).expect("it was applied already");
        let Some(Chain { sequence, places }) = chain(&tree, &Path::root()) else { return vec![] };
        let (first, second) = (places[0], places[1]);
        let between: Vec<usize> = (first + 1..second).collect();
        let mut ways = Vec::new();
        for behind in 0..1_u32 << between.len() {
            let (late, early): (Vec<usize>, Vec<usize>) =
                between.iter().partition(|n| behind >> (**n - first - 1) & 1 == 1);
            let count = node(&tree, &sequence).child_count();
            let order: Vec<usize> = (0..first)
                .chain(early.iter().copied())
                .chain([first, second])
                .chain(late)
                .chain(second + 1..count)
                .collect();
            let mut steps = before.to_owned();
            if order.iter().enumerate().any(|(n, old)| n != *old) {
                let order: Vec<String> = order.iter().map(usize::to_string).collect();
                steps = joined(&steps, &format!("reorder({sequence}; {})", order.join(", ")));
            }
            let Some(ready) = self.replay(kernel, &steps) else { continue };
            let at = first + early.len();
            let pair = [at, at + 1].map(|n| the_loop(&ready, sequence.child(n)));
            let shift = if shift == 0 { String::new() } else { format!("; shift={shift}") };
            for rest in ["", "; guard"] {
                ways.push(joined(&steps, &format!("fuse({}, {}{shift}{rest})", pair[0], pair[1])));
            }
        }
        ways
    }

    /// Fuses loop after loop. Of the legal ways the one with the fewest loops; else why the first is not legal.
    fn fuse_all(&self, kernel: &Arc<Kernel>, shift: i64) -> Result<(String, Chosen), Witness> {
        let mut recipe = String::new();
        let mut result = None;
        for _ in 1..self.case.loops() {
            let mut best: Option<(String, Chosen)> = None;
            let mut witness = None;
            for way in self.ways(kernel, &recipe, shift) {
                match self.judge(kernel, &way) {
                    Some(Ok(chosen)) => {
                        let fewer = |(_, b): &(String, Chosen)| loops_in(&chosen.root) < loops_in(&b.root);
                        if best.as_ref().is_none_or(fewer) {
                            best = Some((way, chosen));
                        }
                    }
                    Some(Err(w)) => witness = witness.or(Some(w)),
                    None => {}
                }
            }
            match best {
                Some((way, chosen)) => {
                    recipe.clone_from(&way);
                    result = Some((way, chosen));
                }
                None => return Err(witness.expect("some way to fuse applies")),
            }
        }
        Ok(result.expect("a chain has several loops"))
    }

    /// Fuses the loops inside of the fused loop too.
    fn fuse_inside(&self, kernel: &Arc<Kernel>, recipe: &str) -> Result<(String, Chosen), Witness> {
        let tree = self.replay(kernel, recipe).expect("it was applied already");
        let outer = the_loop(&tree, Path::root());
        let inside = chain(node(&tree, &outer.child(0)), &outer.child(0)).expect("two loops are inside");
        let pair = [inside.places[0], inside.places[1]].map(|n| the_loop(&tree, inside.sequence.child(n)));
        let recipe = joined(recipe, &format!("fuse({}, {})", pair[0], pair[1]));
        let verdict = self.judge(kernel, &recipe).expect("the inner loops have the same range");
        verdict.map(|chosen| (recipe, chosen))
    }
}

fn joined(steps: &str, step: &str) -> String {
    if steps.is_empty() { step.to_owned() } else { format!("{steps}; {step}") }
}

/// The region that has all loops of the chain, or why there is none.
fn region(lifted: &LiftedKernels, loops: usize) -> Result<(usize, Arc<Kernel>), String> {
    for (number, LiftedKernel { kernel, .. }) in lifted.regions.iter().enumerate() {
        if chain(&kernel.original, &Path::root()).is_some_and(|c| c.places.len() == loops) {
            return Ok((number, kernel.clone()));
        }
    }
    let remarks = lifted.remarks.iter().map(|r| format!("[{}] {} ({})", r.code, r.message, r.help));
    Err(remarks.collect::<Vec<_>>().join("\n"))
}

/// What the pass makes of a module: as many loops become one as its first lines say, with whatever shift, and compute the same.
fn check_pass(case: &Case) -> Result<(), String> {
    let optimizer = Optimizer::new(case.settings()).map_err(|e| e.to_string())?;
    let session = Session::new(case.text.as_bytes(), &case.name, &optimizer);
    let lifted = session.kernels().map_err(|e| e.to_string())?;
    let [lifted] = &lifted[..] else { return Err("not one function".to_owned()) };
    let Ok((number, kernel)) = region(lifted, case.loops()) else { return Ok(()) };
    let options = FusionOptions { always: true, ..FusionOptions::default() };
    let fusion =
        optimizer.fuse(FUNCTION, &kernel, &[], &optimizer.models, &options).map_err(|e| e.to_string())?;
    let of_chain = |p: &&Pair| p.first.depth == 0;
    let fused = |p: &&Pair| matches!(p.outcome, Outcome::Fused { .. });
    let found = fusion.pairs.iter().filter(of_chain).filter(fused).count();
    let is_to_be = case.expects("refuse").is_none()
        || ["shift", "reverse", "strip"].iter().any(|cure| case.fields.contains_key(*cure));
    let expected = if is_to_be { case.loops() - 1 } else { 0 };
    if found != expected {
        return Err(format!("{found} pairs are fused, not {expected}: {:#?}", fusion.pairs));
    }
    if fusion.recipe.0.is_empty() {
        return Ok(());
    }
    let chosen = optimizer.apply(FUNCTION, &kernel, &fusion.recipe, None).map_err(|e| e.to_string())?;
    if chosen.root != fusion.root || !fusion.conditions.iter().all(|c| chosen.conditions.contains(c)) {
        return Err(format!("the recipe {} makes another tree", fusion.recipe));
    }
    let choices = BTreeMap::from([((Arc::from(FUNCTION), number), chosen)]);
    let emitted = session.emit(&choices, |m| m.to_string()).map_err(|e| e.to_string())?;
    let options = MeasureOptions { timed: false, ..MeasureOptions::default() };
    let setup = CallSetup { arguments: case.arguments(), seed: 7, others: Vec::new() };
    measure_ir(case.text.as_bytes(), FUNCTION, &[("fused", emitted.as_bytes())], &setup, &options)
        .map(|_| ())
        .map_err(|e| format!("{}: {e}", fusion.recipe))
}

/// Checks one module; the error says what is not as its first lines say.
fn check(case: &Case) -> Result<(), String> {
    let optimizer = Optimizer::new(case.settings()).map_err(|e| e.to_string())?;
    let lab = Lab { case, session: Session::new(case.text.as_bytes(), &case.name, &optimizer) };
    let lifted = lab.session.kernels().map_err(|e| e.to_string())?;
    let [lifted] = &lifted[..] else { return Err("not one function".to_owned()) };
    let (number, kernel) = match (region(lifted, case.loops()), case.expects("refuse")) {
        (Ok(found), _) => found,
        (Err(remarks), Some(word)) => {
            let said = remarks.contains(word);
            return if said { Ok(()) } else { Err(format!("refused, but not for `{word}`: {remarks}")) };
        }
        (Err(remarks), None) => return Err(format!("the loops are not one region: {remarks}")),
    };
    difference(case, &kernel)?;
    distances(&lab, &kernel)?;
    match (lab.fuse_all(&kernel, 0), case.expects("refuse")) {
        (Ok((recipe, chosen)), None) => accepted(&lab, number, &kernel, &recipe, chosen),
        (Ok((recipe, _)), Some(word)) => Err(format!("{recipe} is accepted, which `{word}` forbids")),
        (Err(witness), Some("dependence")) => {
            let dependence =
                matches!(witness, Witness::Order(_)) && witness.to_string().contains("dependence");
            if dependence { Ok(()) } else { Err(format!("refused for another reason: {witness}")) }
        }
        (Err(witness), Some(word)) => Err(format!("refused for a dependence, not for `{word}`: {witness}")),
        (Err(witness), None) => Err(format!("refused: {witness}")),
    }
}

/// Trip counts differ by what the module says.
fn difference(case: &Case, kernel: &Kernel) -> Result<(), String> {
    let Some(text) = case.fields.get("difference") else { return Ok(()) };
    let mut expected = Affine::constant(0);
    let mut sign = 1;
    for word in text.split_whitespace() {
        match (word, word.parse()) {
            ("-", _) => sign = -1,
            (_, Ok(number)) => expected = expected.offset(number),
            (name, Err(_)) => {
                let param = kernel.find_param(name).ok_or(format!("there is no parameter {name}"))?;
                expected = expected + Affine::param(param).scale(sign);
            }
        }
    }
    let Chain { sequence, places } = chain(&kernel.original, &Path::root()).expect("it was found before");
    let trips: Vec<Affine> = places
        .iter()
        .map(|n| node(&kernel.original, &the_loop(&kernel.original, sequence.child(*n))))
        .filter_map(|l| l.as_loop()?.0.single_bounds().map(|(lower, upper)| upper - lower))
        .collect();
    let [first, second] = &trips[..] else { return Err("the bounds are not single".to_owned()) };
    let found = first - second;
    if found == expected { Ok(()) } else { Err(format!("the trip counts differ by {found:?}, not {text}")) }
}

/// The second loop may run as many iterations earlier as the distance says, and not one more.
fn distances(lab: &Lab<'_>, kernel: &Arc<Kernel>) -> Result<(), String> {
    let earliest = match (lab.case.distance(), lab.case.number("shift")) {
        (Some(distance), shift) => {
            if shift.is_some_and(|s| s != -distance[0]) {
                return Err("distance and shift contradict each other".to_owned());
            }
            distance[0]
        }
        (None, Some(shift)) => -shift,
        (None, None) => return Ok(()),
    };
    if let Err(witness) = lab.fuse_all(kernel, earliest) {
        return Err(format!("with a shift of {earliest} it should be legal: {witness}"));
    }
    match lab.fuse_all(kernel, earliest + 1) {
        Ok((recipe, _)) => Err(format!("the distance is not {earliest}: {recipe} is legal")),
        Err(Witness::Order(_)) => Ok(()),
        Err(other) => Err(format!("refused for another reason than the dependence: {other}")),
    }
}

/// The fused loops are one loop, under the conditions expected, and compute the same.
fn accepted(
    lab: &Lab<'_>,
    number: usize,
    kernel: &Arc<Kernel>,
    recipe: &str,
    chosen: Chosen,
) -> Result<(), String> {
    let case = lab.case;
    let (mut recipe, mut chosen) = (recipe.to_owned(), chosen);
    if loops_in(&kernel.original) > case.loops() {
        match (lab.fuse_inside(kernel, &recipe), case.number("depth")) {
            (Ok(inner), Some(2)) => (recipe, chosen) = inner,
            (Err(Witness::Order(_)), Some(1)) => {}
            (Ok(_), depth) => {
                return Err(format!("the inner loops may be fused too, the depth is not {depth:?}"));
            }
            (Err(w), depth) => {
                return Err(format!("the inner loops cannot be fused, the depth is {depth:?}: {w}"));
            }
        }
    }
    let alias = |c: &RuntimeCondition| matches!(c, RuntimeCondition::NoOverlap(..));
    let needs = chosen.conditions.iter().any(alias);
    match case.expects("fuse-under") {
        Some("alias") if !needs => {
            return Err(format!("no condition says that arrays are apart: {:?}", chosen.conditions));
        }
        None if needs => {
            return Err(format!("arrays that never overlap are checked: {:?}", chosen.conditions));
        }
        _ => {}
    }
    let fused = loops_in(&chosen.root);
    let key = (Arc::from(FUNCTION), number);
    let emitted = lab
        .session
        .emit(&BTreeMap::from([(key.clone(), chosen.clone())]), |m| m.to_string())
        .map_err(|e| format!("{recipe} is not emitted: {e}"))?;
    let atomic = |text: &str| text.matches("store atomic").count();
    if atomic(&emitted) != 2 * atomic(&case.text) {
        return Err(format!("{recipe}: the new code has other atomic stores than the original beside it"));
    }
    let outermost = new_loops(emitted.as_bytes());
    // Trip counts that differ by what only the run knows leave loops for the rest.
    let rest = recipe.contains("fuse") && !recipe.contains("guard") && case.is_open_ended();
    if outermost != fused || (!rest && fused != case.depth()) {
        return Err(format!("{recipe}: {fused} loops in the tree, {outermost} in the IR"));
    }
    let options = MeasureOptions { timed: false, ..MeasureOptions::default() };
    let setup = CallSetup { arguments: case.arguments(), seed: 7, others: Vec::new() };
    measure_ir(case.text.as_bytes(), FUNCTION, &[("fused", emitted.as_bytes())], &setup, &options)
        .map_err(|e| format!("{recipe}: {e}"))?;
    // A tree that is wrong on purpose shows that these inputs run the new code.
    let wrong = Chosen { root: without_first(&chosen.root, false).expect("a loop has a body"), ..chosen };
    let wrong =
        lab.session.emit(&BTreeMap::from([(key, wrong)]), |m| m.to_string()).map_err(|e| e.to_string())?;
    match measure_ir(case.text.as_bytes(), FUNCTION, &[("wrong", wrong.as_bytes())], &setup, &options) {
        Ok(_) => Err(format!("{recipe}: the new code does not run")),
        Err(_) if needs => overlapping(case, emitted.as_bytes(), wrong.as_bytes()),
        Err(_) => Ok(()),
    }
}

impl Case {
    /// Whether only the run knows by how much the trip counts differ.
    fn is_open_ended(&self) -> bool {
        self.fields.get("difference").is_some_and(|d| d.parse::<i64>().is_err())
    }

    /// Levels of loops after fusion.
    fn depth(&self) -> usize {
        match self.number("depth") {
            Some(2) => 2,
            // Two inner loops stay.
            Some(_) => 3,
            None => 1,
        }
    }
}

/// The tree without the first statement in a loop.
fn without_first(tree: &Green, in_loop: bool) -> Option<Green> {
    if let Node::Stmt(..) = tree.node() {
        return in_loop.then(Green::empty);
    }
    let in_loop = in_loop || tree.as_loop().is_some();
    let changed = |n: usize| Some((n, without_first(tree.child(n)?, in_loop)?));
    (0..tree.child_count()).find_map(changed).map(|(n, child)| tree.with_child(n, child))
}

/// Loops in the code that the check leads to.
fn new_loops(bitcode: &[u8]) -> usize {
    let context = Context::new();
    let module = context.parse(bitcode, "emitted").expect("it verifies");
    module.verify().expect("it verifies");
    let function = module.function(FUNCTION).expect("it is still there");
    let new = function.blocks().into_iter().find(|b| b.value().name() == "looptree.new");
    let new = new.expect("the check leads to new code");
    let analyses = Analyses::new(function, None).expect("a function with a body");
    analyses.loops().iter().filter(|l| analyses.dominates(new, l.header)).count()
}

/// `test(a, b, c, n)` on one buffer in which the arrays begin at these elements.
fn call(bitcode: &[u8], begin: [usize; 3], n: i64) -> Vec<i32> {
    let context = Context::new();
    let mut module = context.parse(bitcode, "called").expect("it is IR");
    let target = TargetMachine::host(OptLevel::Aggressive, CodeModel::Jit).expect("this machine");
    module.set_target(&target);
    let symbol = add_trampoline(&module, FUNCTION).expect("plain arguments");
    let jit = Jit::new(OptLevel::Aggressive).expect("a JIT");
    jit.add(&module).expect("it compiles");
    let mut memory: Vec<i32> = (0..1024).map(|i| i * 7 % 101).collect();
    let start = memory.as_mut_ptr();
    let [a, b, c] = begin.map(|element| start.wrapping_add(element) as u64);
    let mut slots = [a, b, c, n as u64, 0];
    // SAFETY: the signature of every trampoline; the arrays have n elements each in memory that lives on.
    unsafe {
        let call = jit.lookup::<unsafe extern "C" fn(*mut u64)>(&symbol).expect("it is there");
        call(slots.as_mut_ptr());
    }
    memory
}

/// Where arrays overlap the original code runs, else the new one, which a wrong one shows.
fn overlapping(case: &Case, fused: &[u8], wrong: &[u8]) -> Result<(), String> {
    let n: i64 = case.run["n"].parse().expect("a number");
    let original = case.text.as_bytes();
    for (begin, apart) in [([0, 200, 400], true), ([0, 200, 201], false), ([0, 200, 1], false)] {
        let expected = call(original, begin, n);
        if call(fused, begin, n) != expected {
            return Err(format!("arrays at {begin:?} give another result"));
        }
        if (call(wrong, begin, n) != expected) != apart {
            return Err(format!("arrays at {begin:?} run the wrong side of the check"));
        }
    }
    Ok(())
}

#[test]
fn every_module_does_what_its_first_lines_say() {
    let mut unexpected = Vec::new();
    let cases = cases();
    assert_eq!(cases.len(), 53);
    for case in &cases {
        let listed = NOT_YET.iter().find(|(name, _)| *name == case.name);
        match (check(case), listed) {
            (Ok(()), None) | (Err(_), Some(_)) => {}
            (Ok(()), Some((name, why))) => unexpected.push(format!("{name} works now, in spite of: {why}")),
            (Err(message), None) => unexpected.push(format!("{}: {message}", case.name)),
        }
    }
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

#[test]
fn the_pass_fuses_what_may_be_fused() {
    let wrong = |case: &Case| Some(format!("{}: {}", case.name, check_pass(case).err()?));
    let unexpected: Vec<String> = cases().iter().filter_map(wrong).collect();
    assert!(unexpected.is_empty(), "{}", unexpected.join("\n"));
}

#[test]
fn the_table_lists_what_the_modules_expect() {
    let table = include_str!("../loopfuse/README.md");
    for case in cases() {
        let row = format!("| {} | {} |", case.name, case.fields["expect"]);
        assert!(table.contains(&row), "{row}");
    }
}
