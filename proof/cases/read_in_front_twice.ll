; A pointer is read in the inner loop and behind it. Where the inner loop does not run, what was read in front for it is no place
; to read from.
; regions: 1
define void @test(ptr %g, ptr %b, i64 %n, i64 %m) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %more.rows = icmp slt i64 %i, %n
  br i1 %more.rows, label %row, label %end
row:
  br label %columns
columns:
  %j = phi i64 [ 0, %row ], [ %j.next, %column ]
  %more = icmp slt i64 %j, %m
  br i1 %more, label %column, label %row.end
column:
  %x = load ptr, ptr %g
  %to = getelementptr inbounds i64, ptr %x, i64 %j
  store i64 %i, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  br label %columns
row.end:
  %y = load ptr, ptr %g
  %s = load i64, ptr %y
  %at = add nsw i64 %i, %s
  %there = getelementptr inbounds i64, ptr %b, i64 %at
  store i64 %i, ptr %there
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
end:
  ret void
}
define i64 @entry(ptr %p) {
  %g = alloca ptr
  %x = alloca [8 x i64]
  %q = getelementptr i8, ptr %p, i64 512
  store i64 2, ptr %x
  store ptr %x, ptr %g
  call void @test(ptr %g, ptr %p, i64 3, i64 0)
  call void @test(ptr %g, ptr %q, i64 3, i64 1)
  call void @test(ptr null, ptr %p, i64 0, i64 2)
  ret i64 0
}
