; A pointer that walks by a step that only the program knows is what the call is given, each time another one.
; regions: 1
; emitted: call void @changes
; notices: CallPlaces
define void @test(ptr %a, i64 %n, i64 %step) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %w = phi ptr [ %a, %start ], [ %walked, %loop ]
  call void @changes(ptr %w, i64 %i)
  %walked = getelementptr inbounds i64, ptr %w, i64 %step
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
define void @changes(ptr %q, i64 %x) noinline {
  %old = load i64, ptr %q
  %new = add i64 %old, %x
  store i64 %new, ptr %q
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i64 9, i64 3)
  ret i64 0
}
