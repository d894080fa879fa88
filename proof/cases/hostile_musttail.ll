; Nothing may come between such a call and the return.
define void @other(ptr %a) {
  store i32 9, ptr %a
  ret void
}
define void @test(ptr %a) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr i32, ptr %a, i64 %i
  store i32 4, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  musttail call void @other(ptr %a)
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p)
  ret i64 0
}
