; Several ways, some of them to the same place.
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %join ]
  %at = getelementptr i32, ptr %a, i64 %i
  %to = getelementptr i32, ptr %b, i64 %i
  %x = load i32, ptr %at
  switch i32 %x, label %other [ i32 1, label %one
                               i32 2, label %one
                               i32 -3, label %join
                               i32 4, label %two ]
one:
  store i32 10, ptr %to
  br label %join
two:
  store i32 20, ptr %to
  br label %one
other:
  %d = sdiv i32 %x, 3
  store i32 %d, ptr %to
  br label %join
join:
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  call void @test(ptr %p, ptr %b)
  ret i64 0
}
