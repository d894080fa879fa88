; Two-deep nests; the second reads one row up and one column on: distance (1, -1). Both levels may be fused,
; since the outer loop carries the dependence.
; expect: fuse
; depth: 2
; distance: (1, -1)
; run: n=0 elements=256 type=i32

define void @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i64 %n) {
entry:
  br label %first

first:
  %i = phi i64 [ 0, %entry ], [ %i.next, %first.latch ]
  br label %first.inner

first.inner:
  %j = phi i64 [ 0, %first ], [ %j.next, %first.inner ]
  %x.ptr = getelementptr inbounds [16 x i32], ptr %a, i64 %i, i64 %j
  %x = load i32, ptr %x.ptr, align 4
  %y = mul i32 %x, 3
  %w.row = add nsw i64 %i, 1
  %w.ptr = getelementptr inbounds [16 x i32], ptr %b, i64 %w.row, i64 %j
  store i32 %y, ptr %w.ptr, align 4
  %j.next = add nuw nsw i64 %j, 1
  %j.done = icmp eq i64 %j.next, 12
  br i1 %j.done, label %first.latch, label %first.inner

first.latch:
  %i.next = add nuw nsw i64 %i, 1
  %i.done = icmp eq i64 %i.next, 10
  br i1 %i.done, label %second.ph, label %first

second.ph:
  br label %second

second:
  %k = phi i64 [ 0, %second.ph ], [ %k.next, %second.latch ]
  br label %second.inner

second.inner:
  %l = phi i64 [ 0, %second ], [ %l.next, %second.inner ]
  %u.col = add nsw i64 %l, 1
  %u.ptr = getelementptr inbounds [16 x i32], ptr %b, i64 %k, i64 %u.col
  %u = load i32, ptr %u.ptr, align 4
  %v = add i32 %u, 7
  %z.ptr = getelementptr inbounds [16 x i32], ptr %c, i64 %k, i64 %l
  store i32 %v, ptr %z.ptr, align 4
  %l.next = add nuw nsw i64 %l, 1
  %l.done = icmp eq i64 %l.next, 12
  br i1 %l.done, label %second.latch, label %second.inner

second.latch:
  %k.next = add nuw nsw i64 %k, 1
  %k.done = icmp eq i64 %k.next, 10
  br i1 %k.done, label %exit, label %second

exit:
  ret void
}
