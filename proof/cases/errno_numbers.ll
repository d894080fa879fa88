; Which of two numbers errno is left with depends on which call comes last: a root of something negative, or an exponential that
; is too large.
; regions: 1
; kernel: opaque
; memory: f64
; notices: ErrnoNumbers
declare double @sqrt(double) #0
declare double @exp(double) #0
declare ptr @__errno_location()
define void @test(ptr noalias %a, ptr noalias %b, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %at, align 8
  %to = getelementptr inbounds double, ptr %b, i64 %i
  %r = call double @sqrt(double %x) #0
  %large = fmul double %x, 120.0
  %e = call double @exp(double %large) #0
  %sum = fadd double %r, %e
  store double %sum, ptr %to, align 8
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
  call void @test(ptr %p, ptr %b, i64 50)
  %after = load i32, ptr %errno
  %wide = zext i32 %after to i64
  ret i64 %wide
}
attributes #0 = { nounwind willreturn memory(errnomem: write) }
