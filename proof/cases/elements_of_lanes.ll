; Lanes of a vector loop that an inner loop adds up in slots: not where some are elements that others store to.
; regions: 2
; memory: i32
; allowed: vectorize(j; 4)
; notices: OtherLanes
define void @crossed(ptr noalias %a) {
start:
  br label %outer
outer:
  %k = phi i64 [ 0, %start ], [ %k.next, %outer.end ]
  %n = trunc i64 %k to i32
  br label %loop
loop:
  %j = phi i64 [ 0, %outer ], [ %j.next, %loop ]
  %j.next = add nuw nsw i64 %j, 1
  %next = getelementptr inbounds i32, ptr %a, i64 %j.next
  %this = getelementptr inbounds i32, ptr %a, i64 %j
  %x = load i32, ptr %next
  %x5 = mul i32 %x, 5
  %xn = xor i32 %x5, %n
  store i32 %xn, ptr %next
  %y = load i32, ptr %this
  %y3 = mul i32 %y, 3
  %yn = add i32 %y3, %n
  store i32 %yn, ptr %this
  %more = icmp slt i64 %j.next, 4
  br i1 %more, label %loop, label %outer.end
outer.end:
  %k.next = add nuw nsw i64 %k, 1
  %again = icmp slt i64 %k.next, 20
  br i1 %again, label %outer, label %end
end:
  ret void
}
define void @apart(ptr noalias %a) {
start:
  br label %outer
outer:
  %k = phi i64 [ 0, %start ], [ %k.next, %outer.end ]
  %n = trunc i64 %k to i32
  br label %loop
loop:
  %j = phi i64 [ 0, %outer ], [ %j.next, %loop ]
  %j.next = add nuw nsw i64 %j, 1
  %far = add nuw nsw i64 %j, 4
  %next = getelementptr inbounds i32, ptr %a, i64 %far
  %this = getelementptr inbounds i32, ptr %a, i64 %j
  %x = load i32, ptr %next
  %x5 = mul i32 %x, 5
  %xn = xor i32 %x5, %n
  store i32 %xn, ptr %next
  %y = load i32, ptr %this
  %y3 = mul i32 %y, 3
  %yn = add i32 %y3, %n
  store i32 %yn, ptr %this
  %more = icmp slt i64 %j.next, 4
  br i1 %more, label %loop, label %outer.end
outer.end:
  %k.next = add nuw nsw i64 %k, 1
  %again = icmp slt i64 %k.next, 20
  br i1 %again, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @crossed(ptr %p)
  %q = getelementptr i8, ptr %p, i64 400
  call void @apart(ptr %q)
  ret i64 0
}
