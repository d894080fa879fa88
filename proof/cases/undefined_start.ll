; The number of the least element has no value before the first one is looked at.
; regions: 1
define i64 @test(ptr noalias %a, i64 noundef %n, i64 noundef %m) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %best = phi i64 [ undef, %start ], [ %best.next, %row.end ]
  %least = phi i64 [ 9223372036854775807, %start ], [ %least.next, %row.end ]
  %base = mul nsw i64 %i, %m
  br label %row
row:
  %j = phi i64 [ 0, %rows ], [ %j.next, %row ]
  %sum = phi i64 [ 0, %rows ], [ %sum.next, %row ]
  %at = add nsw i64 %base, %j
  %p = getelementptr inbounds i32, ptr %a, i64 %at
  %x = load i32, ptr %p
  %wide = sext i32 %x to i64
  %sum.next = add i64 %sum, %wide
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, %m
  br i1 %more, label %row, label %row.end
row.end:
  %less = icmp slt i64 %sum.next, %least
  %best.next = select i1 %less, i64 %i, i64 %best
  %least.next = select i1 %less, i64 %sum.next, i64 %least
  %i.next = add nuw nsw i64 %i, 1
  %rest = icmp slt i64 %i.next, %n
  br i1 %rest, label %rows, label %end
end:
  ret i64 %best.next
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 100
  %x = call i64 @test(ptr %p, i64 9, i64 7)
  %y = call i64 @test(ptr %b, i64 3, i64 1)
  %z = shl i64 %x, 8
  %both = or i64 %y, %z
  ret i64 %both
}
