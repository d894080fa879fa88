//! A kernel and a tree as a function of C.

use crate::check::all;
use crate::code::{Code, Level, Lines};
use crate::emitter::{Emitter, Parameter, Place};
use crate::error::CgenError;
use crate::helpers::Helper;
use crate::names::Names;
use crate::types::c_type;
use emission::conditions;
use emission::ranges::Limits;
use emission::scope::Scope;
use loop_tree::text::print_runtime_condition;
use loop_tree::{
    AccessKind, ArrayId, Constraint, Green, Kernel, ParamId, Path, RuntimeCondition, ScalarType, Storage,
};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// What an argument of an emitted function means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A parameter of the kernel, by value.
    Param(ParamId),
    /// A pointer to the first element of an array, or to a scalar whose last value is used.
    Pointer(ArrayId),
    /// The value of a scalar that is only read.
    Scalar(ArrayId),
}

/// A function that was emitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its arguments, in order.
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
    /// What to say of it in front, line by line.
    pub comment: &'a str,
}

/// A file of C that functions are added to.
#[derive(Default)]
pub struct File {
    names: Names,
    helpers: BTreeSet<Helper>,
    functions: String,
}

impl File {
    /// An empty file.
    pub fn new() -> File {
        File::default()
    }

    /// Adds a function, whose name is as close to the one wanted as C allows.
    ///
    /// # Errors
    /// Where the tree cannot be said in C.
    pub fn add(&mut self, name: &str, variant: &Variant<'_>) -> Result<Function, CgenError> {
        let name = self.names.fresh(name);
        let mut lines = Lines::default();
        let (function, helpers) = emit(&name, variant, &mut lines)?;
        self.helpers.extend(helpers);
        self.functions.push('\n');
        self.functions.push_str(&lines.text());
        Ok(function)
    }

    /// The text.
    pub fn text(&self) -> String {
        let mut body = String::new();
        for helper in self.helpers.iter().rev() {
            let call = format!("{}(", helper.name());
            if self.functions.contains(&call) || body.contains(&call) {
                body = format!("\n{}{body}", helper.definition());
            }
        }
        body.push_str(&self.functions);
        let mut out = String::from(HEAD);
        let uses = |words: &[&str]| words.iter().any(|w| body.contains(w));
        if MATHS.iter().any(|w| body.contains(&format!("{w}(")) || body.contains(&format!("{w}f(")))
            || uses(&["INFINITY"])
        {
            out.push_str("#include <math.h>\n");
        }
        if uses(&["bool", "true", "false"]) {
            out.push_str("#include <stdbool.h>\n");
        }
        out.push_str("#include <stdint.h>\n");
        if uses(&["memcpy("]) {
            out.push_str("#include <string.h>\n");
        }
        out.push_str(CONTRACTION);
        if uses(&["int128"]) {
            out.push_str("\n__extension__ typedef __int128 int128;\n");
        }
        out + &body
    }
}

const HEAD: &str = "/* Written by looptree. Results are those of the original, bit for bit, with -ffp-contract=off and without -ffast-math.\n   \
    Pointers are aligned as their types are. */\n";

const CONTRACTION: &str = "#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#endif\n";

/// Functions and macros of `math.h` that are called.
const MATHS: [&str; 25] = [
    "sqrt",
    "fabs",
    "fma",
    "floor",
    "ceil",
    "trunc",
    "rint",
    "nearbyint",
    "round",
    "fmin",
    "fmax",
    "copysign",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "sin",
    "cos",
    "pow",
    "fmod",
    "isunordered",
    "islessgreater",
    "signbit",
    "isnan",
];

/// Writes the function; the result says what it is, and what it calls.
fn emit(
    name: &str,
    variant: &Variant<'_>,
    lines: &mut Lines,
) -> Result<(Function, BTreeSet<Helper>), CgenError> {
    let Variant { kernel, root, conditions, comment } = *variant;
    let all_conditions = conditions::checked(kernel, conditions);
    let needed: Vec<RuntimeCondition> =
        all_conditions.iter().filter(|c| !kernel.assumptions.contains(c)).cloned().collect();
    let original = loop_tree::canonical(kernel, &kernel.original);
    // What no variant needs is not tested for the original.
    let reorders = *root != original;

    let mut names = Names::default();
    // How each argument is declared, its name, and what it means.
    let mut signature: Vec<(String, String, Argument)> = Vec::new();
    let mut params = Vec::new();
    for (index, param) in kernel.params.iter().enumerate() {
        let name = names.fresh(&param.name);
        signature.push((
            format!("{} {name}", c_type(param.ty)),
            name.clone(),
            Argument::Param(ParamId::new(index)),
        ));
        params.push(Parameter { name, wide: param.ty == ScalarType::I64 });
    }
    let (mut places, mut locals) = (Vec::new(), Vec::new());
    let (mut entry, mut exit): (Vec<String>, Vec<String>) = Default::default();
    for (index, array) in kernel.arrays.iter().enumerate() {
        let (id, ty) = (ArrayId::new(index), c_type(array.element));
        let written = is_written(kernel, id);
        let name = names.fresh(&array.name);
        if !array.is_scalar() || array.storage == Storage::Memory {
            let constant = if written { "" } else { "const " };
            signature.push((format!("{constant}{ty} *{name}"), name.clone(), Argument::Pointer(id)));
            places.push(Place::Pointer(name));
            continue;
        }
        match array.storage {
            Storage::LiveIn if !written => {
                signature.push((format!("{ty} {name}"), name.clone(), Argument::Scalar(id)));
            }
            Storage::LiveIn | Storage::LiveOut => {
                let pointer = names.fresh(&format!("{}_out", array.name));
                signature.push((format!("{ty} *{pointer}"), pointer.clone(), Argument::Pointer(id)));
                entry.push(format!("{ty} {name} = *{pointer};"));
                exit.push(format!("*{pointer} = {name};"));
            }
            _ => locals.push((ty, name.clone())),
        }
        places.push(Place::Variable(name));
    }
    // Parameters are held to what suffices for both orders.
    let inner = Limits::of(kernel, root, &all_conditions)?;
    let fallback = Limits::of(kernel, &original, &kernel.assumptions)?;
    let bits = inner.bits.min(fallback.bits);
    let mut emitter = Emitter {
        kernel,
        limits: inner,
        inside: false,
        names,
        params,
        arrays: places,
        scope: Scope::default(),
        binders: Vec::new(),
        helpers: RefCell::default(),
        out: Lines { all: Vec::new(), depth: 1 },
        in_front: Vec::new(),
        temporaries: Vec::new(),
        path: Path::root(),
        place: kernel.name.to_string(),
    };
    // What is true of every call that the kernel describes: its context and assumptions, and that numbers are not huge.
    let context: Vec<&Constraint> = kernel
        .context
        .iter()
        .chain(kernel.assumptions.iter().filter_map(|a| match a {
            RuntimeCondition::Parameter(c) => Some(c),
            RuntimeCondition::NoOverlap(..) => None,
        }))
        .collect();
    let mut granted = emitter.limit_tests(bits, &context);
    for c in &kernel.context {
        granted.push(emitter.constraint(c)?);
    }
    granted.extend(emitter.runtime_conditions(&kernel.assumptions)?);
    let granted = all(granted);
    let test = if reorders { emitter.runtime_conditions(&needed)? } else { None };
    let declines = granted.is_some();
    if let Some(granted) = &granted {
        let negated = Code::prefix("!", &Code::new(&*granted.text, Level::Choice));
        emitter.out.open(&format!("if ({})", negated.text));
        emitter.out.push("return false; /* Nothing is done. */");
        emitter.out.close();
    }
    emitter.inside = true;
    let body = emitter.apart(|e| {
        match &test {
            None => e.tree(root, entry.is_empty() && locals.is_empty() && !declines)?,
            Some(test) => {
                let stated: Vec<String> = needed.iter().map(|c| print_runtime_condition(kernel, c)).collect();
                e.out.push(format!("/* {} */", harmless(&stated.join(", "))));
                e.block(&format!("if ({})", test.text), |e| e.tree(root, true))?;
                e.limits = fallback;
                e.block("else", |e| e.tree(&original, true))?;
            }
        }
        Ok(())
    })?;
    entry.iter().for_each(|line| emitter.out.push(&**line));
    for (ty, name) in &locals {
        if body.mention(name) {
            emitter.out.push(format!("{ty} {name} = 0;"));
            if !body.read(name) {
                emitter.out.push(format!("(void){name};"));
            }
        }
    }
    emitter.out.all.extend(body.all);
    exit.iter().for_each(|line| emitter.out.push(&**line));
    if declines {
        emitter.out.push("return true;");
    }
    // What nothing asks for is no argument.
    signature.retain(|(_, name, _)| emitter.out.mention(name));
    let result = if declines { "bool" } else { "void" };
    if !comment.is_empty() {
        let mut said: Vec<String> = comment.lines().map(|l| harmless(l).to_string()).collect();
        if let Some(last) = said.last_mut() {
            last.push_str(" */");
        }
        for (index, line) in said.iter().enumerate() {
            lines.push(format!("{}{line}", if index == 0 { "/* " } else { "   " }));
        }
    }
    let declared: Vec<&str> = signature.iter().map(|(text, ..)| &**text).collect();
    let declared = if declared.is_empty() { "void".to_string() } else { declared.join(", ") };
    let arguments = signature.iter().map(|(.., argument)| *argument).collect();
    lines.open(&format!("{result} {name}({declared})"));
    lines.all.extend(emitter.out.all);
    lines.close();
    Ok((Function { name: name.to_string(), arguments, declines }, emitter.helpers.into_inner()))
}

fn is_written(kernel: &Kernel, array: ArrayId) -> bool {
    let writes = |a: &loop_tree::Access| a.array == array && a.kind != AccessKind::Read;
    kernel.statements.iter().any(|s| s.accesses.iter().any(writes))
}

/// Text that ends no comment.
fn harmless(text: &str) -> String {
    text.replace("*/", "* /").replace("/*", "/ *")
}
