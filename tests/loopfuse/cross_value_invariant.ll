; The second loop uses a value defined inside the first loop that is invariant there.
; The document says that LLVM refuses this one.
; expect: fuse
; run: n=100 k=5 elements=128 type=i32

define void @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i32 %k, i64 %n) {
entry:
  br label %first

first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %x.ptr = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %x.ptr, align 4
  %inv = mul i32 %k, 9
  %y = add i32 %x, %inv
  %b.i.ptr = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %y, ptr %b.i.ptr, align 4
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, 100
  br i1 %i.done, label %second.ph, label %first

second.ph:
  %inv.out = phi i32 [ %inv, %first ]
  br label %second

second:
  %j = phi i64 [ 0, %second.ph ], [ %j.next, %second ]
  %u.ptr = getelementptr inbounds i32, ptr %b, i64 %j
  %u = load i32, ptr %u.ptr, align 4
  %v = add i32 %u, %inv.out
  %c.j.ptr = getelementptr inbounds i32, ptr %c, i64 %j
  store i32 %v, ptr %c.j.ptr, align 4
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, 100
  br i1 %j.done, label %exit, label %second

exit:
  ret void
}
