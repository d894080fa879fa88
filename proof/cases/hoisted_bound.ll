; The bound and the row's address do not change in the loops: they are read in front of them, and only where the original
; reads them.
; regions: 1
%rows = type { i64, i64, ptr }
define void @test(ptr noalias %r, ptr noalias %b) {
start:
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %latch ]
  %n = load i64, ptr %r
  %stay = icmp slt i64 %i, %n
  br i1 %stay, label %before, label %end
before:
  br label %inner
inner:
  %j = phi i64 [ 0, %before ], [ %j.next, %body ]
  %m.at = getelementptr inbounds %rows, ptr %r, i64 0, i32 1
  %m = load i64, ptr %m.at
  %inside = icmp slt i64 %j, %m
  br i1 %inside, label %body, label %latch
body:
  %a.at = getelementptr inbounds %rows, ptr %r, i64 0, i32 2
  %a = load ptr, ptr %a.at
  %row = mul nsw i64 %i, 8
  %index = add nsw i64 %row, %j
  %from = getelementptr inbounds i32, ptr %a, i64 %index
  %x = load i32, ptr %from
  %to = getelementptr inbounds i32, ptr %b, i64 %index
  %y = load i32, ptr %to
  %z = add i32 %x, %y
  store i32 %z, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  br label %inner
latch:
  %i.next = add nuw nsw i64 %i, 1
  br label %outer
end:
  ret void
}
define i64 @entry(ptr %p) {
  %r = alloca %rows
  %m.at = getelementptr inbounds %rows, ptr %r, i64 0, i32 1
  %a.at = getelementptr inbounds %rows, ptr %r, i64 0, i32 2
  %b = getelementptr i8, ptr %p, i64 1024
  store i64 5, ptr %r
  store i64 7, ptr %m.at
  store ptr %p, ptr %a.at
  call void @test(ptr %r, ptr %b)
  store i64 0, ptr %m.at
  store ptr null, ptr %a.at
  call void @test(ptr %r, ptr %b)
  store i64 -3, ptr %r
  call void @test(ptr %r, ptr %b)
  ret i64 0
}
