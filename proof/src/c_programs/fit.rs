//! Extents for arrays, and the proof that a function is defined on its runs: all iterations are walked, index
//! arithmetic is computed as C does, both sides of a data-dependent branch are taken, and its exits are not.

use super::index::{Index, IntType, Scope};
use super::{Array, Compare, Condition, Form, Function, Layout, Loop, Lvalue, Stmt, Value};

/// Statements executed in one run, at most.
const STEPS: usize = 6000;
/// Elements of an array, at most.
const ELEMENTS: i64 = 20_000;

/// A function whose arrays have extents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fitted {
    /// The function.
    pub function: Function,
    /// One per array.
    pub extents: Vec<Extent>,
}

/// What an array needs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Extent {
    /// Added to each subscript, so that none but the first is negative.
    pub offsets: Vec<i64>,
    /// Constant parts of the inner extents; of the only one for a local array.
    pub inner: Vec<i64>,
    /// First and last element touched in each run, relative to the pointer; `None`: none.
    pub touched: Vec<Option<(i64, i64)>>,
}

/// Why a function is not a test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misfit {
    /// A signed operation overflows, or a variable of a narrow type cannot hold its value.
    Overflow,
    /// Too many steps.
    Long,
    /// An array would be too large.
    Large,
    /// Something used is not there.
    Unbound,
}

impl Fitted {
    /// Runs of the function.
    pub fn runs(&self) -> usize {
        runs(&self.function)
    }
}

fn runs(function: &Function) -> usize {
    function.params.iter().map(|p| p.values.len()).min().unwrap_or(1)
}

/// Walks all runs and gives the arrays extents.
pub fn fit(function: Function) -> Result<Fitted, Misfit> {
    let runs = runs(&function);
    let mut ranges: Vec<Vec<Ranges>> = Vec::new();
    for run in 0..runs {
        let mut walk = Walk {
            function: &function,
            run,
            vars: vec![None; function.variables],
            ranges: function.arrays.iter().map(|a| Ranges::new(rank_in_c(a))).collect(),
            steps: 0,
        };
        walk.block(&function.body)?;
        ranges.push(walk.ranges);
    }
    let mut extents = Vec::new();
    for (at, array) in function.arrays.iter().enumerate() {
        let per_run: Vec<&Ranges> = ranges.iter().map(|r| &r[at]).collect();
        extents.push(extent(&function, array, &per_run)?);
    }
    Ok(Fitted { function, extents })
}

/// Subscripts in the text: a linearised array has one.
fn rank_in_c(array: &Array) -> usize {
    match array.layout {
        Layout::Constant | Layout::Variable { .. } => array.rank,
        Layout::Flat | Layout::Linear { .. } | Layout::Local | Layout::Temporary => 1,
    }
}

/// The subscript of a linearised array.
pub fn linear(array: &Array, subscripts: &[Index]) -> Index {
    let Layout::Linear { param, extra } = array.layout else {
        return subscripts.first().cloned().unwrap_or(Index::Constant(0));
    };
    let row = match param {
        Some(p) => Index::Param(p).offset(extra),
        None => Index::Constant(extra),
    };
    let mut iter = subscripts.iter().cloned();
    let first = iter.next().unwrap_or(Index::Constant(0));
    iter.fold(first, |sum, next| Index::Mul(Box::new(sum), Box::new(row.clone())).plus(next))
}

fn extent(function: &Function, array: &Array, runs: &[&Ranges]) -> Result<Extent, Misfit> {
    let rank = rank_in_c(array);
    let local = array.layout.is_local();
    let (mut offsets, mut inner) = (vec![0; rank], Vec::new());
    for (dim, offset) in offsets.iter_mut().enumerate().skip(usize::from(!local)) {
        let touched = || runs.iter().enumerate().filter_map(|(run, r)| r.0[dim].map(|range| (run, range)));
        let low = touched().map(|(_, (low, _))| low).min().unwrap_or(0);
        *offset = -low;
        let needed = touched().map(|(run, (_, high))| {
            let param = match array.layout {
                Layout::Variable { param } => function.params[param].values[run],
                _ => 0,
            };
            high - low + 1 - param
        });
        let mut constant = needed.max().unwrap_or(1);
        if let Layout::Variable { param } = array.layout {
            // An extent is positive, also where nothing is touched.
            let least = function.params[param].values.iter().take(runs.len()).min().copied().unwrap_or(0);
            constant = constant.max(1 - least);
        }
        inner.push(if matches!(array.layout, Layout::Variable { .. }) { constant } else { constant.max(1) });
        if offset.abs() > ELEMENTS || constant.abs() > ELEMENTS {
            return Err(Misfit::Large);
        }
    }
    let mut touched = Vec::new();
    for (run, ranges) in runs.iter().enumerate() {
        let mut row = 1i64;
        for extent in if local { &[][..] } else { &inner[..] } {
            let param = match array.layout {
                Layout::Variable { param } => function.params[param].values[run],
                _ => 0,
            };
            row = row.checked_mul(extent.checked_add(param).ok_or(Misfit::Large)?).ok_or(Misfit::Large)?;
            if !(1..=ELEMENTS).contains(&row) {
                return Err(Misfit::Large);
            }
        }
        let range = ranges.0[0].filter(|_| !local);
        touched.push(match range {
            None => None,
            Some((low, high)) => {
                let scaled = |v: i64| v.checked_mul(row).filter(|v| v.abs() <= ELEMENTS).ok_or(Misfit::Large);
                Some((scaled(low)?, scaled(high + 1)? - 1))
            }
        });
    }
    if local && inner.first().is_some_and(|n| *n > 512) {
        return Err(Misfit::Large);
    }
    Ok(Extent { offsets, inner, touched })
}

/// Least and greatest value of each subscript.
struct Ranges(Vec<Option<(i64, i64)>>);

impl Ranges {
    fn new(rank: usize) -> Self {
        Ranges(vec![None; rank])
    }

    fn include(&mut self, dim: usize, low: i64, high: i64) {
        if let Some(range) = self.0.get_mut(dim) {
            *range = Some(range.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    Next,
    Break,
    Continue,
    Return,
}

struct Walk<'a> {
    function: &'a Function,
    run: usize,
    vars: Vec<Option<(IntType, i128)>>,
    ranges: Vec<Ranges>,
    steps: usize,
}

impl Scope for Walk<'_> {
    fn var(&self, var: usize) -> Option<(IntType, i128)> {
        *self.vars.get(var)?
    }

    fn param(&self, param: usize) -> Option<(IntType, i128)> {
        let p = self.function.params.get(param)?;
        Some((p.ty, i128::from(*p.values.get(self.run)?)))
    }
}

impl Walk<'_> {
    fn index(&self, index: &Index) -> Result<(IntType, i128), Misfit> {
        index.eval(self).ok_or(Misfit::Overflow)
    }

    fn block(&mut self, body: &[Stmt]) -> Result<Flow, Misfit> {
        for stmt in body {
            match self.stmt(stmt)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<Flow, Misfit> {
        self.steps += 1;
        if self.steps > STEPS {
            return Err(Misfit::Long);
        }
        match stmt {
            Stmt::Assign(place, _, value) => {
                self.value(value)?;
                match place {
                    Lvalue::Element(array, subscripts) => self.access(*array, subscripts, 0)?,
                    Lvalue::Indirect(array, index, inner) => {
                        self.value(inner)?;
                        self.access(*array, std::slice::from_ref(index), 3)?;
                    }
                    Lvalue::Scalar(s) if *s < self.function.scalars.len() => {}
                    Lvalue::Scalar(_) => return Err(Misfit::Unbound),
                }
                Ok(Flow::Next)
            }
            Stmt::Loop(l) => self.for_loop(l),
            Stmt::If(condition, yes, no) => match self.condition(condition)? {
                Some(true) => self.block(yes),
                Some(false) => self.block(no),
                None => {
                    // Either may run; what follows may run after both.
                    self.block(yes)?;
                    self.block(no)?;
                    Ok(Flow::Next)
                }
            },
            Stmt::Switch(index, [zero, one, other]) => {
                let (ty, value) = self.index(index)?;
                match ty.promoted().wrap(value) & 3 {
                    0 => self.block(zero),
                    1 => self.block(one),
                    _ => self.block(other),
                }
            }
            Stmt::Break => Ok(Flow::Break),
            Stmt::Continue => Ok(Flow::Continue),
            Stmt::Return => Ok(Flow::Return),
            Stmt::End(index) => self.index(index).map(|_| Flow::Return),
            Stmt::Call(index) => self.index(index).map(|_| Flow::Next),
        }
    }

    /// Follows the text of each form.
    fn for_loop(&mut self, l: &Loop) -> Result<Flow, Misfit> {
        let down = matches!(l.form, Form::Greater | Form::GreaterEqual | Form::CountDown);
        let start = self.index(if down { &l.upper } else { &l.lower })?.1;
        let mut value = self.assigned(l.ty, start)?;
        let mut first = true;
        loop {
            self.steps += 1;
            if self.steps > STEPS {
                return Err(Misfit::Long);
            }
            self.vars[l.var] = Some((l.ty, value));
            let end = if down { &l.lower } else { &l.upper };
            let compare = |c: Compare| Condition::Index(Index::Var(l.var), c, end.clone());
            let goes_on = match l.form {
                Form::Less | Form::While | Form::Endless => compare(Compare::Lt),
                Form::DoWhile if first => compare(Compare::Eq).or_true(),
                Form::DoWhile => compare(Compare::Lt),
                Form::LessEqual => compare(Compare::Le),
                Form::NotEqual => compare(Compare::Ne),
                Form::Greater | Form::CountDown => compare(Compare::Gt),
                Form::GreaterEqual => compare(Compare::Ge),
            };
            if self.condition(&goes_on)? != Some(true) {
                break;
            }
            if l.form == Form::CountDown {
                value = self.stepped(l.ty, value, -1)?;
                self.vars[l.var] = Some((l.ty, value));
            }
            first = false;
            match self.block(&l.body)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                Flow::Return => return Ok(Flow::Return),
            }
            if l.form != Form::CountDown {
                value = self.stepped(l.ty, value, if down { -l.step } else { l.step })?;
            }
        }
        if l.form == Form::CountDown {
            // `i-- > lower` also steps when it ends the loop.
            self.stepped(l.ty, value, -1)?;
        }
        self.vars[l.var] = None;
        Ok(Flow::Next)
    }

    /// The loop variable is to hold its bound exactly.
    fn assigned(&self, ty: IntType, value: i128) -> Result<i128, Misfit> {
        if ty.holds(value) { Ok(value) } else { Err(Misfit::Overflow) }
    }

    fn stepped(&self, ty: IntType, value: i128, by: i64) -> Result<i128, Misfit> {
        let next = value + i128::from(by);
        if ty.is_signed() && ty.bits() >= 32 { self.assigned(ty, next) } else { Ok(ty.wrap(next)) }
    }

    fn access(&mut self, array: usize, subscripts: &[Index], beyond: i64) -> Result<(), Misfit> {
        let a = self.function.arrays.get(array).ok_or(Misfit::Unbound)?;
        if subscripts.len() != a.rank {
            return Err(Misfit::Unbound);
        }
        let in_c: Vec<Index> = match rank_in_c(a) {
            1 => vec![linear(a, subscripts)],
            _ => subscripts.to_vec(),
        };
        let last = in_c.len() - 1;
        for (dim, index) in in_c.iter().enumerate() {
            let value = i64::try_from(self.index(index)?.1).map_err(|_| Misfit::Large)?;
            if value.abs() > ELEMENTS {
                return Err(Misfit::Large);
            }
            self.ranges[array].include(dim, value, value + if dim == last { beyond } else { 0 });
        }
        Ok(())
    }

    fn value(&mut self, value: &Value) -> Result<(), Misfit> {
        match value {
            Value::Constant(..) => Ok(()),
            Value::Element(array, subscripts) => self.access(*array, subscripts, 0),
            Value::Indirect(array, index, inner) => {
                self.value(inner)?;
                self.access(*array, std::slice::from_ref(index), 3)
            }
            Value::Scalar(s) if *s < self.function.scalars.len() => Ok(()),
            Value::Scalar(_) => Err(Misfit::Unbound),
            Value::Index(_, index) => self.index(index).map(|_| ()),
            Value::Arith(_, _, a, b) | Value::Masked(_, _, a, b) => {
                self.value(a)?;
                self.value(b)
            }
            Value::Function(_, a) | Value::Convert(_, a) => self.value(a),
            Value::Select(_, condition, a, b) => {
                self.condition(condition)?;
                self.value(a)?;
                self.value(b)
            }
        }
    }

    fn condition(&mut self, condition: &Condition) -> Result<Option<bool>, Misfit> {
        Ok(match condition {
            Condition::Index(a, compare, b) => {
                let ((ta, a), (tb, b)) = (self.index(a)?, self.index(b)?);
                let ty = ta.common(tb);
                Some(compare.holds(ty.wrap(a), ty.wrap(b)))
            }
            Condition::Data(a, _, b) => {
                self.value(a)?;
                self.value(b)?;
                None
            }
            Condition::And(a, b) => match (self.condition(a)?, self.condition(b)?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(a, b) => match (self.condition(a)?, self.condition(b)?) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Condition::Not(a) => self.condition(a)?.map(|x| !x),
        })
    }
}

impl Condition {
    fn or_true(self) -> Condition {
        let always = Condition::Index(Index::Constant(0), Compare::Eq, Index::Constant(0));
        Condition::Or(Box::new(self), Box::new(always))
    }
}

impl Compare {
    fn holds(self, a: i128, b: i128) -> bool {
        match self {
            Compare::Eq => a == b,
            Compare::Ne => a != b,
            Compare::Lt => a < b,
            Compare::Le => a <= b,
            Compare::Gt => a > b,
            Compare::Ge => a >= b,
        }
    }
}
