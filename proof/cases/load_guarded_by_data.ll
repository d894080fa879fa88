; A load under a condition on data: its address is nowhere where it does not run.
; regions: 1
define void @test(ptr noalias %a, ptr noalias %b, ptr %c) noinline {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %join ]
  %at = getelementptr i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %never = icmp sgt i32 %x, 1000
  br i1 %never, label %yes, label %join
yes:
  %from = getelementptr i32, ptr %c, i64 %i
  %y = load i32, ptr %from
  %to = getelementptr i32, ptr %b, i64 %i
  store i32 %y, ptr %to
  br label %join
join:
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  call void @test(ptr %p, ptr %b, ptr inttoptr (i64 64 to ptr))
  ret i64 0
}
