; First writes b[i], second reads b[99-j]: the distance varies, no shift below the trip count helps.
; expect: refuse dependence
; reverse: second
; run: n=100 elements=128 type=i32

define void @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) {
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
  br label %second

second:
  %j = phi i64 [ 0, %second.ph ], [ %j.next, %second ]
  %back = sub nsw i64 99, %j
  %u.ptr = getelementptr inbounds i32, ptr %b, i64 %back
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
