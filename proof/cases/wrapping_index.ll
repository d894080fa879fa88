; The sum of eight bits may wrap. New code computes without wrapping and runs only where that is the same: in the second call
; the original code runs.
; regions: 1
; kernel: require
; notices: WrapAssumptions, ParameterCheck
define void @test(ptr noalias %a, i8 %n) {
start:
  br label %loop
loop:
  %i = phi i8 [ 0, %start ], [ %next, %loop ]
  %j = add i8 %i, %n
  %wide = zext i8 %j to i64
  %at = getelementptr i32, ptr %a, i64 %wide
  %x = load i32, ptr %at
  %y = add i32 %x, 3
  store i32 %y, ptr %at
  %next = add nuw nsw i8 %i, 1
  %more = icmp ult i8 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 4096
  call void @test(ptr %b, i8 5)
  call void @test(ptr %b, i8 200)
  ret i64 0
}
