; All calls of one function pass the same number, those of another one do not.
; regions: 2
; kernel: for i in 0..24
; notices: EveryCall
define internal void @alike(ptr %p, i64 %n) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %more.rows = icmp slt i64 %i, %n
  br i1 %more.rows, label %inside, label %done
inside:
  br label %columns
columns:
  %j = phi i64 [ 0, %inside ], [ %j.next, %body ]
  %more.columns = icmp slt i64 %j, 8
  br i1 %more.columns, label %body, label %row.end
body:
  %first = mul nsw i64 %i, 8
  %at = add nsw i64 %first, %j
  %place = getelementptr inbounds i32, ptr %p, i64 %at
  %old = load i32, ptr %place, align 4
  %new = add i32 %old, 5
  store i32 %new, ptr %place, align 4
  %j.next = add nuw nsw i64 %j, 1
  br label %columns
row.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
done:
  ret void
}
define internal void @other(ptr %p, i64 %n) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %more.rows = icmp slt i64 %i, %n
  br i1 %more.rows, label %inside, label %done
inside:
  br label %columns
columns:
  %j = phi i64 [ 0, %inside ], [ %j.next, %body ]
  %more.columns = icmp slt i64 %j, 8
  br i1 %more.columns, label %body, label %row.end
body:
  %first = mul nsw i64 %i, 8
  %at = add nsw i64 %first, %j
  %place = getelementptr inbounds i32, ptr %p, i64 %at
  %old = load i32, ptr %place, align 4
  %new = mul i32 %old, 3
  store i32 %new, ptr %place, align 4
  %j.next = add nuw nsw i64 %j, 1
  br label %columns
row.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
done:
  ret void
}
define i64 @entry(ptr %p) {
  ; As a front end writes it.
  %n = alloca i64, align 8
  store i64 24, ptr %n, align 8
  %rows = load i64, ptr %n, align 8
  call void @alike(ptr %p, i64 %rows)
  call void @alike(ptr %p, i64 24)
  call void @other(ptr %p, i64 9)
  %behind = getelementptr inbounds i32, ptr %p, i64 80
  call void @other(ptr %behind, i64 4)
  ret i64 0
}
