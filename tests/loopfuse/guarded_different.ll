; The loops run n and m times, each under its own guard: n > 0 and m > 0.
; Fused with guards in the body or with a remainder loop, whichever trip count is larger.
; expect: fuse
; difference: n - m
; run: n=100 m=90 elements=128 type=i32

define void @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n, i64 %m) {
entry:
  %g1 = icmp sgt i64 %n, 0
  br i1 %g1, label %first.ph, label %between

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
  br i1 %i.done, label %first.exit, label %first

first.exit:
  br label %between

between:
  %g2 = icmp sgt i64 %m, 0
  br i1 %g2, label %second.ph, label %exit

second.ph:
  br label %second

second:
  %j = phi i64 [ 0, %second.ph ], [ %j.next, %second ]
  %u.ptr = getelementptr inbounds i32, ptr %a, i64 %j
  %u = load i32, ptr %u.ptr, align 4
  %v = add i32 %u, 7
  %c.j.ptr = getelementptr inbounds i32, ptr %c, i64 %j
  store i32 %v, ptr %c.j.ptr, align 4
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, %m
  br i1 %j.done, label %second.exit, label %second

second.exit:
  br label %exit

exit:
  ret void
}
