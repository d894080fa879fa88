; Roots of sums of squares set no errno, those of differences do. The result is errno after the loops.
; regions: 1
; notices: ErrnoRoots
; memory: f64
; always: reverse(@)
declare double @sqrt(double) #0
declare ptr @__errno_location()
define void @test(ptr noalias %a, ptr noalias %b, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %at, align 8
  %to = getelementptr inbounds double, ptr %b, i64 %i
  %square = fmul double %x, %x
  %sum = fadd double %square, 25.0
  %difference = fsub double %square, 25.0
  %r = call double @sqrt(double %sum) #0
  %s = call double @sqrt(double %difference) #0
  %both = fadd double %r, %s
  store double %both, ptr %to, align 8
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
