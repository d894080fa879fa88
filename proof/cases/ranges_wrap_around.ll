; Addresses that wrap lead to memory that another pointer leads to: `%p` is so far below zero.
; regions: 1
; notices: AddressWrap
define void @test(ptr %p, ptr %r, i64 %n) {
start:
  %base = mul i64 %n, 64
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %outer.end ]
  br label %inner
inner:
  %j = phi i64 [ 0, %outer ], [ %j.next, %inner ]
  %row = mul i64 %j, 10
  %at = add i64 %row, %i
  %far = add i64 %base, %at
  %from = getelementptr i64, ptr %p, i64 %far
  %v = load i64, ptr %from
  %more = mul i64 %v, 3
  %w = add i64 %more, 1
  %to = getelementptr i64, ptr %r, i64 %at
  store i64 %w, ptr %to
  %j.next = add i64 %j, 1
  %j.again = icmp slt i64 %j.next, 8
  br i1 %j.again, label %inner, label %outer.end
outer.end:
  %i.next = add i64 %i, 1
  %i.again = icmp slt i64 %i.next, 8
  br i1 %i.again, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %below = getelementptr i8, ptr %p, i64 -281474976710656
  %r = getelementptr i64, ptr %p, i64 3
  call void @test(ptr %below, ptr %r, i64 549755813888)
  ret i64 0
}
