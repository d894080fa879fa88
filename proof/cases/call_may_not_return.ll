; A call that may not return stays where it is, though it touches no memory.
; regions: 1
; emitted: call void @forever
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  %x = load i32, ptr %at
  store i32 %x, ptr %to
  call void @forever(i32 %x)
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define void @forever(i32 %x) noinline nounwind memory(none) {
  %never = icmp eq i32 %x, 12345
  br i1 %never, label %spin, label %end
spin:
  br label %spin
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  call void @test(ptr %p, ptr %b)
  ret i64 0
}
