; A call in the second loop that may read and write anything, the arrays included.
; expect: refuse opaque
; run: n=100 elements=128 type=i32

@calls = global i32 0

; Weak, so that no pass may conclude anything from the body.
define weak void @unknown(ptr %p) noinline nounwind willreturn {
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
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %first.ph, label %exit

first.ph:
  br label %first

first:
  %i = phi i64 [ 0, %first.ph ], [ %i.next, %first ]
  %x.ptr = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %x.ptr, align 4
  %y = mul i32 %x, 3
  %b.i.ptr = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %y, ptr %b.i.ptr, align 4
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %second.ph, label %first

second.ph:
  br label %second

second:
  %j = phi i64 [ 0, %second.ph ], [ %j.next, %second ]
  %u.ptr = getelementptr inbounds i32, ptr %a, i64 %j
  %u = load i32, ptr %u.ptr, align 4
  %v = add i32 %u, 7
  %c.j.ptr = getelementptr inbounds i32, ptr %c, i64 %j
  store i32 %v, ptr %c.j.ptr, align 4
  call void @unknown(ptr %b)
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, %n
  br i1 %j.done, label %last, label %second

last:
  br label %exit

exit:
  ret void
}
