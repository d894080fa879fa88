; Rows have four elements, as the type says, and that a column is one of them is in the check: in the second call columns run
; into the next rows, and their order counts.
; regions: 1
; kernel: m <= 4
; always: interchange(@)
define void @test(ptr noalias %a, i64 %n, i64 %m) {
start:
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %next.i, %done ]
  %more.i = icmp slt i64 %i, %n
  br i1 %more.i, label %row, label %end
row:
  %at.i = getelementptr inbounds [4 x i32], ptr %a, i64 %i
  br label %inner
inner:
  %j = phi i64 [ 0, %row ], [ %next.j, %body ]
  %more.j = icmp slt i64 %j, %m
  br i1 %more.j, label %body, label %done
body:
  %at = getelementptr inbounds i32, ptr %at.i, i64 %j
  %x = load i32, ptr %at, align 4
  %triple = mul i32 %x, 3
  %k = trunc i64 %j to i32
  %y = add i32 %triple, %k
  store i32 %y, ptr %at, align 4
  %next.j = add nuw nsw i64 %j, 1
  br label %inner
done:
  %next.i = add nuw nsw i64 %i, 1
  br label %outer
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 2048
  call void @test(ptr %p, i64 9, i64 4)
  call void @test(ptr %b, i64 9, i64 7)
  ret i64 0
}
