; A histogram over rows: what is counted where is known to the data alone, so rows keep their order.
; regions: 1
; refused: reverse(@)
; refused: interchange(@)
define void @test(ptr noalias %h, ptr noalias %x, i64 %n) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  br label %inner
inner:
  %j = phi i64 [ 0, %rows ], [ %j.next, %inner ]
  %at = mul nuw nsw i64 %i, 10
  %index = add nuw nsw i64 %at, %j
  %from = getelementptr inbounds i32, ptr %x, i64 %index
  %c = load i32, ptr %from
  %small = and i32 %c, 7
  %wide = zext nneg i32 %small to i64
  %bin = getelementptr inbounds i32, ptr %h, i64 %wide
  %old = load i32, ptr %bin
  %less = mul i32 %old, 3
  %new = add i32 %less, %c
  store i32 %new, ptr %bin
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 10
  br i1 %more, label %inner, label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, %n
  br i1 %again, label %rows, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %x = getelementptr i8, ptr %p, i64 400
  call void @test(ptr %p, ptr %x, i64 9)
  ret i64 0
}
