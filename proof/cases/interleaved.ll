; Iterations are independent, but LLVM would take that for leave to mix accesses of one iteration where they have gaps.
; regions: 1
; count 0: llvm.loop.parallel_accesses
; notices: GroupOrder
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %twice = shl nuw nsw i64 %i, 1
  %at = getelementptr inbounds i32, ptr %a, i64 %twice
  %x = load i32, ptr %at
  %y = add i32 %x, 1
  store i32 %y, ptr %at
  %odd = or disjoint i64 %twice, 1
  %to = getelementptr inbounds i32, ptr %a, i64 %odd
  %z = load i32, ptr %to
  %u = mul i32 %y, %z
  store i32 %u, ptr %to
  %v = load i32, ptr %at
  %t = add i32 %v, %u
  store i32 %t, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, 90
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %b)
  ret i64 0
}
