//! Where variables of changed modules begin.

use irgen::emit::align_variables;
use irgen::llvm::Context;

#[test]
fn long_variables_of_the_module_begin_at_lines() {
    let text = "
        target datalayout = \"e-m:e-i64:64-n8:16:32:64-S128\"
        target triple = \"x86_64-unknown-linux-gnu\"
        @own = internal global [500 x double] zeroinitializer, align 16
        @seen = dso_local global [500 x double] zeroinitializer, align 16
        @table = internal constant [2048 x i8] zeroinitializer
        @page = internal global [500 x double] zeroinitializer, align 4096
        @short = internal global [100 x double] zeroinitializer, align 16
        @elsewhere = external global [500 x double], align 16
        @weak = weak global [500 x double] zeroinitializer, align 16
        @placed = internal global [500 x double] zeroinitializer, section \"mine\", align 16";
    let context = Context::new();
    let module = context.parse(text.as_bytes(), "variables").expect("it parses");
    align_variables(&module);
    let printed = module.to_string();
    for (name, alignment) in [
        ("@own", 64),
        ("@seen", 64),
        ("@table", 64),
        ("@page", 4096),
        ("@short", 16),
        ("@elsewhere", 16),
        ("@weak", 16),
        ("@placed", 16),
    ] {
        let line = printed.lines().find(|line| line.starts_with(&format!("{name} "))).expect("it is there");
        assert!(line.ends_with(&format!("align {alignment}")), "{line}");
    }
}
