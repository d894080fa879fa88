; Inline assembly, with and without a stated effect.
; regions: 0
define void @test(ptr noalias %a) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %at = getelementptr i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %y = call i32 asm "addl $$1, $0", "=r,0,~{dirflag},~{fpsr},~{flags}"(i32 %x)
  call void asm sideeffect "nop", "~{memory}"()
  store i32 %y, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p)
  ret i64 0
}
