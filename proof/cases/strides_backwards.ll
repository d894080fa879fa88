; The step is of the other direction: the counter goes down to the end of its type, and comes from above. No number of iterations
; follows from start, bound and step. Where the step is nothing or poison, the loop does not run.
; regions: 2
; kernel: count
; notices: StridesFound
define void @test(ptr %p, i8 %bound, i8 %step) {
start:
  br label %loop
loop:
  %i = phi i8 [ 0, %start ], [ %i.next, %body ]
  %k = phi i64 [ 0, %start ], [ %k.next, %body ]
  %more = icmp slt i8 %i, %bound
  br i1 %more, label %body, label %end
body:
  %at = getelementptr inbounds i32, ptr %p, i64 %k
  %x = load i32, ptr %at, align 4
  %y = add i32 %x, 5
  store i32 %y, ptr %at, align 4
  %i.next = add i8 %i, %step
  %k.next = add nuw nsw i64 %k, 1
  br label %loop
end:
  ret void
}
define void @twice(ptr %p, i32 %bound, i32 %half) {
start:
  br label %loop
loop:
  %i = phi i32 [ 0, %start ], [ %i.next, %body ]
  %more = icmp slt i32 %i, %bound
  br i1 %more, label %body, label %end
body:
  %n = sext i32 %i to i64
  %at = getelementptr inbounds i32, ptr %p, i64 %n
  %x = load i32, ptr %at, align 4
  %y = add i32 %x, 7
  store i32 %y, ptr %at, align 4
  %step = mul nsw i32 %half, 2
  %i.next = add nsw i32 %i, %step
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  %p100 = getelementptr i8, ptr %p, i64 100
  %p200 = getelementptr i8, ptr %p, i64 200
  %p400 = getelementptr i8, ptr %p, i64 400
  call void @test(ptr %p, i8 100, i8 -50)
  call void @test(ptr %p, i8 100, i8 50)
  call void @test(ptr %p, i8 -1, i8 0)
  call void @test(ptr %p100, i8 10, i8 3)
  call void @twice(ptr %p200, i32 20, i32 3)
  call void @twice(ptr %p200, i32 0, i32 0)
  call void @twice(ptr %p400, i32 0, i32 1073741824)
  call void @twice(ptr %p400, i32 1, i32 1073741823)
  ret i64 0
}
