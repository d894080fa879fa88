; A sum of floating-point numbers keeps its order, unless its instructions give leave.
; memory: f64
; regions: 1
; refused: reverse(@)
; notices: Reassociation
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %at
  %old = load double, ptr %b
  %sum = fadd double %old, %x
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
