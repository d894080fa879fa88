; Assembly that may jump.
define void @test(ptr noalias %a) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %at = getelementptr i32, ptr %a, i64 %i
  callbr void asm sideeffect "", "!i"() to label %latch [label %other]
other:
  store i32 1, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
