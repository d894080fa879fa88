//! `looptree show`: what looptree sees.

use super::args::{Part, ShowArguments};
use super::error::CliError;
use super::input::{self, Input};
use super::output;
use looptree::analyses::Oracle;
use looptree::analyses::idioms::Idioms;
use looptree::driver::{self, DriverError, LiftedKernel, LiftedKernels, Session};
use looptree::explore::Problem;
use looptree::irgen::terms::FunctionLoops;
use looptree::names::{self, readable};
use looptree::transforms::{self, Context};
use looptree::tree::{Access, AccessKind, Kernel, canonical, text};
use std::borrow::Cow;
use std::fmt::Write;
use std::sync::Arc;

/// Runs the command.
pub fn run(arguments: &ShowArguments) -> Result<(), CliError> {
    let file = &arguments.input.file;
    let read = input::read(&arguments.input)?;
    let settings = input::settings(&arguments.input, &arguments.model, None)?;
    let optimizer = input::optimizer(settings)?;
    let settings = &optimizer.settings;
    let name = file.display().to_string();
    let session = Session::new(read.module(), &name, &optimizer);
    let failed = |e: DriverError| input::from_driver(e, file);
    let functions = match &read {
        Input::Ir(_) => {
            let functions = session.kernels().map_err(failed)?;
            session.require_names(&functions).map_err(failed)?;
            functions
        }
        Input::Text(program) => {
            settings
                .require_parameters(std::iter::once(&*program.kernel))
                .map_err(|e| failed(DriverError::Model(e)))?;
            vec![LiftedKernels {
                name: program.kernel.name.clone(),
                vectors: None,
                whole: program.kernel.clone(),
                regions: vec![LiftedKernel {
                    vectors: None,
                    allocates: true,
                    kernel: program.kernel.clone(),
                    location: None,
                    likely: Vec::new(),
                    invented: Vec::new(),
                }],
                remarks: Vec::new(),
                asked: Vec::new(),
                warnings: Vec::new(),
                may_gain: true,
                loops: vec![],
            }]
        }
    };
    let parts = if arguments.what.is_empty() { &[Part::Tree][..] } else { &arguments.what };
    let mut out = String::new();
    if parts.contains(&Part::Loops) && matches!(read, Input::Ir(_)) {
        for function in session.loop_terms(driver::is_source(file)).map_err(failed)? {
            terms(&mut out, &function);
        }
    }
    for function in &functions {
        if parts.contains(&Part::Tree) {
            named(&mut out, &function.name);
            idioms(&mut out, "; ", &optimizer.idioms, &function.whole);
            out.push_str(&text::print(&text::Program { kernel: function.whole.clone(), variant: None }));
        }
        for (number, LiftedKernel { kernel, location, likely, vectors, .. }) in
            function.regions.iter().enumerate()
        {
            if settings.region.is_some_and(|r| r != number) {
                continue;
            }
            let label = names::label(&function.name, number);
            if parts.contains(&Part::Regions) {
                let place = location.as_ref().map_or_else(String::new, |l| format!(" at {l}"));
                let _ = writeln!(out, "; region {label}{place}");
                out.push_str(&text::print(&text::Program { kernel: kernel.clone(), variant: None }));
            }
            if parts.contains(&Part::Idioms) {
                let _ = writeln!(out, "idioms of {label}:");
                idioms(&mut out, "  ", &optimizer.idioms, kernel);
            }
            if parts.contains(&Part::Accesses) {
                accesses(&mut out, &label, kernel);
            }
            let needs = [Part::Dependences, Part::Loops, Part::Cost];
            if parts.iter().any(|p| needs.contains(p)) {
                let problem = optimizer.problem(&label, kernel, likely).map_err(failed)?;
                if parts.contains(&Part::Dependences) {
                    let _ = writeln!(out, "dependences of {label}:\n{}", problem.dependences.display(kernel));
                }
                if parts.contains(&Part::Loops) {
                    loops(&mut out, &label, &problem);
                }
                if parts.contains(&Part::Cost) {
                    // As `explore` and `opt` have it.
                    let models = optimizer.models.for_code(*vectors);
                    let cost = models.cost.cost_of_original(kernel, &problem.params);
                    let _ = writeln!(out, "cost of {label}:\n{}", cost.explain());
                }
            }
            if parts.contains(&Part::Moves) {
                let root = canonical(kernel, &kernel.original);
                let _ = writeln!(out, "moves of {label}:");
                for step in
                    transforms::moves(&Context { kernel, root: &root }, &optimizer.registry, &settings.moves)
                {
                    let _ = writeln!(out, "  {step}");
                }
            }
        }
        if parts.contains(&Part::Remarks) {
            for r in &function.remarks {
                let place = r
                    .location
                    .as_ref()
                    .map_or_else(|| readable(&function.name).into_owned(), |l| l.to_string());
                let _ = writeln!(out, "{place}: [{}] {} {}", r.code, r.message, r.help);
            }
        }
    }
    output::print(&out)
}

/// What a function is called, where its symbol does not say so.
fn named(out: &mut String, symbol: &str) {
    if let Cow::Owned(name) = readable(symbol) {
        let _ = writeln!(out, "; {name}");
    }
}

/// A line for each store of a known idiom.
fn idioms(out: &mut String, before: &str, idioms: &Idioms, kernel: &Kernel) {
    for known in idioms.of_kernel(kernel) {
        let _ = writeln!(out, "{before}{}: {}", kernel.statement(known.statement).name, known.text(kernel));
    }
}

fn accesses(out: &mut String, label: &str, kernel: &Kernel) {
    let _ = writeln!(out, "accesses of {label}:");
    for statement in &kernel.statements {
        let dims: Vec<String> = statement.dims.iter().map(|v| kernel.variable_name(*v)).collect();
        let _ = writeln!(out, "  {}({})", statement.name, dims.join(", "));
        for access in &statement.accesses {
            let kind = match access.kind {
                AccessKind::Read => "reads",
                AccessKind::Write => "writes",
                AccessKind::MayWrite => "may write",
            };
            let _ = writeln!(out, "    {kind} {}", element(kernel, access));
        }
    }
}

/// `A[i, j + 1]`, or `A[*]` where the element is not known.
fn element(kernel: &Kernel, access: &Access) -> String {
    let name = &kernel.array(access.array).name;
    match &access.subscripts {
        None => format!("{name}[*]"),
        Some(s) if s.is_empty() => name.to_string(),
        Some(s) => {
            let list: Vec<String> = s.iter().map(|e| text::print_affine(kernel, e)).collect();
            format!("{name}[{}]", list.join(", "))
        }
    }
}

/// Loops as LLVM's terminology describes them.
fn terms(out: &mut String, function: &FunctionLoops) {
    if function.loops.is_empty() && function.reducible {
        return;
    }
    let irreducible =
        if function.reducible { "" } else { ", and a cycle that is none: it has several entries" };
    let _ = writeln!(
        out,
        "natural loops of {}: {}{irreducible}",
        readable(&function.function),
        function.loops.len()
    );
    for (number, l) in function.loops.iter().enumerate() {
        let place = l.location.as_ref().map_or_else(String::new, |l| format!(" at {}:{}", l.file, l.line));
        let inside = l.parent.map_or_else(String::new, |p| format!(" in loop {p}"));
        let one = |block: &Option<String>| block.clone().unwrap_or_else(|| "none".to_string());
        let is = |yes: bool, form: &str| if yes { form.to_string() } else { format!("not {form}") };
        let _ = writeln!(out, "  loop {number}{place}, depth {}{inside}", l.depth);
        let (latch, preheader, guard) = (one(&l.latch), one(&l.preheader), one(&l.guard));
        let _ = writeln!(out, "    header {}, latch {latch}, preheader {preheader}, guard {guard}", l.header);
        let _ = writeln!(out, "    exiting {}, exits {}", l.exiting.join(" "), l.exits.join(" "));
        let (simplified, rotated) = (is(l.simplified, "simplified"), is(l.rotated, "rotated"));
        let _ = writeln!(out, "    {simplified}, {rotated}, {}", is(l.closed, "loop-closed"));
        let taken = match (&l.backedge_taken, l.backedge_taken_at_most) {
            (Some(exact), _) => exact.clone(),
            (None, Some(most)) => format!("unknown, at most {most}"),
            (None, None) => "unknown".to_string(),
        };
        let trips = l.trip_count.as_deref().unwrap_or("unknown");
        let _ = writeln!(out, "    backedge-taken count {taken}, trip count {trips}");
    }
}

fn loops(out: &mut String, label: &str, problem: &Problem) {
    let _ = writeln!(out, "loops of {label}:");
    let kernel: &Arc<Kernel> = &problem.kernel;
    let root = canonical(kernel, &kernel.original);
    let oracle = match problem.case() {
        Ok(case) => Oracle::of(Arc::new(case)),
        Err(error) => {
            let _ = writeln!(out, "  {error}");
            return;
        }
    };
    for (path, facts) in oracle.loop_facts(&root) {
        let name = root
            .at(&path)
            .and_then(|n| n.as_loop().map(|(h, _)| kernel.variable_name(h.var)))
            .unwrap_or_default();
        let what = match (facts.parallel, &facts.parallel_if) {
            (true, _) => "iterations are independent".to_string(),
            (false, Some(conditions)) => {
                let list: Vec<String> =
                    conditions.iter().map(|c| text::print_runtime_condition(kernel, c)).collect();
                format!("iterations are independent under {}", list.join(", "))
            }
            (false, None) => {
                let kinds: Vec<&str> = facts.carried.iter().map(|c| c.kind.name()).collect();
                format!("carries dependences: {}", kinds.join(", "))
            }
        };
        let _ = writeln!(out, "  {path} {name}: {what}");
    }
}
