; Both arrays are others the next time: what is apart now was the same before, and LLVM reads scopes as facts about all times.
; regions: 1
; count 0: !noalias
; notices: MovingArrays, AllScopes
define void @test(ptr %a, ptr %b) {
start:
  br label %outer
outer:
  %t = phi i64 [ 0, %start ], [ %t.next, %latch ]
  %x = phi ptr [ %a, %start ], [ %y, %latch ]
  %y = phi ptr [ %b, %start ], [ %x, %latch ]
  br label %inner
inner:
  %k = phi i64 [ 0, %outer ], [ %k.next, %inner ]
  %from = getelementptr inbounds i32, ptr %x, i64 %k
  %v = load i32, ptr %from
  %w = add i32 %v, 1
  %to = getelementptr inbounds i32, ptr %y, i64 %k
  store i32 %w, ptr %to
  %k.next = add nuw nsw i64 %k, 1
  %again = icmp ult i64 %k.next, 50
  br i1 %again, label %inner, label %latch
latch:
  %t.next = add nuw nsw i64 %t, 1
  %yet = icmp ult i64 %t.next, 5
  br i1 %yet, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %far = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %far)
  ret i64 0
}
