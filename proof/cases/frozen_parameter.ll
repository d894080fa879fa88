; The check must not branch on poison where the original would not.
; regions: 1
; count 1: freeze i64 %n
; notices: ParameterFreeze
define void @test(ptr noalias %a, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr i32, ptr %a, i64 %i
  %x = load i32, ptr %at, align 4
  %y = add i32 %x, 1
  store i32 %y, ptr %at, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, i64 50)
  ret i64 0
}
