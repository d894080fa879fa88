; What a loop inside reads is read in front of both only where the outer one runs: else there may be nothing to read.
; regions: 1
define void @test(ptr %r, ptr %b, i64 %n) {
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
  %m = load i64, ptr %r
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
  %r = alloca i64
  store i64 6, ptr %r
  call void @test(ptr %r, ptr %p, i64 4)
  call void @test(ptr null, ptr %p, i64 0)
  call void @test(ptr null, ptr %p, i64 -1)
  ret i64 0
}
