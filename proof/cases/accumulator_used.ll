; What a sum comes to is stored in two places, changed in one of them: it is computed in neither.
; regions: 1
define void @test(ptr noalias %a, ptr noalias %c, ptr noalias %d) {
start:
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %latch ]
  br label %inner
inner:
  %k = phi i64 [ 0, %outer ], [ %k.next, %inner ]
  %sum = phi i32 [ 0, %outer ], [ %more, %inner ]
  %at = getelementptr inbounds [10 x i32], ptr %a, i64 %i, i64 %k
  %x = load i32, ptr %at
  %more = add i32 %sum, %x
  %k.next = add nuw nsw i64 %k, 1
  %again = icmp ult i64 %k.next, 10
  br i1 %again, label %inner, label %latch
latch:
  %half = lshr i32 %more, 1
  %to = getelementptr inbounds i32, ptr %c, i64 %i
  store i32 %half, ptr %to
  %and = getelementptr inbounds i32, ptr %d, i64 %i
  %thrice = mul i32 %more, 3
  store i32 %thrice, ptr %and
  %i.next = add nuw nsw i64 %i, 1
  %yet = icmp ult i64 %i.next, 10
  br i1 %yet, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %c = getelementptr i8, ptr %p, i64 400
  %d = getelementptr i8, ptr %p, i64 480
  call void @test(ptr %p, ptr %c, ptr %d)
  ret i64 0
}
