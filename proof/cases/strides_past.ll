; Counters that pass by their bounds, and wrap before they are left.
; regions: 2
; notices: StridesEnd
define void @less(ptr %p, i8 %bound, i8 %step) {
start:
  br label %loop
loop:
  %i = phi i8 [ 0, %start ], [ %i.next, %body ]
  %k = phi i64 [ 0, %start ], [ %k.next, %body ]
  %more = icmp slt i8 %i, %bound
  br i1 %more, label %body, label %end
body:
  %at = getelementptr inbounds i32, ptr %p, i64 %k
  %x = load i32, ptr %at, align 4
  %y = add i32 %x, 5
  store i32 %y, ptr %at, align 4
  %i.next = add i8 %i, %step
  %k.next = add nuw nsw i64 %k, 1
  br label %loop
end:
  ret void
}
define void @other(ptr %p, i8 %bound, i8 %step) {
start:
  br label %loop
loop:
  %i = phi i8 [ 0, %start ], [ %i.next, %body ]
  %k = phi i64 [ 0, %start ], [ %k.next, %body ]
  %more = icmp ne i8 %i, %bound
  br i1 %more, label %body, label %end
body:
  %at = getelementptr inbounds i32, ptr %p, i64 %k
  %x = load i32, ptr %at, align 4
  %y = add i32 %x, 11
  store i32 %y, ptr %at, align 4
  %i.next = add i8 %i, %step
  %k.next = add nuw nsw i64 %k, 1
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  %p1000 = getelementptr i8, ptr %p, i64 1000
  %p2000 = getelementptr i8, ptr %p, i64 2000
  call void @less(ptr %p, i8 120, i8 50)
  call void @less(ptr %p1000, i8 126, i8 3)
  call void @less(ptr %p1000, i8 120, i8 3)
  call void @other(ptr %p1000, i8 10, i8 3)
  call void @other(ptr %p2000, i8 -30, i8 -6)
  call void @other(ptr %p2000, i8 -30, i8 2)
  call void @other(ptr %p2000, i8 127, i8 1)
  ret i64 0
}
