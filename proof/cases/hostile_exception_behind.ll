; What is stored before a call that may throw is seen by who catches: the call is no part of the region.
; regions: 1
declare void @throws()
define void @test(ptr %a) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr i32, ptr %a, i64 %i
  store i32 4, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  call void @throws()
  ret void
}
