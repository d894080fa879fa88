; Nothing may say that these iterations are independent.
; regions: 1
; count 0: llvm.loop.parallel_accesses
; refused: reverse(@)
; notices: AllParallel
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %next2 = add nuw nsw i64 %i, 2
  %to = getelementptr inbounds i32, ptr %a, i64 %next2
  %y = add i32 %x, 1
  store i32 %y, ptr %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %b)
  ret i64 0
}
