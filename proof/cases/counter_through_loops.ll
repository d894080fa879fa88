; A place in a packed array goes on through the inner loop, by as much as that one runs: not at all where its bound is negative.
; regions: 1
; kernel: array a: i32[?, m]
define i32 @test(ptr noalias %a, ptr noalias %b, i32 %n, i32 %m) {
entry:
  br label %outer
outer:
  %k = phi i32 [ 0, %entry ], [ %k.inner, %latch ]
  %i = phi i32 [ 0, %entry ], [ %i.next, %latch ]
  %stay = icmp slt i32 %i, %n
  br i1 %stay, label %inner, label %end
inner:
  %k.inner = phi i32 [ %k.next, %body ], [ %k, %outer ]
  %j = phi i32 [ %j.next, %body ], [ 0, %outer ]
  %inside = icmp slt i32 %j, %m
  br i1 %inside, label %body, label %latch
body:
  %k.next = add nsw i32 %k.inner, 1
  %wide = sext i32 %k.inner to i64
  %at = getelementptr inbounds i32, ptr %a, i64 %wide
  %x = load i32, ptr %at
  %y = mul i32 %x, %i
  store i32 %y, ptr %at
  %j.next = add nuw nsw i32 %j, 1
  br label %inner
latch:
  %there = sext i32 %k.inner to i64
  %to = getelementptr inbounds i32, ptr %b, i64 %there
  %c = load i32, ptr %to
  %d = add i32 %c, 1
  store i32 %d, ptr %to
  %i.next = add nuw nsw i32 %i, 1
  br label %outer
end:
  ret i32 %k
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 4096
  %r = call i32 @test(ptr %p, ptr %b, i32 6, i32 9)
  %s = call i32 @test(ptr %p, ptr %b, i32 6, i32 -9)
  %t = call i32 @test(ptr %p, ptr %b, i32 6, i32 0)
  %rs = add i32 %r, %s
  %rst = add i32 %rs, %t
  %w = sext i32 %rst to i64
  ret i64 %w
}
