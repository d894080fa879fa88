; The loop may store what ends it.
; regions: 0
define void @test(ptr %a, ptr %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %m = load i64, ptr %n
  %stay = icmp slt i64 %i, %m
  br i1 %stay, label %body, label %end
body:
  %to = getelementptr inbounds i64, ptr %a, i64 %i
  store i64 12, ptr %to
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  %n = getelementptr i8, ptr %p, i64 80
  store i64 30, ptr %n
  call void @test(ptr %p, ptr %n)
  ret i64 0
}
