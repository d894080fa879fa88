; Both loops test in the header; distance -1.
; expect: refuse dependence
; distance: -1
; shift: 1
; run: n=100 elements=128 type=i32

define void @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) {
entry:
  br label %first

first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first.body ]
  %i.go = icmp slt i64 %i, %n
  br i1 %i.go, label %first.body, label %second.ph

first.body:
  %x.ptr = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %x.ptr, align 4
  %y = mul i32 %x, 3
  %b.i.ptr = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %y, ptr %b.i.ptr, align 4
  %i.next = add nuw nsw i64 %i, 1
  br label %first

second.ph:
  br label %second

second:
  %j = phi i64 [ 0, %second.ph ], [ %j.next, %second.body ]
  %j.go = icmp slt i64 %j, %n
  br i1 %j.go, label %second.body, label %exit

second.body:
  %u.at = add nsw i64 %j, 1
  %u.ptr = getelementptr inbounds i32, ptr %b, i64 %u.at
  %u = load i32, ptr %u.ptr, align 4
  %v = add i32 %u, 7
  %c.j.ptr = getelementptr inbounds i32, ptr %c, i64 %j
  store i32 %v, ptr %c.j.ptr, align 4
  %j.next = add nuw nsw i64 %j, 1
  br label %second

exit:
  ret void
}
