; The loop may store what ends it: new code runs only where it does not.
; regions: 1
; notices: HoistAliases, ReadInFront
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
  %apart = getelementptr i8, ptr %p, i64 512
  store i64 7, ptr %apart
  call void @test(ptr %p, ptr %apart)
  ret i64 0
}
