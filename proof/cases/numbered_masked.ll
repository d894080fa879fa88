; A guarded element of a table, its number under the same guard.
; regions: 1
define void @test(ptr noalias %a, ptr noalias %col, ptr noalias %x) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  br label %inner
inner:
  %j = phi i64 [ 0, %rows ], [ %j.next, %latch ]
  %from = getelementptr inbounds i32, ptr %col, i64 %j
  %c = load i32, ptr %from
  %is = icmp ult i32 %c, 16
  br i1 %is, label %small, label %latch
small:
  %wide = zext i32 %c to i64
  %there = getelementptr inbounds i32, ptr %x, i64 %wide
  %v = load i32, ptr %there
  %w = and i32 %v, 15
  %wide2 = zext i32 %w to i64
  %to = getelementptr inbounds i32, ptr %a, i64 %wide2
  %value = add i32 %v, %c
  store i32 %value, ptr %to
  br label %latch
latch:
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 20
  br i1 %more, label %inner, label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 5
  br i1 %again, label %rows, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %c = getelementptr i8, ptr %p, i64 400
  %x = getelementptr i8, ptr %p, i64 800
  store i32 3, ptr %c
  %c1 = getelementptr i8, ptr %c, i64 12
  store i32 11, ptr %c1
  %c2 = getelementptr i8, ptr %c, i64 20
  store i32 3, ptr %c2
  call void @test(ptr %p, ptr %c, ptr %x)
  ret i64 0
}
