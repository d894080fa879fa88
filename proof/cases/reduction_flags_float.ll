; So with infinities and NaNs.
; memory: f64
; regions: 1
; always: reverse(@)
; count 1: fadd reassoc nnan ninf
; count 1: fadd reassoc double
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %at
  %old = load double, ptr %b
  %sum = fadd reassoc nnan ninf double %old, %x
  store double %sum, ptr %b
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %b)
  ret i64 0
}
