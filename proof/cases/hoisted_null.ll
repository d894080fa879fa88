; What is read for the bound is there only behind the test for null.
; regions: 1
define void @test(ptr noalias %a, ptr noalias readonly align 8 dereferenceable_or_null(8) %n) nofree nosync {
start:
  %none = icmp eq ptr %n, null
  br i1 %none, label %end, label %before
before:
  br label %loop
loop:
  %i = phi i64 [ 0, %before ], [ %next, %body ]
  %m = load i64, ptr %n, align 8
  %stay = icmp slt i64 %i, %m
  br i1 %stay, label %body, label %end
body:
  %to = getelementptr inbounds i64, ptr %a, i64 %i
  store i64 12, ptr %to
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, ptr null)
  %n = getelementptr i8, ptr %p, i64 80
  store i64 7, ptr %n
  call void @test(ptr %p, ptr %n)
  ret i64 0
}
