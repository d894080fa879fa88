; Nobody else has the address of a variable, but a row of it is part of it: what is read of the variable may be what the row's loop
; writes.
; regions: 1
; under: reverse(@)
; notices: RowsOfObjects
@table = internal global [64 x i32] zeroinitializer
@seen = internal global i64 0
define void @fence(i64 %x) noinline {
  store volatile i64 %x, ptr @seen
  ret void
}
define void @test(i64 %n, i64 %step) {
start:
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %behind ]
  call void @fence(i64 %i)
  %at = mul nsw i64 %i, %step
  %row = getelementptr inbounds i32, ptr @table, i64 %at
  br label %loop
loop:
  %j = phi i64 [ 0, %outer ], [ %j.next, %loop ]
  %from = getelementptr inbounds [64 x i32], ptr @table, i64 0, i64 %j
  %x = load i32, ptr %from
  %i.small = trunc i64 %i to i32
  %y = mul i32 %x, 3
  %z = add i32 %y, %i.small
  %to = getelementptr inbounds i32, ptr %row, i64 %j
  store i32 %z, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, %n
  br i1 %more, label %loop, label %behind
behind:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 3
  br i1 %again, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(i64 20, i64 1)
  call void @test(i64 7, i64 9)
  br label %copy
copy:
  %j = phi i64 [ 0, %0 ], [ %j.next, %copy ]
  %from = getelementptr inbounds [64 x i32], ptr @table, i64 0, i64 %j
  %x = load volatile i32, ptr %from
  %to = getelementptr i32, ptr %p, i64 %j
  store volatile i32 %x, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp ult i64 %j.next, 64
  br i1 %more, label %copy, label %end
end:
  ret i64 0
}
