; What is stored may be errno itself, which the roots set: new code runs only where it is not.
; regions: 1
target triple = "x86_64-unknown-linux-gnu"
declare double @sqrt(double) #0
declare ptr @__errno_location()
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
define i64 @entry(ptr %p) {
  %errno = call ptr @__errno_location()
  %b = getelementptr i8, ptr %p, i64 256
  store i32 0, ptr %errno
  store double -1.0, ptr %b
  call void @test(ptr %p, ptr %b, i64 20)
  %set = load i32, ptr %errno
  %c = getelementptr i8, ptr %p, i64 768
  store double -2.0, ptr %c
  call void @test(ptr %errno, ptr %c, i64 20)
  %after = load i32, ptr %errno
  %both = add i32 %set, %after
  %result = zext i32 %both to i64
  ret i64 %result
}
attributes #0 = { nounwind willreturn memory(errnomem: write) }
