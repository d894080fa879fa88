; A cycle with two entries is no loop. Left alone.
; regions: 0
define i32 @test(ptr %a, i32 %n) {
start:
  %odd = and i32 %n, 1
  %which = icmp eq i32 %odd, 0
  br i1 %which, label %left, label %right
left:
  %i = phi i32 [ 0, %start ], [ %k, %right ]
  %x = load i32, ptr %a
  %j = add i32 %i, 1
  %done = icmp sge i32 %j, %n
  br i1 %done, label %end, label %right
right:
  %h = phi i32 [ 0, %start ], [ %j, %left ]
  store i32 %h, ptr %a
  %k = add i32 %h, 1
  br label %left
end:
  ret i32 %j
}
define i64 @entry(ptr %p) {
  %x = call i32 @test(ptr %p, i32 10)
  %y = call i32 @test(ptr %p, i32 7)
  %z = add i32 %x, %y
  %r = zext i32 %z to i64
  ret i64 %r
}
