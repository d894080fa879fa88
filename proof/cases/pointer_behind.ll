; A pointer that the loop moved is used behind it.
; regions: 1
define ptr @test(ptr noalias %a, ptr noalias %b, i64 %n) {
start:
  br label %loop
loop:
  %p = phi ptr [ %a, %start ], [ %p.next, %body ]
  %i = phi i64 [ 0, %start ], [ %i.next, %body ]
  %stay = icmp slt i64 %i, %n
  br i1 %stay, label %body, label %end
body:
  %from = getelementptr inbounds i32, ptr %b, i64 %i
  %x = load i32, ptr %from
  %y = mul i32 %x, 5
  store i32 %y, ptr %p
  %p.next = getelementptr inbounds i32, ptr %p, i64 2
  %i.next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret ptr %p
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 800
  %q = call ptr @test(ptr %p, ptr %b, i64 9)
  %r = call ptr @test(ptr %q, ptr %b, i64 0)
  %s = call ptr @test(ptr %r, ptr %b, i64 -2)
  store i32 77, ptr %s
  %x = ptrtoint ptr %s to i64
  %y = ptrtoint ptr %p to i64
  %d = sub i64 %x, %y
  ret i64 %d
}
