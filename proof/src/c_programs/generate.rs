//! Random functions from a seed.

use super::fit::{Fitted, fit};
use super::{
    Arith, Array, AssignOp, Compare, Condition, Element, Form, Function, Index, IntType, Kept, Layout, Loop,
    Lvalue, MathFunction, Named, Param, Scalar, Stmt, Value,
};
use fastrand::Rng;

/// What random functions look like. Chances are in percent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    /// Loops inside each other.
    pub depth: usize,
    /// Assignments.
    pub statements: usize,
    /// Subscripts and bounds that are not affine, narrow and unsigned types, values near the limits of types.
    pub odd: u32,
    /// Conditions on data, indirect subscripts.
    pub data_dependent: u32,
    /// `break`, `continue`, `return`, calls that do not return.
    pub exits: u32,
    /// Calls with side effects, volatile arrays.
    pub opaque: u32,
    /// Loop bodies that set a scalar first, and store it last.
    pub own_scalars: u32,
    /// Functions with an array of their own that is allocated.
    pub temporaries: u32,
    /// Bounds that are products of parameters.
    pub products: u32,
}

impl Default for Profile {
    fn default() -> Self {
        let profile = Profile { depth: 4, statements: 6, odd: 8, data_dependent: 10, ..Self::affine() };
        Profile { exits: 6, opaque: 2, products: 8, ..profile }
    }
}

impl Profile {
    /// Loops and arrays that should be understood completely.
    pub fn affine() -> Self {
        Profile {
            depth: 3,
            statements: 5,
            odd: 0,
            data_dependent: 0,
            exits: 0,
            opaque: 0,
            own_scalars: 0,
            temporaries: 0,
            products: 0,
        }
    }
}

/// The function of a seed: the same seed gives the same function. Tries until something fits, which takes a few
/// attempts; `None` after fifty.
pub fn generate(seed: u64, profile: &Profile) -> Option<Fitted> {
    let mut rng = Rng::with_seed(seed);
    (0..50).find_map(|_| {
        let function = Generator::new(&mut rng, profile).function();
        fit(function).ok().filter(does_something)
    })
}

fn does_something(fitted: &Fitted) -> bool {
    fitted.extents.iter().any(|e| e.touched.iter().any(Option::is_some))
}

struct InScope {
    var: usize,
    /// The variable counts from near this parameter, which may be large.
    base: Option<usize>,
}

struct Generator<'a> {
    rng: &'a mut Rng,
    profile: &'a Profile,
    params: Vec<Param>,
    /// Parameters with values near the limit of their type.
    big: Vec<bool>,
    arrays: Vec<Array>,
    scalars: Vec<Scalar>,
    variables: usize,
    scope: Vec<InScope>,
    statements: usize,
    /// What the loops around allow: whether `continue` may stand here.
    loops: Vec<Form>,
    main: Element,
    /// The scalar that the loop body around has for itself.
    own: Option<usize>,
}

impl<'a> Generator<'a> {
    fn new(rng: &'a mut Rng, profile: &'a Profile) -> Self {
        Generator {
            rng,
            profile,
            params: vec![],
            big: vec![],
            arrays: vec![],
            scalars: vec![],
            variables: 0,
            scope: vec![],
            statements: 0,
            loops: vec![],
            main: Element::F64,
            own: None,
        }
    }

    fn chance(&mut self, percent: u32) -> bool {
        self.rng.u32(0..100) < percent
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.usize(0..list.len())]
    }

    fn function(mut self) -> Function {
        self.main = self.element();
        for _ in 0..self.rng.usize(1..=2) {
            self.param();
        }
        for _ in 0..self.rng.usize(1..=4) {
            self.array();
        }
        if self.profile.temporaries > 0 && self.chance(self.profile.temporaries) {
            let (element, layout) = (self.main, Layout::Temporary);
            let named = self.pick(&[Named::Itself, Named::Itself, Named::Static, Named::Twice]);
            let (restrict, volatile) = (false, false);
            self.arrays.push(Array { element, layout, rank: 1, restrict, volatile, named });
        }
        for _ in 0..self.rng.usize(0..=2) {
            let ty = if self.chance(70) { self.main } else { self.element() };
            let init = self.rng.i64(0..5);
            let bounded = matches!(ty, Element::Int(t) if t.bits() >= 32) && self.chance(60);
            self.scalars.push(Scalar { ty, init, bounded });
        }
        self.statements = self.rng.usize(1..=self.profile.statements);
        let mut body = Vec::new();
        for _ in 0..self.rng.usize(1..=3) {
            if self.statements > 0 {
                body.extend(self.nest(self.profile.depth));
            }
            if self.chance(self.profile.exits) {
                let condition = if self.chance(60) { self.bound() } else { self.data_condition() };
                body.push(Stmt::If(condition, vec![Stmt::End(self.subscript())], vec![]));
            }
        }
        let result =
            (!self.scalars.is_empty() && self.chance(80)).then(|| self.rng.usize(0..self.scalars.len()));
        Function {
            params: self.params,
            arrays: self.arrays,
            scalars: self.scalars,
            variables: self.variables,
            body,
            result,
        }
    }

    fn element(&mut self) -> Element {
        match self.rng.u32(0..100) {
            0..40 => Element::F64,
            40..52 => Element::F32,
            52..72 => Element::Int(IntType::I32),
            72..80 => Element::Int(IntType::I64),
            _ => Element::Int(self.pick(&IntType::ALL)),
        }
    }

    fn param(&mut self) {
        let odd = self.chance(self.profile.odd);
        let ty = match self.rng.u32(0..100) {
            0..60 => IntType::I32,
            60..85 => IntType::I64,
            85..92 => IntType::U32,
            _ => IntType::U64,
        };
        let ty = if odd { self.pick(&IntType::ALL) } else { ty };
        let big = odd && self.chance(50);
        let least = if ty.is_signed() { -3 } else { 0 };
        let values = if big {
            let limit = match ty {
                IntType::U64 => i64::MAX,
                _ => ((1i128 << (ty.bits() - u32::from(ty.is_signed()))) - 1) as i64,
            };
            (0..4).map(|_| limit - self.rng.i64(0..30)).collect()
        } else {
            let mut values = vec![self.rng.i64(4..=9), self.rng.i64(0..=1), self.rng.i64(least..=9)];
            values.push(self.rng.i64(least..=12));
            values
        };
        let kept = match self.rng.u32(0..100) {
            0..75 => Kept::Passed,
            75..90 => Kept::Pointed,
            _ => Kept::Global,
        };
        self.params.push(Param { ty, values, kept });
        self.big.push(big);
    }

    fn small_param(&mut self) -> Option<usize> {
        let small: Vec<usize> = (0..self.params.len()).filter(|p| !self.big[*p]).collect();
        (!small.is_empty()).then(|| self.pick(&small))
    }

    fn array(&mut self) {
        let element = if self.chance(75) { self.main } else { self.element() };
        let (layout, rank) = match self.rng.u32(0..100) {
            0..40 => (Layout::Flat, 1),
            40..58 => (Layout::Constant, self.rng.usize(2..=3)),
            58..74 => match self.small_param() {
                Some(param) => (Layout::Variable { param }, self.rng.usize(2..=3)),
                None => (Layout::Flat, 1),
            },
            74..92 => {
                let param = if self.chance(60) { self.small_param() } else { None };
                let extra = match param {
                    Some(_) => self.rng.i64(0..=3),
                    None => self.rng.i64(4..=16),
                };
                (Layout::Linear { param, extra }, 2)
            }
            _ => (Layout::Local, 1),
        };
        let local = layout == Layout::Local;
        let restrict = !local && self.chance(20);
        let volatile = !local && self.chance(self.profile.opaque);
        // Rows of a variable length have a type in the function only.
        let flat = matches!(layout, Layout::Flat | Layout::Linear { .. });
        let named = match self.rng.u32(0..100) {
            _ if local || restrict => Named::Itself,
            0..12 => Named::Behind,
            12..17 if flat => Named::Static,
            17..25 if flat => Named::Twice,
            _ => Named::Itself,
        };
        self.arrays.push(Array { element, layout, rank, restrict, volatile, named });
    }

    /// One loop with all that is inside, or simple statements.
    fn nest(&mut self, depth: usize) -> Vec<Stmt> {
        if depth == 0
            || (self.scope.len() >= 2 && self.chance(35))
            || (self.scope.is_empty() && self.chance(5))
        {
            return self.simple();
        }
        let (var, header) = self.header();
        self.loops.push(header.form);
        self.scope.push(var);
        let mut body = Vec::new();
        let parts = match self.rng.u32(0..100) {
            0..55 => 1,
            55..85 => 2,
            _ => 3,
        };
        let own = self.own;
        let percent = self.profile.own_scalars;
        if percent > 0 && own.is_none() && !self.scalars.is_empty() && self.chance(percent) {
            let s = self.rng.usize(0..self.scalars.len());
            let value = self.value(self.scalars[s].ty, 1);
            body.push(Stmt::Assign(Lvalue::Scalar(s), AssignOp::Set, value));
            self.own = Some(s);
        }
        for _ in 0..parts {
            if self.statements == 0 && !body.is_empty() {
                break;
            }
            let inner = if self.chance(65) { self.nest(depth - 1) } else { self.simple() };
            body.extend(self.guarded(inner));
        }
        if let Some(s) = self.own.filter(|_| own.is_none()) {
            let a = self.rng.usize(0..self.arrays.len());
            let value = self.converted(self.arrays[a].element, self.scalars[s].ty, |_| Value::Scalar(s));
            body.push(Stmt::Assign(Lvalue::Element(a, self.subscripts(a)), AssignOp::Set, value));
        }
        self.own = own;
        if self.chance(self.profile.exits) {
            let exit = self.exit();
            let at = self.rng.usize(0..=body.len());
            body.insert(at, exit);
        }
        self.scope.pop();
        self.loops.pop();
        vec![Stmt::Loop(Box::new(Loop { body, ..header }))]
    }

    fn exit(&mut self) -> Stmt {
        let resumes = !matches!(self.loops.last(), Some(Form::While | Form::DoWhile));
        let exit = match self.rng.u32(0..5) {
            0 if resumes => Stmt::Continue,
            1 => Stmt::Return,
            2 => Stmt::End(self.subscript()),
            3 => return Stmt::If(self.bound(), vec![Stmt::End(self.subscript())], vec![]),
            _ => Stmt::Break,
        };
        let condition = if self.chance(50) { self.index_condition() } else { self.data_condition() };
        Stmt::If(condition, vec![exit], vec![])
    }

    /// A variable is at an extent or beyond: seldom so.
    fn bound(&mut self) -> Condition {
        let var = self.var().unwrap_or(Index::Constant(0));
        let most = self.extent().offset(self.rng.i64(0..=3));
        let (above, below) = (Compare::Ge, Condition::Index(var.clone(), Compare::Lt, Index::Constant(0)));
        let beyond = Condition::Index(var, above, most);
        if self.chance(30) { Condition::Or(Box::new(below), Box::new(beyond)) } else { beyond }
    }

    fn guarded(&mut self, body: Vec<Stmt>) -> Vec<Stmt> {
        if self.chance(self.profile.odd / 4) {
            let index = self.subscript();
            let other = if self.statements > 0 { self.simple() } else { vec![] };
            return vec![Stmt::Switch(index, [body, other, vec![]])];
        }
        let guarded = self.rng.u32(0..100);
        let condition = match guarded {
            0..14 => self.index_condition(),
            _ if guarded < 14 + self.profile.data_dependent => self.data_condition(),
            _ => return body,
        };
        let no = if self.statements > 0 && self.chance(35) {
            let no = self.simple();
            if self.chance(30) { self.guarded(no) } else { no }
        } else {
            vec![]
        };
        vec![Stmt::If(condition, body, no)]
    }

    fn header(&mut self) -> (InScope, Loop) {
        let var = self.variables;
        self.variables += 1;
        let odd = self.chance(self.profile.odd);
        let base = (0..self.params.len()).find(|p| self.big[*p]).filter(|_| self.chance(50));
        let (lower, mut upper, ty) = match base {
            Some(p) => {
                let back = self.rng.i64(2..=8);
                let ahead = back - self.rng.i64(0..=8).min(back);
                (Index::Param(p).offset(-back), Index::Param(p).offset(-ahead), self.params[p].ty)
            }
            None => {
                let lower = match self.rng.u32(0..100) {
                    0..60 => Index::Constant(0),
                    60..72 => Index::Constant(self.rng.i64(-1..=3)),
                    _ => self.outer_bound().unwrap_or(Index::Constant(1)),
                };
                let upper = match self.rng.u32(0..100) {
                    0..60 => self.extent(),
                    60..75 => Index::Constant(self.rng.i64(2..=9)),
                    _ => match self.outer_bound() {
                        Some(i) => i,
                        None => self.extent(),
                    },
                };
                let ty = match &upper {
                    Index::Param(p) if self.chance(80) => self.params[*p].ty,
                    _ => self.pick(&[IntType::I32, IntType::I32, IntType::I32, IntType::I64, IntType::U32]),
                };
                (lower, upper, ty)
            }
        };
        let ty = if odd { self.pick(&IntType::ALL) } else { ty };
        if odd && self.chance(30) {
            upper = Index::Div(Box::new(upper), self.rng.i64(2..=3));
        }
        let step = if self.chance(80) { 1 } else { self.rng.i64(2..=3) };
        let form = match self.rng.u32(0..100) {
            0..62 => Form::Less,
            62..72 => Form::LessEqual,
            72..76 => Form::NotEqual,
            76..81 => Form::Greater,
            81..86 => Form::GreaterEqual,
            86..90 => Form::CountDown,
            90..94 => Form::While,
            94..97 => Form::DoWhile,
            _ => Form::Endless,
        };
        let scope = InScope { var, base };
        (scope, Loop { var, ty, form, lower, upper, step, body: vec![] })
    }

    fn extent(&mut self) -> Index {
        match self.small_param() {
            Some(p) if self.chance(self.profile.products) => {
                let factor = self.small_param().unwrap_or(p);
                Index::Mul(Box::new(Index::Param(p)), Box::new(Index::Param(factor)))
            }
            Some(p) => {
                let by = if self.chance(60) { 0 } else { self.rng.i64(-2..=1) };
                Index::Param(p).offset(by)
            }
            None => Index::Constant(self.rng.i64(3..=8)),
        }
    }

    fn outer_bound(&mut self) -> Option<Index> {
        let plain: Vec<usize> = self.scope.iter().filter(|v| v.base.is_none()).map(|v| v.var).collect();
        if plain.is_empty() {
            return None;
        }
        let var = Index::Var(self.pick(&plain));
        Some(match self.rng.u32(0..10) {
            0..7 => {
                let by = self.rng.i64(-1..=2);
                var.offset(by)
            }
            7 => var.plus(self.extent()),
            8 => Index::Sub(Box::new(self.extent()), Box::new(var)),
            _ => Index::Mul(Box::new(Index::Constant(2)), Box::new(var)),
        })
    }

    /// A loop variable, counted from zero where its values are large.
    fn var(&mut self) -> Option<Index> {
        if self.scope.is_empty() {
            return None;
        }
        // Inner ones more often.
        let (a, b) = (self.rng.usize(0..self.scope.len()), self.rng.usize(0..self.scope.len()));
        let v = &self.scope[a.max(b)];
        let var = Index::Var(v.var);
        Some(match v.base {
            Some(p) => Index::Sub(Box::new(var), Box::new(Index::Param(p))),
            None => var,
        })
    }

    fn subscript(&mut self) -> Index {
        let Some(var) = self.var() else { return Index::Constant(self.rng.i64(0..4)) };
        if self.chance(self.profile.odd) {
            return match self.rng.u32(0..10) {
                0 => Index::Rem(Box::new(var), self.rng.i64(2..=4)),
                1 => Index::Div(Box::new(var), self.rng.i64(2..=3)),
                2 => Index::And(Box::new(var), self.pick(&[1, 3, 7])),
                3 => match self.var() {
                    Some(other) => Index::Mul(Box::new(var), Box::new(other)),
                    None => var,
                },
                4 | 5 => Index::Convert(self.pick(&IntType::ALL), Box::new(var)),
                6..9 => self.chosen(var),
                _ => match self.small_param() {
                    Some(p) => Index::Mul(Box::new(var), Box::new(Index::Param(p))),
                    None => var,
                },
            };
        }
        match self.rng.u32(0..100) {
            0..50 => var,
            50..72 => {
                let by = self.rng.i64(-2..=2);
                var.offset(by)
            }
            72..78 => {
                let (by, twice) = (self.rng.i64(-1..=1), self.rng.i64(2..=3));
                Index::Mul(Box::new(Index::Constant(twice)), Box::new(var)).offset(by)
            }
            78..86 => match self.var() {
                Some(other) if self.chance(60) => var.plus(other),
                Some(other) => Index::Sub(Box::new(var), Box::new(other)),
                None => var,
            },
            86..92 => match self.small_param() {
                Some(p) => Index::Sub(Box::new(Index::Param(p)), Box::new(var)).offset(-1),
                None => var,
            },
            92..95 => match self.small_param() {
                Some(p) => var.plus(Index::Param(p)),
                None => var,
            },
            _ => Index::Constant(self.rng.i64(0..5)),
        }
    }

    /// Beyond the border the last element, the first one, or another.
    fn chosen(&mut self, var: Index) -> Index {
        let by = self.rng.i64(-2..=2);
        let (near, at) = (var.clone().offset(by), Index::Constant(self.rng.i64(0..=3)));
        let end = match self.small_param() {
            Some(p) => Index::Param(p).offset(-1),
            None => Index::Constant(self.rng.i64(0..=9)),
        };
        let of = match self.rng.u32(0..5) {
            0 => [var, at, end, near],
            1 => [var, end, near, at],
            2 => [near.clone(), at.clone(), at, near],
            3 => [near.clone(), end.clone(), near, end],
            _ => {
                let low = Index::Choose(Box::new([near.clone(), at.clone(), at, near]));
                [low.clone(), end.clone(), low, end]
            }
        };
        Index::Choose(Box::new(of))
    }

    fn subscripts(&mut self, array: usize) -> Vec<Index> {
        (0..self.arrays[array].rank).map(|_| self.subscript()).collect()
    }

    fn simple(&mut self) -> Vec<Stmt> {
        let mut list = Vec::new();
        for _ in 0..self.rng.usize(1..=2) {
            if self.statements == 0 && !list.is_empty() {
                break;
            }
            self.statements = self.statements.saturating_sub(1);
            if self.chance(self.profile.opaque) {
                let index = self.subscript();
                list.push(Stmt::Call(index));
                continue;
            }
            let (place, ty) = self.place();
            let op = match self.rng.u32(0..100) {
                0..60 => AssignOp::Set,
                60..82 => AssignOp::Add,
                82..88 => AssignOp::Sub,
                88..92 => AssignOp::Mul,
                92..95 if ty.is_int() => AssignOp::Xor,
                _ if self.chance(self.profile.data_dependent * 4) => AssignOp::Max,
                _ => AssignOp::Set,
            };
            let value = self.value(ty, 2);
            list.push(Stmt::Assign(place, op, value));
        }
        list
    }

    fn place(&mut self) -> (Lvalue, Element) {
        if let Some(s) = self.own
            && self.chance(45)
        {
            return (Lvalue::Scalar(s), self.scalars[s].ty);
        }
        if !self.scalars.is_empty() && self.chance(22) {
            let s = self.rng.usize(0..self.scalars.len());
            return (Lvalue::Scalar(s), self.scalars[s].ty);
        }
        let a = self.rng.usize(0..self.arrays.len());
        if self.arrays[a].rank == 1
            && self.chance(self.profile.data_dependent / 2)
            && let Some(inner) = self.integer()
        {
            return (Lvalue::Indirect(a, self.subscript(), Box::new(inner)), self.arrays[a].element);
        }
        (Lvalue::Element(a, self.subscripts(a)), self.arrays[a].element)
    }

    fn leaf(&mut self, ty: Element) -> Value {
        match self.rng.u32(0..100) {
            0..70 => {
                let a = self.rng.usize(0..self.arrays.len());
                if self.arrays[a].rank == 1
                    && self.chance(self.profile.data_dependent / 3)
                    && let Some(inner) = self.integer()
                {
                    return self.converted(ty, self.arrays[a].element, |g| {
                        Value::Indirect(a, g.subscript(), Box::new(inner))
                    });
                }
                self.converted(ty, self.arrays[a].element, |g| Value::Element(a, g.subscripts(a)))
            }
            70..80 if !self.scalars.is_empty() => {
                let s = self.rng.usize(0..self.scalars.len());
                self.converted(ty, self.scalars[s].ty, |_| Value::Scalar(s))
            }
            80..88 => Value::Index(ty, self.subscript()),
            _ => Value::Constant(ty, self.rng.i64(-6..=12)),
        }
    }

    /// An element of an array of integers.
    fn integer(&mut self) -> Option<Value> {
        let all: Vec<usize> = (0..self.arrays.len()).filter(|a| self.arrays[*a].element.is_int()).collect();
        let array = (!all.is_empty()).then(|| self.pick(&all))?;
        Some(Value::Element(array, self.subscripts(array)))
    }

    fn converted(&mut self, ty: Element, from: Element, make: impl FnOnce(&mut Self) -> Value) -> Value {
        let value = make(self);
        if from == ty { value } else { Value::Convert(ty, Box::new(value)) }
    }

    fn value(&mut self, ty: Element, depth: usize) -> Value {
        if depth == 0 || self.chance(30) {
            return self.leaf(ty);
        }
        let (a, b) = (Box::new(self.value(ty, depth - 1)), Box::new(self.value(ty, depth - 1)));
        match (ty, self.rng.u32(0..100)) {
            (_, 0..6) if self.profile.data_dependent > 0 => {
                let condition = if self.chance(50) { self.index_condition() } else { self.data_condition() };
                Value::Select(ty, Box::new(condition), a, b)
            }
            (Element::Int(_), 6..50) => {
                let ops = [
                    Arith::Add,
                    Arith::Add,
                    Arith::Sub,
                    Arith::Mul,
                    Arith::And,
                    Arith::Or,
                    Arith::Xor,
                    Arith::Shl,
                    Arith::Shr,
                    Arith::Div,
                    Arith::Rem,
                    Arith::Rotate,
                    Arith::Zeros,
                ];
                Value::Arith(ty, self.pick(&ops), a, b)
            }
            (Element::Int(_), _) => {
                let wide = self.pick(&[IntType::I32, IntType::I64]);
                let op = self.pick(&[Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Rem]);
                let value = Value::Masked(wide, op, a, b);
                if ty == Element::Int(wide) { value } else { Value::Convert(ty, Box::new(value)) }
            }
            (_, 6..16) => {
                let functions =
                    [MathFunction::Fabs, MathFunction::Sqrt, MathFunction::Floor, MathFunction::Ceil];
                Value::Function(self.pick(&functions), a)
            }
            _ => {
                let op = self.pick(&[Arith::Add, Arith::Add, Arith::Sub, Arith::Mul, Arith::Mul, Arith::Div]);
                Value::Arith(ty, op, a, b)
            }
        }
    }

    fn compare(&mut self) -> Compare {
        self.pick(&[Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge])
    }

    fn index_condition(&mut self) -> Condition {
        let left = self.subscript();
        let right = match self.rng.u32(0..3) {
            0 => self.subscript(),
            1 => self.extent(),
            _ => Index::Constant(self.rng.i64(0..6)),
        };
        let one = Condition::Index(left, self.compare(), right);
        match self.rng.u32(0..10) {
            0 => Condition::And(Box::new(one), Box::new(self.index_condition())),
            1 => Condition::Or(Box::new(one), Box::new(self.index_condition())),
            2 => Condition::Not(Box::new(one)),
            _ => one,
        }
    }

    fn data_condition(&mut self) -> Condition {
        let a = self.rng.usize(0..self.arrays.len());
        let ty = self.arrays[a].element;
        let left = Value::Element(a, self.subscripts(a));
        let right = if self.chance(50) { Value::Constant(ty, self.rng.i64(-3..6)) } else { self.leaf(ty) };
        let one = Condition::Data(left, self.compare(), right);
        match self.rng.u32(0..8) {
            0 => Condition::And(Box::new(self.index_condition()), Box::new(one)),
            1 => Condition::Or(Box::new(one), Box::new(self.index_condition())),
            _ => one,
        }
    }
}
