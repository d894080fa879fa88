; What the loop reads is read in front of it only if the loop runs: where it does not, there may be nothing to read.
; regions: 1
; notices: HoistGuards
define void @test(ptr noalias %r, ptr noalias %b, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %stay = icmp slt i64 %i, %n
  br i1 %stay, label %body, label %end
body:
  %a = load ptr, ptr %r
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %x, ptr %to
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  %r = alloca ptr
  %b = getelementptr i8, ptr %p, i64 1024
  store ptr %p, ptr %r
  call void @test(ptr %r, ptr %b, i64 20)
  call void @test(ptr null, ptr %b, i64 0)
  call void @test(ptr null, ptr %b, i64 -1)
  ret i64 0
}
