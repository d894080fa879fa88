; In another order intermediate sums may wrap that do not wrap in this one: `nsw` is true of the original only. Addresses
; are computed in i64.
; regions: 1
; always: reverse(@)
; count 1: add nsw i32
; count 1: add i32
; notices: OrderFlags
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %old = load i32, ptr %b
  %sum = add nsw i32 %old, %x
  store i32 %sum, ptr %b
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %b)
  ret i64 0
}
