; One way leads nowhere: it is not taken.
define void @test(ptr noalias %a) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %at = getelementptr i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %never = icmp eq i32 %x, 99
  br i1 %never, label %nowhere, label %latch
nowhere:
  unreachable
latch:
  store i32 %x, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p)
  ret i64 0
}
