; An argument that is a copy of its own: apart from everything, also from what it was copied from.
; regions: 1
define void @test(ptr byval([100 x i32]) %a, ptr %b) noinline {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %to = getelementptr i32, ptr %b, i64 %i
  %too = getelementptr i32, ptr %to, i64 1
  store i32 %x, ptr %too
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 99
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr byval([100 x i32]) %p, ptr %p)
  ret i64 0
}
