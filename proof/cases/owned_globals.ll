; Two variables alone lead to two objects, and nobody has the address of a third one: nothing has to be checked.
; regions: 1
; always: reverse(@)
@first = internal global ptr null
@second = internal global ptr null
@factor = internal global [40 x i32] zeroinitializer
declare noalias ptr @malloc(i64)
define void @make() {
  %a = call noalias ptr @malloc(i64 160)
  store ptr %a, ptr @first
  %b = call noalias ptr @malloc(i64 160)
  store ptr %b, ptr @second
  ret void
}
define void @test(ptr %c) {
start:
  %a = load ptr, ptr @first
  %b = load ptr, ptr @second
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from
  %by = getelementptr inbounds [40 x i32], ptr @factor, i64 0, i64 %i
  %y = load i32, ptr %by
  %z = add i32 %x, %y
  %next = add nuw nsw i64 %i, 1
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %z, ptr %to
  %more = icmp ult i64 %next, 40
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @make()
  %a = load ptr, ptr @first
  store i32 7, ptr %a
  call void @test(ptr %p)
  %b = load ptr, ptr @second
  %x = load i32, ptr %b
  %wide = zext i32 %x to i64
  ret i64 %wide
}
