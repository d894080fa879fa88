; Rows that a table of pointers leads to are one array where they lie at equal distances and nothing overwrites the table.
; regions: 1
; kernel: for j
; notices: RowDistances
define void @test(ptr %a, ptr %b, i64 %n, i64 %m) {
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
  %b.at = getelementptr inbounds ptr, ptr %b, i64 %i
  %b.row = load ptr, ptr %b.at, align 8
  %from = getelementptr inbounds i64, ptr %b.row, i64 %j
  %x = load i64, ptr %from, align 8
  %y = add i64 %x, %i
  %a.at = getelementptr inbounds ptr, ptr %a, i64 %i
  %a.row = load ptr, ptr %a.at, align 8
  %to = getelementptr inbounds i64, ptr %a.row, i64 %j
  store i64 %y, ptr %to, align 8
  %j.next = add nuw nsw i64 %j, 1
  br label %columns
row.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
end:
  ret void
}
define void @fill(ptr %table, ptr %first, i64 %distance, i64 %n) noinline optnone {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %by = mul i64 %i, %distance
  %row = getelementptr i64, ptr %first, i64 %by
  %at = getelementptr ptr, ptr %table, i64 %i
  store ptr %row, ptr %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %a = alloca [8 x ptr]
  %b = alloca [8 x ptr]
  %q = getelementptr i8, ptr %p, i64 2048
  %r = getelementptr i8, ptr %p, i64 4096
  call void @fill(ptr %a, ptr %p, i64 7, i64 8)
  call void @fill(ptr %b, ptr %q, i64 9, i64 8)
  call void @test(ptr %a, ptr %b, i64 6, i64 7)
  call void @test(ptr %a, ptr %b, i64 3, i64 8)
  call void @test(ptr %b, ptr %a, i64 1, i64 5)
  call void @test(ptr null, ptr null, i64 0, i64 5)
  call void @test(ptr null, ptr null, i64 2, i64 0)
  call void @fill(ptr %b, ptr %p, i64 8, i64 8)
  call void @test(ptr %a, ptr %b, i64 6, i64 7)
  call void @fill(ptr %b, ptr %q, i64 0, i64 8)
  call void @test(ptr %b, ptr %a, i64 6, i64 7)
  call void @fill(ptr %b, ptr %r, i64 -9, i64 8)
  call void @test(ptr %b, ptr %a, i64 6, i64 7)
  call void @fill(ptr %b, ptr %q, i64 9, i64 8)
  %odd.at = getelementptr ptr, ptr %b, i64 5
  %odd = getelementptr i8, ptr %r, i64 512
  store ptr %odd, ptr %odd.at
  call void @test(ptr %b, ptr %a, i64 6, i64 7)
  call void @test(ptr %b, ptr %a, i64 5, i64 7)
  %inside = getelementptr i8, ptr %r, i64 1024
  call void @fill(ptr %inside, ptr %r, i64 20, i64 4)
  call void @test(ptr %inside, ptr %a, i64 4, i64 4)
  %back = getelementptr i8, ptr %r, i64 1016
  call void @fill(ptr %inside, ptr %back, i64 0, i64 4)
  call void @test(ptr %inside, ptr %a, i64 2, i64 1)
  call void @test(ptr %inside, ptr %a, i64 2, i64 2)
  store i64 0, ptr %inside
  %in1 = getelementptr i8, ptr %inside, i64 8
  store i64 0, ptr %in1
  %in2 = getelementptr i8, ptr %inside, i64 16
  store i64 0, ptr %in2
  %in3 = getelementptr i8, ptr %inside, i64 24
  store i64 0, ptr %in3
  ret i64 0
}
