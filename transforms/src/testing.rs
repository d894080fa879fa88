//! Tests as text: small kernels and trees, and the instances that a tree runs.

use crate::{Context, Expression, Recipe, Registry};
use loop_tree::{
    Affine, Array, Condition, Constraint, Green, GuardCondition, Kernel, LoopHeader, LoopKind, Node, Param,
    Path, ScalarType, Statement, StmtFlags, StmtId, VarId, Variable, canonical,
};
use std::sync::Arc;

/// A kernel with parameters `N` and `M`, and statements with the variables around them.
pub fn kernel(statements: &[(&str, &str)]) -> Kernel {
    let mut names: Vec<&str> = Vec::new();
    for name in statements.iter().flat_map(|(_, dims)| dims.split_whitespace()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let var = |name: &str| names.iter().position(|n| *n == name).map(VarId::new).unwrap();
    let statement = |(name, dims): &(&str, &str)| {
        Arc::new(Statement {
            name: (*name).into(),
            dims: dims.split_whitespace().map(var).collect(),
            ops: vec![],
            accesses: vec![],
            reduction: None,
            flags: StmtFlags::empty(),
            location: None,
        })
    };
    Kernel {
        name: "test".into(),
        params: ["N", "M"].map(|name| Param { name: name.into(), ty: ScalarType::I64 }).to_vec(),
        variables: names.iter().map(|n| Variable { name: (*n).into() }).collect(),
        arrays: Vec::<Array>::new(),
        statements: statements.iter().map(statement).collect(),
        context: vec![],
        assumptions: vec![],
        original: Green::empty(),
    }
}

/// A tree from text.
pub fn tree(kernel: &Kernel, text: &str) -> Green {
    let text = text.replace(['\n'], " ");
    let mut reader = Reader { kernel, rest: text.trim(), scope: vec![] };
    let nodes = reader.nodes();
    assert_eq!(reader.rest, "", "the rest of the tree");
    canonical(kernel, &Green::seq(nodes))
}

struct Reader<'a> {
    kernel: &'a Kernel,
    rest: &'a str,
    scope: Vec<VarId>,
}

impl<'a> Reader<'a> {
    fn eat(&mut self, token: &str) -> bool {
        let Some(rest) = self.rest.strip_prefix(token) else { return false };
        self.rest = rest.trim_start();
        true
    }

    fn until(&mut self, stop: &str) -> &'a str {
        let at = self.rest.find(stop).unwrap_or_else(|| panic!("`{stop}` in `{}`", self.rest));
        let (text, rest) = self.rest.split_at(at);
        self.rest = rest[stop.len()..].trim_start();
        text.trim()
    }

    fn affine(&self, text: &str) -> Affine {
        let expression = Expression::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        expression.resolve(self.kernel, &self.scope, &Path::root()).unwrap_or_else(|e| panic!("{text}: {e}"))
    }

    fn bounds(&self, text: &str, function: &str) -> Vec<Affine> {
        let list =
            text.strip_prefix(function).and_then(|t| t.strip_prefix('(')).and_then(|t| t.strip_suffix(')'));
        match list {
            Some(list) => list.split(',').map(|e| self.affine(e)).collect(),
            None => vec![self.affine(text)],
        }
    }

    fn var(&self, name: &str) -> VarId {
        (0..64).map(VarId).find(|v| self.kernel.variable_name(*v) == name).unwrap_or_else(|| panic!("{name}"))
    }

    fn block(&mut self, bound: Option<VarId>) -> Green {
        self.scope.extend(bound);
        let nodes = self.nodes();
        assert!(self.eat("}"), "`}}` before `{}`", self.rest);
        if bound.is_some() {
            self.scope.pop();
        }
        Green::seq(nodes)
    }

    fn nodes(&mut self) -> Vec<Green> {
        let mut result = vec![];
        while !self.rest.is_empty() && !self.rest.starts_with('}') {
            result.push(self.node());
        }
        result
    }

    fn node(&mut self) -> Green {
        let kind = if self.eat("parallel ") {
            LoopKind::Parallel
        } else if self.eat("vector ") {
            LoopKind::Vector
        } else {
            LoopKind::Sequential
        };
        if self.eat("for ") {
            let name = self.until(" in ");
            let var = self.var(name);
            let lower = self.until("..");
            let lower = self.bounds(lower, "max");
            let upper = self.until("{");
            let (upper, step) = upper.split_once(" step ").unwrap_or((upper, "1"));
            let bounds = loop_tree::Bounds::Affine { lower, upper: self.bounds(upper, "min") };
            let body = self.block(Some(var));
            return Green::for_loop(
                LoopHeader { var, bounds, step: step.trim().parse().unwrap(), kind },
                body,
            );
        }
        if self.eat("let ") {
            let name = self.until(" = ");
            let value = self.until("{");
            let value = self.affine(value);
            let var = self.var(name);
            return Green::bind(var, value, self.block(Some(var)));
        }
        if self.eat("if ") {
            let text = self.until("{");
            let constraints = text.split("&&").map(|c| match c.split_once(">=") {
                Some((a, b)) => Constraint::ge(self.affine(a), self.affine(b)),
                None => {
                    let (a, b) = c.split_once("==").unwrap();
                    Constraint::eq(self.affine(a), self.affine(b))
                }
            });
            let condition = Condition::all(constraints.collect());
            return Green::guard(condition, self.block(None));
        }
        let end = self.rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        self.kernel.leaf(self.kernel.find_statement(name).unwrap_or_else(|| panic!("statement `{name}`")))
    }
}

/// A statement instance: the statement and the values of its dims.
pub type Instance = (StmtId, Vec<i64>);

/// What a tree runs, in order.
pub fn instances(root: &Green, params: &[i64]) -> Vec<Instance> {
    let mut result = vec![];
    run(root, params, &mut vec![], &mut result);
    result
}

fn run(node: &Green, params: &[i64], env: &mut Vec<(VarId, i64)>, result: &mut Vec<Instance>) {
    let value = |env: &[(VarId, i64)], e: &Affine| {
        let var = |v| env.iter().rev().find(|(w, _)| *w == v).map(|(_, x)| *x);
        e.eval(&var, &|p| params.get(p.index()).copied()).unwrap_or_else(|| panic!("value of {e:?}"))
    };
    match node.node() {
        Node::Seq(children) => children.iter().for_each(|c| run(c, params, env, result)),
        Node::Loop(h, body) => {
            let lower = h.lower().iter().map(|e| value(env, e)).max().unwrap();
            let upper = h.upper().iter().map(|e| value(env, e)).min().unwrap();
            for x in (lower..upper).step_by(h.step as usize) {
                env.push((h.var, x));
                run(body, params, env, result);
                env.pop();
            }
        }
        Node::Let(v, e, body) => {
            env.push((*v, value(env, e)));
            run(body, params, env, result);
            env.pop();
        }
        Node::Guard(c, body) => {
            let GuardCondition::Affine(c) = &**c else { panic!("a predicate") };
            if c.disjuncts.iter().any(|d| d.iter().all(|c| c.accepts(value(env, &c.expression)))) {
                run(body, params, env, result);
            }
        }
        Node::Stmt(id, dims) => {
            let dims = dims.iter().map(|v| value(env, &Affine::var(*v))).collect();
            result.push((*id, dims));
        }
        Node::Alloc(_, body) => run(body, params, env, result),
        Node::Version(_) => panic!("a version"),
    }
}

/// Values of `N` and `M` that reach every boundary of the trees in tests.
pub fn parameters() -> impl Iterator<Item = [i64; 2]> {
    [-3, 0, 1, 2, 5, 9, 17].into_iter().flat_map(|n| [-2, 0, 1, 4, 7, 12].map(|m| [n, m]))
}

/// The instances of the tree without their order.
pub fn sorted(root: &Green, params: &[i64]) -> Vec<Instance> {
    let mut list = instances(root, params);
    list.sort();
    list
}

/// Replays a recipe, compares the result with the tree expected, and the instances with those before.
pub fn check(kernel: &Kernel, before: &str, recipe: &str, after: &str) {
    let result = check_tree(kernel, before, recipe, after);
    let before = tree(kernel, before);
    for params in parameters() {
        assert_eq!(sorted(&before, &params), sorted(&result, &params), "instances for {params:?}");
    }
}

/// Replays a recipe and compares the result with the tree expected.
pub fn check_tree(kernel: &Kernel, before: &str, recipe: &str, after: &str) -> Green {
    let recipe = Recipe::parse(recipe, &Registry::standard()).unwrap_or_else(|e| panic!("{recipe}: {e}"));
    let result = recipe.replay(kernel, &tree(kernel, before)).unwrap_or_else(|e| panic!("{e}"));
    let expected = tree(kernel, after);
    assert!(result == expected, "{recipe}\nexpected {expected:?}\nfound    {result:?}");
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
