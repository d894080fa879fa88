//! Values that a parameter is likely to have: constants that reach it from the calls in the same module.
//!
//! Variants are ranked for these sizes. Nothing is proved from them: a wrong one costs time, never a result.

use crate::llvm::{Inst, IntPredicate, Opcode, Value};

/// Values looked at for one parameter; beyond it, nothing more is found.
pub(super) const FUEL: u32 = 64;

/// The largest constant that may reach an integer through calls, choices, casts and sums with constants; `None` where
/// there is none. The largest, as that is the run that takes longest. A constant that a value is only brought up to, as 4
/// in `n < 4 ? 4 : n`, says nothing of the size.
///
/// For `n` of `kernel(argc > 1 ? atoi(argv[1]) : 1200)` that is 1200.
pub fn likely_value(value: Value<'_>) -> Option<i64> {
    let mut fuel = FUEL;
    largest(value, &mut fuel)
}

/// Whether it is a multiple or a part of another value.
fn is_scaled(value: Value<'_>, of: Value<'_>) -> bool {
    let scales = |op| {
        matches!(op, Opcode::Shl | Opcode::Mul | Opcode::LShr | Opcode::AShr | Opcode::UDiv | Opcode::SDiv)
    };
    value.as_inst().is_some_and(|i| scales(i.opcode()) && i.operands().contains(&of))
}

fn largest(value: Value<'_>, fuel: &mut u32) -> Option<i64> {
    *fuel = fuel.checked_sub(1)?;
    if let Some(constant) = value.const_int() {
        return i64::try_from(constant).ok();
    }
    if let Some(argument) = value.as_argument() {
        let function = argument.function();
        let passed = function.value().users().into_iter().filter_map(|user| {
            let call = user.as_inst()?.as_call()?;
            (call.callee()? == function).then(|| call.args().get(argument.index() as usize).copied())?
        });
        let found: Vec<Option<i64>> = passed.map(|v| largest(v, fuel)).collect();
        // A call that asks for nothing says nothing of a size that another one does not tell.
        let least = if found.contains(&None) { 1 } else { i64::MIN };
        return found.into_iter().flatten().max().filter(|n| *n >= least);
    }
    let inst = value.as_inst()?;
    let operand = |index| inst.operand(index);
    match inst.opcode() {
        Opcode::Phi => {
            let values = || inst.incoming().into_iter().map(|(v, _)| v);
            // What doubles from 1 on is mostly much larger.
            if values().any(|v| is_scaled(v, value)) {
                return None;
            }
            // Where it is read only under a condition, zero says nothing of it.
            let is_read = values().any(|v| v.as_inst().is_some_and(|i| i.opcode() == Opcode::Load));
            let sizes = values().filter(|v| !is_read || v.const_int() != Some(0));
            sizes.filter_map(|v| largest(v, fuel)).max()
        }
        Opcode::Select => {
            let chosen = [operand(1)?, operand(2)?];
            let least = least_allowed(inst);
            chosen.into_iter().filter(|v| Some(*v) != least).filter_map(|v| largest(v, fuel)).max()
        }
        Opcode::Call => {
            let call = inst.as_call()?;
            let name = call.intrinsic_name()?;
            let args = call.args();
            match name.as_str() {
                "llvm.smax" | "llvm.umax" => {
                    let sizes = args.into_iter().filter(|v| v.const_int().is_none());
                    sizes.filter_map(|v| largest(v, fuel)).max()
                }
                "llvm.smin" | "llvm.umin" => args.into_iter().filter_map(|v| largest(v, fuel)).min(),
                _ => None,
            }
        }
        Opcode::SExt | Opcode::ZExt | Opcode::Trunc | Opcode::Freeze => largest(operand(0)?, fuel),
        Opcode::Add => largest(operand(0)?, fuel)?.checked_add(largest(operand(1)?, fuel)?),
        // `n - n % 8` is about `n`, also as the bits that it leaves.
        Opcode::Sub if is_remainder(operand(1)?) => largest(operand(0)?, fuel),
        Opcode::And => {
            let mask = i64::try_from(operand(1)?.const_int()?).ok()?;
            let is_remainder = mask >= 0 && mask.checked_add(1).is_none_or(|m| m.count_ones() == 1);
            if is_remainder { None } else { Some(largest(operand(0)?, fuel)? & mask) }
        }
        Opcode::Sub => largest(operand(0)?, fuel)?.checked_sub(operand(1)?.const_int()?.try_into().ok()?),
        Opcode::Mul => largest(operand(0)?, fuel)?.checked_mul(largest(operand(1)?, fuel)?),
        _ => None,
    }
}

/// The constant that a choice takes where a value is less than about this constant.
fn least_allowed<'m>(select: Inst<'m>) -> Option<Value<'m>> {
    let compared = select.operand(0)?.as_inst()?;
    let less = match compared.int_predicate()? {
        IntPredicate::Slt | IntPredicate::Sle | IntPredicate::Ult | IntPredicate::Ule => 1,
        IntPredicate::Sgt | IntPredicate::Sge | IntPredicate::Ugt | IntPredicate::Uge => 2,
        _ => return None,
    };
    let (bound, chosen) = (compared.operand(1)?.const_int()?, select.operand(less)?);
    chosen.const_int()?.checked_sub(bound)?.checked_abs().filter(|d| *d <= 1).map(|_| chosen)
}

/// Whether a value is what is left of a division.
fn is_remainder(value: Value<'_>) -> bool {
    value.as_inst().is_some_and(|i| matches!(i.opcode(), Opcode::SRem | Opcode::URem))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::Context;

    #[track_caller]
    fn likely(module: &str) -> Option<i64> {
        let context = Context::new();
        let module = context.parse(module.as_bytes(), "test").expect("it parses");
        let function = module.function("kernel").expect("it is there");
        likely_value(function.params()[0].value())
    }

    #[test]
    fn constants_reach_it_through_choices_and_calls() {
        let text = "
            define internal void @kernel(i64 %n) { ret void }
            define void @between(i32 %m) {
              %wide = sext i32 %m to i64
              %more = add i64 %wide, 2
              call void @kernel(i64 %more)
              call void @kernel(i64 7)
              ret void
            }
            define void @main(i32 %read, i1 %given) {
              %m = select i1 %given, i32 %read, i32 1200
              call void @between(i32 %m)
              ret void
            }";
        assert_eq!(likely(text), Some(1202));
    }

    #[test]
    fn what_doubles_is_not_as_small_as_where_it_begins() {
        let text = "
            define internal void @kernel(i64 %n) { ret void }
            define void @main(i64 %end) {
            entry:
              br label %loop
            loop:
              %h = phi i64 [ 1, %entry ], [ %next, %loop ]
              call void @kernel(i64 %h)
              %next = STEP
              %more = icmp slt i64 %next, %end
              br i1 %more, label %loop, label %exit
            exit:
              ret void
            }";
        assert_eq!(likely(&text.replace("STEP", "shl i64 %h, 1")), None);
        assert_eq!(likely(&text.replace("STEP", "mul i64 %h, 3")), None);
    }

    #[test]
    fn sizes_rounded_down_and_bounded_below_are_the_sizes() {
        let text = "
            define internal void @kernel(i32 %n) { ret void }
            define void @main(i32 %read, i1 %given) {
              %m = select i1 %given, i32 %read, i32 1200
              %small = icmp slt i32 %m, 4
              %even = OPERATION
              %n = select i1 %small, i32 4, i32 %even
              call void @kernel(i32 %n)
              ret void
            }";
        assert_eq!(likely(&text.replace("OPERATION", "and i32 %m, -2")), Some(1200));
        assert_eq!(likely(&text.replace("OPERATION", "and i32 %m, 2147483646")), Some(1200));
        let unknown = text.replace("OPERATION", "and i32 %m, 2147483646").replace("i32 1200", "i32 %read");
        assert_eq!(likely(&unknown), None);
        let remainder = "sub i32 %m, %left".to_string();
        let text =
            text.replace("%even = OPERATION", &format!("%left = srem i32 %m, 2\n %even = {remainder}"));
        assert_eq!(likely(&text), Some(1200));
    }

    #[test]
    fn a_call_for_nothing_tells_no_size() {
        let text = "
            define internal void @kernel(i64 %n) { ret void }
            define void @main(i64 %m) {
              call void @kernel(i64 0)
              call void @kernel(i64 OTHER)
              ret void
            }";
        assert_eq!(likely(&text.replace("OTHER", "%m")), None);
        assert_eq!(likely(&text.replace("OTHER", "9")), Some(9));
        assert_eq!(likely(&text.replace("OTHER", "0")), Some(0));
    }

    #[test]
    fn nothing_is_known_without_callers_and_recursion_ends() {
        assert_eq!(likely("define void @kernel(i64 %n) { ret void }"), None);
        let text = "
            define void @kernel(i64 %n) {
              %m = add i64 %n, 1
              call void @kernel(i64 %m)
              ret void
            }";
        assert_eq!(likely(text), None);
    }
}
