; The inner branch's condition is computed in front of the loop, where nothing is decided yet: what it guards runs only
; under the outer condition, too.
; regions: 1
define void @test(ptr noalias %a, ptr noalias %b, i32 %n) noinline {
start:
  %little = icmp ult i32 %n, 3
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %join ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %positive = icmp sgt i32 %x, 0
  br i1 %positive, label %outer, label %join
outer:
  br i1 %little, label %inner, label %join
inner:
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %x, ptr %to
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
  %c = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %b, i32 2)
  call void @test(ptr %p, ptr %c, i32 3)
  ret i64 0
}
