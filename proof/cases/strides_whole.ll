; The bound is so many steps from where the counter begins; the step is nothing, or goes the other way.
; regions: 2
; notices: StridesWhole
define void @less(ptr %p, i32 %n, i32 %step) {
start:
  %bound = mul nsw i32 %n, %step
  br label %loop
loop:
  %i = phi i32 [ 0, %start ], [ %i.next, %body ]
  %k = phi i64 [ 0, %start ], [ %k.next, %body ]
  %more = icmp slt i32 %i, %bound
  br i1 %more, label %body, label %end
body:
  %at = getelementptr inbounds i32, ptr %p, i64 %k
  %x = load i32, ptr %at, align 4
  %y = add i32 %x, 5
  store i32 %y, ptr %at, align 4
  %i.next = add nsw i32 %i, %step
  %k.next = add nuw nsw i64 %k, 1
  br label %loop
end:
  ret void
}
define void @walk(ptr %p, i64 %n, i64 %stride) {
start:
  %total = mul nsw i64 %n, %stride
  %last = getelementptr inbounds i32, ptr %p, i64 %total
  br label %loop
loop:
  %q = phi ptr [ %p, %start ], [ %q.next, %body ]
  %k = phi i64 [ 0, %start ], [ %k.next, %body ]
  %more = icmp ne ptr %q, %last
  br i1 %more, label %body, label %end
body:
  %at = getelementptr inbounds i32, ptr %p, i64 %k
  %x = load i32, ptr %at, align 4
  %y = add i32 %x, 11
  store i32 %y, ptr %at, align 4
  %q.next = getelementptr inbounds i32, ptr %q, i64 %stride
  %k.next = add nuw nsw i64 %k, 1
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  %p1000 = getelementptr i8, ptr %p, i64 1000
  %p2000 = getelementptr i8, ptr %p, i64 2000
  call void @less(ptr %p, i32 5, i32 3)
  call void @less(ptr %p, i32 5, i32 -3)
  call void @less(ptr %p, i32 5, i32 0)
  call void @less(ptr %p, i32 -5, i32 3)
  call void @walk(ptr %p1000, i64 7, i64 2)
  call void @walk(ptr %p1000, i64 3, i64 0)
  call void @walk(ptr %p2000, i64 9, i64 -2)
  ret i64 0
}
