; A call between the loops to a function that may read and write what both loops touch.
; expect: refuse opaque
; run: n=100 elements=128 type=i32

@calls = global i32 0

; Weak, so that no pass may conclude anything from the body.
define weak void @unknown(ptr %p) noinline {
  %old = load i32, ptr @calls, align 4
  %new = add i32 %old, 1
  store i32 %new, ptr @calls, align 4
  %x = load i32, ptr %p, align 4
  %y = add i32 %x, %new
  store i32 %y, ptr %p, align 4
  ret void
}

define void @test(ptr %a, ptr %b, ptr %c, i64 %n) {
entry:
  br label %first

first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %x.ptr = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %x.ptr, align 4
  %y = mul i32 %x, 3
  %b.i.ptr = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %y, ptr %b.i.ptr, align 4
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, 100
  br i1 %i.done, label %second.ph, label %first

second.ph:
  call void @unknown(ptr %b)
  br label %second

second:
  %j = phi i64 [ 0, %second.ph ], [ %j.next, %second ]
  %u.ptr = getelementptr inbounds i32, ptr %b, i64 %j
  %u = load i32, ptr %u.ptr, align 4
  %v = add i32 %u, 7
  %c.j.ptr = getelementptr inbounds i32, ptr %c, i64 %j
  store i32 %v, ptr %c.j.ptr, align 4
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, 100
  br i1 %j.done, label %exit, label %second

exit:
  ret void
}
