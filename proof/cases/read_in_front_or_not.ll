; What the program reads in front under a condition of its own counts only where the condition holds.
; regions: 1
; notices: ReadGuards
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
  %i = phi i64 [ 0, %loops ], [ %next, %loop ]
  %m = load i64, ptr %r
  %sum = add i64 %m, %known
  %to = getelementptr inbounds i64, ptr %b, i64 %i
  store i64 %sum, ptr %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, 7
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %r = alloca i64
  store i64 6, ptr %r
  call void @test(ptr %r, ptr %p, i1 true)
  store i64 9, ptr %r
  %q = getelementptr i8, ptr %p, i64 512
  call void @test(ptr %r, ptr %q, i1 false)
  ret i64 0
}
