; A function that nobody changes, in a module that changes: its accesses are said to be of different objects, as LLVM may no longer
; find out for itself.
; regions: 1
; count 4: !noalias
@first = internal global ptr null
@second = internal global ptr null
declare noalias ptr @malloc(i64)
define void @make() {
  %a = call noalias ptr @malloc(i64 160)
  store ptr %a, ptr @first
  %b = call noalias ptr @malloc(i64 160)
  store ptr %b, ptr @second
  ret void
}
define void @both(i64 %i) {
  %a = load ptr, ptr @first
  %b = load ptr, ptr @second
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %old = load i32, ptr %from
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %old, ptr %to
  ret void
}
define void @test() {
start:
  %a = load ptr, ptr @first
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from
  %y = add i32 %x, 3
  store i32 %y, ptr %from
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 40
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @make()
  %a = load ptr, ptr @first
  store i32 7, ptr %a
  call void @test()
  call void @both(i64 0)
  %b = load ptr, ptr @second
  %x = load i32, ptr %b
  %wide = zext i32 %x to i64
  ret i64 %wide
}
