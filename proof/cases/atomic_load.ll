; An atomic load stays where it is, however weak its ordering.
; regions: 0
; notices: AtomicAccess
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  %x = load atomic i32, ptr %at monotonic, align 4
  store i32 %x, ptr %to
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
