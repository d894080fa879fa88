; A call of which nothing is known is a statement in its place: it counts, and changes what the loop reads and writes. It is given a
; pointer that walks and an element that data names.
; regions: 1
; emitted: call i64 @gives
; kernel: opaque
define void @test(ptr %a, ptr %b, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %w = phi ptr [ %b, %start ], [ %walked, %latch ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %at = getelementptr inbounds i64, ptr %a, i64 %i
  %x = load i64, ptr %at
  %some = and i64 %x, 7
  %to = getelementptr inbounds i64, ptr %a, i64 %some
  %y = call i64 @gives(ptr %to, i64 %i)
  %z = call i64 @gives(ptr %w, i64 %y)
  %sum = add i64 %x, %z
  store i64 %sum, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i64 %i, 1
  %walked = getelementptr inbounds i64, ptr %w, i64 %n
  br label %loop
end:
  ret void
}
@count = global i64 0
define i64 @gives(ptr %q, i64 %x) noinline {
  %c = load i64, ptr @count
  %d = add i64 %c, 1
  store i64 %d, ptr @count
  %old = load i64, ptr %q
  %new = xor i64 %old, %d
  store i64 %new, ptr %q
  %r = add i64 %new, %x
  ret i64 %r
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 80
  call void @test(ptr %p, ptr %b, i64 12)
  %c = load i64, ptr @count
  ret i64 %c
}
