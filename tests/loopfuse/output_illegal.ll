; First writes b[i], second writes b[j+1]: fusion would change the last writer of b[1..n-1].
; expect: refuse dependence
; distance: -1
; shift: 1
; run: n=100 elements=128 type=i32

define void @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) {
entry:
  %any = icmp sgt i64 %n, 0
  br i1 %any, label %first.ph, label %exit

first.ph:
  br label %first

first:
  %i = phi i64 [ 0, %first.ph ], [ %i.next, %first ]
  %x.ptr = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %x.ptr, align 4
  %b.i.ptr = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %x, ptr %b.i.ptr, align 4
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, %n
  br i1 %i.done, label %second.ph, label %first

second.ph:
  br label %second

second:
  %j = phi i64 [ 0, %second.ph ], [ %j.next, %second ]
  %u.ptr = getelementptr inbounds i32, ptr %c, i64 %j
  %u = load i32, ptr %u.ptr, align 4
  %b.j.at = add nsw i64 %j, 1
  %b.j.ptr = getelementptr inbounds i32, ptr %b, i64 %b.j.at
  store i32 %u, ptr %b.j.ptr, align 4
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, %n
  br i1 %j.done, label %last, label %second

last:
  br label %exit

exit:
  ret void
}
