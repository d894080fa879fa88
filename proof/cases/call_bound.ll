; A call may change how often the loop around it runs: nobody knows that before.
; regions: 0
define void @test(ptr %a, ptr %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %m = load i64, ptr %n
  %more = icmp slt i64 %i, %m
  br i1 %more, label %body, label %end
body:
  %at = getelementptr inbounds i64, ptr %a, i64 %i
  store i64 %i, ptr %at
  call void @shrinks(ptr %n)
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
define void @shrinks(ptr %q) noinline {
  %old = load i64, ptr %q
  %new = sub i64 %old, 1
  store i64 %new, ptr %q
  ret void
}
define i64 @entry(ptr %p) {
  %n = getelementptr i8, ptr %p, i64 400
  store i64 20, ptr %n
  call void @test(ptr %p, ptr %n)
  ret i64 0
}
