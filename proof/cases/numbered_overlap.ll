; What is read by numbers may be what is written, and nothing can tell: rows keep their order.
; regions: 1
; refused: interchange(@)
; notices: UnknownRanges
define void @test(ptr %a, ptr noalias %col, ptr %x) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  br label %inner
inner:
  %j = phi i64 [ 0, %rows ], [ %j.next, %inner ]
  %from = getelementptr inbounds i32, ptr %col, i64 %j
  %c = load i32, ptr %from
  %small = and i32 %c, 15
  %wide = sext i32 %small to i64
  %there = getelementptr inbounds i32, ptr %x, i64 %wide
  %v = load i32, ptr %there
  %to = getelementptr inbounds i32, ptr %a, i64 %j
  %old = load i32, ptr %to
  %less = mul i32 %old, 3
  %new = sub i32 %less, %v
  store i32 %new, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 20
  br i1 %more, label %inner, label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 5
  br i1 %again, label %rows, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %c = getelementptr i8, ptr %p, i64 400
  %x = getelementptr i8, ptr %p, i64 20
  call void @test(ptr %p, ptr %c, ptr %x)
  call void @test(ptr %p, ptr %c, ptr %p)
  ret i64 0
}
