; The program reads in front, too, through the same pointers as its loop.
; regions: 1
@s = global ptr null
define void @test(ptr %a) {
start:
  %l1 = load ptr, ptr @s, align 8
  %l2 = load ptr, ptr %l1, align 8
  %k = load i64, ptr %l2, align 8
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %m1 = load ptr, ptr @s, align 8
  %m2 = load ptr, ptr %m1, align 8
  %m = load i64, ptr %m2, align 8
  %other.at = getelementptr i8, ptr %m1, i64 8
  %other = load ptr, ptr %other.at, align 8
  %o = load i64, ptr %other, align 8
  %w.at = getelementptr i8, ptr %m2, i64 16
  %w = load i64, ptr %w.at, align 8
  %to0 = add nsw i64 %i, %m
  %to1 = add nsw i64 %to0, %o
  %to2 = add nsw i64 %to1, %w
  %to = getelementptr inbounds i64, ptr %a, i64 %to2
  %v = add i64 %k, %i
  store i64 %v, ptr %to, align 8
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, 40
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %pair = alloca [2 x ptr]
  %one = alloca [3 x i64]
  %w = getelementptr i8, ptr %one, i64 16
  store i64 5, ptr %one
  store i64 2, ptr %w
  %second = getelementptr i8, ptr %pair, i64 8
  store ptr %one, ptr %pair
  store ptr %one, ptr %second
  store ptr %pair, ptr @s
  call void @test(ptr %p)
  ret i64 0
}
