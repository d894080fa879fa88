; The sum may be poison. Frozen it is some number, the same one in both places, so that their difference is zero.
; regions: 0
define void @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i32 %big) noinline {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %sum = add nsw i32 %x, %big
  %some = freeze i32 %sum
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %some, ptr %to
  %too = getelementptr inbounds i32, ptr %c, i64 %i
  store i32 %some, ptr %too
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  %c = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %b, ptr %c, i32 2147483640)
  br label %loop
loop:
  %i = phi i64 [ 0, %0 ], [ %next, %loop ]
  %sum = phi i64 [ 0, %0 ], [ %more, %loop ]
  %at = getelementptr i32, ptr %b, i64 %i
  %too = getelementptr i32, ptr %c, i64 %i
  %x = load i32, ptr %at
  %y = load i32, ptr %too
  %d = sub i32 %x, %y
  %e = zext i32 %d to i64
  %more = add i64 %sum, %e
  store i32 0, ptr %at
  store i32 0, ptr %too
  %next = add i64 %i, 1
  %again = icmp ult i64 %next, 100
  br i1 %again, label %loop, label %end
end:
  ret i64 %more
}
