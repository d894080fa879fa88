//! A kernel and a tree as functions of C.
//!
//! ```text
//! name(...):  granted? else return false
//!             check, memory for buffers? -> name_variant(...), else the original order
//! ```
//!
//! The variant is a function of its own, where there is a check, as only parameters can be promised to be `restrict`.

use crate::buffers::Heap;
use crate::code::{Code, Level, Lines};
use crate::emitter::Emitter;
use crate::error::CgenError;
use crate::helpers::Helper;
use crate::lanes::VectorType;
use crate::signature::{Argument, Signature};
use emission::conditions;
use emission::ranges::{Limits, is_implied};
use emission::scope::Scope;
use loop_tree::text::print_runtime_condition;
use loop_tree::{Calls, Constraint, Green, Kernel, Path, RuntimeCondition};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// A function that was emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its arguments, in order: of those that the kernel has the ones that are used.
    pub arguments: Vec<Argument>,
    /// Whether it returns a `bool`: false where it has done nothing, as what the kernel takes for granted does not hold. Else it returns
    /// nothing.
    pub declines: bool,
}

/// What is to be emitted.
#[derive(Clone, Copy, Debug)]
pub struct Variant<'a> {
    /// What is computed.
    pub kernel: &'a Kernel,
    /// In which order.
    pub root: &'a Green,
    /// When that is allowed; else the original order is taken.
    pub conditions: &'a [RuntimeCondition],
    /// Calls in the place of loops that are marked for a library.
    pub calls: &'a Calls,
    /// What to say of it in front, line by line.
    pub comment: &'a str,
}

/// A function with what it needs in front.
pub(crate) struct Emitted {
    pub(crate) function: Function,
    pub(crate) helpers: BTreeSet<Helper>,
    pub(crate) vectors: BTreeSet<VectorType>,
}

/// Writes the function, and the one for the variant under the second name where it needs one; the result says what it is, and what it
/// calls.
pub(crate) fn emit(
    [name, own]: [&str; 2],
    variant: &Variant<'_>,
    lines: &mut Lines,
) -> Result<Emitted, CgenError> {
    let Variant { kernel, root, conditions, calls, comment } = *variant;
    let all_conditions = conditions::checked(kernel, conditions);
    let is_granted = |c: &&RuntimeCondition| kernel.assumptions.contains(c);
    let needed: Vec<&RuntimeCondition> = all_conditions.iter().filter(|c| !is_granted(c)).collect();
    let original = loop_tree::canonical(kernel, &kernel.original);
    let mut signature = Signature::new(kernel, own);
    // Parameters are held to what suffices for both orders.
    let inner = Limits::of(kernel, root, &all_conditions)?;
    let fallback = Limits::of(kernel, &original, &kernel.assumptions)?;
    let bits = inner.bits.min(fallback.bits);
    let mut e = Emitter {
        kernel,
        calls,
        limits: inner,
        inside: false,
        names: std::mem::take(&mut signature.names),
        params: signature.params.clone(),
        arrays: signature.bases.clone(),
        byte_ranges: BTreeMap::new(),
        privates: BTreeMap::new(),
        declared: BTreeMap::new(),
        heap: BTreeMap::new(),
        on_stack: 0,
        shared: None,
        lanes: None,
        vectors: RefCell::default(),
        scope: Scope::default(),
        binders: Vec::new(),
        helpers: RefCell::default(),
        out: Lines { all: Vec::new(), depth: 1 },
        in_front: Vec::new(),
        temporaries: Vec::new(),
        path: Path::root(),
        place: kernel.name.to_string(),
    };
    let granted = e.granted(bits)?;
    let declines = !granted.is_empty() || kernel.assumptions.iter().any(is_overlap);
    e.decline_unless(&granted);
    // What no variant needs is not tested for the original.
    let needed = if *root == original { Vec::new() } else { needed };
    e.declare_ranges(kernel.assumptions.iter().chain(needed.iter().copied()))?;
    let apart: Vec<&RuntimeCondition> = kernel.assumptions.iter().filter(|c| is_overlap(c)).collect();
    let apart = e.tests(apart.into_iter())?;
    e.decline_unless(&apart);
    e.inside = true;

    let heap = e.find_heap(root)?;
    let mut tests = e.tests(needed.iter().copied())?;
    let has_check = !tests.is_empty() || !heap.is_empty();
    let tree = e.function_body(root, &signature, !has_check && !declines)?;
    let restricted =
        signature.restricted(kernel, if has_check { &all_conditions } else { &kernel.assumptions });
    if !has_check {
        e.out.all.extend(tree.all);
    } else {
        let mut parameters = signature.declared(&tree, &restricted);
        parameters.extend(heap.iter().map(Heap::parameter));
        let arguments: Vec<String> = signature
            .used(&tree)
            .map(|p| p.name.clone())
            .chain(heap.iter().map(|h| h.name.clone()))
            .collect();
        let call = format!("{own}({});", arguments.join(", "));
        lines.open(&format!("static void {own}({})", listed(&parameters)));
        lines.all.extend(tree.all);
        lines.close();
        lines.push("");
        let stated: Vec<String> = needed.iter().map(|c| print_runtime_condition(kernel, c)).collect();
        if !stated.is_empty() {
            e.out.push(format!("/* {} */", harmless(&stated.join(", "))));
        }
        e.allocate(&heap, &mut tests);
        e.out.open_if(&tests);
        e.out.push(call);
        e.release(&heap);
        e.out.close_else();
        e.release(&heap);
        (e.limits, e.on_stack) = (fallback, 0);
        e.heap.clear();
        e.out.depth -= 1;
        let tree = e.function_body(&original, &signature, false)?;
        e.out.all.extend(tree.all.into_iter().map(|(depth, line)| (depth + 1, line)));
        e.out.depth += 1;
        e.out.close();
    }
    if declines {
        e.out.push("return true;");
    }
    for (index, line) in comment.lines().enumerate() {
        let last = index + 1 == comment.lines().count();
        let (begin, end) = (if index == 0 { "/* " } else { "   " }, if last { " */" } else { "" });
        lines.push(format!("{begin}{}{end}", harmless(line)));
    }
    let restricted = if has_check { BTreeSet::new() } else { restricted };
    let parameters = signature.declared(&e.out, &restricted);
    let arguments = signature.used(&e.out).map(|p| p.argument).collect();
    let result = if declines { "bool" } else { "void" };
    lines.open(&format!("{result} {name}({})", listed(&parameters)));
    lines.all.extend(std::mem::take(&mut e.out.all));
    lines.close();
    Ok(Emitted {
        function: Function { name: name.to_string(), arguments, declines },
        helpers: e.helpers.into_inner(),
        vectors: e.vectors.into_inner(),
    })
}

impl Emitter<'_> {
    /// What is true of every call that the kernel describes: its context and assumptions, and that numbers are not huge.
    fn granted(&self, bits: u32) -> Result<Vec<Code>, CgenError> {
        let told = self.kernel.assumptions.iter().filter(|c| !is_implied(self.kernel, c));
        let assumed = told.filter_map(RuntimeCondition::parameter);
        let constraints: Vec<&Constraint> = self.kernel.context.iter().chain(assumed).collect();
        let mut tests = self.limit_tests(bits, &constraints);
        for c in constraints {
            let test = self.constraint(c)?;
            if !tests.contains(&test) {
                tests.push(test);
            }
        }
        Ok(tests)
    }

    fn decline_unless(&mut self, tests: &[Code]) {
        let Some(all) = crate::check::all(tests.to_vec()) else { return };
        let negated = Code::prefix("!", &Code::new(&*all.text, Level::Choice));
        self.out.open_if(&[negated]);
        self.out.push("return false; /* Nothing is done. */");
        self.out.close();
    }

    /// The tree with the scalars that live as long as it runs.
    fn function_body(
        &mut self,
        root: &Green,
        signature: &Signature,
        alone: bool,
    ) -> Result<Lines, CgenError> {
        self.find_privates(root)?;
        let alone = alone && signature.entry.is_empty() && signature.locals.is_empty();
        let mut body = self.apart(|e| e.tree(root, alone))?;
        self.excuse_unread(&mut body);
        let mut lines = Lines { all: Vec::new(), depth: self.out.depth };
        signature.entry.iter().for_each(|line| lines.push(&**line));
        for (ty, name) in signature.locals.iter().filter(|(_, name)| body.mention(name)) {
            lines.push(format!("{ty} {name} = 0;"));
            if !body.read(name) {
                lines.push(format!("(void){name};"));
            }
        }
        lines.all.extend(body.all);
        signature.exit.iter().for_each(|line| lines.push(&**line));
        Ok(lines)
    }
}

fn is_overlap(c: &RuntimeCondition) -> bool {
    matches!(c, RuntimeCondition::NoOverlap(..))
}

/// Parameters in parentheses.
fn listed(parameters: &[String]) -> String {
    if parameters.is_empty() { "void".to_string() } else { parameters.join(", ") }
}

/// Text that ends no comment.
fn harmless(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *")
}
