//! What was measured on processors of Zen and on an Emerald Rapids, as relations between two trees.

mod compiler;
mod computation;
mod masks;
mod memory;

use cost_model::{AnalyticModel, CostModel, targets};
use loop_tree::text::parse;

fn model() -> AnalyticModel {
    of_target("znver5")
}

fn of_target(name: &str) -> AnalyticModel {
    AnalyticModel::new(targets::by_name(name).expect("a target"))
}

/// Predicted cycles of a program's tree as new code.
fn cycles_on(target: &str, text: &str, params: &[i64]) -> f64 {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    of_target(target).cost(&program.kernel, program.tree(), params).cycles
}

/// Predicted cycles of a program as written.
fn original_on(target: &str, text: &str, params: &[i64]) -> f64 {
    let program = parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    of_target(target).cost_of_original(&program.kernel, params).cycles
}

/// Predicted gain of the variant of a program over its original order, both told what a check has established.
fn gain(text: &str, params: &[i64]) -> f64 {
    gain_on("znver5", text, params)
}

/// The same for another target.
fn gain_on(target: &str, text: &str, params: &[i64]) -> f64 {
    original_on(target, text, params) / cycles_on(target, text, params)
}

/// No gain is promised over the program that is worth a change on Zen 3.
#[track_caller]
fn is_left_alone(text: &str) {
    let found = gain_on("znver3", text, &[]);
    assert!(found < 1.2, "{found}");
}

/// As often side by side, for `var = factor*t + u`.
fn copies(var: &str, t: &str, factor: i64, body: &str) -> String {
    (0..factor).map(|u| format!("let {var} = {factor}*{t} + {u} {{ {body} }} ")).collect()
}
