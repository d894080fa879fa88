; It is found in front that the first rows lie at equal distances; others that the loops walk to must be among them.
; regions: 1
; notices: RowsFound
define void @test(ptr %a, i64 %n, i64 %s, i64 %m) mustprogress {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %more.rows = icmp slt i64 %i, %n
  br i1 %more.rows, label %row, label %end
row:
  %a.at = getelementptr inbounds ptr, ptr %a, i64 %i
  %a.row = load ptr, ptr %a.at, align 8
  br label %columns
columns:
  %j = phi i64 [ 0, %row ], [ %j.next, %column ]
  %more = icmp slt i64 %j, %m
  br i1 %more, label %column, label %row.end
column:
  %k = add nsw i64 %j, %s
  %b.at = getelementptr inbounds ptr, ptr %a, i64 %k
  %b.row = load ptr, ptr %b.at, align 8
  %x = load i64, ptr %b.row, align 8
  %to = getelementptr inbounds i64, ptr %a.row, i64 %j
  store i64 %x, ptr %to, align 8
  %j.next = add nuw nsw i64 %j, 1
  br label %columns
row.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
end:
  ret void
}
define void @row(ptr %a, i64 %i, ptr %row) noinline optnone {
  %at = getelementptr ptr, ptr %a, i64 %i
  store ptr %row, ptr %at
  ret void
}
define i64 @entry(ptr %p) {
  %a = alloca [6 x ptr]
  %r1 = getelementptr i8, ptr %p, i64 64
  %r2 = getelementptr i8, ptr %p, i64 128
  %r3 = getelementptr i8, ptr %p, i64 192
  %r4 = getelementptr i8, ptr %p, i64 1024
  %r5 = getelementptr i8, ptr %p, i64 2048
  call void @row(ptr %a, i64 0, ptr %p)
  call void @row(ptr %a, i64 1, ptr %r1)
  call void @row(ptr %a, i64 2, ptr %r2)
  call void @row(ptr %a, i64 3, ptr %r3)
  call void @row(ptr %a, i64 4, ptr %r4)
  call void @row(ptr %a, i64 5, ptr %r5)
  call void @test(ptr %a, i64 4, i64 1, i64 3)
  call void @test(ptr %a, i64 4, i64 2, i64 4)
  %a1 = getelementptr ptr, ptr %a, i64 1
  call void @test(ptr %a1, i64 3, i64 -1, i64 3)
  ret i64 0
}
