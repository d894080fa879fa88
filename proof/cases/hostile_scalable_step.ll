; A step that is not known when the code is compiled.
define void @test(ptr noalias %a) vscale_range(1,16) {
start:
  %scale = call i64 @llvm.vscale.i64()
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr i32, ptr %a, i64 %i
  store i32 4, ptr %at
  %next = add nuw nsw i64 %i, %scale
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
declare i64 @llvm.vscale.i64()
