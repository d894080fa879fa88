; Two elements of an array that are at times the same: neither is taken from a register once the other was stored, nor left unstored
; where the other is loaded.
; regions: 1
; notices: ElementsApart, SeenStores
define void @test(ptr noalias %a, ptr noalias %c) {
start:
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %outer.end ]
  %ai = getelementptr inbounds i32, ptr %a, i64 %i
  %ci = getelementptr inbounds i32, ptr %c, i64 %i
  br label %loop
loop:
  %j = phi i64 [ 0, %outer ], [ %j.next, %loop ]
  %aj = getelementptr inbounds i32, ptr %a, i64 %j
  %cj = getelementptr inbounds i32, ptr %c, i64 %j
  %x = load i32, ptr %ai
  %x1 = add i32 %x, 1
  store i32 %x1, ptr %ai
  %y = load i32, ptr %aj
  %y3 = mul i32 %y, 3
  store i32 %y3, ptr %aj
  %z = load i32, ptr %ai
  %n = trunc i64 %j to i32
  %zn = xor i32 %z, %n
  store i32 %zn, ptr %ci
  %w = load i32, ptr %cj
  %w1 = add i32 %w, %n
  store i32 %w1, ptr %ci
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 20
  br i1 %more, label %loop, label %outer.end
outer.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 20
  br i1 %again, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %c = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %c)
  ret i64 0
}
