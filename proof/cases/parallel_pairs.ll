; The inner loop begins one further in each iteration of the outer one, and its accesses two elements: unrolled, it leaves
; interleaved accesses, so that only the inner one is said to be parallel.
; regions: 1
; count 1: "llvm.loop.parallel_accesses"
; notices: ThreadIterations
define void @test(ptr noalias %a, i64 %n) {
start:
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %next.i, %done ]
  %more.i = icmp slt i64 %i, %n
  br i1 %more.i, label %pair, label %end
pair:
  %from = add nuw nsw i64 %i, 1
  %to = add nuw nsw i64 %from, 2
  br label %inner
inner:
  %j = phi i64 [ %from, %pair ], [ %next.j, %inner ]
  %sum = add nuw nsw i64 %i, %j
  %at = getelementptr inbounds i32, ptr %a, i64 %sum
  %x = load i32, ptr %at, align 4
  %y = mul i32 %x, 3
  store i32 %y, ptr %at, align 4
  %next.j = add nuw nsw i64 %j, 1
  %more.j = icmp slt i64 %next.j, %to
  br i1 %more.j, label %inner, label %done
done:
  %next.i = add nuw nsw i64 %i, 1
  br label %outer
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i64 50)
  ret i64 0
}
