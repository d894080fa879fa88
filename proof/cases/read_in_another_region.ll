; What the one loop reads at its beginning is nothing that was read in front of the next: the new code of the one does not read it.
; regions: 2
define void @test(ptr %n, ptr %b, i64 %k) {
start:
  br label %loop
loop:
  %h = phi i64 [ 0, %start ], [ %h.next, %body ]
  %end = load i64, ptr %n, align 8
  %goes.on = icmp slt i64 %h, %end
  br i1 %goes.on, label %body, label %rows.front
body:
  %twice = mul nsw i64 %h, 2
  %even = getelementptr inbounds i64, ptr %b, i64 %twice
  %old = load i64, ptr %even, align 8
  %more = add i64 %old, 1
  store i64 %more, ptr %even, align 8
  %h.next = add nuw nsw i64 %h, 1
  br label %loop
rows.front:
  br label %rows
rows:
  %j = phi i64 [ 0, %rows.front ], [ %j.next, %row.end ]
  %more.rows = icmp slt i64 %j, 3
  br i1 %more.rows, label %row, label %done
row:
  br label %columns
columns:
  %i = phi i64 [ 0, %row ], [ %i.next, %column.end ]
  %more.columns = icmp slt i64 %i, 4
  br i1 %more.columns, label %column, label %row.end
column:
  %wanted = icmp sle i64 %j, %k
  br i1 %wanted, label %change, label %column.end
change:
  %m = load i64, ptr %n, align 8
  %length = add nsw i64 %m, 1
  %first = mul nsw i64 %j, %length
  %at = add nsw i64 %first, %i
  %place = getelementptr inbounds i64, ptr %b, i64 %at
  %was = load i64, ptr %place, align 8
  %thrice = mul i64 %was, 3
  store i64 %thrice, ptr %place, align 8
  br label %column.end
column.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %columns
row.end:
  %j.next = add nuw nsw i64 %j, 1
  br label %rows
done:
  ret void
}
define i64 @entry(ptr %p) {
  %n = alloca i64
  store i64 6, ptr %n
  call void @test(ptr %n, ptr %p, i64 1)
  call void @test(ptr %n, ptr %p, i64 5)
  %inside = getelementptr i64, ptr %p, i64 2
  store i64 5, ptr %inside
  call void @test(ptr %inside, ptr %p, i64 5)
  ret i64 0
}
