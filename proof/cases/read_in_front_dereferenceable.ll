; What the loop reads there leads to memory; what was read in front only does where the loop runs.
; regions: 1
define void @test(ptr %g, ptr %b, i64 %n) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %more.rows = icmp slt i64 %i, %n
  br i1 %more.rows, label %row, label %end
row:
  %x = load ptr, ptr %g, align 8, !dereferenceable !0, !align !0, !nonnull !1
  br label %columns
columns:
  %j = phi i64 [ 0, %row ], [ %j.next, %column ]
  %m = load i64, ptr %x, align 8
  %more = icmp slt i64 %j, %m
  br i1 %more, label %column, label %row.end
column:
  %first = mul nsw i64 %i, 8
  %at = add nsw i64 %first, %j
  %to = getelementptr inbounds i64, ptr %b, i64 %at
  store i64 %i, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  br label %columns
row.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
end:
  ret void
}
define i64 @entry(ptr %p) {
  %g = alloca ptr
  %m = alloca i64
  store i64 6, ptr %m
  store ptr %m, ptr %g
  call void @test(ptr %g, ptr %p, i64 4)
  call void @test(ptr null, ptr %p, i64 0)
  ret i64 0
}
!0 = !{i64 8}
!1 = !{}
