//! Loops over one tile of a loop that the program itself tiled: `for (i = it; i < min(n, it + size); i++)`.
//!
//! Such a loop is as long as the tile, which is no size of the problem. Nothing is proved from it.

use crate::llvm::{Inst, Opcode, Value};

/// What the loop whose counter is `begin` advances it by; `None` where it is not a loop's counter.
pub fn advance(begin: Value<'_>) -> Option<Value<'_>> {
    let counter = uncast(begin).as_inst().filter(|i| i.is_phi())?;
    counter.incoming().into_iter().find_map(|(next, _)| added_to(uncast(next).as_inst()?, counter.value()))
}

/// Whether `end` is at most `begin + step`, and is that where nothing else ends the loop before.
pub fn ends_a_tile(end: Value<'_>, begin: Value<'_>, step: Value<'_>) -> bool {
    let Some(inst) = uncast(end).as_inst() else { return false };
    let either = |first: u32, second: u32| {
        [first, second].into_iter().filter_map(|o| inst.operand(o)).any(|o| ends_a_tile(o, begin, step))
    };
    match inst.opcode() {
        Opcode::Add => added_to(inst, uncast(begin)) == Some(uncast(step)),
        Opcode::Select => either(1, 2),
        Opcode::Call => {
            let name = inst.as_call().and_then(|c| c.intrinsic_name());
            name.is_some_and(|n| matches!(n.as_str(), "llvm.smin" | "llvm.umin")) && either(0, 1)
        }
        _ => false,
    }
}

/// What a sum adds to a value.
fn added_to<'m>(sum: Inst<'m>, to: Value<'m>) -> Option<Value<'m>> {
    if sum.opcode() != Opcode::Add {
        return None;
    }
    let (left, right) = (uncast(sum.operand(0)?), uncast(sum.operand(1)?));
    if left == to { Some(right) } else { (right == to).then_some(left) }
}

fn uncast(value: Value<'_>) -> Value<'_> {
    let cast = value
        .as_inst()
        .filter(|i| matches!(i.opcode(), Opcode::SExt | Opcode::ZExt | Opcode::Trunc | Opcode::Freeze));
    cast.and_then(|i| i.operand(0)).map_or(value, uncast)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::Context;

    const TILED: &str = "
        declare i32 @llvm.smin.i32(i32, i32)
        define void @kernel(i32 %n, i32 %size) {
        entry:
          br label %tiles
        tiles:
          %it = phi i32 [ 0, %entry ], [ %next, %tiles ]
          %next = add i32 %it, %size
          %wide = sext i32 %next to i64
          %end = call i32 @llvm.smin.i32(i32 %n, i32 %next)
          %other = call i32 @llvm.smin.i32(i32 %n, i32 %size)
          %more = icmp slt i32 %next, %n
          %chosen = select i1 %more, i32 %next, i32 %n
          br i1 %more, label %tiles, label %end.tiles
        end.tiles:
          ret void
        }";

    #[test]
    fn a_loop_over_what_another_advances_by_is_one_over_a_tile() {
        let context = Context::new();
        let module = context.parse(TILED.as_bytes(), "test").expect("it parses");
        let function = module.function("kernel").expect("it is there");
        let named = |name: &str| {
            let found =
                function.blocks().into_iter().flat_map(|b| b.insts()).find(|i| i.value().name() == name);
            found.unwrap_or_else(|| panic!("no %{name}")).value()
        };
        let size = function.params()[1].value();
        let it = named("it");
        assert_eq!(advance(it), Some(size));
        assert_eq!(advance(named("next")), None);
        for end in ["next", "wide", "end", "chosen"] {
            assert!(ends_a_tile(named(end), it, size), "{end}");
        }
        assert!(!ends_a_tile(named("other"), it, size));
        assert!(!ends_a_tile(function.params()[0].value(), it, size));
    }
}
