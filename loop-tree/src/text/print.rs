//! Text of programs, trees, conditions and expressions.

use super::Program;
use super::lexer::{quoted, quoted_array};
use super::parser::{Parser, Tables};
use super::print_statement::definition;
use crate::{
    Affine, AliasClass, ArrayId, Atom, Bounds, Buffer, Condition, Constraint, Green, GuardCondition, Kept,
    Kernel, LoopHeader, LoopKind, Node, ParamId, Relation, RuntimeCondition, StmtId, Storage, VarId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Names in text, as [`Kernel::variable_name`] has them, in quotes where they need it.
pub(super) struct Names<'k> {
    pub kernel: &'k Kernel,
    fresh_prefix: String,
    /// Of the variables that stand for subscripts in buffers.
    index_prefix: String,
}

impl<'k> Names<'k> {
    pub fn of(kernel: &'k Kernel) -> Self {
        Names { kernel, fresh_prefix: kernel.generated_name("t"), index_prefix: kernel.generated_name("x") }
    }

    pub fn var(&self, var: VarId) -> String {
        match self.kernel.variables.get(var.index()) {
            Some(v) => quoted(&v.name),
            None if let Some(k) = Buffer::index_of(var) => format!("{}{k}", self.index_prefix),
            None => format!("{}{}", self.fresh_prefix, var.0 - self.kernel.var_count()),
        }
    }

    pub fn param(&self, param: ParamId) -> String {
        self.kernel.params.get(param.index()).map_or_else(|| format!("{param:?}"), |p| quoted(&p.name))
    }

    pub fn array(&self, array: ArrayId) -> String {
        self.kernel.arrays.get(array.index()).map_or_else(|| format!("{array:?}"), |a| quoted_array(&a.name))
    }

    pub fn statement(&self, id: StmtId) -> String {
        self.kernel.statements.get(id.index()).map_or_else(|| format!("{id:?}"), |s| quoted(&s.name))
    }

    fn atom(&self, atom: &Atom) -> String {
        match atom {
            Atom::Var(v) => self.var(*v),
            Atom::Param(p) => self.param(*p),
            Atom::Div(d) => {
                let inner = self.affine(&d.numerator);
                match d.numerator.terms() {
                    [(_, 1)] if d.numerator.constant_term() == 0 => {
                        format!("floor({inner}/{})", d.denominator)
                    }
                    _ => format!("floor(({inner})/{})", d.denominator),
                }
            }
        }
    }

    pub fn affine(&self, e: &Affine) -> String {
        if !e.is_exact() {
            return "overflow".into();
        }
        self.sum(e.terms().iter().map(|(a, c)| (a, i128::from(*c))), i128::from(e.constant_term()))
    }

    fn sum<'a>(&self, terms: impl Iterator<Item = (&'a Atom, i128)>, constant: i128) -> String {
        let mut out = String::new();
        // A negative first term is written last where a positive one can stand first.
        let mut terms: Vec<_> = terms.collect();
        if terms.first().is_some_and(|t| t.1 < 0)
            && let Some(at) = terms.iter().position(|t| t.1 > 0)
        {
            let positive = terms.remove(at);
            terms.insert(0, positive);
        }
        for (atom, c) in &terms {
            match (out.is_empty(), *c < 0) {
                (true, true) => out.push('-'),
                (true, false) => {}
                (false, true) => out.push_str(" - "),
                (false, false) => out.push_str(" + "),
            }
            if c.abs() != 1 {
                _ = write!(out, "{}*", c.abs());
            }
            out.push_str(&self.atom(atom));
        }
        match constant {
            _ if out.is_empty() => constant.to_string(),
            0 => out,
            c if c < 0 => format!("{out} - {}", -c),
            c => format!("{out} + {c}"),
        }
    }

    /// `a >= b` with positive coefficients on both sides.
    pub fn constraint(&self, c: &Constraint) -> String {
        let e = &c.expression;
        if !e.is_exact() {
            return "overflow >= 0".into();
        }
        let terms = || e.terms().iter().map(|(a, c)| (a, i128::from(*c)));
        let most_negative = terms().any(|t| t.1 <= i128::from(i64::MIN)) || e.constant_term() == i64::MIN;
        if terms().next().is_none() || most_negative {
            let relation = if c.relation == Relation::Zero { "==" } else { ">=" };
            return format!("{} {relation} 0", self.affine(e));
        }
        let k = i128::from(e.constant_term());
        let left = |k: i128| self.sum(terms().filter(|t| t.1 > 0), k);
        let right = |k: i128| self.sum(terms().filter(|t| t.1 < 0).map(|(a, c)| (a, -c)), k);
        let has = |positive: bool| terms().any(|t| (t.1 > 0) == positive);
        match (c.relation, k) {
            (Relation::Zero, k) if k > 0 && has(true) => format!("{} == {}", left(k), right(0)),
            (Relation::Zero, k) if has(true) => format!("{} == {}", left(0), right(-k)),
            (Relation::Zero, k) => format!("{} == {}", left(k), right(0)),
            (_, -1) if has(true) && has(false) => format!("{} < {}", right(0), left(0)),
            (_, k) if !has(true) => format!("{} <= {k}", right(0)),
            (_, k) if k > 0 && has(false) => format!("{} <= {}", right(0), left(k)),
            (_, k) => format!("{} >= {}", left(0), right(-k)),
        }
    }

    pub fn condition(&self, c: &Condition) -> String {
        if c.is_never() {
            return "false".into();
        }
        let conjunctions: Vec<String> = c
            .disjuncts
            .iter()
            .map(|d| match d.as_slice() {
                [] => "true".into(),
                d => d.iter().map(|c| self.constraint(c)).collect::<Vec<_>>().join(" && "),
            })
            .collect();
        conjunctions.join(" || ")
    }

    pub fn runtime(&self, c: &RuntimeCondition) -> String {
        match c {
            RuntimeCondition::Parameter(c) => self.constraint(c),
            RuntimeCondition::NoOverlap(a, b) => {
                format!("nooverlap({}, {})", self.array(*a), self.array(*b))
            }
        }
    }

    fn runtime_list(&self, list: &[RuntimeCondition]) -> String {
        list.iter().map(|c| self.runtime(c)).collect::<Vec<_>>().join(", ")
    }

    pub(super) fn bounds(&self, function: &str, list: &[Affine]) -> String {
        let list: Vec<String> = list.iter().map(|e| self.affine(e)).collect();
        match list.as_slice() {
            [one] => one.clone(),
            _ => format!("{function}({})", list.join(", ")),
        }
    }

    fn header(&self, h: &LoopHeader) -> String {
        let kept = match self.kernel.kept(h.var) {
            None => "",
            Some(Kept::Loop) => "kept ",
            Some(Kept::Scalar) => "kept scalar ",
        };
        let kind = match h.kind {
            LoopKind::Sequential => kept.to_string(),
            kind => format!("{kept}{} ", kind.name()),
        };
        let var = self.var(h.var);
        match &h.bounds {
            Bounds::Unbounded { exit: None } => format!("{kind}loop {var}"),
            Bounds::Unbounded { exit: Some(p) } => format!("{kind}loop {var} until {}", self.array(*p)),
            Bounds::Affine { lower, upper } => {
                let step = if h.step == 1 { String::new() } else { format!(" step {}", h.step) };
                let (lower, upper) = (self.bounds("max", lower), self.bounds("min", upper));
                format!("{kind}for {var} in {lower}..{upper}{step}")
            }
        }
    }
}

/// The text of a program; [`parse`](super::parse) reads it back.
pub fn print(program: &Program) -> String {
    let mut out = print_head(&program.kernel);
    if let Some(variant) = &program.variant {
        out.push_str("  variant {\n");
        Printer { names: &Names::of(&program.kernel), out: &mut out, define: None }.children(variant, 2);
        out.push_str("  }\n");
    }
    out.push_str("}\n");
    out
}

/// The text of a kernel in its original order.
pub fn print_kernel(kernel: &Kernel) -> String {
    print_head(kernel) + "}\n"
}

/// The tree alone; statements are names.
pub fn print_tree(kernel: &Kernel, tree: &Green) -> String {
    let mut out = String::new();
    Printer { names: &Names::of(kernel), out: &mut out, define: None }.children(tree, 0);
    out
}

/// An expression.
pub fn print_affine(kernel: &Kernel, e: &Affine) -> String {
    Names::of(kernel).affine(e)
}

/// A constraint.
pub fn print_constraint(kernel: &Kernel, c: &Constraint) -> String {
    Names::of(kernel).constraint(c)
}

/// A run-time condition: `nooverlap(A, B)`, `N >= 3`.
pub fn print_runtime_condition(kernel: &Kernel, c: &RuntimeCondition) -> String {
    Names::of(kernel).runtime(c)
}

fn print_head(kernel: &Kernel) -> String {
    let names = Names::of(kernel);
    let mut out = format!("nest @{}", quoted(&kernel.name));
    if !kernel.params.is_empty() {
        let params: Vec<String> = kernel
            .params
            .iter()
            .map(|p| match p.ty {
                crate::ScalarType::I64 => quoted(&p.name),
                ty => format!("{}: {}", quoted(&p.name), ty.name()),
            })
            .collect();
        _ = write!(out, "[{}]", params.join(", "));
    }
    out.push_str(" {\n");
    if !kernel.context.is_empty() {
        let list: Vec<String> = kernel.context.iter().map(|c| names.constraint(c)).collect();
        _ = writeln!(out, "  assume {}", list.join(", "));
    }
    let mut users: FxHashMap<u32, usize> = FxHashMap::default();
    kernel.arrays.iter().for_each(|a| *users.entry(a.alias.class).or_default() += 1);
    for (i, a) in kernel.arrays.iter().enumerate() {
        let name = quoted_array(&a.name);
        let ty = a.element.name();
        if a.is_scalar() {
            _ = write!(out, "  scalar {name}: {ty}");
        } else {
            let extents: Vec<String> =
                a.extents.iter().map(|e| e.as_ref().map_or("?".into(), |e| names.affine(e))).collect();
            _ = write!(out, "  array {name}: {ty}[{}]", extents.join(", "));
        }
        if a.storage != Storage::Memory {
            _ = write!(out, " {}", a.storage.name());
        }
        let AliasClass { class, object } = a.alias;
        if class as usize != i || users.get(&class) != Some(&1) || object.is_some() {
            _ = write!(out, " alias {class}");
        }
        if let Some(object) = object {
            _ = write!(out, ":{object}");
        }
        out.push('\n');
    }
    if !kernel.assumptions.is_empty() {
        _ = writeln!(out, "  require {}", names.runtime_list(&kernel.assumptions));
    }
    if !kernel.no_calls.is_empty() {
        let list: Vec<String> = kernel.no_calls.iter().map(|name| quoted(name)).collect();
        _ = writeln!(out, "  nocall {}", list.join(", "));
    }
    let order = Order::of(&kernel.original);
    let in_order = |list: &[u32], count: usize| list.iter().map(|i| *i as usize).eq(0..count);
    let statements_in_place = in_order(&order.statements, kernel.statements.len());
    if !statements_in_place || !in_order(&order.variables, kernel.variables.len()) {
        let list: Vec<String> = kernel.variables.iter().map(|v| quoted(&v.name)).collect();
        if !list.is_empty() {
            _ = writeln!(out, "  variables {}", list.join(", "));
        }
    }
    let parser = Parser::new("", Tables::of(kernel)).ok();
    if !statements_in_place {
        for (id, s) in kernel.statements() {
            let scope: Vec<(VarId, bool)> = s.dims.iter().map(|v| (*v, true)).collect();
            _ = writeln!(out, "  statement {}", definition(&names, parser.as_ref(), id, &scope, true, 1));
        }
    }
    let define = Define { done: FxHashSet::default(), scope: Vec::new(), parser };
    let define = statements_in_place.then_some(define);
    Printer { names: &names, out: &mut out, define }.children(&kernel.original, 1);
    out
}

/// The order in which the original tree mentions variables and statements first.
#[derive(Default)]
struct Order {
    variables: Vec<u32>,
    statements: Vec<u32>,
}

impl Order {
    fn of(tree: &Green) -> Order {
        let mut order = Order::default();
        let mut seen = FxHashSet::default();
        for node in tree.walk() {
            match (node.node(), node.binds()) {
                (_, Some(v)) if seen.insert((true, v.0)) => order.variables.push(v.0),
                (Node::Stmt(s, _), _) if seen.insert((false, s.0)) => order.statements.push(s.0),
                _ => {}
            }
        }
        order
    }
}

struct Define {
    done: FxHashSet<StmtId>,
    scope: Vec<(VarId, bool)>,
    parser: Option<Parser>,
}

struct Printer<'a, 'k> {
    names: &'a Names<'k>,
    out: &'a mut String,
    /// Where statements are to be defined when they stand for the first time.
    define: Option<Define>,
}

impl Printer<'_, '_> {
    fn line(&mut self, indent: usize, text: &str) {
        for _ in 0..indent {
            self.out.push_str("  ");
        }
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// The node, or the children of a sequence, as lines.
    fn children(&mut self, node: &Green, indent: usize) {
        match node.node() {
            Node::Seq(list) => list.iter().for_each(|c| self.node(c, indent)),
            _ => self.node(node, indent),
        }
    }

    fn block(&mut self, head: &str, body: &Green, indent: usize) {
        self.line(indent, &format!("{head} {{"));
        self.children(body, indent + 1);
        self.line(indent, "}");
    }

    fn bound(&mut self, var: VarId, by_loop: bool, head: &str, body: &Green, indent: usize) {
        if let Some(d) = &mut self.define {
            d.scope.push((var, by_loop));
        }
        self.block(head, body, indent);
        if let Some(d) = &mut self.define {
            d.scope.pop();
        }
    }

    fn node(&mut self, node: &Green, indent: usize) {
        match node.node() {
            Node::Seq(_) => {
                self.line(indent, "{");
                self.children(node, indent + 1);
                self.line(indent, "}");
            }
            Node::Loop(h, body) => self.bound(h.var, true, &self.names.header(h), body, indent),
            Node::Let(v, e, body) => {
                let head = format!("let {} = {}", self.names.var(*v), self.names.affine(e));
                self.bound(*v, false, &head, body, indent);
            }
            Node::Guard(c, body) => {
                let condition = match &**c {
                    GuardCondition::Affine(c) => self.names.condition(c),
                    GuardCondition::Predicate { array, value } => {
                        format!("{}{}", if *value { "" } else { "!" }, self.names.array(*array))
                    }
                };
                self.block(&format!("if {condition}"), body, indent);
            }
            Node::Stmt(id, _) => {
                let first = self.define.as_mut().is_some_and(|d| d.done.insert(*id));
                let text = match &self.define {
                    Some(d) if first => {
                        definition(self.names, d.parser.as_ref(), *id, &d.scope, false, indent)
                    }
                    _ => self.names.statement(*id),
                };
                self.line(indent, &text);
            }
            Node::Alloc(buffer, body) => self.block(&self.names.buffer(buffer), body, indent),
            Node::Version(alternatives) => {
                self.line(indent, "version {");
                for a in alternatives.iter() {
                    let head = match a.conditions.as_slice() {
                        [] => "else".to_string(),
                        list => format!("when {}", self.names.runtime_list(list)),
                    };
                    self.block(&head, &a.body, indent + 1);
                }
                self.line(indent, "}");
            }
        }
    }
}
