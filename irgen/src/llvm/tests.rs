//! The layer as a whole, on small modules.

use super::*;

const SUM: &str = r#"
define double @sum(ptr noalias dereferenceable(8) %a, i64 %n) nounwind {
entry:
  %guard = icmp sgt i64 %n, 0
  br i1 %guard, label %loop, label %exit

loop:
  %i = phi i64 [ 0, %entry ], [ %next, %loop ]
  %s = phi double [ 0.0, %entry ], [ %add, %loop ]
  %p = getelementptr inbounds nuw double, ptr %a, i64 %i
  %x = load double, ptr %p, align 8
  %r = call double @llvm.sqrt.f64(double %x)
  %add = fadd reassoc nsz double %s, %r
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %exit, !llvm.loop !0

exit:
  %result = phi double [ 0.0, %entry ], [ %add, %loop ]
  ret double %result
}

declare double @llvm.sqrt.f64(double)

!0 = distinct !{!0, !1, !2}
!1 = !{!"llvm.loop.unroll.count", i32 4}
!2 = !{!"llvm.loop.vectorize.enable", i1 true}
"#;

fn sum(cx: &Context) -> Module<'_> {
    cx.parse(SUM.as_bytes(), "sum.ll").expect("parses")
}

#[test]
fn parse_errors_have_a_place() {
    let cx = Context::new();
    let text = "define i32 @f() {\n  ret i32 %x\n}\n";
    let Err(LlvmError::Parse { place, message }) = cx.parse(text.as_bytes(), "bad.ll") else {
        panic!("no parse error")
    };
    assert_eq!(place.to_string(), "bad.ll:2:11");
    assert!(message.contains("undefined value"), "{message}");
    assert!(cx.parse(b"BC\xC0\xDEgarbage", "bad.bc").is_err());
    assert!(cx.parse_file(std::path::Path::new("/no/such/file.ll")).is_err());
    assert!(cx.parse(b"", "empty.ll").expect("an empty module").functions().is_empty());
}

#[test]
fn a_broken_module_does_not_verify() {
    let cx = Context::new();
    let module = cx.module("m");
    let f = module.add_function("f", cx.void().function(&[]).unwrap()).unwrap();
    f.append_block("entry");
    let Err(LlvmError::Verify(message)) = module.verify() else { panic!("verified") };
    assert!(message.contains("terminator"), "{message}");
}

#[test]
fn names_of_functions_that_are_defined_elsewhere() {
    let text = "
        @variable = external global i32
        @alias = alias i32 (), ptr @own
        declare i32 @known()
        declare ptr @memset(ptr, i32, i64)
        define i32 @own() { ret i32 0 }
        define void @free() { ret void }
        define void @bare() \"no-builtins\" { ret void }
        define void @some() \"no-builtin-memcpy\" { ret void }";
    let cx = Context::new();
    let module = cx.parse(text.as_bytes(), "names.ll").unwrap();
    let ty = cx.i32().function(&[]).unwrap();
    for (name, there) in
        [("variable", false), ("alias", false), ("own", false), ("known", true), ("new", true)]
    {
        assert_eq!(module.external(name, ty).unwrap().map(|f| f.name()), there.then(|| name.into()));
        for caller in ["free", "bare"] {
            assert_eq!(module.function(caller).unwrap().may_call(name), there, "{name}");
        }
    }
    assert!(module.external("known", cx.void().function(&[]).unwrap()).unwrap().is_none());
    for (caller, copies, sets) in [("free", true, true), ("bare", false, false), ("some", false, true)] {
        let caller = module.function(caller).unwrap();
        assert_eq!((caller.may_call("memcpy"), caller.may_call("memset")), (copies, sets));
    }
}

#[test]
fn text_and_bitcode_round_trip() {
    let cx = Context::new();
    let module = sum(&cx);
    module.verify().unwrap();
    let text = module.to_string();
    let other = Context::new();
    assert_eq!(other.parse(text.as_bytes(), "sum.ll").unwrap().to_string(), text);
    let back = other.parse(&module.to_bitcode(), "sum.ll").unwrap();
    assert_eq!(back.functions().len(), 2);
    assert_eq!(module.duplicate().to_string(), text);
}

#[test]
fn instructions_tell_what_they_are() {
    let cx = Context::new();
    let module = sum(&cx);
    let f = module.function("sum").unwrap();
    assert!(f.has_attribute("nounwind") && !f.has_attribute("willreturn"));
    let a = f.params()[0];
    assert!(a.has_attribute("noalias"));
    assert_eq!(a.index(), 0);
    let body = f.blocks()[1];
    let insts = body.insts();
    let find = |op| *insts.iter().find(|i| i.opcode() == op).unwrap();
    let gep = find(Opcode::Gep);
    assert_eq!(gep.gep_flags(), Some(GepFlags::INBOUNDS | GepFlags::NUSW | GepFlags::NUW));
    assert_eq!(gep.gep_source_type(), Some(cx.f64()));
    assert_eq!(gep.underlying_object(), a.value());
    let load = find(Opcode::Load);
    assert_eq!(
        (load.alignment(), load.is_volatile(), load.ordering()),
        (Some(8), false, Ordering::NotAtomic)
    );
    assert_eq!(find(Opcode::FAdd).fast_math(), FastMath::REASSOC | FastMath::NSZ);
    assert_eq!(find(Opcode::Add).poison_flags(), PoisonFlags::NSW | PoisonFlags::NUW);
    assert_eq!(find(Opcode::Add).operand(1).unwrap().const_int(), Some(1));
    assert_eq!(find(Opcode::ICmp).int_predicate(), Some(IntPredicate::Slt));
    let call = find(Opcode::Call).as_call().unwrap();
    assert_eq!(call.intrinsic_name().as_deref(), Some("llvm.sqrt"));
    assert!(call.memory_effects().is_none() && call.has_attribute("willreturn"));
    assert_eq!(insts[0].incoming()[0].1, f.blocks()[0]);
    assert_eq!(body.predecessors(), [f.blocks()[0], body]);
    let hint = |name: &str, value| LoopHint { name: name.to_owned(), value };
    assert_eq!(
        body.terminator().unwrap().loop_hints(),
        [
            hint("llvm.loop.unroll.count", HintValue::Int(4)),
            hint("llvm.loop.vectorize.enable", HintValue::Bool(true)),
        ]
    );
    assert_eq!(module.data_layout().size_of(cx.f64()), Some(8));
    assert_eq!(module.data_layout().size_of(cx.void()), None);
}

#[test]
fn constants_are_exact() {
    let cx = Context::new();
    for (bits, value) in [(1, 0), (8, -128), (64, i128::from(i64::MIN)), (65, -1), (128, i128::MIN)] {
        let ty = cx.int(bits).unwrap();
        assert_eq!(ty.const_int(value).unwrap().const_int(), Some(value), "i{bits}");
    }
    assert_eq!(cx.int(200).unwrap().const_int(-1).unwrap().const_int(), None);
    let nan = f64::NAN.to_bits() | 5;
    let constant = cx.f64().const_fp(nan.into()).unwrap();
    assert_eq!(constant.const_fp(), Some(FpBits { bits: nan.into(), width: 64 }));
    assert!(cx.int(0).is_err() && cx.f64().const_int(1).is_err() && cx.void().zero().is_err());
}

#[test]
fn debug_locations_are_read() {
    let cx = Context::new();
    let text = r#"
define void @f() !dbg !3 {
  ret void, !dbg !6
}
!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2}
!0 = distinct !DICompileUnit(language: DW_LANG_C11, file: !1, emissionKind: FullDebug)
!1 = !DIFile(filename: "f.c", directory: "/src")
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = distinct !DISubprogram(name: "f", scope: !1, file: !1, line: 1, type: !4, spFlags: DISPFlagDefinition, unit: !0)
!4 = !DISubroutineType(types: !5)
!5 = !{null}
!6 = !DILocation(line: 7, column: 3, scope: !3)
"#;
    let module = cx.parse(text.as_bytes(), "f.ll").unwrap();
    module.verify().unwrap();
    let f = module.function("f").unwrap();
    let location = f.entry().unwrap().terminator().unwrap().location().unwrap();
    let want = SourceLocation { file: "f.c".into(), directory: "/src".into(), line: 7, column: 3 };
    assert_eq!(location, want);
    assert!(f.subprogram().is_some());
}

#[test]
fn loops_and_recurrences() {
    let cx = Context::new();
    let module = sum(&cx);
    let f = module.function("sum").unwrap();
    let blocks = f.blocks();
    let a = Analyses::new(f, None).unwrap();
    let [l] = a.loops() else { panic!("{:?}", a.loops()) };
    let id = a.loop_ids().next().unwrap();
    assert_eq!((l.header, l.latch, l.preheader), (blocks[1], Some(blocks[1]), None));
    assert_eq!((&l.exiting[..], &l.exits[..], l.depth, l.parent), (&blocks[1..2], &blocks[2..3], 1, None));
    assert!(l.rotated && !l.simplified);
    assert!(a.dominates(blocks[0], blocks[2]) && !a.dominates(blocks[1], blocks[2]));

    let insts = blocks[1].insts();
    let i = a.expression(insts[0].value()).unwrap();
    let ScevKind::AddRec(of, parts) = i.kind() else { panic!("{i:?}") };
    assert_eq!((of, i.bits()), (id, 64));
    assert_eq!(parts[0].kind(), ScevKind::Constant(0));
    assert_eq!(parts[1].kind(), ScevKind::Constant(1));
    assert!(i.wrap().no_signed && i.wrap().no_unsigned);
    let address = a.expression(insts[2].value()).unwrap();
    assert_eq!(address.pointer_base().kind(), ScevKind::Unknown(f.params()[0].value()));
    assert!(
        matches!(address.pointer_offset().kind(), ScevKind::AddRec(_, p) if p[1].kind() == ScevKind::Constant(8))
    );
    assert_eq!(a.expression(insts[1].value()), None);

    let taken = a.backedge_taken(id, BackedgeCount::Exact).unwrap();
    assert!(taken.is_known());
    assert_eq!(i.signed_range().unwrap().0, 0);
    assert!(a.backedge_taken(LoopId(7), BackedgeCount::Exact).is_err());
}

#[test]
fn objects_of_pointers() {
    let cx = Context::new();
    let text = "@g = global [4 x i32] zeroinitializer\n@h = external constant i32\n\
        define void @f(ptr %p, i64 %i) {\n  %q = getelementptr [4 x i32], ptr @g, i64 0, i64 %i\n  \
        store volatile i32 2, ptr @g\n  ret void\n}\n";
    let module = cx.parse(text.as_bytes(), "f.ll").unwrap();
    let insts = module.function("f").unwrap().entry().unwrap().insts();
    let (g, h) = (module.global("g").unwrap(), module.global("h").unwrap());
    assert!(insts[1].is_volatile() && insts[1].effects().contains(Effects::VOLATILE));
    assert!(h.is_constant() && h.initializer().is_none() && !g.is_constant());
    assert_eq!(insts[0].underlying_object(), g.value());
}

#[test]
fn costs_follow_the_function_target() {
    let cx = Context::new();
    let module = sum(&cx);
    let tm = TargetMachine::host(OptLevel::Aggressive, CodeModel::Object).unwrap();
    let f = module.function("sum").unwrap();
    f.set_string_attribute("target-cpu", &tm.cpu());
    let a = Analyses::new(f, Some(&tm)).unwrap();
    let insts = f.blocks()[1].insts();
    let cost = |op, kind| {
        let inst = insts.iter().find(|i| i.opcode() == op).unwrap();
        a.instruction_cost(*inst, kind).unwrap()
    };
    assert!(cost(Opcode::FAdd, CostKind::Throughput) <= cost(Opcode::FAdd, CostKind::Latency));
    assert!(cost(Opcode::FAdd, CostKind::Latency) < cost(Opcode::Call, CostKind::Latency));
    assert!(a.vector_bits() >= 128);
    assert!(TargetMachine::new("no-such-triple", "x", "", OptLevel::None, CodeModel::Object).is_err());
}

/// `void scale(ptr a, i64 n)`: `for (i = 0; i < n; i++) a[i] = sqrt(a[i])`, with all metadata we emit.
fn build_loop<'m>(module: &'m Module<'m>) -> Result<Function<'m>> {
    let cx = module.context();
    let (i64, f64) = (cx.i64(), cx.f64());
    let f = module.add_function("scale", cx.void().function(&[cx.ptr(), i64])?)?;
    let (base, n) = (f.params()[0].value(), f.params()[1].value());
    let [entry, body, exit] = ["entry", "body", "exit"].map(|name| f.append_block(name));
    let mut b = Builder::new(module);
    b.position_at_end(entry)?;
    let (zero, one) = (i64.const_int(0)?, i64.const_int(1)?);
    b.cond_br(b.icmp(IntPredicate::Sgt, n, zero, "guard")?, body, exit)?;
    b.position_at_end(body)?;
    let i = b.phi(i64, "i")?;
    let p = b.gep(f64, base, &[i.value()], GepFlags::INBOUNDS, "p")?;
    let load = b.load(f64, p, 8, "x")?;
    let root = b.intrinsic("llvm.sqrt", f64, &[load.value()], "r")?;
    let store = b.store(root.value(), p, 8)?;
    let next = b.binary(Opcode::Add, i.value(), one, PoisonFlags::NSW, "next")?;
    let latch = b.cond_br(b.icmp(IntPredicate::Slt, next, n, "more")?, body, exit)?;
    i.add_incoming(zero, entry)?;
    i.add_incoming(next, body)?;
    b.position_at_end(exit)?;
    b.ret(None)?;

    let group = module.access_group();
    let scope = module.alias_scope(module.alias_domain("loops"), "a");
    for access in [load, store] {
        access.set_metadata("llvm.access.group", Some(group))?;
        access.set_metadata("alias.scope", Some(module.md_node(&[scope])))?;
    }
    let width = LoopHint { name: "llvm.loop.vectorize.width".into(), value: HintValue::Int(4) };
    let id = module.loop_id(&[module.parallel_accesses(&[group]), module.loop_property(&width)?]);
    latch.set_metadata("llvm.loop", Some(id))?;
    Ok(f)
}

#[test]
fn a_built_loop_verifies_and_runs() {
    let cx = Context::new();
    let mut module = cx.module("m");
    {
        let f = build_loop(&module).unwrap();
        let latch = f.blocks()[1].terminator().unwrap();
        assert_eq!(latch.loop_hints()[1].value, HintValue::Int(4));
    }
    module.verify().unwrap();
    let text = module.to_string();
    assert!(text.contains("!llvm.access.group") && text.contains("llvm.loop.parallel_accesses"), "{text}");
    let tm = TargetMachine::host(OptLevel::Aggressive, CodeModel::Object).unwrap();
    module.set_target(&tm);
    module.run_passes("default<O3>", Some(&tm)).unwrap();
    module.verify().unwrap();
    assert!(module.to_string().contains("<4 x double>"), "vectorised as asked");
    assert!(!tm.emit(&module, FileType::Object).unwrap().is_empty());
    let assembly = String::from_utf8(tm.emit(&module, FileType::Assembly).unwrap()).unwrap();
    assert!(assembly.contains("scale:"));

    let jit = Jit::new(OptLevel::Aggressive).unwrap();
    jit.add(&module).unwrap();
    // SAFETY: the signature that `build_loop` gives it; called before the JIT ends.
    let scale = unsafe { jit.lookup::<unsafe extern "C" fn(*mut f64, i64)>("scale") }.unwrap();
    let mut data: Vec<f64> = (0..37).map(|i| f64::from(i * i)).collect();
    // SAFETY: the length of the buffer.
    unsafe { scale(data.as_mut_ptr(), 37) };
    assert!(data.iter().enumerate().all(|(i, &x)| x == i as f64));
}

#[test]
fn loop_ids_are_distinct() {
    let cx = Context::new();
    let module = cx.module("m");
    let (a, b) = (module.loop_id(&[]), module.loop_id(&[]));
    assert_ne!(a, b);
    assert_eq!(a.operands(), [a]);
    assert_ne!(module.access_group(), module.access_group());
    assert_eq!(module.md_node(&[a]), module.md_node(&[a]));
}

#[test]
fn the_jit_finds_libm_and_reports_what_it_does_not_find() {
    let cx = Context::new();
    let text = "declare double @fmod(double, double)\ndeclare void @no_such_function()\n\
        define double @f(double %x) {\n  %y = call double @fmod(double %x, double 2.0)\n  ret double %y\n}\n\
        define i32 @add(i32 %a, i32 %b) {\n  %c = add i32 %a, %b\n  ret i32 %c\n}\n";
    let module = cx.parse(text.as_bytes(), "f.ll").unwrap();
    let jit = Jit::new(OptLevel::Default).unwrap();
    jit.add(&module).unwrap();
    drop(module);
    drop(cx);
    // SAFETY: the signatures above; called before the JIT ends.
    unsafe {
        let f = jit.lookup::<unsafe extern "C" fn(f64) -> f64>("f").unwrap();
        assert_eq!(f(7.5), 1.5);
        let add = jit.lookup::<unsafe extern "C" fn(i32, i32) -> i32>("add").unwrap();
        assert_eq!(add(40, 2), 42);
    }
    assert!(jit.address("missing").is_err());
    let cx = Context::new();
    let text = "declare void @no_such_function()\ndefine void @g() {\n  call void @no_such_function()\n  ret void\n}\n";
    jit.add(&cx.parse(text.as_bytes(), "g.ll").unwrap()).unwrap();
    let Err(LlvmError::Jit(message)) = jit.address("g") else { panic!("found") };
    assert!(message.contains("no_such_function"), "{message}");
    // The name is taken.
    let again = cx.parse(b"define void @add() {\n  ret void\n}\n", "again.ll").unwrap();
    assert!(jit.add(&again).is_err());
}

#[test]
fn blocks_are_split_and_edges_led_elsewhere() {
    let cx = Context::new();
    let mut module = sum(&cx);
    {
        let f = module.function("sum").unwrap();
        let entry = f.entry().unwrap();
        let guarded = entry.first_inst().unwrap().split_block("guarded").unwrap();
        assert_eq!(guarded.successors().len(), 2);
        assert!(f.blocks()[2].insts()[0].split_block("no").is_err(), "a phi");
        let other = f.append_block("other");
        let mut b = Builder::new(&module);
        b.position_at_end(other).unwrap();
        b.br(guarded).unwrap();
        entry.terminator().unwrap().replace_successor(guarded, other).unwrap();
        assert_eq!(entry.successors(), [other]);
    }
    module.verify().unwrap();
    module.delete_function("sum").unwrap();
    module.verify().unwrap();
}

#[test]
fn what_llvm_would_not_survive_is_refused() {
    let cx = Context::new();
    let module = sum(&cx);
    let f = module.function("sum").unwrap();
    let (p, n) = (f.params()[0].value(), f.params()[1].value());
    let mut b = Builder::new(&module);
    let none = PoisonFlags::empty();
    assert!(b.binary(Opcode::Add, n, n, none, "").is_err(), "no place");
    b.position_before(f.entry().unwrap().terminator().unwrap()).unwrap();
    assert!(b.binary(Opcode::Add, p, n, none, "").is_err());
    assert!(b.binary(Opcode::FAdd, n, n, none, "").is_err());
    assert!(b.binary(Opcode::UDiv, n, n, PoisonFlags::NSW, "").is_err());
    assert!(b.cast(Opcode::ZExt, n, cx.i32(), none, "").is_err());
    assert!(b.load(cx.void(), p, 8, "").is_err() && b.load(cx.f64(), p, 3, "").is_err());
    assert!(b.gep(cx.f64(), p, &[n, n], GepFlags::empty(), "").is_err());
    assert!(b.intrinsic("llvm.sqrt", cx.i64(), &[n], "").is_err());
    assert!(b.intrinsic("llvm.no.such", cx.f64(), &[], "").is_err());
    assert!(b.ret(Some(n)).is_err());
    let other = Context::new();
    let foreign = sum(&other);
    let m = foreign.function("sum").unwrap().params()[1].value();
    assert!(b.binary(Opcode::Add, m, m, none, "").is_err(), "another context");
    assert!(n.replace_all_uses(p).is_err());
    let mut copy = module.duplicate();
    assert!(matches!(copy.run_passes("no-such-pass", None), Err(LlvmError::Passes { .. })));
}

#[test]
fn contexts_live_in_their_threads() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..8 {
                    let cx = Context::new();
                    let module = sum(&cx);
                    let f = module.function("sum").unwrap();
                    let analyses = Analyses::new(f, None).unwrap();
                    assert_eq!(analyses.loops().len(), 1);
                }
            });
        }
    });
}
