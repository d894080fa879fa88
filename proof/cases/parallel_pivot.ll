; All iterations read one element that none writes: that is no member of an interleaved group, and does not keep the loop from
; being said to be parallel.
; regions: 1
; emitted: llvm.loop.parallel_accesses
define void @test(ptr noalias %a, i64 %n) {
start:
  %last = getelementptr inbounds i32, ptr %a, i64 %n
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %at, align 4
  %p = load i32, ptr %last, align 4
  %y = add i32 %x, %p
  store i32 %y, ptr %at, align 4
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i64 100)
  ret i64 0
}
