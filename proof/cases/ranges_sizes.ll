; A number of elements that is computed from two addresses, `v.size()`, in the ways that compilers write it.
; regions: 2
; kernel: for j
define void @test(ptr %first, ptr %last, ptr %first2, ptr %last2) {
start:
  %l = ptrtoint ptr %last to i64
  %f = ptrtoint ptr %first to i64
  %bytes = sub i64 %l, %f
  %n = ashr exact i64 %bytes, 2
  %l2 = ptrtoint ptr %last2 to i64
  %f2 = ptrtoint ptr %first2 to i64
  %less = add i64 %l2, -4
  %bytes2 = sub i64 %less, %f2
  %shifted = lshr i64 %bytes2, 2
  %m = add nuw nsw i64 %shifted, 1
  br label %outer
outer:
  %i = phi i64 [ 0, %start ], [ %i.next, %latch ]
  %stay = icmp ult i64 %i, %n
  br i1 %stay, label %row, label %end
row:
  %to = getelementptr inbounds nuw i32, ptr %first, i64 %i
  br label %inner
inner:
  %j = phi i64 [ %j.next, %body ], [ 0, %row ]
  %more = icmp ult i64 %j, %m
  br i1 %more, label %body, label %latch
body:
  %from = getelementptr inbounds nuw i32, ptr %first2, i64 %j
  %x = load i32, ptr %to, align 4
  %y = load i32, ptr %from, align 4
  %twice = mul i32 %x, 3
  %z = add i32 %twice, %y
  store i32 %z, ptr %to, align 4
  %j.next = add i64 %j, 1
  br label %inner
latch:
  %i.next = add i64 %i, 1
  br label %outer
end:
  ret void
}
define void @walk(ptr %first, ptr %last) {
start:
  %l = ptrtoint ptr %last to i64
  %f = ptrtoint ptr %first to i64
  %bytes = sub i64 %l, %f
  br label %loop
loop:
  %p = phi ptr [ %first, %start ], [ %p.next, %body ]
  %i = phi i64 [ 0, %start ], [ %i.next, %body ]
  %more = icmp slt i64 %i, %bytes
  br i1 %more, label %body, label %end
body:
  %x = load i32, ptr %p, align 4
  %y = add i32 %x, 11
  store i32 %y, ptr %p, align 4
  %p.next = getelementptr inbounds i32, ptr %p, i64 1
  %i.next = add nsw i64 %i, 4
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  %p80 = getelementptr i8, ptr %p, i64 80
  %p200 = getelementptr i8, ptr %p, i64 200
  %p260 = getelementptr i8, ptr %p, i64 260
  %p261 = getelementptr i8, ptr %p, i64 261
  call void @test(ptr %p, ptr %p80, ptr %p200, ptr %p260)
  call void @test(ptr %p, ptr %p80, ptr %p, ptr %p80)
  call void @test(ptr %p, ptr %p, ptr %p80, ptr %p200)
  call void @walk(ptr %p, ptr %p260)
  call void @walk(ptr %p, ptr %p261)
  call void @walk(ptr %p260, ptr %p)
  ret i64 0
}
