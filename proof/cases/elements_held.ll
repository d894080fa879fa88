; An element that an inner loop adds up in a slot, where the others that the loop stores are behind it, and one where they are not.
; regions: 2
define void @behind(ptr noalias %a) {
start:
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %outer.end ]
  %ai = getelementptr inbounds i32, ptr %a, i64 %i
  br label %head
head:
  %j = phi i64 [ 0, %outer ], [ %j.next, %loop ]
  %more = icmp slt i64 %j, %i
  br i1 %more, label %loop, label %outer.end
loop:
  %aj = getelementptr inbounds i32, ptr %a, i64 %j
  %x = load i32, ptr %ai
  %y = load i32, ptr %aj
  %z = mul i32 %y, 5
  %s = sub i32 %x, %z
  store i32 %s, ptr %ai
  %t = xor i32 %y, %s
  store i32 %t, ptr %aj
  %j.next = add nuw nsw i64 %j, 1
  br label %head
outer.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 20
  br i1 %again, label %outer, label %end
end:
  ret void
}
define void @among(ptr noalias %a) {
start:
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %outer.end ]
  %ai = getelementptr inbounds i32, ptr %a, i64 %i
  br label %head
head:
  %j = phi i64 [ 0, %outer ], [ %j.next, %loop ]
  %more = icmp sle i64 %j, %i
  br i1 %more, label %loop, label %outer.end
loop:
  %aj = getelementptr inbounds i32, ptr %a, i64 %j
  %x = load i32, ptr %ai
  %y = load i32, ptr %aj
  %z = mul i32 %y, 5
  %s = sub i32 %x, %z
  store i32 %s, ptr %ai
  %t = xor i32 %y, %s
  store i32 %t, ptr %aj
  %j.next = add nuw nsw i64 %j, 1
  br label %head
outer.end:
  %i.next = add nuw nsw i64 %i, 1
  %again = icmp slt i64 %i.next, 20
  br i1 %again, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @behind(ptr %p)
  call void @among(ptr %p)
  ret i64 0
}
