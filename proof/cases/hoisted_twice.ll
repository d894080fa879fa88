; Two loops of one loop read the same pointer under the same tests: it is read in front once, and only if these hold. What one writes the other reads.
; regions: 1
; refused: distribute(@)
define void @test(ptr noalias %r, ptr noalias %b, i64 %n, i64 %m) {
start:
  br label %times
times:
  %t = phi i64 [ 0, %start ], [ %t.next, %done ]
  %more = icmp slt i64 %t, %n
  br i1 %more, label %time, label %end
time:
  br label %first
first:
  %i = phi i64 [ 0, %time ], [ %i.next, %first.body ]
  %i.more = icmp slt i64 %i, %m
  br i1 %i.more, label %first.body, label %between
first.body:
  %a = load ptr, ptr %r, !nonnull !0
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %x, ptr %to
  %i.next = add nuw nsw i64 %i, 1
  br label %first
between:
  br label %second
second:
  %j = phi i64 [ 0, %between ], [ %j.next, %second.body ]
  %j.more = icmp slt i64 %j, %m
  br i1 %j.more, label %second.body, label %done
second.body:
  %c = load ptr, ptr %r
  %at = getelementptr inbounds i32, ptr %c, i64 %j
  %y = load i32, ptr %at
  %z = add i32 %y, 3
  %there = getelementptr inbounds i32, ptr %c, i64 %j
  store i32 %z, ptr %there
  %j.next = add nuw nsw i64 %j, 1
  br label %second
done:
  %t.next = add nuw nsw i64 %t, 1
  br label %times
end:
  ret void
}
define i64 @entry(ptr %p) {
  %r = alloca ptr
  %b = getelementptr i8, ptr %p, i64 1024
  store ptr %p, ptr %r
  call void @test(ptr %r, ptr %b, i64 3, i64 20)
  call void @test(ptr null, ptr %b, i64 0, i64 20)
  call void @test(ptr null, ptr %b, i64 2, i64 0)
  ret i64 0
}
!0 = !{}
