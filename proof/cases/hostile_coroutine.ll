; What lives across a suspension is decided later.
define ptr @test(ptr noalias %a) presplitcoroutine {
start:
  %id = call token @llvm.coro.id(i32 0, ptr null, ptr null, ptr null)
  %size = call i64 @llvm.coro.size.i64()
  %frame = call ptr @malloc(i64 %size)
  %handle = call ptr @llvm.coro.begin(token %id, ptr %frame)
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %resumed ]
  %at = getelementptr i32, ptr %a, i64 %i
  store i32 4, ptr %at
  %state = call i8 @llvm.coro.suspend(token none, i1 false)
  switch i8 %state, label %suspend [ i8 0, label %resumed
                                    i8 1, label %cleanup ]
resumed:
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %cleanup
cleanup:
  %memory = call ptr @llvm.coro.free(token %id, ptr %handle)
  call void @free(ptr %memory)
  br label %suspend
suspend:
  call void @llvm.coro.end(ptr %handle, i1 false, token none)
  ret ptr %handle
}
declare token @llvm.coro.id(i32, ptr, ptr, ptr)
declare i64 @llvm.coro.size.i64()
declare ptr @llvm.coro.begin(token, ptr)
declare i8 @llvm.coro.suspend(token, i1)
declare ptr @llvm.coro.free(token, ptr)
declare void @llvm.coro.end(ptr, i1, token)
declare ptr @malloc(i64)
declare void @free(ptr)
