; A condition that the inner loop does not change: emitted as two loops.
; regions: 1
; emitted: settled.not
; notices: SettledGuards
define void @test(ptr noalias %a, i64 %n) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %first = mul nuw nsw i64 %i, 8
  %row = getelementptr inbounds i32, ptr %a, i64 %first
  br label %inner
inner:
  %j = phi i64 [ 0, %rows ], [ %j.next, %next ]
  %here = getelementptr inbounds i32, ptr %row, i64 %j
  %wanted = icmp sge i64 %i, %n
  br i1 %wanted, label %above, label %next
above:
  %before = getelementptr inbounds i8, ptr %here, i64 -32
  %x = load i32, ptr %before
  %x.more = add i32 %x, 1
  %to = getelementptr inbounds i8, ptr %here, i64 256
  store i32 %x.more, ptr %to
  br label %next
next:
  %y = load i32, ptr %here
  %y.more = add i32 %y, 2
  %behind = getelementptr inbounds i8, ptr %here, i64 512
  store i32 %y.more, ptr %behind
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 8
  br i1 %more, label %inner, label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 6
  br i1 %again, label %rows, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i64 2)
  ret i64 0
}
