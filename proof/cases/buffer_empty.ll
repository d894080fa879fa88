; A window that is empty along one dimension is not counted along the other, which may be wide.
; regions: 1
; always: pack(@; a)
define void @test(ptr noalias %a, i64 %n, i64 %m) {
start:
  br label %outer
outer:
  %j = phi i64 [ 0, %start ], [ %next.j, %latch.j ]
  %more.j = icmp slt i64 %j, %m
  br i1 %more.j, label %inner, label %end
inner:
  %i = phi i64 [ 0, %outer ], [ %next.i, %body ]
  %more.i = icmp slt i64 %i, %n
  br i1 %more.i, label %body, label %latch.j
body:
  %at = getelementptr inbounds [4 x i32], ptr %a, i64 %i, i64 %j
  %x = load i32, ptr %at, align 4
  %y = mul i32 %x, 3
  store i32 %y, ptr %at, align 4
  %next.i = add nuw nsw i64 %i, 1
  br label %inner
latch.j:
  %next.j = add nuw nsw i64 %j, 1
  br label %outer
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i64 1099511627776, i64 0)
  call void @test(ptr %p, i64 5, i64 3)
  ret i64 0
}
