; A row moves up within itself, which no loop that counts up does: the call stays, and the nest around it is left alone.
; regions: 1
; notices: MovedMemory
define void @test(ptr noalias %a, i64 %n) {
start:
  %bytes = shl nuw i64 %n, 2
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %at = mul nuw nsw i64 %i, 40
  %row = getelementptr inbounds i32, ptr %a, i64 %at
  %to = getelementptr inbounds i32, ptr %row, i64 3
  call void @llvm.memmove.p0.p0.i64(ptr align 4 %to, ptr align 4 %row, i64 %bytes, i1 false)
  br label %inner
inner:
  %j = phi i64 [ 0, %rows ], [ %j.next, %inner ]
  %there = getelementptr inbounds i32, ptr %row, i64 %j
  %x = load i32, ptr %there
  %z = mul i32 %x, 3
  store i32 %z, ptr %there
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 12
  br i1 %more, label %inner, label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 5
  br i1 %again, label %rows, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i64 20)
  ret i64 0
}
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
