; Vectors of unknown length.
; regions: 0
define void @test(ptr noalias %a) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr <vscale x 4 x i32>, ptr %a, i64 %i
  %x = load <vscale x 4 x i32>, ptr %at
  %y = add <vscale x 4 x i32> %x, splat (i32 3)
  store <vscale x 4 x i32> %y, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
