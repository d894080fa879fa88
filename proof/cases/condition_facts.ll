; Under the condition the element before is of the same row; behind it, at the first column, it is the last of the row before.
; What is computed under it keeps it inside of one statement.
; regions: 1
; notices: ConditionFacts
define void @test(ptr noalias %a, ptr noalias %b, i64 noundef %n, i64 noundef %m) {
start:
  br label %rows
rows:
  %i = phi i64 [ 1, %start ], [ %i.next, %row.end ]
  %base = mul nsw i64 %i, %m
  br label %row
row:
  %j = phi i64 [ 0, %rows ], [ %j.next, %join ]
  %at = add nsw i64 %base, %j
  %before = add nsw i64 %at, -1
  %inside = icmp sgt i64 %j, 0
  br i1 %inside, label %then, label %join
then:
  %b.before = getelementptr inbounds i32, ptr %b, i64 %before
  %y = load i32, ptr %b.before
  %y.more = add i32 %y, 3
  br label %join
join:
  %v = phi i32 [ 7, %row ], [ %y.more, %then ]
  %a.before = getelementptr inbounds i32, ptr %a, i64 %before
  %x = load i32, ptr %a.before
  %x.more = add i32 %x, %v
  %a.at = getelementptr inbounds i32, ptr %a, i64 %at
  store i32 %x.more, ptr %a.at
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, %m
  br i1 %more, label %row, label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  %rest = icmp slt i64 %i.next, %n
  br i1 %rest, label %rows, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  call void @test(ptr %p, ptr %b, i64 7, i64 9)
  call void @test(ptr %b, ptr %p, i64 5, i64 1)
  ret i64 0
}
