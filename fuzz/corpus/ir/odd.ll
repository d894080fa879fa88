declare void @g() 
define i32 @h(ptr %a, i32 %k, <4 x float> %v) personality ptr null {
entry:
  switch i32 %k, label %a1 [ i32 0, label %b1
    i32 1, label %a1 ]
a1:
  %t = phi i32 [ 0, %entry ], [ 0, %entry ], [ %u, %b1 ]
  %u1 = add i32 %t, 1
  %c = icmp ult i32 %u1, %k
  br i1 %c, label %b1, label %end
b1:
  %u = phi i32 [ 5, %entry ], [ %u1, %a1 ]
  store volatile i32 %u, ptr %a, align 4
  call void @g()
  %r = atomicrmw add ptr %a, i32 1 seq_cst, align 4
  br i1 undef, label %a1, label %loop
loop:
  br label %loop
end:
  call void asm sideeffect "nop", ""()
  unreachable
}
