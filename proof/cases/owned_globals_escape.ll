; The variable's address is stored, so that what is loaded may lead to it.
; regions: 1
; under: reverse(@)
; notices: OwnedGlobals
@array = internal global [40 x i32] zeroinitializer
@cell = global ptr null
define void @publish() {
  %at = getelementptr inbounds [40 x i32], ptr @array, i64 0, i64 1
  store ptr %at, ptr @cell
  ret void
}
define void @test() {
start:
  %a = load ptr, ptr @cell
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %from = getelementptr inbounds [40 x i32], ptr @array, i64 0, i64 %i
  %x = load i32, ptr %from
  %y = add i32 %x, 3
  %to = getelementptr inbounds i32, ptr %a, i64 %i
  store i32 %y, ptr %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 39
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @publish()
  call void @test()
  %last = getelementptr inbounds [40 x i32], ptr @array, i64 0, i64 39
  %x = load i32, ptr %last
  %wide = zext i32 %x to i64
  ret i64 %wide
}
