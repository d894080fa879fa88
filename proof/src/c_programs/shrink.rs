//! A smaller function that fails the same way.

use super::fit::{Fitted, fit};
use super::{AssignOp, Condition, Form, Function, Index, IntType, Kept, Lvalue, Named, Stmt, Value};

/// Tries smaller functions as long as one still fails, at most `attempts` in all. Cost: one call of `fails` each.
pub fn shrink(fitted: &Fitted, attempts: usize, fails: &mut dyn FnMut(&Fitted) -> bool) -> Fitted {
    let mut best = fitted.clone();
    let mut left = attempts;
    'again: loop {
        for candidate in candidates(&best.function) {
            let Ok(candidate) = fit(candidate) else { continue };
            if left == 0 {
                return best;
            }
            left -= 1;
            if fails(&candidate) {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

/// Simpler functions, the simplest first.
pub fn candidates(function: &Function) -> Vec<Function> {
    let mut result = Vec::new();
    let with_body = |body| Function { body, ..function.clone() };
    result.extend(blocks(&function.body).into_iter().map(with_body));
    let runs = function.params.iter().map(|p| p.values.len()).min().unwrap_or(0);
    for run in 0..if runs > 1 { runs } else { 0 } {
        let mut smaller = function.clone();
        smaller.params.iter_mut().for_each(|p| p.values = vec![p.values[run]]);
        result.push(smaller);
    }
    for (p, param) in function.params.iter().enumerate() {
        if param.kept != Kept::Passed {
            let mut simpler = function.clone();
            simpler.params[p].kept = Kept::Passed;
            result.push(simpler);
        }
        for (run, value) in param.values.iter().enumerate() {
            for new in [value / 2, value - value.signum()] {
                if new != *value && (0..64).contains(value) {
                    let mut smaller = function.clone();
                    smaller.params[p].values[run] = new;
                    result.push(smaller);
                }
            }
        }
    }
    if function.result.is_some() {
        result.push(Function { result: None, ..function.clone() });
    }
    for (a, array) in function.arrays.iter().enumerate() {
        if array.named != Named::Itself {
            let mut simpler = function.clone();
            simpler.arrays[a].named = Named::Itself;
            result.push(simpler);
        }
        if array.volatile || array.restrict {
            let mut simpler = function.clone();
            (simpler.arrays[a].volatile, simpler.arrays[a].restrict) = (false, false);
            result.push(simpler);
        }
    }
    result
}

/// Blocks with one change.
fn blocks(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut result = Vec::new();
    if body.len() > 2 {
        result.push(body[..body.len() / 2].to_vec());
        result.push(body[body.len() / 2..].to_vec());
    }
    let replaced = |at: usize, by: Vec<Stmt>| {
        let mut new = body.to_vec();
        new.splice(at..=at, by);
        new
    };
    for at in 0..body.len() {
        result.push(replaced(at, vec![]));
    }
    for (at, stmt) in body.iter().enumerate() {
        result.extend(statements(stmt).into_iter().map(|by| replaced(at, by)));
    }
    result
}

fn statements(stmt: &Stmt) -> Vec<Vec<Stmt>> {
    let mut result = Vec::new();
    match stmt {
        Stmt::If(condition, yes, no) => {
            result.extend([yes.clone(), no.clone()]);
            if !no.is_empty() {
                result.push(vec![Stmt::If(condition.clone(), yes.clone(), vec![])]);
            }
            let conditions = simpler_conditions(condition);
            result.extend(conditions.into_iter().map(|c| vec![Stmt::If(c, yes.clone(), no.clone())]));
            result.extend(blocks(yes).into_iter().map(|b| vec![Stmt::If(condition.clone(), b, no.clone())]));
            result.extend(blocks(no).into_iter().map(|b| vec![Stmt::If(condition.clone(), yes.clone(), b)]));
        }
        Stmt::Switch(index, cases) => {
            result.extend(cases.iter().cloned());
            for (at, case) in cases.iter().enumerate() {
                for new in blocks(case) {
                    let mut cases = cases.clone();
                    cases[at] = new;
                    result.push(vec![Stmt::Switch(index.clone(), cases)]);
                }
            }
        }
        Stmt::Loop(l) => {
            let changed = |f: &dyn Fn(&mut super::Loop)| {
                let mut new = l.clone();
                f(&mut new);
                vec![Stmt::Loop(new)]
            };
            result.extend(blocks(&l.body).into_iter().map(|body| changed(&|l| l.body.clone_from(&body))));
            if l.form != Form::Less {
                result.push(changed(&|l| l.form = Form::Less));
            }
            if l.step != 1 {
                result.push(changed(&|l| l.step = 1));
            }
            if l.ty != IntType::I32 {
                result.push(changed(&|l| l.ty = IntType::I32));
            }
            if l.lower != Index::Constant(0) {
                result.push(changed(&|l| l.lower = Index::Constant(0)));
            }
            for n in [1, 2, 4] {
                if !matches!(l.upper, Index::Constant(c) if c <= n) {
                    result.push(changed(&|l| l.upper = Index::Constant(n)));
                }
            }
            result
                .extend(simpler_indices(&l.upper).into_iter().map(|new| changed(&|l| l.upper = new.clone())));
        }
        Stmt::Assign(place, op, value) => {
            if *op != AssignOp::Set {
                result.push(vec![Stmt::Assign(place.clone(), AssignOp::Set, value.clone())]);
            }
            let values = simpler_values(value);
            result.extend(values.into_iter().map(|v| vec![Stmt::Assign(place.clone(), *op, v)]));
            if let Lvalue::Element(array, subscripts) = place {
                for new in simpler_subscripts(subscripts) {
                    result.push(vec![Stmt::Assign(Lvalue::Element(*array, new), *op, value.clone())]);
                }
            }
            if let Lvalue::Indirect(array, index, _) = place {
                let plain = Lvalue::Element(*array, vec![index.clone()]);
                result.push(vec![Stmt::Assign(plain, *op, value.clone())]);
            }
        }
        Stmt::Break | Stmt::Continue | Stmt::Return | Stmt::End(_) | Stmt::Call(_) => {}
    }
    result
}

fn simpler_conditions(condition: &Condition) -> Vec<Condition> {
    match condition {
        Condition::And(a, b) | Condition::Or(a, b) => vec![(**a).clone(), (**b).clone()],
        Condition::Not(a) => vec![(**a).clone()],
        Condition::Data(a, c, b) => {
            let left = simpler_values(a).into_iter().map(|a| Condition::Data(a, *c, b.clone()));
            left.chain(simpler_values(b).into_iter().map(|b| Condition::Data(a.clone(), *c, b))).collect()
        }
        Condition::Index(a, c, b) => {
            let left = simpler_indices(a).into_iter().map(|a| Condition::Index(a, *c, b.clone()));
            left.chain(simpler_indices(b).into_iter().map(|b| Condition::Index(a.clone(), *c, b))).collect()
        }
    }
}

fn simpler_subscripts(subscripts: &[Index]) -> Vec<Vec<Index>> {
    let mut result = Vec::new();
    for (at, index) in subscripts.iter().enumerate() {
        for new in simpler_indices(index) {
            let mut all = subscripts.to_vec();
            all[at] = new;
            result.push(all);
        }
    }
    result
}

fn simpler_indices(index: &Index) -> Vec<Index> {
    let mut result: Vec<Index> = index.operands().into_iter().cloned().collect();
    if !matches!(index, Index::Constant(_)) {
        result.push(Index::Constant(0));
    }
    match index {
        Index::Add(a, b) => {
            result.extend(simpler_indices(a).into_iter().map(|a| Index::Add(Box::new(a), b.clone())));
            result.extend(simpler_indices(b).into_iter().map(|b| Index::Add(a.clone(), Box::new(b))));
        }
        Index::Sub(a, b) => {
            result.extend(simpler_indices(a).into_iter().map(|a| Index::Sub(Box::new(a), b.clone())));
        }
        _ => {}
    }
    result
}

fn simpler_values(value: &Value) -> Vec<Value> {
    let one = |ty| Value::Constant(ty, 4);
    match value {
        Value::Constant(..) => vec![],
        Value::Element(array, subscripts) => {
            let simpler = simpler_subscripts(subscripts).into_iter();
            simpler.map(|s| Value::Element(*array, s)).chain([one(super::Element::F64)]).collect()
        }
        Value::Indirect(array, index, inner) => {
            let plain = Value::Element(*array, vec![index.clone()]);
            let inner = simpler_values(inner).into_iter();
            [plain]
                .into_iter()
                .chain(inner.map(|v| Value::Indirect(*array, index.clone(), Box::new(v))))
                .collect()
        }
        Value::Scalar(_) => vec![one(super::Element::F64)],
        Value::Index(ty, index) => {
            let simpler = simpler_indices(index).into_iter();
            [one(*ty)].into_iter().chain(simpler.map(|i| Value::Index(*ty, i))).collect()
        }
        Value::Arith(ty, op, a, b) => {
            let mut result = vec![(**a).clone(), (**b).clone()];
            result.extend(
                simpler_values(a).into_iter().map(|a| Value::Arith(*ty, *op, Box::new(a), b.clone())),
            );
            result.extend(
                simpler_values(b).into_iter().map(|b| Value::Arith(*ty, *op, a.clone(), Box::new(b))),
            );
            result
        }
        Value::Masked(ty, op, a, b) => {
            let mut result = vec![(**a).clone(), (**b).clone()];
            result.extend(
                simpler_values(a).into_iter().map(|a| Value::Masked(*ty, *op, Box::new(a), b.clone())),
            );
            result.extend(
                simpler_values(b).into_iter().map(|b| Value::Masked(*ty, *op, a.clone(), Box::new(b))),
            );
            result
        }
        Value::Function(f, a) => {
            let inner = simpler_values(a).into_iter().map(|a| Value::Function(*f, Box::new(a)));
            [(**a).clone()].into_iter().chain(inner).collect()
        }
        Value::Convert(ty, a) => {
            let inner = simpler_values(a).into_iter().map(|a| Value::Convert(*ty, Box::new(a)));
            [(**a).clone()].into_iter().chain(inner).collect()
        }
        Value::Select(ty, condition, a, b) => {
            let mut result = vec![(**a).clone(), (**b).clone()];
            let conditions = simpler_conditions(condition).into_iter();
            result.extend(conditions.map(|c| Value::Select(*ty, Box::new(c), a.clone(), b.clone())));
            result
        }
    }
}
