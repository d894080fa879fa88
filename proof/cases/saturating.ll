; Conversions that stay in range, bits that go around, and zeros that are counted.
; regions: 1
define void @test(ptr noalias %p, ptr noalias %q, i64 %n) {
start:
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %outer.end ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %row = mul i64 %j, 8
  %at = add i64 %row, %i
  %from = getelementptr inbounds i64, ptr %p, i64 %at
  %v = load i64, ptr %from
  %f = sitofp i64 %v to double
  %g = fmul double %f, 1.0e15
  %s = call i32 @llvm.fptosi.sat.i32.f64(double %g)
  %u = call i8 @llvm.fptoui.sat.i8.f64(double %f)
  %sw = sext i32 %s to i64
  %uw = zext i8 %u to i64
  %r = call i64 @llvm.fshl.i64(i64 %v, i64 %sw, i64 %i)
  %t = call i64 @llvm.fshr.i64(i64 %v, i64 %v, i64 77)
  %l = call i64 @llvm.ctlz.i64(i64 %v, i1 false)
  %z = call i64 @llvm.cttz.i64(i64 %v, i1 false)
  %a = xor i64 %r, %t
  %b = add i64 %l, %z
  %c = add i64 %a, %b
  %d = add i64 %c, %uw
  %to = getelementptr inbounds i64, ptr %q, i64 %at
  %old = load i64, ptr %to
  %new = add i64 %old, %d
  store i64 %new, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %j.again = icmp slt i64 %j.next, 8
  br i1 %j.again, label %inner, label %outer.end
outer.end:
  %i.next = add nuw nsw i64 %i, 1
  %i.again = icmp slt i64 %i.next, 8
  br i1 %i.again, label %outer, label %end
end:
  ret void
}
declare i32 @llvm.fptosi.sat.i32.f64(double)
declare i8 @llvm.fptoui.sat.i8.f64(double)
declare i64 @llvm.fshl.i64(i64, i64, i64)
declare i64 @llvm.fshr.i64(i64, i64, i64)
declare i64 @llvm.ctlz.i64(i64, i1)
declare i64 @llvm.cttz.i64(i64, i1)
