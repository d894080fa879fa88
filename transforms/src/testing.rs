//! Tests as text: small kernels and trees, and the instances that a tree runs.

use crate::{Context, Recipe, Registry};
use loop_tree::interp::{self, Instance};
use loop_tree::{Green, Kernel, text};
use std::sync::Arc;

/// A kernel with parameters `N` and `M`, and statements that do nothing, with the variables around them.
pub fn kernel(statements: &[(&str, &str)]) -> Kernel {
    let mut text = String::from("nest @test[N, M] {");
    let mut variables: Vec<&str> = Vec::new();
    for name in statements.iter().flat_map(|(_, dims)| dims.split_whitespace()) {
        if !variables.contains(&name) {
            variables.push(name);
        }
    }
    if !variables.is_empty() {
        text += &format!(" variables {}", variables.join(", "));
    }
    for (name, dims) in statements {
        let dims: Vec<&str> = dims.split_whitespace().collect();
        text += &format!(" statement {name}({}): {{}}", dims.join(", "));
    }
    let program = text::parse(&format!("{text} }}")).unwrap_or_else(|e| panic!("{text}: {e}"));
    Arc::unwrap_or_clone(program.kernel)
}

/// A tree from text.
pub fn tree(kernel: &Kernel, text: &str) -> Green {
    text::parse_tree(kernel, text).unwrap_or_else(|e| panic!("{text}: {e} at {:?}", &text[e.span.clone()]))
}

/// What a tree runs, in order.
pub fn instances(kernel: &Kernel, root: &Green, params: &[i64]) -> Vec<Instance> {
    interp::instances(kernel, root, params, 1 << 20).unwrap_or_else(|e| panic!("{e}"))
}

/// Values of `N` and `M` that reach every boundary of the trees in tests.
pub fn parameters() -> impl Iterator<Item = [i64; 2]> {
    [-3, 0, 1, 2, 5, 9, 17].into_iter().flat_map(|n| [-2, 0, 1, 4, 7, 12].map(|m| [n, m]))
}

/// The instances of the tree without their order.
pub fn sorted(kernel: &Kernel, root: &Green, params: &[i64]) -> Vec<Instance> {
    let mut list = instances(kernel, root, params);
    list.sort();
    list
}

/// Replays a recipe, compares the result with the tree expected, and the instances with those before.
pub fn check(kernel: &Kernel, before: &str, recipe: &str, after: &str) {
    let result = check_tree(kernel, before, recipe, after);
    let before = tree(kernel, before);
    for params in parameters() {
        let (before, after) = (sorted(kernel, &before, &params), sorted(kernel, &result, &params));
        assert_eq!(before, after, "instances for {params:?}");
    }
}

/// Replays a recipe and compares the result with the tree expected.
pub fn check_tree(kernel: &Kernel, before: &str, recipe: &str, after: &str) -> Green {
    let recipe = Recipe::parse(recipe, &Registry::standard()).unwrap_or_else(|e| panic!("{recipe}: {e}"));
    let result = recipe.replay(kernel, &tree(kernel, before)).unwrap_or_else(|e| panic!("{e}"));
    let expected = tree(kernel, after);
    let text = |tree: &Green| text::print_tree(kernel, tree);
    assert!(result == expected, "{recipe}\nexpected\n{}found\n{}", text(&expected), text(&result));
    result
}

/// A step that does not apply, with the code of the refusal.
pub fn refuse(kernel: &Kernel, before: &str, step: &str, code: &str) {
    let recipe = Recipe::parse(step, &Registry::standard()).unwrap_or_else(|e| panic!("{step}: {e}"));
    let root = tree(kernel, before);
    match recipe.0[0].apply(&Context { kernel, root: &root }) {
        Ok(rewrite) => panic!("{step} applies: {:?}", rewrite.root),
        Err(refusal) => assert_eq!(refusal.code, code, "{refusal}"),
    }
}
