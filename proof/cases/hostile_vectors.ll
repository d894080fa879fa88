; Vectors in the input: one access touches several elements.
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr i32, ptr %a, i64 %i
  %x = load <4 x i32>, ptr %at, align 4
  %y = add <4 x i32> %x, splat (i32 3)
  %to = getelementptr i32, ptr %b, i64 %i
  store <4 x i32> %y, ptr %to, align 4
  %next = add nuw nsw i64 %i, 2
  %more = icmp ult i64 %next, 90
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  call void @test(ptr %p, ptr %b)
  ret i64 0
}
