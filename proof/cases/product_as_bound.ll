; The loop runs a product of times, in arithmetic of 32 bits: in the second call that wraps to none. In the third the product of
; all is beyond 64 bits too.
; regions: 1
; kernel: array a: i32[?]
define void @test(ptr noalias %a, i32 %n, i32 %m, i32 %k) {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %body ]
  %nm = mul i32 %n, %m
  %all = mul i32 %nm, %k
  %stay = icmp ult i32 %i, %all
  br i1 %stay, label %body, label %end
body:
  %wide = zext i32 %i to i64
  %at = getelementptr inbounds nuw i32, ptr %a, i64 %wide
  %x = load i32, ptr %at
  %y = add i32 %x, 1
  store i32 %y, ptr %at
  %next = add nuw i32 %i, 1
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i32 3, i32 5, i32 7)
  call void @test(ptr %p, i32 65536, i32 65536, i32 3)
  call void @test(ptr %p, i32 1073741824, i32 1073741824, i32 64)
  call void @test(ptr %p, i32 -3, i32 -5, i32 7)
  call void @test(ptr %p, i32 0, i32 5, i32 7)
  ret i64 0
}
