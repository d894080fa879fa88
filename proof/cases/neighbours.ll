; A descriptor of an array says how far elements are apart, which are neighbours or not.
; regions: 1
; notices: Neighbours
define void @test(ptr noalias %descriptor, i64 %n, i64 %m) {
start:
  %b = load ptr, ptr %descriptor, align 8
  %column.place = getelementptr inbounds i8, ptr %descriptor, i64 40
  %column = load i64, ptr %column.place, align 8
  %row.place = getelementptr inbounds i8, ptr %descriptor, i64 64
  %row = load i64, ptr %row.place, align 8
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
  %line = getelementptr inbounds i8, ptr %b, i64 %first
  %place = getelementptr inbounds i8, ptr %line, i64 %far
  store i64 %j, ptr %place, align 8
  %i.next = add nuw nsw i64 %i, 1
  br label %columns
row.end:
  %j.next = add nuw nsw i64 %j, 1
  br label %rows
done:
  ret void
}
define void @with(ptr %p, i64 %column, i64 %row) {
  %descriptor = alloca [9 x i64], align 8
  store ptr %p, ptr %descriptor, align 8
  %column.place = getelementptr inbounds i8, ptr %descriptor, i64 40
  store i64 %column, ptr %column.place, align 8
  %row.place = getelementptr inbounds i8, ptr %descriptor, i64 64
  store i64 %row, ptr %row.place, align 8
  call void @test(ptr %descriptor, i64 3, i64 4)
  ret void
}
define i64 @entry(ptr %p) {
  call void @with(ptr %p, i64 8, i64 24)
  %a = getelementptr i64, ptr %p, i64 20
  call void @with(ptr %a, i64 16, i64 48)
  %b = getelementptr i64, ptr %p, i64 60
  call void @with(ptr %b, i64 32, i64 8)
  %c = getelementptr i64, ptr %p, i64 110
  call void @with(ptr %c, i64 0, i64 8)
  call void @with(ptr %c, i64 -8, i64 32)
  ret i64 0
}
