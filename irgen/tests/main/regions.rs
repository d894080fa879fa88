//! Every region of the C kernels, emitted again in its original order: the program prints the same. So does one with buffers.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use irgen::emit::{EmitError, Variant, emit_region};
use irgen::lift::{canonicalise, lift_function};
use irgen::llvm::Context;
use loop_tree::{
    AccessKind, Affine, ArrayId, Buffer, BufferDim, Green, Home, Node, ParamId, Storage, Window, WindowRange,
    canonical, text,
};

use crate::sources::{LIGHT, RAW, compile, sources};

const FORMS: [&[&str]; 2] = [RAW, LIGHT];

fn clang(args: &[&str], files: &[&Path]) {
    let output = Command::new("clang-22").args(args).args(files).output().expect("clang-22 runs");
    assert!(output.status.success(), "{files:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The module with all regions emitted again, and how many these are; but for those whose numbers are too large.
fn identity(source: &Path, ir: &[u8]) -> (Vec<u8>, usize) {
    let mut refused = BTreeSet::new();
    loop {
        match emitted_again(source, ir, &refused) {
            Ok(done) => return done,
            // The module is not to be used then.
            Err(region) => assert!(refused.insert(region)),
        }
    }
}

/// The same without some regions, by function and number; or the one that is refused.
fn emitted_again(
    source: &Path,
    ir: &[u8],
    refused: &BTreeSet<(String, usize)>,
) -> Result<(Vec<u8>, usize), (String, usize)> {
    let context = Context::new();
    let mut module = context.parse(ir, "test.ll").expect("parses");
    canonicalise(&mut module).expect("canonical");
    let mut count = 0;
    for f in module.functions().into_iter().filter(|f| !f.is_declaration()) {
        let lifted = lift_function(&module, f);
        for (number, region) in lifted.regions.iter().enumerate() {
            let this = (f.name(), number);
            if refused.contains(&this) {
                continue;
            }
            let root = canonical(&region.kernel, &region.kernel.original);
            let emitted = emit_region(&module, region, Variant::of(&root));
            if matches!(emitted, Err(EmitError::Inexact)) {
                return Err(this);
            }
            emitted.unwrap_or_else(|e| panic!("{} {}: {e}", source.display(), f.name()));
            count += 1;
        }
    }
    module.verify().unwrap_or_else(|e| panic!("{}: {e}\n{module}", source.display()));
    Ok((module.to_bitcode(), count))
}

fn output(folder: &Path, name: &str, module: &[u8]) -> Vec<u8> {
    let (bitcode, program) = (folder.join(format!("{name}.bc")), folder.join(name));
    std::fs::write(&bitcode, module).expect("writable");
    let to = program.to_string_lossy().into_owned();
    clang(&["-O2", "-march=native", "-Wno-override-module", "-lm", "-o", &to], &[&bitcode]);
    let run = Command::new(&program).output().expect("runs");
    assert!(run.status.success(), "{name}: {}", run.status);
    run.stdout
}

#[test]
fn small_functions_verify() {
    for source in sources("tests/lift") {
        for form in FORMS {
            identity(&source, &compile(&source, form));
        }
    }
}

#[test]
fn kernels_print_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let mut wrong = Vec::new();
    // Each in one form, in turn: what takes time are clang and the programs.
    for (source, form) in sources("bench/kernels").iter().zip(FORMS.iter().cycle()) {
        let ir = compile(source, form);
        let (module, count) = identity(source, &ir);
        assert!(count > 0, "{}", source.display());
        let expected = output(folder, "original", source_bitcode(&ir).as_slice());
        if expected != output(folder, "identity", &module) {
            wrong.push(format!("{} {form:?}", source.display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn source_bitcode(ir: &[u8]) -> Vec<u8> {
    Context::new().parse(ir, "test.ll").expect("parses").to_bitcode()
}

/// Sums of products of neighbours, and what is printed of them.
const PROGRAM: &str = r#"
#include <stdio.h>
__attribute__((noinline)) void sums(double *restrict b, const double *restrict a, long n) {
  for (long i = 0; i < n; i++)
    for (long j = 0; j < n; j++)
      b[i] += a[j] * a[i];
}
int main(void) {
  double a[100], b[100];
  for (int i = 0; i < 100; i++) a[i] = 0.1 * i, b[i] = i;
  for (long n = 100; n >= 0; n -= 20) sums(b, a, n);
  for (int i = 0; i < 100; i++) printf("%a\n", b[i]);
}
"#;

/// `sums` with a copy of `a` on the heap, and of the element of `b` in a register.
fn buffered(ir: &[u8], vector_bits: Option<u32>) -> Result<Vec<u8>, EmitError> {
    let context = Context::new();
    let mut module = context.parse(ir, "test.ll").expect("parses");
    canonicalise(&mut module).expect("canonical");
    let function = module.function("sums").expect("it is there");
    let lifted = lift_function(&module, function);
    let [region] = &lifted.regions[..] else { panic!("{:?}", lifted.remarks) };
    let kernel = &region.kernel;
    let n = Affine::param(ParamId(0));
    let index = Affine::var(Buffer::index(0));
    let arrays = |written: bool| {
        let accesses = |a: usize| {
            kernel.statements.iter().flat_map(|s| &s.accesses).filter(move |x| x.array.index() == a)
        };
        let is = |a: &usize| {
            accesses(*a).any(|x| x.kind != AccessKind::Read) == written && kernel.arrays[*a].rank() == 1
        };
        ArrayId::new((0..kernel.arrays.len()).find(is).expect("there is one"))
    };
    let copy = Buffer {
        dims: vec![BufferDim { subscript: index.clone(), extent: n.clone() }],
        fill: Some(Window(vec![WindowRange::new(0, n)])),
        home: Home::Heap,
        alignment: 64,
        ..Buffer::scalar(arrays(false))
    };
    let Node::Loop(header, body) = kernel.original.node() else { panic!("{}", text::print_kernel(kernel)) };
    let i = Affine::var(header.var);
    let window = || Some(Window(vec![WindowRange::new(i.clone(), i.offset(1))]));
    let element = Buffer {
        dims: vec![BufferDim { subscript: &index - &i, extent: Affine::constant(1) }],
        fill: window(),
        write_back: window(),
        ..Buffer::scalar(arrays(true))
    };
    let root = Green::alloc(copy, Green::for_loop(header.clone(), Green::alloc(element, body.clone())));
    emit_region(&module, region, Variant { vector_bits, ..Variant::of(&canonical(kernel, &root)) })?;
    module.verify().unwrap_or_else(|e| panic!("{e}\n{module}"));
    Ok(module.to_bitcode())
}

#[test]
fn regions_with_buffers_print_the_same() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("sums.c");
    std::fs::write(&source, PROGRAM).expect("writable");
    let ir = compile(&source, LIGHT);
    let module = buffered(&ir, None).expect("it is emitted");
    let printed = Context::new().parse(&module, "test.ll").expect("parses").to_string();
    assert!(printed.contains("call ptr @malloc") && printed.contains("call void @free"), "{printed}");
    let expected = output(folder.path(), "original", &source_bitcode(&ir));
    assert_eq!(expected, output(folder.path(), "buffered", &module));
    let freestanding = compile(&source, &["-O1", "-ffreestanding"]);
    let error = buffered(&freestanding, None).expect_err("there is no malloc to call");
    assert_eq!(
        error.to_string(),
        "a buffer on the heap, where the function may call no allocator, cannot be emitted"
    );
}

#[test]
fn code_with_wide_vectors_is_a_function_of_its_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("sums.c");
    std::fs::write(&source, PROGRAM).expect("writable");
    for flags in [LIGHT.to_vec(), [LIGHT, &["-g"]].concat()] {
        let ir = compile(&source, &flags);
        let module = buffered(&ir, Some(512)).expect("it is emitted");
        let context = Context::new();
        let read = context.parse(&module, "test.ll").expect("parses");
        let attribute = |name: &str, which| read.function(name).expect("it is there").string_attribute(which);
        for which in ["prefer-vector-width", "min-legal-vector-width"] {
            assert_eq!(attribute("sums.wide", which).as_deref(), Some("512"));
            assert_ne!(attribute("sums", which).as_deref(), Some("512"));
        }
        let wide = read.function("sums.wide").expect("it is there");
        assert!(wide.has_attribute("noinline"));
        let expected = output(folder.path(), "original", &source_bitcode(&ir));
        assert_eq!(expected, output(folder.path(), "wide", &module));
    }
}

/// A chain of loops over temporaries: one of its own, one that is local memory, and one that the caller keeps.
const CHAIN: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) void chain(double *restrict b, const double *restrict a, double *restrict kept) {
  double *t = malloc(1000 * sizeof(double));
  if (!t) return;
  double u[1000];
  for (long i = 0; i < 1000; i++) t[i] = a[i] * 2.0;
  for (long i = 0; i < 1000; i++) u[i] = t[i] + a[i];
  for (long i = 0; i < 1000; i++) kept[i] = u[i] * t[i];
  for (long i = 0; i < 1000; i++) b[i] = kept[i] - u[i];
  free(t);
}
int main(void) {
  static double a[1000], b[1000], kept[1000];
  for (int i = 0; i < 1000; i++) a[i] = 0.1 * i;
  chain(b, a, kept);
  for (int i = 0; i < 1000; i++) printf("%a %a\n", b[i], kept[i]);
}
"#;

#[test]
fn temporaries_of_the_function_are_contracted() {
    let folder = tempfile::tempdir().expect("a folder");
    let source = folder.path().join("chain.c");
    std::fs::write(&source, CHAIN).expect("writable");
    for form in FORMS {
        let ir = compile(&source, form);
        let context = Context::new();
        let mut module = context.parse(&ir, "test.ll").expect("parses");
        canonicalise(&mut module).expect("canonical");
        let lifted = lift_function(&module, module.function("chain").expect("it is there"));
        let [region] = &lifted.regions[..] else { panic!("{:?}", lifted.remarks) };
        let kernel = text::print_kernel(&region.kernel);
        let arrays: Vec<&str> = kernel.lines().map(str::trim).filter(|l| l.starts_with("array")).collect();
        let locals = arrays.iter().filter(|l| l.ends_with(" local"));
        assert_eq!((arrays.len(), locals.count()), (5, 2), "{kernel}");
        let name = |array: &ArrayId| region.kernel.array(*array).name.clone();
        let local: Vec<_> = (0..5)
            .map(ArrayId::new)
            .filter(|a| region.kernel.array(*a).storage == Storage::Local)
            .map(|a| name(&a))
            .collect();
        let variables: Vec<_> = region.kernel.variables.iter().map(|v| v.name.clone()).collect();
        let statements: Vec<_> = region.kernel.statements.iter().map(|s| s.name.clone()).collect();
        let bodies: Vec<String> =
            variables.iter().zip(&statements).map(|(v, s)| format!("let {v} = x {{ {s} }}")).collect();
        let variant = format!(
            "variant {{ for x in 0..1000 {{ alloc {}[e] in [] on registers {{ alloc {}[e] in [e mod 2 : 2] on stack {{ {} }} }} }} }}",
            local[0],
            local[1],
            bodies.join(" ")
        );
        let end = kernel.rfind('}').expect("it ends");
        let program = text::parse(&format!("{}{variant}\n}}", &kernel[..end])).expect("it is read back");
        emit_region(&module, region, Variant::of(program.tree())).expect("it is emitted");
        module.verify().unwrap_or_else(|e| panic!("{e}\n{module}"));
        let expected = output(folder.path(), "original", &source_bitcode(&ir));
        assert_eq!(expected, output(folder.path(), "contracted", &module.to_bitcode()), "{form:?}");
    }
}
