; What is stored to is not known, and may be the sum that each iteration hands on.
; regions: 1
define void @test(ptr %a, ptr noalias %b, ptr %c) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %from = getelementptr inbounds i32, ptr %b, i64 %i
  %x = load i32, ptr %from
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  store i32 %x, ptr %at
  %small = and i32 %x, 7
  %wide = zext nneg i32 %small to i64
  %to = getelementptr inbounds i32, ptr %c, i64 %wide
  store i32 5, ptr %to
  %y = load i32, ptr %at
  %z = add i32 %y, 1
  store i32 %z, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %b, ptr %p)
  ret i64 0
}
