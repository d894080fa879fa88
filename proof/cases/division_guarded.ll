; A division under its condition: by zero where it does not run. Executed there it would trap.
; regions: 1
; notices: Conditions, Masks
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %join ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  %x = load i32, ptr %at
  %positive = icmp sgt i32 %x, 0
  br i1 %positive, label %yes, label %join
yes:
  %d = sdiv i32 100, %x
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
