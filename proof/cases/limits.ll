; New code runs for parameters of limited magnitude only, within which its arithmetic is exact: one comparison with twice
; the limit.
; regions: 1
; emitted: 2199023255552
; notices: LimitCheck
define void @test(ptr noalias %a, i64 %n, i64 %m) {
start:
  br label %loop
loop:
  %i = phi i64 [ %n, %start ], [ %next, %loop ]
  %back = sub nsw i64 %i, %n
  %at = getelementptr i32, ptr %a, i64 %back
  %x = load i32, ptr %at, align 4
  %y = add i32 %x, 1
  store i32 %y, ptr %at, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %m
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, i64 4611686018427387904, i64 4611686018427387950)
  ret i64 0
}
