; A loop that never ends inside of one that would.
; regions: 0
define void @test(ptr noalias %a, i32 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %at = getelementptr i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %trap = icmp eq i32 %x, 77
  br i1 %trap, label %spin, label %latch
spin:
  br label %spin
latch:
  store i32 %n, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i32 3)
  ret i64 0
}
