; Of which of two elements an access is, with the border of a grid wrapped around, with what is beyond the border brought back to it, and
; with two places for what is stored. Where the one element is not chosen, how it is found is nobody's business.
; regions: 4
; notices: Choices
define void @around(ptr noalias %a, ptr noalias %b, i32 noundef %n) {
start:
  %last = add nsw i32 %n, -1
  %some = icmp sgt i32 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i32 [ 0, %start ], [ %next, %loop ]
  %first = icmp eq i32 %i, 0
  %back = add nsw i32 %i, -1
  %from = select i1 %first, i32 %last, i32 %back
  %wide = sext i32 %from to i64
  %at = getelementptr inbounds i32, ptr %a, i64 %wide
  %x = load i32, ptr %at
  %i64 = zext nneg i32 %i to i64
  %to = getelementptr inbounds i32, ptr %b, i64 %i64
  store i32 %x, ptr %to
  %next = add nuw nsw i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
declare i64 @llvm.smin.i64(i64, i64)
declare i64 @llvm.smax.i64(i64, i64)
define void @clamped(ptr noalias %a, ptr noalias %b, i64 noundef %n) {
start:
  %last = add nsw i64 %n, -1
  %some = icmp sgt i64 %n, 0
  br i1 %some, label %loop, label %end
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %near = add nsw i64 %i, -3
  %low = call i64 @llvm.smax.i64(i64 %near, i64 0)
  %beyond = add nsw i64 %i, 2
  %high = call i64 @llvm.smin.i64(i64 %beyond, i64 %last)
  %left = getelementptr inbounds i32, ptr %a, i64 %low
  %right = getelementptr inbounds i32, ptr %a, i64 %high
  %x = load i32, ptr %left
  %y = load i32, ptr %right
  %sum = sub i32 %x, %y
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  store i32 %sum, ptr %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
; The second condition is poison wherever the first holds and %huge is the largest number.
define void @hidden(ptr noalias %a, ptr noalias %b, i64 noundef %n, i64 noundef %huge) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %few = icmp ult i64 %i, 4
  %over = add nsw i64 %huge, %i
  %far = icmp sgt i64 %over, 7
  %inner = select i1 %far, i64 9, i64 %over
  %number = select i1 %few, i64 5, i64 %inner
  %to = getelementptr inbounds i32, ptr %b, i64 %number
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from
  store i32 %x, ptr %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
; What is chosen on one way only is not known behind it.
define void @behind(ptr noalias %a, ptr noalias %b, i64 noundef %n, i64 noundef %m) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %to = getelementptr inbounds i32, ptr %b, i64 %i
  %few = icmp ult i64 %i, 4
  br i1 %few, label %latch, label %many
many:
  %is = icmp eq i64 %i, %m
  br i1 %is, label %same, label %other
same:
  store i32 3, ptr %to
  br label %inner
other:
  %third = getelementptr inbounds i32, ptr %a, i64 3
  %z = load i32, ptr %third
  store i32 %z, ptr %to
  %before = add nsw i64 %i, -1
  br label %inner
inner:
  %t = phi i64 [ 0, %same ], [ %before, %other ]
  %at = getelementptr inbounds i32, ptr %a, i64 %t
  %y = load i32, ptr %at
  store i32 %y, ptr %to
  br label %latch
latch:
  %u = phi i64 [ %i, %loop ], [ %t, %inner ]
  %from = getelementptr inbounds i32, ptr %a, i64 %u
  %x = load i32, ptr %from
  %old = load i32, ptr %to
  %sum = add i32 %x, %old
  store i32 %sum, ptr %to
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 400
  %c = getelementptr i8, ptr %p, i64 800
  call void @around(ptr %p, ptr %b, i32 17)
  call void @around(ptr %p, ptr %b, i32 1)
  call void @around(ptr %p, ptr %b, i32 0)
  call void @clamped(ptr %b, ptr %c, i64 19)
  call void @clamped(ptr %p, ptr %c, i64 2)
  call void @hidden(ptr %p, ptr %b, i64 4, i64 9223372036854775807)
  call void @hidden(ptr %p, ptr %c, i64 12, i64 -3)
  call void @behind(ptr %p, ptr %b, i64 12, i64 7)
  ret i64 0
}
