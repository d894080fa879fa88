//! What is known of a region beside its variants: source, statements, dependences, and what its machine can do.

use super::iterations::{self, Iterations, Pair};
use super::roofline::{Roofline, roofline};
use super::source::{Source, source};
use looptree::analyses::{Dependence, Witness};
use looptree::cost_model::Target;
use looptree::driver::ExploredRegion;
use looptree::irgen::terms::FunctionLoops;
use looptree::tree::text;
use looptree::tree::{Kernel, VarId};
use serde::Serialize;
use std::sync::Arc;

/// Dependences told of a region.
const MOST: usize = 1000;

/// See the [module](self).
#[derive(Serialize, Debug)]
pub struct Details {
    /// What is computed, in `.lt` text.
    pub kernel: String,
    /// The original tree, in `.lt` text.
    pub tree: String,
    /// By number.
    pub statements: Vec<StatementSummary>,
    /// The lines it is made from, where they can be read.
    pub source: Option<Source>,
    /// At most a thousand.
    pub dependences: Vec<DependenceSummary>,
    /// How many there are.
    pub dependences_in_all: usize,
    /// The first iterations, where the loops tell which those are.
    pub iterations: Option<Iterations>,
    /// Bounds of the machine, where something is computed.
    pub roofline: Option<Roofline>,
}

/// One statement.
#[derive(Serialize, Debug)]
pub struct StatementSummary {
    /// Its name.
    pub name: String,
    /// The loops around it in the original, outermost first.
    pub loops: Vec<String>,
    /// `file:line`
    pub location: Option<String>,
    /// The line, where it is in the file of the region.
    pub line: Option<u32>,
}

/// Pairs of instances that must keep their order.
#[derive(Serialize, Debug)]
pub struct DependenceSummary {
    /// `flow`, `anti`, `output`, `control`, `order`.
    pub kind: &'static str,
    /// What comes first.
    pub source: String,
    /// What comes after.
    pub target: String,
    /// On what.
    pub array: Option<String>,
    /// Distances over the loops that both have around them, or their signs.
    pub distance: String,
    /// Conditions of which each makes it vanish.
    pub unless: Vec<String>,
    /// Whether its instances may be reordered among themselves.
    pub reduction: bool,
    /// Pairs among the first iterations: of each target the last source.
    pub pairs: Vec<Pair>,
}

/// Instances of statements that show why a variant is refused.
#[derive(Serialize, Debug)]
pub struct Example {
    /// What is about the dependence, where it is one.
    pub kind: Option<&'static str>,
    /// On what.
    pub array: Option<String>,
    /// Values of the parameters.
    pub params: Vec<(Arc<str>, i64)>,
    /// Statements with the values of their loops. Of two, the one that must come first.
    pub instances: Vec<(Arc<str>, Vec<i64>)>,
}

impl Example {
    /// Where the witness has one.
    pub fn of(witness: &Witness) -> Option<Example> {
        match witness {
            Witness::Order(d) | Witness::Carried { dependence: d, .. } => Some(Example {
                kind: Some(d.kind.name()),
                array: d.array.as_ref().map(|a| a.to_string()),
                params: d.params.clone(),
                instances: vec![
                    (d.source.name.clone(), d.source_instance.clone()),
                    (d.target.name.clone(), d.target_instance.clone()),
                ],
            }),
            Witness::Coverage(c) => Some(Example {
                kind: None,
                array: None,
                params: c.params.clone(),
                instances: vec![(c.statement.name.clone(), c.instance.clone())],
            }),
            _ => None,
        }
    }
}

/// All that is told.
pub fn details(region: &ExploredRegion, target: &dyn Target, loops: &[FunctionLoops]) -> Details {
    let kernel = &*region.kernel;
    let dependences = &region.dependences.dependences;
    let told = &dependences[..dependences.len().min(MOST)];
    let first = iterations::first(kernel, &region.params);
    let pairs = first.as_ref().map_or_else(Vec::new, |f| f.pairs(kernel, told));
    let of = |(number, d): (usize, &Dependence)| DependenceSummary {
        kind: d.kind.name(),
        source: kernel.statement(d.source).name.to_string(),
        target: kernel.statement(d.target).name.to_string(),
        array: d.array.map(|a| kernel.array(a).name.to_string()),
        distance: d.distance_text(),
        unless: d.vanishes_if.iter().map(|c| text::print_runtime_condition(kernel, c)).collect(),
        reduction: d.reduction,
        pairs: pairs.get(number).cloned().unwrap_or_default(),
    };
    Details {
        kernel: text::print_kernel(kernel),
        tree: text::print_tree(kernel, &kernel.original),
        statements: statements(region),
        source: source(region, loops),
        dependences: told.iter().enumerate().map(of).collect(),
        dependences_in_all: dependences.len(),
        iterations: first.map(|f| f.summary(kernel)),
        roofline: roofline(kernel, &region.params, target),
    }
}

fn statements(region: &ExploredRegion) -> Vec<StatementSummary> {
    let file = region.location.as_ref().map(|l| &l.file);
    let statements = region.kernel.statements.iter().map(|s| StatementSummary {
        name: s.name.to_string(),
        loops: names(&region.kernel, &s.dims),
        location: s.location.as_ref().map(|l| l.to_string()),
        line: s.location.as_ref().filter(|l| Some(&l.file) == file).map(|l| l.line),
    });
    statements.collect()
}

/// Names of variables.
pub fn names(kernel: &Kernel, variables: &[VarId]) -> Vec<String> {
    variables.iter().map(|v| kernel.variable_name(*v)).collect()
}
