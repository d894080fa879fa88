; What is read in front under a condition of the program's own counts only where the condition holds.
; regions: 1
define void @test(ptr %r, ptr %b, i1 %c) {
start:
  br i1 %c, label %then, label %loops
then:
  %read = load i64, ptr %r
  br label %loops
loops:
  %known = phi i64 [ %read, %then ], [ 3, %start ]
  br label %loop
loop:
  %i = phi i64 [ 0, %loops ], [ %next, %body ]
  %m = load i64, ptr %r
  %more = icmp slt i64 %i, %m
  br i1 %more, label %body, label %end
body:
  %to = getelementptr inbounds i64, ptr %b, i64 %i
  store i64 %known, ptr %to
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  %r = alloca i64
  store i64 6, ptr %r
  call void @test(ptr %r, ptr %p, i1 true)
  store i64 9, ptr %r
  call void @test(ptr %r, ptr %p, i1 false)
  ret i64 0
}
