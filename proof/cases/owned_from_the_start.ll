; An object that a variable comes to own is reached by the variable and by the call's result: neither stands in the way of checks between
; them.
; regions: 1
; under: reverse(@)
; notices: OwnersFromTheStart
@owner = internal global ptr null
declare noalias ptr @malloc(i64)
define void @count(ptr %p) noinline {
  %x = load i32, ptr %p
  %y = add i32 %x, 1
  store i32 %y, ptr %p
  ret void
}
define i64 @test(ptr %p) {
start:
  %made = call noalias ptr @malloc(i64 328)
  %x = load i64, ptr %p
  store i64 %x, ptr %made
  store ptr %made, ptr @owner
  call void @count(ptr %p)
  %own = load ptr, ptr @owner
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %from = getelementptr inbounds i64, ptr %made, i64 %i
  %old = load i64, ptr %from
  %new = add i64 %old, 3
  %next = add nuw nsw i64 %i, 1
  %to = getelementptr inbounds i64, ptr %own, i64 %next
  store i64 %new, ptr %to
  %more = icmp ult i64 %next, 40
  br i1 %more, label %loop, label %end
end:
  %last = getelementptr inbounds i64, ptr %own, i64 40
  %found = load i64, ptr %last
  ret i64 %found
}
define i64 @entry(ptr %p) {
  %x = call i64 @test(ptr %p)
  ret i64 %x
}
