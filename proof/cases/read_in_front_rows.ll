; Bounds, a row pointer and a stride of one object, any of which the stores may overwrite. Where they do, the original runs.
; regions: 1
; kernel: for j
%grid = type { i64, i64, ptr, i64 }
define void @test(ptr %g) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %n = load i64, ptr %g
  %more.rows = icmp slt i64 %i, %n
  br i1 %more.rows, label %row, label %end
row:
  br label %columns
columns:
  %j = phi i64 [ 0, %row ], [ %j.next, %column ]
  %m.at = getelementptr inbounds %grid, ptr %g, i64 0, i32 1
  %m = load i64, ptr %m.at
  %more = icmp slt i64 %j, %m
  br i1 %more, label %column, label %row.end
column:
  %a.at = getelementptr inbounds %grid, ptr %g, i64 0, i32 2
  %a = load ptr, ptr %a.at
  %s.at = getelementptr inbounds %grid, ptr %g, i64 0, i32 3
  %s = load i64, ptr %s.at
  %first = mul nsw i64 %i, %s
  %at = add nsw i64 %first, %j
  %to = getelementptr inbounds i64, ptr %a, i64 %at
  store i64 2, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  br label %columns
row.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
end:
  ret void
}
define void @call(ptr %g, i64 %n, i64 %m, ptr %a, i64 %s) {
  %m.at = getelementptr inbounds %grid, ptr %g, i64 0, i32 1
  %a.at = getelementptr inbounds %grid, ptr %g, i64 0, i32 2
  %s.at = getelementptr inbounds %grid, ptr %g, i64 0, i32 3
  store i64 %n, ptr %g
  store i64 %m, ptr %m.at
  store ptr %a, ptr %a.at
  store i64 %s, ptr %s.at
  call void @test(ptr %g)
  store ptr null, ptr %a.at
  ret void
}
define i64 @entry(ptr %p) {
  %own = alloca %grid
  %in = getelementptr i8, ptr %p, i64 1024
  %before = getelementptr i8, ptr %in, i64 -8
  %at.s = getelementptr i8, ptr %in, i64 24
  call void @call(ptr %own, i64 3, i64 4, ptr %p, i64 5)
  call void @call(ptr %in, i64 3, i64 4, ptr %p, i64 5)
  call void @call(ptr %in, i64 1, i64 1, ptr %before, i64 1)
  call void @call(ptr %in, i64 1, i64 2, ptr %before, i64 0)
  call void @call(ptr %in, i64 5, i64 2, ptr %in, i64 0)
  call void @call(ptr %in, i64 2, i64 1, ptr %at.s, i64 1)
  call void @call(ptr %in, i64 0, i64 2, ptr null, i64 2)
  ret i64 0
}
