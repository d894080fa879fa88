; Exponentials set errno to ERANGE or leave it: they commute, run only where the original runs them, and all of them run. The result is
; errno after the loops.
; regions: 1
; memory: f64
; always: reverse(@)
declare double @exp(double) #0
declare ptr @__errno_location()
define void @test(ptr noalias %a, ptr noalias %b, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %at = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %at, align 8
  %to = getelementptr inbounds double, ptr %b, i64 %i
  %negative = fcmp olt double %x, 5.0
  br i1 %negative, label %latch, label %power
power:
  %large = fmul double %x, 120.0
  %r = call double @exp(double %large) #0
  store double %r, ptr %to, align 8
  br label %latch
latch:
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 1024
  %errno = call ptr @__errno_location()
  store i32 0, ptr %errno
  call void @test(ptr %p, ptr %b, i64 100)
  %after = load i32, ptr %errno
  %wide = zext i32 %after to i64
  ret i64 %wide
}
attributes #0 = { nounwind willreturn memory(errnomem: write) }
