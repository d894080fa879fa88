; A step is read between two loops that are a region of their own. How often the loop behind goes by it is counted there, and is nothing
; that new code of that region leaves.
; regions: 1
define void @test(ptr noalias %b, ptr noalias %x, ptr noalias %z, i64 %n) {
start:
  br label %first
first:
  %i = phi i64 [ 0, %start ], [ %i.next, %first.body ]
  %i.more = icmp slt i64 %i, %n
  br i1 %i.more, label %first.body, label %between
first.body:
  %b.at = getelementptr inbounds i64, ptr %b, i64 %i
  %b.old = load i64, ptr %b.at, align 8
  %b.new = add i64 %b.old, 1
  store i64 %b.new, ptr %b.at, align 8
  %i.next = add nsw i64 %i, 1
  br label %first
between:
  %step = load i64, ptr %b, align 8
  br label %second
second:
  %j = phi i64 [ 0, %between ], [ %j.next, %second.body ]
  %j.more = icmp slt i64 %j, %n
  br i1 %j.more, label %second.body, label %rows
second.body:
  %c.at = getelementptr inbounds i64, ptr %b, i64 %j
  %c.old = load i64, ptr %c.at, align 8
  %c.new = add i64 %c.old, %step
  store i64 %c.new, ptr %c.at, align 8
  %j.next = add nsw i64 %j, 1
  br label %second
rows:
  %r = phi i64 [ 0, %second ], [ %r.next, %row.end ]
  %r.more = icmp slt i64 %r, %n
  br i1 %r.more, label %row, label %end
row:
  br label %steps
steps:
  %s = phi i64 [ 0, %row ], [ %s.next, %steps.body ]
  %s.more = icmp slt i64 %s, %n
  br i1 %s.more, label %steps.body, label %row.end
steps.body:
  %which = load i64, ptr %x, align 8
  %some = and i64 %which, 7
  %z.at = getelementptr inbounds i64, ptr %z, i64 %some
  %value = load i64, ptr %z.at, align 8
  %x.at = getelementptr inbounds i64, ptr %x, i64 %s
  %x.old = load i64, ptr %x.at, align 8
  %x.new = add i64 %x.old, %value
  store i64 %x.new, ptr %x.at, align 8
  %s.next = add nsw i64 %s, %step
  br label %steps
row.end:
  %r.next = add nsw i64 %r, 1
  br label %rows
end:
  ret void
}
define i64 @entry(ptr %p) {
  %x = getelementptr i64, ptr %p, i64 20
  %z = getelementptr i64, ptr %p, i64 40
  store i64 2, ptr %p
  call void @test(ptr %p, ptr %x, ptr %z, i64 12)
  store i64 0, ptr %p
  call void @test(ptr %p, ptr %x, ptr %z, i64 15)
  ret i64 0
}
