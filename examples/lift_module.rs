//! Inside a compiler: a module in memory is lifted, its nests are searched, the best variants are put in place.
//!
//! `cargo run --example lift_module`

use looptree::driver::{MIN_GAIN, Optimizer, Session, Settings};
use looptree::tree::text;
use std::collections::BTreeMap;

/// `for i: for j: for k: C[i][j] += A[i][k] * B[k][j]` as a front end emits it, 256 x 256.
const MODULE: &str = r#"
define void @multiply(ptr noalias %C, ptr noalias %A, ptr noalias %B) {
entry:
  br label %i.head
i.head:
  %i = phi i64 [ 0, %entry ], [ %i.next, %i.latch ]
  %i.more = icmp slt i64 %i, 256
  br i1 %i.more, label %j.head, label %done
j.head:
  %j = phi i64 [ 0, %i.head ], [ %j.next, %j.latch ]
  %j.more = icmp slt i64 %j, 256
  br i1 %j.more, label %k.head, label %i.latch
k.head:
  %k = phi i64 [ 0, %j.head ], [ %k.next, %k.body ]
  %k.more = icmp slt i64 %k, 256
  br i1 %k.more, label %k.body, label %j.latch
k.body:
  %a.at = getelementptr inbounds [256 x double], ptr %A, i64 %i, i64 %k
  %a = load double, ptr %a.at
  %b.at = getelementptr inbounds [256 x double], ptr %B, i64 %k, i64 %j
  %b = load double, ptr %b.at
  %product = fmul double %a, %b
  %c.at = getelementptr inbounds [256 x double], ptr %C, i64 %i, i64 %j
  %c = load double, ptr %c.at
  %sum = fadd double %c, %product
  store double %sum, ptr %c.at
  %k.next = add nuw nsw i64 %k, 1
  br label %k.head
j.latch:
  %j.next = add nuw nsw i64 %j, 1
  br label %j.head
i.latch:
  %i.next = add nuw nsw i64 %i, 1
  br label %i.head
done:
  ret void
}
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let optimizer = Optimizer::new(Settings::default())?;
    let session = Session::new(MODULE.as_bytes(), "multiply", &optimizer);
    let explored = session.explore()?;
    let mut choices = BTreeMap::new();
    for region in &explored.regions {
        let exploration = &region.exploration;
        let best = exploration.best();
        println!("{}: {} (predicted {:.1}x)", region.label(), best.recipe, exploration.ratio(best));
        println!("{}", text::print_tree(&region.kernel, &best.root));
        if let Some(variant) = exploration.worthwhile(MIN_GAIN) {
            choices.insert((region.function.clone(), region.number), optimizer.choose(region, variant)?);
        }
    }
    let emitted = session.emit(&choices, |m| m.to_string())?;
    println!("{} lines of IR with both versions", emitted.lines().count());
    assert_eq!(explored.regions.len(), 1);
    assert!(!choices.is_empty(), "the column walk over B is worth an interchange");
    Ok(())
}
