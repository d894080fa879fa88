//! Prints the loop trees, regions and remarks of an LLVM IR file: `lift FILE.ll [FUNCTION [CLOSED-FORMS [ACCESSES [CONTROL-FLOW]]]]`.

use std::process::ExitCode;

use analyses::accesses::accesses_by_name;
use analyses::control_flow::control_flow_by_name;
use irgen::lift::{LiftOptions, canonicalise, closed_forms_by_name, lift_function_with};
use irgen::llvm::Context;

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: lift FILE.ll [FUNCTION [CLOSED-FORMS [ACCESSES [CONTROL-FLOW]]]]");
        return ExitCode::from(2);
    };
    let only = arguments.next().filter(|o| o != "-");
    let mut options = LiftOptions::default();
    if let Some(source) = arguments.next().and_then(|name| closed_forms_by_name(&name)) {
        options.closed_forms = source.into();
    }
    if let Some(analysis) = arguments.next().and_then(|name| accesses_by_name(&name)) {
        options.accesses = analysis.into();
    }
    if let Some(analysis) = arguments.next().and_then(|name| control_flow_by_name(&name)) {
        options.control_flow = analysis.into();
    }
    match lift(&path, only.as_deref(), &options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("{path}: {e}");
            ExitCode::FAILURE
        }
    }
}

fn lift(path: &str, only: Option<&str>, options: &LiftOptions) -> Result<(), Box<dyn std::error::Error>> {
    let context = Context::new();
    let mut module = context.parse_file(std::path::Path::new(path))?;
    canonicalise(&mut module)?;
    for function in module.functions() {
        let name = function.name();
        if function.is_declaration() || only.is_some_and(|o| o != name) {
            continue;
        }
        let lifted = lift_function_with(&module, function, options);
        println!("function {name}: {} regions", lifted.regions.len());
        for region in &lifted.regions {
            println!("{}", loop_tree::text::print_kernel(&region.kernel));
            for problem in loop_tree::validate_kernel(&region.kernel) {
                println!("problem: {problem:?}");
            }
        }
        for r in &lifted.remarks {
            println!("remark {}: {} {:?}", r.code, r.message, r.location.as_ref().map(|l| l.line));
        }
        module.verify()?;
    }
    Ok(())
}
