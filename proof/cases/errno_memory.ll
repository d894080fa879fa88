; What is stored may be errno itself, which the roots set: their order counts.
; regions: 1
; kernel: opaque
; notices: ErrnoMemory
declare double @sqrt(double) #0
define void @test(ptr %a, ptr %b, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds double, ptr %b, i64 %i
  %x = load double, ptr %at, align 8
  %r = call double @sqrt(double %x) #0
  store double %r, ptr %at, align 8
  %k = trunc i64 %i to i32
  store i32 %k, ptr %a, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
attributes #0 = { nounwind willreturn memory(errnomem: write) }
