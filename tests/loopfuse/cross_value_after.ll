; The sum of the first loop is used only after the second loop: it passes by.
; expect: fuse
; run: n=100 elements=128 type=i32

define i32 @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) {
entry:
  br label %first

first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %sum = phi i32 [ 0, %entry ], [ %sum.next, %first ]
  %x.ptr = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %x.ptr, align 4
  %sum.next = add i32 %sum, %x
  %b.i.ptr = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %x, ptr %b.i.ptr, align 4
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, 100
  br i1 %i.done, label %second.ph, label %first

second.ph:
  %total = phi i32 [ %sum.next, %first ]
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
  %result = phi i32 [ %total, %second ]
  ret i32 %result
}
