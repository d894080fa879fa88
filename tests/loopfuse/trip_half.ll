; Two strictly adjacent rotated loops, one guard, same trip count: half of a number of 64 bits, rounded up.
; That n + 1 does not wrap is implied by the limits of the run-time check. Flow dependence of distance 0 through b.
; expect: fuse
; run: n=101 elements=128 type=i32

define void @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) {
entry:
  %more = add nsw i64 %n, 1
  %half = sdiv i64 %more, 2
  %any = icmp sgt i64 %half, 0
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
  %i.done = icmp eq i64 %i.next, %half
  br i1 %i.done, label %second.ph, label %first

second.ph:
  br label %second

second:
  %j = phi i64 [ 0, %second.ph ], [ %j.next, %second ]
  %u.ptr = getelementptr inbounds i32, ptr %b, i64 %j
  %u = load i32, ptr %u.ptr, align 4
  %v = add i32 %u, 7
  %c.j.ptr = getelementptr inbounds i32, ptr %c, i64 %j
  store i32 %v, ptr %c.j.ptr, align 4
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, %half
  br i1 %j.done, label %last, label %second

last:
  br label %exit

exit:
  ret void
}
