; Which element is read only the data says: the nest around moves, as the elements that are written are none of these.
; regions: 1
; kernel: at
; always: interchange(@)
; notices: NumberOffsets
@a = internal global [40 x i32] zeroinitializer
@x = internal global [64 x i32] zeroinitializer
define void @test(ptr noalias %col, i64 %n) {
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
  %wide = zext nneg i32 %small to i64
  %there = getelementptr inbounds [64 x i32], ptr @x, i64 0, i64 %wide
  %behind = getelementptr inbounds i32, ptr %there, i64 3
  %v = load i32, ptr %behind
  %to = getelementptr inbounds [40 x i32], ptr @a, i64 0, i64 %j
  %old = load i32, ptr %to
  %less = mul i32 %old, 3
  %new = sub i32 %less, %v
  store i32 %new, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 40
  br i1 %more, label %inner, label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 5
  br i1 %again, label %rows, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @llvm.memcpy.p0.p0.i64(ptr @x, ptr %p, i64 256, i1 false)
  call void @test(ptr %p, i64 5)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr @a, i64 160, i1 false)
  ret i64 0
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
