; A row is copied and another set, by calls of no loop: part of the nest.
; regions: 1
; kernel: for
define void @test(ptr noalias %a, ptr noalias %b, i64 %n) {
start:
  %bytes = shl nuw i64 %n, 2
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %at = mul nuw nsw i64 %i, 12
  %row = getelementptr inbounds i32, ptr %a, i64 %at
  call void @llvm.memset.p0.i64(ptr align 4 %row, i8 3, i64 %bytes, i1 false)
  %from = getelementptr inbounds i32, ptr %b, i64 %i
  %to = getelementptr inbounds i32, ptr %row, i64 8
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %to, ptr align 4 %from, i64 16, i1 false)
  br label %inner
inner:
  %j = phi i64 [ 0, %rows ], [ %j.next, %inner ]
  %there = getelementptr inbounds i32, ptr %row, i64 %j
  %x = load i32, ptr %there
  %y = load i32, ptr %from
  %z = mul i32 %x, %y
  store i32 %z, ptr %there
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 12
  br i1 %more, label %inner, label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 7
  br i1 %again, label %rows, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %b, i64 8)
  call void @test(ptr %p, ptr %b, i64 0)
  ret i64 0
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
