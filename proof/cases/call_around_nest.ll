; Around a nest that calls nothing stands a loop that does: the nest is a region of its own, and may change.
; regions: 1
; allowed: interchange(@)
define void @test(ptr noalias %a, ptr noalias %b, i64 %n) {
start:
  br label %outer
outer:
  %t = phi i64 [ 0, %start ], [ %tt, %behind ]
  call void @counts(ptr %a)
  br label %rows
rows:
  %i = phi i64 [ 0, %outer ], [ %ii, %next ]
  br label %columns
columns:
  %j = phi i64 [ 0, %rows ], [ %jj, %columns ]
  %row = mul nuw nsw i64 %j, 16
  %e = add nuw nsw i64 %row, %i
  %at = getelementptr inbounds i64, ptr %a, i64 %e
  %to = getelementptr inbounds i64, ptr %b, i64 %e
  %x = load i64, ptr %at
  %y = add i64 %x, 3
  store i64 %y, ptr %to
  %jj = add nuw nsw i64 %j, 1
  %mj = icmp ult i64 %jj, 16
  br i1 %mj, label %columns, label %next
next:
  %ii = add nuw nsw i64 %i, 1
  %mi = icmp ult i64 %ii, 16
  br i1 %mi, label %rows, label %behind
behind:
  %tt = add nuw nsw i64 %t, 1
  %mt = icmp ult i64 %tt, 3
  br i1 %mt, label %outer, label %end
end:
  ret void
}
define void @counts(ptr %q) noinline {
  %old = load i64, ptr %q
  %new = add i64 %old, 1
  store i64 %new, ptr %q
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 2048
  call void @test(ptr %p, ptr %b, i64 12)
  ret i64 0
}
