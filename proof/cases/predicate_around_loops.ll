; Loops run where data says so; a pointer tells which way, another value whether at all.
; regions: 1
; kernel: if
; notices: DataConditions
define void @test(ptr noalias %a, ptr noalias %b, i1 %wanted) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %flag = getelementptr inbounds i32, ptr %b, i64 %i
  %f = load i32, ptr %flag
  %odd = and i32 %f, 1
  %is = icmp eq i32 %odd, 0
  br i1 %is, label %even, label %other
even:
  br label %inner
inner:
  %j = phi i64 [ 0, %even ], [ %j.next, %inner ]
  %at = mul nuw nsw i64 %i, 8
  %index = add nuw nsw i64 %at, %j
  %to = getelementptr inbounds i32, ptr %a, i64 %index
  %x = load i32, ptr %to
  %y = add i32 %x, %f
  store i32 %y, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 8
  br i1 %more, label %inner, label %inner.end
inner.end:
  br label %row.end
other:
  br i1 %wanted, label %outer, label %row.end
outer:
  br label %second
second:
  %k = phi i64 [ 0, %outer ], [ %k.next, %second ]
  %at2 = mul nuw nsw i64 %i, 8
  %index2 = add nuw nsw i64 %at2, %k
  %to2 = getelementptr inbounds i32, ptr %a, i64 %index2
  store i32 %f, ptr %to2
  %k.next = add nuw nsw i64 %k, 1
  %more2 = icmp slt i64 %k.next, 8
  br i1 %more2, label %second, label %second.end
second.end:
  br label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 12
  br i1 %again, label %rows, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 800
  call void @test(ptr %p, ptr %b, i1 true)
  call void @test(ptr %p, ptr %b, i1 false)
  ret i64 0
}
