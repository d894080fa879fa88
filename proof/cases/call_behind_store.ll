; What was stored in front of a call is not what is there behind it; and the call sees it.
; regions: 1
; emitted: call void @changes
; notices: CallsForget
define void @test(ptr %a, ptr %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds i64, ptr %a, i64 %i
  %to = getelementptr inbounds i64, ptr %b, i64 %i
  store i64 %i, ptr %at
  call void @changes(ptr %at)
  %x = load i64, ptr %at
  store i64 %x, ptr %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 20
  br i1 %more, label %loop, label %end
end:
  ret void
}
define void @changes(ptr %q) noinline {
  %old = load i64, ptr %q
  %new = add i64 %old, 1
  store i64 %new, ptr %q
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  call void @test(ptr %p, ptr %b)
  ret i64 0
}
