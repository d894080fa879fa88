; An alias that stands for its function in every program is a name of the function: what it computes is put in place of the call, and
; what a function is known to do is known of calls by an alias of an alias.
; regions: 1
@again = alias i32 (i32), ptr @scaled
@other = alias i32 (i32), ptr @again
@known = alias i32 (i32), ptr @pure
define internal i32 @scaled(i32 %x) {
  %y = mul i32 %x, 3
  ret i32 %y
}
define internal i32 @pure(i32 %x) noinline nounwind willreturn memory(none) {
  %y = xor i32 %x, 5
  ret i32 %y
}
define void @test(ptr noalias %a, ptr noalias %b) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  %x = load i32, ptr %at
  %y = call i32 @other(i32 %x)
  %z = call i32 @known(i32 %y)
  store i32 %z, ptr %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  call void @test(ptr %p, ptr %b)
  ret i64 0
}
