; Pointers of another address space.
target datalayout = "e-p1:32:32-i64:64-n8:16:32:64"
define void @test(ptr addrspace(1) %a, ptr addrspace(2) noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr i32, ptr addrspace(1) %a, i64 %i
  %x = load i32, ptr addrspace(1) %at
  %to = getelementptr i32, ptr addrspace(2) %b, i64 %i
  store i32 %x, ptr addrspace(2) %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
