; A loop around that is not described decides where a row begins, by products and choices; what walks inside begins there. How far
; that is from the array's begin is in no condition.
; regions: 1
; kernel: [i, 0]
; kernel: [i, j]
@seen = internal global i64 0
define void @fence(i64 %x) noinline {
  store volatile i64 %x, ptr @seen
  ret void
}
define void @test(ptr noalias %a, ptr noalias %b, i64 %n, i64 %m, i64 %wide, i64 %size) {
start:
  br label %outer
outer:
  %h = phi i64 [ 0, %start ], [ %h.next, %behind ]
  call void @fence(i64 %h)
  %first = icmp eq i64 %h, 0
  br i1 %first, label %chosen, label %other
other:
  %h.less = sub nsw i64 %h, 1
  %far = mul nsw i64 %h.less, %size
  %farther = add nsw i64 %far, 7
  br label %chosen
chosen:
  %off = phi i64 [ 0, %outer ], [ %farther, %other ]
  %width = select i1 %first, i64 %m, i64 %wide
  %w = getelementptr inbounds i32, ptr %a, i64 %off
  %bh = mul nsw i64 %h, %n
  %d = getelementptr inbounds i32, ptr %b, i64 %bh
  br label %rows
rows:
  %j = phi i64 [ 0, %chosen ], [ %j.next, %row.end ]
  %p = phi ptr [ %w, %chosen ], [ %q.end, %row.end ]
  %e = phi ptr [ %d, %chosen ], [ %e.next, %row.end ]
  %more = icmp slt i64 %j, %n
  br i1 %more, label %row, label %behind
row:
  %x = load i32, ptr %e
  %old = load i32, ptr %p
  %new = sub i32 %old, %x
  store i32 %new, ptr %p
  br label %loop
loop:
  %k = phi i64 [ 1, %row ], [ %k.next, %body ]
  %before = phi ptr [ %p, %row ], [ %q, %body ]
  %q = getelementptr inbounds nuw i32, ptr %before, i64 1
  %inside = icmp sle i64 %k, %width
  br i1 %inside, label %body, label %row.end
body:
  %y = load i32, ptr %e
  %z = load i32, ptr %q
  %k.small = trunc i64 %k to i32
  %t = mul i32 %y, %k.small
  %s = add i32 %z, %t
  store i32 %s, ptr %q
  %k.next = add nuw nsw i64 %k, 1
  br label %loop
row.end:
  %q.end = phi ptr [ %q, %loop ]
  %j.next = add nuw nsw i64 %j, 1
  %e.next = getelementptr inbounds nuw i32, ptr %e, i64 1
  br label %rows
behind:
  %h.next = add nuw nsw i64 %h, 1
  %again = icmp slt i64 %h.next, 3
  br i1 %again, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 2048
  call void @test(ptr %p, ptr %b, i64 5, i64 9, i64 6, i64 40)
  call void @test(ptr %p, ptr %b, i64 4, i64 0, i64 3, i64 2)
  call void @test(ptr %p, ptr %b, i64 3, i64 -5, i64 4, i64 -3)
  ret i64 0
}
