; The second loop takes every other element that the first one makes: iteration by iteration it comes before what it reads.
; expect: refuse dependence
; strip: first
; run: n=99 elements=128 type=i32

define void @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %first, label %exit

first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first ]
  %x.ptr = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %x.ptr, align 4
  %y = mul i32 %x, 3
  %b.i.ptr = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %y, ptr %b.i.ptr, align 4
  %i.next = add nuw nsw i64 %i, 1
  %i.more = icmp slt i64 %i.next, %n
  br i1 %i.more, label %first, label %second.ph

second.ph:
  br label %second

second:
  %j = phi i64 [ 0, %second.ph ], [ %j.next, %second ]
  %u.ptr = getelementptr inbounds i32, ptr %b, i64 %j
  %u = load i32, ptr %u.ptr, align 4
  %v = add i32 %u, 7
  %c.j.ptr = getelementptr inbounds i32, ptr %c, i64 %j
  store i32 %v, ptr %c.j.ptr, align 4
  %j.next = add nuw nsw i64 %j, 2
  %j.more = icmp slt i64 %j.next, %n
  br i1 %j.more, label %second, label %exit

exit:
  ret void
}
