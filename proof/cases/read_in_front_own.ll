; A bound beside the elements of one object, which the stores reach only where the loop runs too far.
; regions: 1
%object = type { i64, [20 x i64], i64 }
define void @test(ptr %o, i64 %first) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %n.at = getelementptr inbounds %object, ptr %o, i64 0, i32 2
  %n = load i64, ptr %n.at
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %at = add nsw i64 %i, %first
  %to = getelementptr inbounds %object, ptr %o, i64 0, i32 1, i64 %at
  store i64 3, ptr %to
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  %n = getelementptr inbounds %object, ptr %p, i64 0, i32 2
  store i64 9, ptr %n
  call void @test(ptr %p, i64 2)
  store i64 9, ptr %n
  call void @test(ptr %p, i64 15)
  store i64 9, ptr %n
  call void @test(ptr %p, i64 21)
  ret i64 0
}
