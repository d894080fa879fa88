; Rounds towards minus infinity.
; regions: 1
; notices: NoWrap, FloorDivision
define void @test(ptr noalias %a, ptr noalias %b, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %back = sub nsw i64 %i, %n
  %part = ashr i64 %back, 3
  %from = add nsw i64 %part, 20
  %at = getelementptr i32, ptr %a, i64 %from
  %x = load i32, ptr %at
  %to = getelementptr i32, ptr %b, i64 %i
  store i32 %x, ptr %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  call void @test(ptr %p, ptr %b, i64 -21)
  ret i64 0
}
