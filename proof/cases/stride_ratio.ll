; Rows are as far apart as the program says, which is a whole number of columns or not.
; regions: 1
; notices: StrideRatios
define void @test(ptr %b, i64 %n, i64 %m, i64 %column, i64 %row) {
start:
  br label %rows
rows:
  %j = phi i64 [ 0, %start ], [ %j.next, %row.end ]
  %more.rows = icmp slt i64 %j, %m
  br i1 %more.rows, label %inside, label %done
inside:
  br label %columns
columns:
  %i = phi i64 [ 0, %inside ], [ %i.next, %body ]
  %more.columns = icmp slt i64 %i, %n
  br i1 %more.columns, label %body, label %row.end
body:
  %first = mul nsw i64 %j, %row
  %far = mul nsw i64 %i, %column
  %at = add nsw i64 %first, %far
  %place = getelementptr inbounds i64, ptr %b, i64 %at
  store i64 %j, ptr %place, align 8
  %i.next = add nuw nsw i64 %i, 1
  br label %columns
row.end:
  %j.next = add nuw nsw i64 %j, 1
  br label %rows
done:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i64 3, i64 4, i64 2, i64 6)
  %a = getelementptr i64, ptr %p, i64 30
  call void @test(ptr %a, i64 3, i64 4, i64 2, i64 7)
  %b = getelementptr i64, ptr %p, i64 70
  call void @test(ptr %b, i64 3, i64 4, i64 6, i64 2)
  %c = getelementptr i64, ptr %p, i64 110
  call void @test(ptr %c, i64 3, i64 4, i64 0, i64 2)
  call void @test(ptr %c, i64 3, i64 4, i64 -2, i64 8)
  ret i64 0
}
