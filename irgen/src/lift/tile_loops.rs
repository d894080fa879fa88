//! Loops over one tile of a loop that the program itself tiled: `for (i = it; i < min(n, it + size); i++)`.
//!
//! Such a loop is as long as the tile, which is no size of the problem. Nothing is proved from it.

use crate::llvm::{Opcode, Value};

/// Values looked at for one loop; beyond it, it is none over a tile.
const FUEL: u32 = 32;

/// The length of a tile, where a loop begins at `begin`, the counter of a loop around, and `end` says how far it goes: the step of
/// the loop around itself, `begin` and the step, or a choice of that and something else.
pub fn tile_length<'m>(begin: Value<'m>, end: Value<'m>) -> Option<Value<'m>> {
    let fuel = &mut { FUEL };
    let begin = uncast(begin, fuel)?;
    let counter = begin.as_inst().filter(|i| i.is_phi())?;
    let step = counter.incoming().into_iter().find_map(|(next, _)| added(next, begin, fuel))?;
    // Doubling counters have no tiles.
    (step != begin && (uncast(end, fuel)? == step || ends(end, begin, step, fuel))).then_some(step)
}

fn ends<'m>(end: Value<'m>, begin: Value<'m>, step: Value<'m>, fuel: &mut u32) -> bool {
    if added(end, begin, fuel) == Some(step) {
        return true;
    }
    let Some(inst) = uncast(end, fuel).and_then(Value::as_inst) else { return false };
    let chosen = match inst.opcode() {
        Opcode::Select => [1, 2],
        Opcode::Call => {
            let name = inst.as_call().and_then(|c| c.intrinsic_name());
            match name.as_deref() {
                Some("llvm.smin" | "llvm.umin") => [0, 1],
                _ => return false,
            }
        }
        _ => return false,
    };
    chosen.into_iter().filter_map(|o| inst.operand(o)).any(|o| ends(o, begin, step, fuel))
}

/// What a sum adds to a value.
fn added<'m>(sum: Value<'m>, to: Value<'m>, fuel: &mut u32) -> Option<Value<'m>> {
    let sum = uncast(sum, fuel)?.as_inst().filter(|i| i.opcode() == Opcode::Add)?;
    let (left, right) = (uncast(sum.operand(0)?, fuel)?, uncast(sum.operand(1)?, fuel)?);
    if left == to { Some(right) } else { (right == to).then_some(left) }
}

fn uncast<'m>(mut value: Value<'m>, fuel: &mut u32) -> Option<Value<'m>> {
    loop {
        *fuel = fuel.checked_sub(1)?;
        let cast = value
            .as_inst()
            .filter(|i| matches!(i.opcode(), Opcode::SExt | Opcode::ZExt | Opcode::Trunc | Opcode::Freeze));
        match cast {
            Some(cast) => value = cast.operand(0)?,
            None => return Some(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::llvm::{Context, Inst};

    const TILED: &str = "
        declare i32 @llvm.smin.i32(i32, i32)
        define void @kernel(i32 %n, i32 %size) {
        entry:
          br label %tiles
        tiles:
          %it = phi i32 [ 0, %entry ], [ %next, %tiles ]
          %next = add i32 %it, STEP
          %wide = sext i32 %next to i64
          %end = call i32 @llvm.smin.i32(i32 %n, i32 %next)
          %other = add i32 %n, %size
          %more = icmp slt i32 %next, %n
          %chosen = select i1 %more, i32 %next, i32 %n
          MORE
          br i1 %more, label %tiles, label %end.tiles
        end.tiles:
          ret void
        }";

    /// The lengths of tiles that begin at `%it` and go to these values.
    #[track_caller]
    fn lengths(text: &str, ends: &[&str]) -> Vec<Option<String>> {
        let context = Context::new();
        let module = context.parse(text.as_bytes(), "test").expect("it parses");
        let function = module.function("kernel").expect("it is there");
        let insts: Vec<Inst<'_>> = function.blocks().into_iter().flat_map(|b| b.insts()).collect();
        let params = function.params();
        let named = |name: &str| {
            let mut values = insts.iter().map(|i| i.value()).chain(params.iter().map(|p| p.value()));
            values.find(|v| v.name() == name).unwrap_or_else(|| panic!("no %{name}"))
        };
        let length = |v: Value<'_>| v.const_int().map_or_else(|| v.name(), |c| c.to_string());
        ends.iter().map(|end| tile_length(named("it"), named(end)).map(length)).collect()
    }

    #[test]
    fn a_loop_over_what_another_advances_by_is_one_over_a_tile() {
        let text = TILED.replace("MORE", "");
        let (tiles, others) = (["next", "wide", "end", "chosen"], ["n", "other", "it"]);
        for (step, length) in [("%size", "size"), ("48", "48")] {
            let text = text.replace("STEP", step);
            assert!(lengths(&text, &tiles).iter().all(|l| l.as_deref() == Some(length)), "{step}");
            assert!(lengths(&text, &others).iter().all(Option::is_none), "{step}");
        }
        assert_eq!(lengths(&text.replace("STEP", "%size"), &["size"]), [Some("size".to_string())]);
        assert_eq!(lengths(&text.replace("STEP", "%it"), &["next", "end"]), [None, None]);
    }

    #[test]
    fn choices_of_choices_end() {
        let choice = |n: u32| format!("%c{} = select i1 %more, i32 %c{n}, i32 %c{n}\n", n + 1);
        let choices: String = (0..100).map(choice).collect();
        let text = TILED.replace("STEP", "%size").replace("MORE", &format!("%c0 = add i32 %n, 1\n{choices}"));
        assert_eq!(lengths(&text, &["c100"]), [None]);
    }
}
