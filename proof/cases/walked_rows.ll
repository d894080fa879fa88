; A pointer walks from row to row by a step that only the program knows: forwards over separate rows, backwards, over rows that
; overlap, and not at all.
; regions: 1
; kernel: [i, j]
define void @test(ptr noalias %a, i64 %n, i64 %m, i64 %step) {
entry:
  br label %outer
outer:
  %row = phi ptr [ %a, %entry ], [ %row.next, %latch ]
  %i = phi i64 [ 0, %entry ], [ %i.next, %latch ]
  %stay = icmp slt i64 %i, %n
  br i1 %stay, label %inner, label %end
inner:
  %j = phi i64 [ %j.next, %body ], [ 0, %outer ]
  %inside = icmp slt i64 %j, %m
  br i1 %inside, label %body, label %latch
body:
  %at = getelementptr inbounds nuw i32, ptr %row, i64 %j
  %x = load i32, ptr %at
  %i.small = trunc i64 %i to i32
  %y = mul i32 %x, 3
  %z = add i32 %y, %i.small
  store i32 %z, ptr %at
  %j.next = add nuw nsw i64 %j, 1
  br label %inner
latch:
  %i.next = add nuw nsw i64 %i, 1
  %row.next = getelementptr inbounds i32, ptr %row, i64 %step
  br label %outer
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 4096
  call void @test(ptr %b, i64 6, i64 9, i64 11)
  call void @test(ptr %b, i64 6, i64 9, i64 4)
  call void @test(ptr %b, i64 6, i64 9, i64 -12)
  call void @test(ptr %b, i64 6, i64 9, i64 0)
  call void @test(ptr %b, i64 6, i64 -1, i64 100000)
  ret i64 0
}
