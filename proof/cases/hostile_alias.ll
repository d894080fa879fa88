; Two names of one object.
@array = internal global [100 x i32] zeroinitializer
@also = internal alias [100 x i32], ptr @array
define void @test(ptr noalias %a) noinline {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %from = getelementptr i32, ptr @also, i64 %i
  %x = load i32, ptr %from
  %at = getelementptr i32, ptr %a, i64 %i
  %y = load i32, ptr %at
  %z = add i32 %x, %y
  %next = add nuw nsw i64 %i, 1
  %to = getelementptr i32, ptr @array, i64 %next
  store i32 %z, ptr %to
  %more = icmp ult i64 %next, 99
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p)
  call void @llvm.memcpy.p0.p0.i64(ptr %p, ptr @array, i64 400, i1 false)
  ret i64 0
}
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
