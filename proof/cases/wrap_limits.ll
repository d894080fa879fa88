; Both products may wrap. What limits the factor of the first says nothing of that of the second: in the call it is 2^33, the product
; is zero in 64 bits, and each iteration reads what the next one writes. Without wrapping it would be 2^64.
; regions: 1
; allowed: reverse(i)
define void @test(ptr noalias %a, ptr noalias %b, i64 %m, i64 %k, i32 %n) {
start:
  %count = zext nneg i32 %n to i64
  %row = mul i64 %m, 2147483648
  %far = mul i64 %k, 2147483648
  %positive = icmp sgt i64 %k, 0
  %some = icmp sgt i32 %n, 0
  %both = and i1 %positive, %some
  br i1 %both, label %loop, label %end
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %from = add i64 %row, %i
  %at.b = getelementptr i32, ptr %b, i64 %from
  %y = load i32, ptr %at.b, align 4
  %next = add nuw nsw i64 %i, 1
  %at.a = getelementptr i32, ptr %a, i64 %next
  %x = load i32, ptr %at.a, align 4
  %z = add i32 %x, %y
  %to = add i64 %far, %i
  %at = getelementptr i32, ptr %a, i64 %to
  store i32 %z, ptr %at, align 4
  %more = icmp slt i64 %next, %count
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 4096
  call void @test(ptr %p, ptr %b, i64 0, i64 8589934592, i32 50)
  ret i64 0
}
