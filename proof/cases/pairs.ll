; Pairs of numbers that a front end passes as vectors are two numbers each, in memory and on the way; vectors that are more than that stay.
; regions: 2
; memory: f32
; kernel: j in
%spot = type { float, float }
define void @moved(ptr noalias %to, ptr noalias %from, <2 x float> %by, i64 %n, i64 %m) {
start:
  br label %is
is:
  %i = phi i64 [ 0, %start ], [ %i.next, %i.end ]
  %i.more = icmp slt i64 %i, %n
  br i1 %i.more, label %js, label %end
js:
  %j = phi i64 [ 0, %is ], [ %j.next, %body ]
  %j.more = icmp slt i64 %j, %m
  br i1 %j.more, label %body, label %i.end
body:
  %row = mul nsw i64 %j, %n
  %at = add nsw i64 %row, %i
  %p = getelementptr inbounds %spot, ptr %from, i64 %at
  %pair = load <2 x float>, ptr %p, align 4
  %sum = fadd <2 x float> %pair, %by
  %x = extractelement <2 x float> %sum, i64 0
  %y = extractelement <2 x float> %pair, i64 1
  %scaled = fmul float %x, %y
  %turned = insertelement <2 x float> %sum, float %scaled, i64 0
  %swapped = shufflevector <2 x float> %turned, <2 x float> %by, <2 x i32> <i32 1, i32 2>
  %q = getelementptr inbounds %spot, ptr %to, i64 %at
  store <2 x float> %swapped, ptr %q, align 4
  %j.next = add nuw nsw i64 %j, 1
  br label %js
i.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %is
end:
  ret void
}
; In the same memory, each taken from the one before.
define void @chained(ptr %a, i64 %n, i64 %m) {
start:
  br label %is
is:
  %i = phi i64 [ 1, %start ], [ %i.next, %i.end ]
  %i.more = icmp slt i64 %i, %n
  br i1 %i.more, label %js, label %end
js:
  %j = phi i64 [ 0, %is ], [ %j.next, %body ]
  %j.more = icmp slt i64 %j, %m
  br i1 %j.more, label %body, label %i.end
body:
  %row = mul nsw i64 %j, %n
  %at = add nsw i64 %row, %i
  %before = add nsw i64 %at, -1
  %p = getelementptr inbounds %spot, ptr %a, i64 %before
  %pair = load <2 x float>, ptr %p, align 4
  %q = getelementptr inbounds %spot, ptr %a, i64 %at
  %own = load <2 x float>, ptr %q, align 4
  %less = fsub <2 x float> %own, %pair
  store <2 x float> %less, ptr %q, align 4
  %j.next = add nuw nsw i64 %j, 1
  br label %js
i.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %is
end:
  ret void
}
define void @wide(ptr noalias %to, ptr noalias %from, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %p = getelementptr inbounds <4 x float>, ptr %from, i64 %i
  %four = load <4 x float>, ptr %p, align 4
  %sum = fadd <4 x float> %four, %four
  %q = getelementptr inbounds <4 x float>, ptr %to, i64 %i
  store <4 x float> %sum, ptr %q, align 4
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %memory) {
  %from = getelementptr float, ptr %memory, i64 200
  %by.0 = insertelement <2 x float> poison, float 1.5, i64 0
  %by = insertelement <2 x float> %by.0, float -0.25, i64 1
  call void @moved(ptr %memory, ptr %from, <2 x float> %by, i64 7, i64 5)
  call void @chained(ptr %from, i64 6, i64 8)
  call void @wide(ptr %memory, ptr %from, i64 4)
  ret i64 0
}
