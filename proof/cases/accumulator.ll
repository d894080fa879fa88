; The sum is computed in its element of c, which must be apart from what is summed.
; regions: 1
; kernel: require nooverlap
; notices: ApartAssumptions, AliasClasses, OverlapCheck
define void @test(ptr %a, ptr %c) {
start:
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %latch ]
  %row = getelementptr inbounds [10 x i32], ptr %a, i64 %i
  br label %inner
inner:
  %k = phi i64 [ 0, %outer ], [ %k.next, %inner ]
  %sum = phi i32 [ 0, %outer ], [ %more, %inner ]
  %at = getelementptr inbounds [10 x i32], ptr %row, i64 0, i64 %k
  %x = load i32, ptr %at
  %more = add i32 %sum, %x
  %k.next = add nuw nsw i64 %k, 1
  %again = icmp ult i64 %k.next, 10
  br i1 %again, label %inner, label %latch
latch:
  %to = getelementptr inbounds i32, ptr %c, i64 %i
  store i32 %more, ptr %to
  %i.next = add nuw nsw i64 %i, 1
  %yet = icmp ult i64 %i.next, 10
  br i1 %yet, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %near = getelementptr i8, ptr %p, i64 20
  %far = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %near)
  call void @test(ptr %p, ptr %far)
  ret i64 0
}
