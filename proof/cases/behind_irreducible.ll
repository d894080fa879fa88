; A cycle with two entries is no loop. The loops inside of it and behind it are.
; regions: 2
define i32 @test(ptr %a, i32 %n, ptr noalias %b) {
start:
  %odd = and i32 %n, 1
  %which = icmp eq i32 %odd, 0
  br i1 %which, label %left, label %right
left:
  %i = phi i32 [ 0, %start ], [ %k, %inner.end ]
  %x = load i32, ptr %a
  %j = add i32 %i, 1
  %done = icmp sge i32 %j, %n
  br i1 %done, label %behind, label %right
right:
  %h = phi i32 [ 0, %start ], [ %j, %left ]
  store i32 %h, ptr %a
  br label %inner
inner:
  %v = phi i64 [ 0, %right ], [ %v1, %inner ]
  %at = getelementptr inbounds i32, ptr %b, i64 %v
  %old = load i32, ptr %at
  %new = add i32 %old, %h
  store i32 %new, ptr %at
  %v1 = add nuw nsw i64 %v, 1
  %go = icmp ult i64 %v1, 20
  br i1 %go, label %inner, label %inner.end
inner.end:
  %k = add i32 %h, 1
  br label %left
behind:
  br label %loop
loop:
  %w = phi i64 [ 0, %behind ], [ %w1, %loop ]
  %to = getelementptr inbounds i32, ptr %b, i64 %w
  %was = load i32, ptr %to
  %is = mul i32 %was, 3
  store i32 %is, ptr %to
  %w1 = add nuw nsw i64 %w, 1
  %on = icmp ult i64 %w1, 20
  br i1 %on, label %loop, label %end
end:
  ret i32 %j
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 64
  %x = call i32 @test(ptr %p, i32 10, ptr %b)
  %y = call i32 @test(ptr %p, i32 7, ptr %b)
  %z = add i32 %x, %y
  %r = zext i32 %z to i64
  ret i64 %r
}
