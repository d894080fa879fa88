; Rows are as long as a number that only the program knows, in arithmetic of 32 bits that may wrap: in the second call the
; third row is the first one again, and the original code runs.
; regions: 1
; kernel: array a: i32[?, m]
define void @test(ptr noalias %a, i32 %n, i32 %m, i32 %p) {
entry:
  br label %outer
outer:
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %stay = icmp ult i32 %i, %n
  br i1 %stay, label %inner, label %end
inner:
  %j = phi i32 [ %j.next, %body ], [ 0, %outer ]
  %inside = icmp ult i32 %j, %p
  br i1 %inside, label %body, label %latch
body:
  %row = mul i32 %i, %m
  %index = add i32 %row, %j
  %wide = zext i32 %index to i64
  %at = getelementptr inbounds nuw i32, ptr %a, i64 %wide
  %x = load i32, ptr %at
  %y = mul i32 %x, 3
  %z = add i32 %y, %i
  store i32 %z, ptr %at
  %j.next = add i32 %j, 1
  br label %inner
latch:
  %i.next = add i32 %i, 2
  br label %outer
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i32 6, i32 9, i32 7)
  call void @test(ptr %p, i32 4, i32 2147483648, i32 5)
  call void @test(ptr %p, i32 3, i32 5, i32 8)
  ret i64 0
}
