; What a buffer holds comes from its array and goes back to it.
; regions: 1
; always: pack(@; a)
; notices: BufferFills, BufferWritesBack
define void @test(ptr noalias %a) {
start:
  br label %outer
outer:
  %j = phi i64 [ 0, %start ], [ %next.j, %done ]
  %round = trunc i64 %j to i32
  br label %inner
inner:
  %i = phi i64 [ 0, %outer ], [ %next.i, %inner ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %at, align 4
  %y = mul i32 %x, 3
  %z = add i32 %y, %round
  store i32 %z, ptr %at, align 4
  %next.i = add nuw nsw i64 %i, 1
  %more.i = icmp slt i64 %next.i, 50
  br i1 %more.i, label %inner, label %done
done:
  %next.j = add nuw nsw i64 %j, 1
  %more.j = icmp slt i64 %next.j, 5
  br i1 %more.j, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p)
  ret i64 0
}
