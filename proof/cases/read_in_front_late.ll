; The bound of the inner loop leads to what it reads only while nothing of the same iteration overwrites it before: where the
; store does, there is nothing to read, so it is not read in front.
; regions: 1
define void @test(ptr %g, ptr %b) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %more.rows = icmp slt i64 %i, 3
  br i1 %more.rows, label %row, label %end
row:
  %to = getelementptr inbounds i64, ptr %b, i64 %i
  store i64 0, ptr %to
  br label %columns
columns:
  %j = phi i64 [ 0, %row ], [ %j.next, %column ]
  %m = load i64, ptr %g
  %more = icmp slt i64 %j, %m
  br i1 %more, label %column, label %row.end
column:
  %a.at = getelementptr inbounds i64, ptr %g, i64 1
  %a = load ptr, ptr %a.at
  %x.at = getelementptr inbounds i64, ptr %a, i64 5
  %x = load ptr, ptr %x.at
  %from = getelementptr inbounds i64, ptr %x, i64 %j
  %y = load i64, ptr %from
  %there = getelementptr inbounds i64, ptr %b, i64 8
  store i64 %y, ptr %there
  %j.next = add nuw nsw i64 %j, 1
  br label %columns
row.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
end:
  ret void
}
define i64 @entry(ptr %p) {
  %g = alloca [16 x i64]
  %a.at = getelementptr inbounds i64, ptr %g, i64 1
  store i64 5, ptr %g
  store ptr null, ptr %a.at
  call void @test(ptr %g, ptr %g)
  ret i64 0
}
