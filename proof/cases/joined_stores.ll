; One element is stored on each way that data chooses: it is stored once, behind them. What one way reads stands between elements that are
; read in any case, or it is read there only; what it reads behind its store it reads before the one store.
; regions: 3
; kernel: load guarded
; notices: JoinedOrder, JoinedReads
define void @between(ptr %a, ptr %c, i64 noundef %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 1, %start ], [ %next, %latch ]
  %before = getelementptr i32, ptr %a, i64 %i
  %left = getelementptr i8, ptr %before, i64 -4
  %right = getelementptr i8, ptr %before, i64 4
  %x = load i32, ptr %left
  %y = load i32, ptr %right
  %sum = add i32 %x, %y
  %part = and i32 %sum, 3
  %to = getelementptr inbounds i32, ptr %c, i64 %i
  %is = icmp eq i32 %part, 3
  br i1 %is, label %three, label %other
three:
  store i32 1, ptr %to
  br label %latch
other:
  %two = icmp eq i32 %part, 2
  br i1 %two, label %same, label %none
same:
  %here = getelementptr inbounds i32, ptr %a, i64 %i
  %old = load i32, ptr %here
  store i32 %old, ptr %to
  br label %latch
none:
  store i32 0, ptr %to
  br label %latch
latch:
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
; Behind its store the one way reads what it stored, if that was element %k.
define void @behind(ptr noalias %a, ptr noalias %c, ptr noalias %d, i64 noundef %n, i64 noundef %k) {
start:
  %kth = getelementptr inbounds i32, ptr %c, i64 %k
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from
  %to = getelementptr inbounds i32, ptr %c, i64 %i
  %odd = trunc i32 %x to i1
  br i1 %odd, label %one, label %other
one:
  store i32 %x, ptr %to
  %y = load i32, ptr %kth
  br label %latch
other:
  store i32 5, ptr %to
  br label %latch
latch:
  %z = phi i32 [ %y, %one ], [ 7, %other ]
  %there = getelementptr inbounds i32, ptr %d, i64 %i
  store i32 %z, ptr %there
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
; Only the first is there.
define void @missing(ptr noalias %a, ptr noalias %b, ptr noalias %c, ptr noalias %d, i64 noundef %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %from = getelementptr inbounds i32, ptr %a, i64 %i
  %x = load i32, ptr %from
  %to = getelementptr inbounds i32, ptr %c, i64 %i
  %there = getelementptr inbounds i32, ptr %d, i64 %i
  %is = icmp eq i32 %x, 0
  br i1 %is, label %far, label %near
far:
  %bytes = shl i64 %i, 40
  %at = getelementptr i8, ptr %b, i64 %bytes
  %y = load i32, ptr %at
  store i32 %y, ptr %to
  store i32 %y, ptr %there
  br label %latch
near:
  store i32 %x, ptr %to
  store i32 1, ptr %there
  br label %latch
latch:
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %first = alloca [8 x i32]
  store volatile [8 x i32] [i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7], ptr %first
  %c = getelementptr i8, ptr %p, i64 400
  %d = getelementptr i8, ptr %p, i64 800
  call void @between(ptr %p, ptr %c, i64 60)
  call void @between(ptr %p, ptr %p, i64 30)
  %d0 = getelementptr i8, ptr %d, i64 0
  %a0 = getelementptr i8, ptr %p, i64 0
  call void @behind(ptr %a0, ptr %c, ptr %d0, i64 40, i64 17)
  %d1 = getelementptr i8, ptr %d, i64 160
  %a1 = getelementptr i8, ptr %p, i64 4
  call void @behind(ptr %a1, ptr %c, ptr %d1, i64 40, i64 18)
  %d2 = getelementptr i8, ptr %d, i64 320
  %a2 = getelementptr i8, ptr %p, i64 8
  call void @behind(ptr %a2, ptr %c, ptr %d2, i64 40, i64 19)
  %d3 = getelementptr i8, ptr %d, i64 480
  %a3 = getelementptr i8, ptr %p, i64 12
  call void @behind(ptr %a3, ptr %c, ptr %d3, i64 40, i64 20)
  %d4 = getelementptr i8, ptr %d, i64 640
  %a4 = getelementptr i8, ptr %p, i64 16
  call void @behind(ptr %a4, ptr %c, ptr %d4, i64 40, i64 21)
  %d5 = getelementptr i8, ptr %d, i64 800
  %a5 = getelementptr i8, ptr %p, i64 20
  call void @behind(ptr %a5, ptr %c, ptr %d5, i64 40, i64 22)
  call void @missing(ptr %first, ptr %p, ptr %d0, ptr %d1, i64 8)
  ret i64 0
}
