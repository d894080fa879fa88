; A root of which only errno is used belongs to no statement, and runs all the same.
; regions: 1
; kernel: opaque
; notices: ErrnoCalls
declare double @sqrt(double) #0
define void @test(ptr noalias %a, ptr noalias %b, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %at, align 8
  %r = call double @sqrt(double %x) #0
  %to = getelementptr inbounds double, ptr %b, i64 %i
  store double %x, ptr %to, align 8
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
attributes #0 = { nounwind willreturn memory(errnomem: write) }
