//! The parser's state, and declarations.

use super::lexer::{Tok, Token, is_reserved, tokens};
use super::{MAX_DEPTH, Program, TextError};
use crate::{
    Affine, AliasClass, Array, ArrayId, Green, Kept, Kernel, Param, ParamId, RuntimeCondition, ScalarType,
    Statement, StmtId, Storage, VarId, Variable, canonical,
};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

pub(super) type Parsed<T> = Result<T, TextError>;

/// What a name stands for.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Name {
    Param(ParamId),
    Array(ArrayId),
    /// An original or fresh variable.
    Var(VarId),
}

/// Tables of the kernel while it is being read.
#[derive(Default)]
pub(super) struct Tables {
    pub names: FxHashMap<Arc<str>, Name>,
    pub params: Vec<Param>,
    pub arrays: Vec<Array>,
    pub variables: Vec<Variable>,
    /// Every name is known, as a parameter: only the form of the text is looked at.
    pub any_name: bool,
    /// No further original variables: other names are fresh ones.
    pub variables_closed: bool,
    /// One more than the greatest fresh variable, counted from the originals.
    pub fresh: u32,
    pub statements: Vec<Arc<Statement>>,
    pub statement_names: FxHashMap<Arc<str>, StmtId>,
    /// Where each statement is defined.
    pub statement_spans: Vec<Range<usize>>,
}

impl Tables {
    pub fn of(kernel: &Kernel) -> Tables {
        let mut t = Tables {
            params: kernel.params.clone(),
            arrays: kernel.arrays.clone(),
            variables: kernel.variables.clone(),
            statements: kernel.statements.clone(),
            ..Tables::names_of(kernel)
        };
        for (id, s) in kernel.statements() {
            t.statement_names.insert(s.name.clone(), id);
            t.statement_spans.push(0..0);
        }
        t
    }

    /// Enough to read expressions.
    fn names_of(kernel: &Kernel) -> Tables {
        let params = kernel.params.iter().enumerate();
        let arrays = kernel.arrays.iter().enumerate();
        let variables = kernel.variables.iter().enumerate();
        let names = (params.map(|(n, p)| (p.name.clone(), Name::Param(ParamId::new(n)))))
            .chain(arrays.map(|(n, a)| (a.name.clone(), Name::Array(ArrayId::new(n)))))
            .chain(variables.map(|(n, v)| (v.name.clone(), Name::Var(VarId::new(n)))))
            .collect();
        Tables { names, variables_closed: true, ..Tables::default() }
    }
}

/// Reads tokens; each method reads one construct.
pub(super) struct Parser {
    pub tokens: Vec<Token>,
    pub at: usize,
    pub depth: usize,
    pub tables: Tables,
    /// Variables bound around the current place, outermost first, and whether by a loop.
    pub scope: Vec<(VarId, bool)>,
}

impl Parser {
    pub fn new(text: &str, tables: Tables) -> Parsed<Parser> {
        Ok(Parser { tokens: tokens(text)?, at: 0, depth: 0, tables, scope: Vec::new() })
    }

    pub fn peek(&self) -> &Tok {
        &self.tokens[self.at].tok
    }

    pub fn peek_at(&self, ahead: usize) -> &Tok {
        &self.tokens[(self.at + ahead).min(self.tokens.len() - 1)].tok
    }

    pub fn span(&self) -> Range<usize> {
        self.tokens[self.at].span.clone()
    }

    /// From a start to the end of the last token read.
    pub fn since(&self, start: usize) -> Range<usize> {
        let end = self.tokens[self.at.saturating_sub(1)].span.end;
        start..end.max(start)
    }

    pub fn next(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub fn is(&self, punct: &str) -> bool {
        matches!(self.peek(), Tok::Punct(p) if *p == punct)
    }

    pub fn is_at(&self, ahead: usize, punct: &str) -> bool {
        matches!(self.peek_at(ahead), Tok::Punct(p) if *p == punct)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Tok::Ident(w) if w == word)
    }

    pub fn eat(&mut self, punct: &str) -> bool {
        let yes = self.is(punct);
        if yes {
            self.next();
        }
        yes
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let yes = self.is_word(word);
        if yes {
            self.next();
        }
        yes
    }

    pub fn error<T>(&self, message: impl Into<String>, span: Range<usize>) -> Parsed<T> {
        Err(TextError { message: message.into(), help: None, span })
    }

    pub fn error_help<T>(
        &self,
        message: impl Into<String>,
        help: impl Into<String>,
        span: Range<usize>,
    ) -> Parsed<T> {
        Err(TextError { message: message.into(), help: Some(help.into()), span })
    }

    pub fn unexpected<T>(&self, wanted: &str) -> Parsed<T> {
        let found = match self.peek() {
            Tok::Ident(w) => format!("`{w}`"),
            Tok::Quoted(w) => format!("{w:?}"),
            Tok::Int(n) => format!("`{n}`"),
            Tok::Hex(n) => format!("`0x{n:x}`"),
            Tok::Float(n) => format!("`{n}`"),
            Tok::Punct(p) => format!("`{p}`"),
            Tok::End => "the end of the text".into(),
        };
        self.error(format!("expected {wanted}, found {found}"), self.span())
    }

    pub fn expect(&mut self, punct: &str) -> Parsed<()> {
        if self.eat(punct) { Ok(()) } else { self.unexpected(&format!("`{punct}`")) }
    }

    pub fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.unexpected(&format!("`{word}`")) }
    }

    /// One of several values by its name, if that is next.
    pub fn eat_name<T: Copy>(&mut self, values: &[T], name: impl Fn(T) -> &'static str) -> Option<T> {
        values.iter().copied().find(|value| self.eat_word(name(*value)))
    }

    /// Items with commas between them.
    pub fn several<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = vec![item(self)?];
        while self.eat(",") {
            list.push(item(self)?);
        }
        Ok(list)
    }

    /// Items up to what ends them, with commas between them and perhaps one behind; there may be none.
    pub fn until<T>(&mut self, end: &str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        while !self.eat(end) {
            list.push(item(self)?);
            if !self.is(end) {
                self.expect(",")?;
            }
        }
        Ok(list)
    }

    /// Something in parentheses. Inlined, so that what is inside of it again takes no more of the stack.
    #[inline(always)]
    pub fn parenthesised<T>(&mut self, inside: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        self.expect("(")?;
        let found = inside(self)?;
        self.expect(")")?;
        Ok(found)
    }

    /// Runs a nested construct, unless it is nested too deeply.
    pub fn nested<T>(&mut self, f: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            return self.error(format!("nested more than {MAX_DEPTH} deep"), self.span());
        }
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    /// A name: a word that is not reserved, or a quoted one.
    pub fn name(&mut self, what: &str) -> Parsed<(Arc<str>, Range<usize>)> {
        let span = self.span();
        match self.peek() {
            Tok::Ident(w) if is_reserved(w) => {
                let help = format!("write \"{w}\" in quotes to use it as a name");
                self.error_help(format!("`{w}` is reserved and cannot be {what}"), help, span)
            }
            Tok::Ident(w) | Tok::Quoted(w) => {
                let name: Arc<str> = w.as_str().into();
                self.next();
                Ok((name, span))
            }
            _ => self.unexpected(what),
        }
    }

    pub fn new_name(&mut self, what: &str) -> Parsed<(Arc<str>, Range<usize>)> {
        let (name, span) = self.name(what)?;
        if self.tables.names.contains_key(&name) {
            return self.error(format!("the name `{name}` is taken already"), span);
        }
        Ok((name, span))
    }

    pub fn lookup(&self, name: &str, span: &Range<usize>) -> Parsed<Name> {
        match self.tables.names.get(name) {
            Some(name) => Ok(*name),
            None if self.tables.any_name => Ok(Name::Param(ParamId(0))),
            None => self.error_help(
                format!("`{name}` is not known"),
                "parameters stand in brackets after the nest's name; arrays and scalars are declared before the body",
                span.clone(),
            ),
        }
    }

    pub fn scalar_type(&mut self) -> Parsed<ScalarType> {
        match self.optional_type() {
            Some(ty) => Ok(ty),
            None => self.unexpected("a type (i1, i8, i16, i32, i64, f32, f64)"),
        }
    }

    pub fn small_number(&mut self, what: &str) -> Parsed<u32> {
        match *self.peek() {
            Tok::Int(n) if u32::try_from(n).is_ok() => {
                self.next();
                Ok(n as u32)
            }
            Tok::Int(_) => self.error(format!("{what} must fit in 32 bits"), self.span()),
            _ => self.unexpected(what),
        }
    }

    pub fn array_name(&mut self) -> Parsed<ArrayId> {
        let (name, span) = self.name("an array")?;
        match self.lookup(&name, &span)? {
            Name::Array(id) => Ok(id),
            _ => self.error(format!("`{name}` is not an array"), span),
        }
    }
}

pub(super) fn program(text: &str) -> Parsed<Program> {
    let mut p = Parser::new(text, Tables::default())?;
    p.expect_word("nest")?;
    p.expect("@")?;
    let header = p.span();
    let (name, _) = match p.peek().clone() {
        Tok::Ident(w) => (w, p.next()),
        Tok::Quoted(w) => (w, p.next()),
        _ => return p.unexpected("the nest's name"),
    };
    p.params()?;
    p.expect("{")?;
    let mut context = Vec::new();
    let (mut assumptions, mut no_calls) = (Vec::new(), Vec::new());
    let mut aliases = Vec::new();
    loop {
        if p.eat_word("assume") {
            p.several(|p| p.conjunction(&mut context))?;
        } else if p.is_word("array") || p.is_word("scalar") {
            aliases.push(p.array()?);
        } else if p.eat_word("require") {
            assumptions.append(&mut p.runtime_conditions()?);
        } else if p.eat_word("nocall") {
            no_calls.append(&mut p.several(|p| Ok(p.name("a function")?.0))?);
        } else if p.eat_word("variables") {
            p.variables()?;
        } else if p.eat_word("statement") {
            p.declared_statement()?;
        } else {
            break;
        }
    }
    p.alias_classes(&aliases);
    let original = p.sequence_until_end()?;
    let variant = if p.eat_word("variant") {
        p.tables.variables_closed = true;
        Some(p.block()?)
    } else {
        None
    };
    p.expect("}")?;
    if *p.peek() != Tok::End {
        return p.unexpected("the end of the text");
    }
    let Tables { params, arrays, variables, statements, statement_spans, .. } = p.tables;
    let mut kernel = Kernel {
        name: name.into(),
        params,
        variables,
        arrays,
        statements,
        context,
        assumptions,
        no_calls,
        original: Green::empty(),
    };
    kernel.original = canonical(&kernel, &original);
    let variant = variant.map(|v| canonical(&kernel, &v));
    let mut problems = crate::validate(&kernel, &kernel.original);
    problems.extend(variant.iter().flat_map(|v| crate::validate_tree(&kernel, v)));
    if let Some(problem) = problems.first() {
        let span =
            problem.statement().and_then(|s| statement_spans.get(s.index()).cloned()).unwrap_or(header);
        return Err(TextError { message: problem.describe(&kernel), help: None, span });
    }
    Ok(Program { kernel: Arc::new(kernel), variant })
}

pub(super) fn tree_of(kernel: &Kernel, text: &str) -> Parsed<Green> {
    let mut p = Parser::new(text, Tables::of(kernel))?;
    let tree = p.sequence_until_end()?;
    if *p.peek() != Tok::End {
        return p.unexpected("a node of the tree");
    }
    let tree = canonical(kernel, &tree);
    match crate::validate_tree(kernel, &tree).first() {
        Some(problem) => p.error(problem.describe(kernel), 0..text.len()),
        None => Ok(tree),
    }
}

pub(super) fn runtime_condition_of(kernel: &Kernel, text: &str) -> Parsed<RuntimeCondition> {
    let mut p = Parser::new(text, Tables::of(kernel))?;
    let mut list = p.runtime_conditions()?;
    match (list.pop(), list.is_empty(), p.peek()) {
        (Some(c), true, Tok::End) => Ok(c),
        _ => p.error("expected one condition", 0..text.len()),
    }
}

pub(super) fn affine_of(kernel: &Kernel, scope: &[VarId], text: &str) -> Parsed<Affine> {
    let mut tables = Tables::names_of(kernel);
    for var in scope.iter().filter(|v| !kernel.is_original(**v)) {
        tables.names.insert(kernel.variable_name(*var).into(), Name::Var(*var));
    }
    let scope = scope.iter().map(|v| (*v, true)).collect();
    Parser { scope, ..Parser::new(text, tables)? }.only_affine()
}

pub(super) fn any_affine(text: &str) -> Parsed<()> {
    Parser::new(text, Tables { any_name: true, ..Tables::default() })?.only_affine().map(drop)
}

impl Parser {
    fn only_affine(mut self) -> Parsed<Affine> {
        let e = self.affine()?;
        if *self.peek() == Tok::End { Ok(e) } else { self.unexpected("the end of the expression") }
    }

    fn params(&mut self) -> Parsed<()> {
        if !self.eat("[") || self.eat("]") {
            return Ok(());
        }
        loop {
            let (name, _) = self.new_name("a parameter")?;
            let span = self.span();
            let ty = if self.eat(":") { self.scalar_type()? } else { ScalarType::I64 };
            if ty.is_float() {
                return self.error_help("a parameter is an integer", "declare it as a scalar", span);
            }
            self.tables.names.insert(name.clone(), Name::Param(ParamId::new(self.tables.params.len())));
            self.tables.params.push(Param { name, ty });
            if self.eat("]") {
                return Ok(());
            }
            self.expect(",")?;
        }
    }

    /// `array A: f64[N, M] local alias 1:0`, `scalar s: f64 in`; returns the alias class where given.
    fn array(&mut self) -> Parsed<Option<u32>> {
        let is_array = self.is_word("array");
        self.next();
        if let Tok::Ident(w) = self.peek()
            && ScalarType::from_name(w).is_some()
        {
            let help = format!("write \"{w}\" in quotes to use it as a name");
            return self.error_help(format!("`{w}` is a type and cannot name an array"), help, self.span());
        }
        let (name, _) = self.new_name("an array")?;
        self.expect(":")?;
        let element = self.scalar_type()?;
        let mut extents = Vec::new();
        if is_array {
            self.expect("[")?;
            loop {
                let span = self.span();
                if self.eat("?") {
                    if !extents.is_empty() {
                        return self.error("only the outermost extent may be unknown", span);
                    }
                    extents.push(None);
                } else {
                    extents.push(Some(self.affine()?));
                }
                if self.eat("]") {
                    break;
                }
                self.expect(",")?;
            }
        }
        let storage = self.eat_name(Storage::ALL, Storage::name).unwrap_or(Storage::Memory);
        let alias = if self.eat_word("alias") { Some(self.small_number("an alias class")?) } else { None };
        let has_object = alias.is_some() && self.eat(":");
        let object = if has_object { Some(self.small_number("an object")?) } else { None };
        self.tables.names.insert(name.clone(), Name::Array(ArrayId::new(self.tables.arrays.len())));
        self.tables.arrays.push(Array {
            name,
            element,
            extents,
            storage,
            alias: AliasClass { class: 0, object },
        });
        Ok(alias)
    }

    /// An array without a class is in one of its own: its index, or a number beyond all where that is given to another.
    fn alias_classes(&mut self, given: &[Option<u32>]) {
        let mut beyond = given.len() as u32;
        let taken: std::collections::BTreeSet<u32> = given.iter().flatten().copied().collect();
        for (i, alias) in given.iter().enumerate() {
            let index = i as u32;
            self.tables.arrays[i].alias.class = match alias {
                Some(class) => *class,
                None if !taken.contains(&index) => index,
                None => {
                    while taken.contains(&beyond) {
                        beyond = beyond.saturating_add(1);
                    }
                    beyond = beyond.saturating_add(1);
                    beyond - 1
                }
            };
        }
    }

    fn variables(&mut self) -> Parsed<()> {
        self.tables.variables_closed = true;
        self.several(|p| {
            let (name, _) = p.new_name("a variable")?;
            p.tables.names.insert(name.clone(), Name::Var(VarId::new(p.tables.variables.len())));
            p.tables.variables.push(Variable { name, kept: None });
            Ok(())
        })
        .map(drop)
    }

    /// The variable that a loop or `let` of this name binds.
    pub(super) fn binder(&mut self) -> Parsed<VarId> {
        let (name, span) = self.name("a variable")?;
        match self.tables.names.get(&name) {
            Some(Name::Var(v)) => return Ok(*v),
            Some(_) => return self.error(format!("`{name}` is a parameter or array, not a variable"), span),
            None => {}
        }
        let var = if self.tables.variables_closed {
            // `t3` is the third fresh variable, so that what was printed is read as it was.
            let number = name.trim_start_matches('_').strip_prefix('t').and_then(|n| n.parse::<u32>().ok());
            let number = number.filter(|n| *n < 1 << 20);
            let number = match number {
                Some(n) if !self.fresh_taken(n) => n,
                _ => self.tables.fresh.max(1 << 20),
            };
            self.tables.fresh = self.tables.fresh.max(number + 1);
            VarId::new(self.tables.variables.len() + number as usize)
        } else {
            self.tables.variables.push(Variable { name: name.clone(), kept: None });
            VarId::new(self.tables.variables.len() - 1)
        };
        self.tables.names.insert(name, Name::Var(var));
        Ok(var)
    }

    /// The same for a loop of which the source says something: so of the original one, wherever it is read first.
    pub(super) fn binder_kept(&mut self, kept: Option<Kept>) -> Parsed<VarId> {
        let span = self.span();
        let var = self.binder()?;
        match (kept, self.tables.variables.get_mut(var.index())) {
            (None, _) => {}
            (Some(_), Some(original)) => original.kept = kept,
            (Some(_), None) => return self.error("only loops of the original are kept", span),
        }
        Ok(var)
    }

    fn fresh_taken(&self, number: u32) -> bool {
        let var = VarId::new(self.tables.variables.len() + number as usize);
        self.tables.names.values().any(|n| *n == Name::Var(var))
    }
}
