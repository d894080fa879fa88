; A weak alias may be another function in the program, and a weak function, too: what is called is not known. The strong alias of a
; weak function stands for what is here, which its name need not.
; regions: 0
@other = weak alias i32 (i32), ptr @scaled
@strong = alias i32 (i32), ptr @weak
define i32 @scaled(i32 %x) {
  %y = mul i32 %x, 3
  ret i32 %y
}
define weak i32 @weak(i32 %x) {
  %y = mul i32 %x, 3
  ret i32 %y
}
define void @test(ptr noalias %a) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %y = call i32 @other(i32 %x)
  store i32 %y, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %behind
behind:
  %k = phi i64 [ 0, %loop ], [ %after, %behind ]
  %from = getelementptr inbounds i32, ptr %a, i64 %k
  %v = load i32, ptr %from
  %w = call i32 @strong(i32 %v)
  store i32 %w, ptr %from
  %after = add nuw nsw i64 %k, 1
  %go = icmp ult i64 %after, 100
  br i1 %go, label %behind, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p)
  ret i64 0
}
