; Where there is no memory for one of the buffers the original runs, and what there was memory for is given back. Memory suffices for
; three of four calls' buffers, and for one of the fourth's two.
; regions: 1
; allocations: 7
; allowed: pack(@; a); pack(@; b)
; notices: Allocations
declare i64 @held()
define void @test(ptr noalias %a, ptr noalias %b, i64 %n) {
start:
  br label %outer
outer:
  %j = phi i64 [ 0, %start ], [ %next.j, %done ]
  br label %inner
inner:
  %i = phi i64 [ 0, %outer ], [ %next.i, %inner ]
  %at.a = getelementptr inbounds i32, ptr %a, i64 %i
  %at.b = getelementptr inbounds i32, ptr %b, i64 %i
  %x = load i32, ptr %at.a, align 4
  %y = load i32, ptr %at.b, align 4
  %three = mul i32 %x, 3
  %z = add i32 %three, %y
  store i32 %z, ptr %at.a, align 4
  %next.i = add nuw nsw i64 %i, 1
  %more.i = icmp slt i64 %next.i, %n
  br i1 %more.i, label %inner, label %done
done:
  %next.j = add nuw nsw i64 %j, 1
  %more.j = icmp slt i64 %next.j, 5
  br i1 %more.j, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 1024
  call void @test(ptr %p, ptr %b, i64 50)
  call void @test(ptr %p, ptr %b, i64 51)
  call void @test(ptr %b, ptr %p, i64 52)
  call void @test(ptr %b, ptr %p, i64 53)
  call void @test(ptr %p, ptr %b, i64 54)
  %open = call i64 @held()
  ret i64 %open
}
