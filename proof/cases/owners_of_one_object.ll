; Two variables lead to one object, so that none of them alone does: nothing says that their accesses are apart.
; regions: 1
; notices: OwnersOfAccesses
@first = internal global ptr null
@second = internal global ptr null
@third = internal global ptr null
declare noalias ptr @malloc(i64)
define void @make() {
  %a = call noalias ptr @malloc(i64 160)
  store ptr %a, ptr @first
  store ptr %a, ptr @second
  %b = call noalias ptr @malloc(i64 160)
  store ptr %b, ptr @third
  ret void
}
define i32 @test(ptr %p) {
start:
  %c = load ptr, ptr @third
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %from = getelementptr inbounds i32, ptr %p, i64 %i
  %x = load i32, ptr %from
  %y = add i32 %x, 3
  %to = getelementptr inbounds i32, ptr %c, i64 %i
  store i32 %y, ptr %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 40
  br i1 %more, label %loop, label %end
end:
  %a = load ptr, ptr @first
  %b = load ptr, ptr @second
  %old = load i32, ptr %a
  %new = add i32 %old, 5
  store i32 %new, ptr %b
  %found = load i32, ptr %a
  ret i32 %found
}
define i64 @entry(ptr %p) {
  call void @make()
  %a = load ptr, ptr @first
  store i32 7, ptr %a
  %x = call i32 @test(ptr %p)
  %wide = zext i32 %x to i64
  ret i64 %wide
}
