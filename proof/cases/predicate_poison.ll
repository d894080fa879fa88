; A condition that is poison where the loops around it do not run: what the new code branches by is fixed.
; regions: 1
; emitted: freeze i1
; notices: PredicateFreeze
define void @test(ptr noalias %a, i64 %n, float %x) {
start:
  %is = fcmp nnan ogt float %x, 5.0
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %stay = icmp slt i64 %i, %n
  br i1 %stay, label %row, label %end
row:
  %first = getelementptr inbounds i32, ptr %a, i64 %i
  store i32 7, ptr %first
  br i1 %is, label %even, label %row.end
even:
  br label %inner
inner:
  %j = phi i64 [ 0, %even ], [ %j.next, %inner ]
  %at = mul nuw nsw i64 %i, 8
  %index = add nuw nsw i64 %at, %j
  %to = getelementptr inbounds i32, ptr %a, i64 %index
  store i32 3, ptr %to
  %j.next = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j.next, 8
  br i1 %more, label %inner, label %inner.end
inner.end:
  br label %row.end
row.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p, i64 0, float 0x7FF8000000000000)
  call void @test(ptr %p, i64 7, float 9.0)
  call void @test(ptr %p, i64 5, float -3.0)
  ret i64 0
}
