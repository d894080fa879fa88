; The inner condition is poison where the outer one is false. It is asked only where the outer one is true: as a choice, for
; `and` would spread the poison.
; regions: 1
; emitted: select i1
; notices: PoisonMasks
define void @test(ptr noalias %a, ptr noalias %b, ptr noalias %c, i32 %big) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %join ]
  %at = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  %outer = icmp slt i32 %x, 0
  br i1 %outer, label %yes, label %join
yes:
  %also = getelementptr inbounds i32, ptr %c, i64 %i
  store i32 %x, ptr %also
  %sum = add nsw i32 %x, %big
  %inner = icmp sgt i32 %sum, 2147483640
  br i1 %inner, label %both, label %join
both:
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %x, ptr %to
  br label %join
join:
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  %c = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %b, ptr %c, i32 2147483647)
  ret i64 0
}
