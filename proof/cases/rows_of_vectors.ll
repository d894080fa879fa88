; Rows whose first and last pointers are in structures, as in a vector of vectors, are one array where they lie at equal distances and are of one
; length. Some are empty, or one is there twice, or shorter, or they are no whole number of elements long, or structures are overwritten.
; regions: 3
; kernel: j in
; notices: RowLengths
define void @test(ptr %v, ptr %end, i64 %f) mustprogress {
start:
  br label %rows
rows:
  %r = phi ptr [ %v, %start ], [ %r.next, %row.end ]
  %done = icmp eq ptr %r, %end
  br i1 %done, label %exit, label %row
row:
  %first = load ptr, ptr %r, align 8
  %last.at = getelementptr inbounds nuw i8, ptr %r, i64 8
  %last = load ptr, ptr %last.at, align 8
  br label %columns
columns:
  %p = phi ptr [ %first, %row ], [ %p.next, %column ]
  %none = icmp eq ptr %p, %last
  br i1 %none, label %row.end, label %column
column:
  %x = load i64, ptr %p, align 8
  %y = mul i64 %x, %f
  store i64 %y, ptr %p, align 8
  %p.next = getelementptr inbounds nuw i8, ptr %p, i64 8
  br label %columns
row.end:
  %r.next = getelementptr inbounds nuw i8, ptr %r, i64 24
  br label %rows
exit:
  ret void
}
define void @ordered(ptr %v, i64 %n, i64 %f) mustprogress {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i.next, %row.end ]
  %more.rows = icmp slt i64 %i, %n
  br i1 %more.rows, label %row, label %exit
row:
  %r = getelementptr inbounds nuw { ptr, ptr, ptr }, ptr %v, i64 %i
  %first = load ptr, ptr %r, align 8
  %last.at = getelementptr inbounds nuw i8, ptr %r, i64 8
  %last = load ptr, ptr %last.at, align 8
  br label %columns
columns:
  %p = phi ptr [ %first, %row ], [ %p.next, %column ]
  %more = icmp ult ptr %p, %last
  br i1 %more, label %column, label %row.end
column:
  %x = load i64, ptr %p, align 8
  %y = add i64 %x, %f
  store i64 %y, ptr %p, align 8
  %p.next = getelementptr inbounds nuw i8, ptr %p, i64 8
  br label %columns
row.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %rows
exit:
  ret void
}
define void @product(ptr %c, ptr %a, ptr %b, i64 %n) {
start:
  br label %is
is:
  %i = phi i64 [ 0, %start ], [ %i.next, %i.end ]
  %i.more = icmp slt i64 %i, %n
  br i1 %i.more, label %js, label %exit
js:
  %j = phi i64 [ 0, %is ], [ %j.next, %j.end ]
  %j.more = icmp slt i64 %j, %n
  br i1 %j.more, label %ks, label %i.end
ks:
  %k = phi i64 [ 0, %js ], [ %k.next, %body ]
  %k.more = icmp slt i64 %k, %n
  br i1 %k.more, label %body, label %j.end
body:
  %a.at = getelementptr inbounds nuw { ptr, ptr, ptr }, ptr %a, i64 %i
  %a.row = load ptr, ptr %a.at, align 8
  %a.el = getelementptr inbounds nuw i64, ptr %a.row, i64 %k
  %x = load i64, ptr %a.el, align 8, !tbaa !2
  %b.at = getelementptr inbounds nuw { ptr, ptr, ptr }, ptr %b, i64 %k
  %b.row = load ptr, ptr %b.at, align 8
  %b.el = getelementptr inbounds nuw i64, ptr %b.row, i64 %j
  %y = load i64, ptr %b.el, align 8, !tbaa !2
  %c.at = getelementptr inbounds nuw { ptr, ptr, ptr }, ptr %c, i64 %i
  %c.row = load ptr, ptr %c.at, align 8
  %c.el = getelementptr inbounds nuw i64, ptr %c.row, i64 %j
  %z = load i64, ptr %c.el, align 8, !tbaa !2
  %xy = mul i64 %x, %y
  %s = add i64 %z, %xy
  store i64 %s, ptr %c.el, align 8, !tbaa !2
  %k.next = add nuw nsw i64 %k, 1
  br label %ks
j.end:
  %j.next = add nuw nsw i64 %j, 1
  br label %js
i.end:
  %i.next = add nuw nsw i64 %i, 1
  br label %is
exit:
  ret void
}
define void @fill(ptr %v, ptr %first, i64 %distance, i64 %length, i64 %n) noinline optnone {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %loop ]
  %by = mul i64 %i, %distance
  %row = getelementptr i64, ptr %first, i64 %by
  %last = getelementptr i64, ptr %row, i64 %length
  %at = getelementptr { ptr, ptr, ptr }, ptr %v, i64 %i
  store ptr %row, ptr %at
  %last.at = getelementptr i8, ptr %at, i64 8
  store ptr %last, ptr %last.at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
define void @all(ptr %v, i64 %n) noinline optnone {
  %end = getelementptr { ptr, ptr, ptr }, ptr %v, i64 %n
  call void @test(ptr %v, ptr %end, i64 3)
  call void @ordered(ptr %v, i64 %n, i64 5)
  ret void
}
define i64 @entry(ptr %p) {
  %a = alloca [8 x { ptr, ptr, ptr }]
  %b = alloca [8 x { ptr, ptr, ptr }]
  %c = alloca [8 x { ptr, ptr, ptr }]
  %q = getelementptr i8, ptr %p, i64 1024
  %r = getelementptr i8, ptr %p, i64 2048
  call void @fill(ptr %a, ptr %p, i64 9, i64 7, i64 8)
  call void @all(ptr %a, i64 6)
  call void @all(ptr %a, i64 1)
  call void @all(ptr %a, i64 0)
  call void @all(ptr null, i64 0)
  call void @fill(ptr %b, ptr %q, i64 8, i64 0, i64 8)
  call void @all(ptr %b, i64 6)
  call void @fill(ptr %b, ptr %q, i64 8, i64 8, i64 8)
  call void @fill(ptr %c, ptr %r, i64 10, i64 8, i64 8)
  call void @product(ptr %c, ptr %a, ptr %b, i64 6)
  call void @product(ptr %c, ptr %c, ptr %b, i64 6)
  call void @product(ptr %c, ptr %a, ptr %b, i64 0)
  call void @product(ptr %c, ptr %a, ptr %b, i64 1)
  %short.at = getelementptr i8, ptr %a, i64 80
  %short = getelementptr i8, ptr %p, i64 232
  store ptr %short, ptr %short.at
  call void @all(ptr %a, i64 6)
  call void @all(ptr %a, i64 3)
  %odd.at = getelementptr i8, ptr %c, i64 32
  %odd = getelementptr i8, ptr %r, i64 139
  store ptr %odd, ptr %odd.at
  call void @ordered(ptr %c, i64 6, i64 7)
  %twice.at = getelementptr i8, ptr %b, i64 48
  %last.at = getelementptr i8, ptr %b, i64 56
  store ptr %q, ptr %twice.at
  %q.last = getelementptr i8, ptr %q, i64 64
  store ptr %q.last, ptr %last.at
  call void @all(ptr %b, i64 6)
  call void @product(ptr %c, ptr %a, ptr %b, i64 6)
  call void @product(ptr %b, ptr %a, ptr %a, i64 6)
  %inside = getelementptr i8, ptr %p, i64 3072
  call void @fill(ptr %inside, ptr %r, i64 8, i64 8, i64 4)
  call void @all(ptr %inside, i64 4)
  %into = getelementptr i8, ptr %inside, i64 80
  call void @fill(ptr %inside, ptr %into, i64 8, i64 1, i64 1)
  store i64 0, ptr %into
  call void @all(ptr %inside, i64 1)
  br label %clear.start
clear.start:
  br label %clear
clear:
  %k = phi i64 [ 0, %clear.start ], [ %k.next, %clear ]
  %k.at = getelementptr i8, ptr %inside, i64 %k
  store i64 0, ptr %k.at
  %k.next = add i64 %k, 8
  %k.more = icmp slt i64 %k.next, 96
  br i1 %k.more, label %clear, label %end
end:
  ret i64 0
}
!0 = !{!"root"}
!1 = !{!"long", !0}
!2 = !{!1, !1, i64 0}
