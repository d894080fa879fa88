; A condition that is poison where the loops around it do not run: what the new code branches by is fixed.
; regions: 1
define void @test(ptr noalias %a, i64 %n, i32 %x) {
start:
  %sum = add nsw i32 %x, 2147483647
  %is = icmp sgt i32 %sum, 5
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %stay = icmp slt i64 %i, %n
  br i1 %stay, label %row, label %end
row:
  %first = getelementptr inbounds i32, ptr %a, i64 %i
  store i32 7, ptr %first
  br i1 %is, label %even, label %row.end
even:
  br label %inner
inner:
  %j = phi i64 [ 0, %even ], [ %j.next, %inner ]
  %at = mul nuw nsw i64 %i, 8
  %index = add nuw nsw i64 %at, %j
  %to = getelementptr inbounds i32, ptr %a, i64 %index
  store i32 %x, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 8
  br i1 %more, label %inner, label %inner.end
inner.end:
  br label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i64 0, i32 9)
  call void @test(ptr %p, i64 7, i32 -3)
  ret i64 0
}
