//! Values that a parameter is likely to have: constants that reach it from the calls in the same module.
//!
//! Variants are ranked for these sizes. Nothing is proved from them: a wrong one costs time, never a result.

use crate::llvm::{Opcode, Value};

/// Values looked at for one parameter; beyond it, nothing more is found.
const FUEL: u32 = 64;

/// The largest constant that may reach an integer through calls, choices, casts and sums with constants; `None` where
/// there is none. The largest, as that is the run that takes longest.
///
/// For `n` of `kernel(argc > 1 ? atoi(argv[1]) : 1200)` that is 1200.
pub fn likely_value(value: Value<'_>) -> Option<i64> {
    let mut fuel = FUEL;
    largest(value, &mut fuel)
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
        return passed.filter_map(|v| largest(v, fuel)).max();
    }
    let inst = value.as_inst()?;
    let operand = |index| inst.operand(index);
    match inst.opcode() {
        Opcode::Phi => inst.incoming().into_iter().filter_map(|(v, _)| largest(v, fuel)).max(),
        Opcode::Select => [operand(1)?, operand(2)?].into_iter().filter_map(|v| largest(v, fuel)).max(),
        Opcode::SExt | Opcode::ZExt | Opcode::Trunc | Opcode::Freeze => largest(operand(0)?, fuel),
        Opcode::Add => largest(operand(0)?, fuel)?.checked_add(largest(operand(1)?, fuel)?),
        // `n - n % 8` is about `n`, also as the bits that it leaves.
        Opcode::Sub if is_remainder(operand(1)?) => largest(operand(0)?, fuel),
        Opcode::And if operand(1)?.const_int().is_some_and(|mask| mask < 0) => largest(operand(0)?, fuel),
        Opcode::Sub => largest(operand(0)?, fuel)?.checked_sub(operand(1)?.const_int()?.try_into().ok()?),
        Opcode::Mul => largest(operand(0)?, fuel)?.checked_mul(largest(operand(1)?, fuel)?),
        _ => None,
    }
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
        let remainder = "sub i32 %m, %left".to_string();
        let text =
            text.replace("%even = OPERATION", &format!("%left = srem i32 %m, 2\n %even = {remainder}"));
        assert_eq!(likely(&text), Some(1200));
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
