; The end of a range is between two elements: the loop goes one further than there are whole elements. Behind the end of a range that
; there is no number of elements for, nothing follows from it either.
; regions: 2
; notices: RangeMultiples, RangesFound
define void @test(ptr %first, ptr %last) {
start:
  br label %loop
loop:
  %p = phi ptr [ %first, %start ], [ %p.next, %body ]
  %more = icmp ult ptr %p, %last
  br i1 %more, label %body, label %end
body:
  %x = load i32, ptr %p, align 4
  %y = add i32 %x, 5
  store i32 %y, ptr %p, align 4
  %p.next = getelementptr inbounds i32, ptr %p, i64 1
  br label %loop
end:
  ret void
}
define void @beyond(ptr %first, ptr %last, ptr %q) {
start:
  %beyond = getelementptr inbounds i8, ptr %last, i64 40
  br label %loop
loop:
  %p = phi ptr [ %first, %start ], [ %p.next, %body ]
  %more = icmp ult ptr %p, %beyond
  br i1 %more, label %body, label %end
body:
  %x = load i32, ptr %p, align 4
  %y = add i32 %x, 11
  store i32 %y, ptr %p, align 4
  %p.next = getelementptr inbounds i32, ptr %p, i64 1
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  %p16 = getelementptr i8, ptr %p, i64 16
  %p18 = getelementptr i8, ptr %p, i64 18
  %p101 = getelementptr i8, ptr %p, i64 101
  %p200 = getelementptr i8, ptr %p, i64 200
  call void @test(ptr %p, ptr %p101)
  call void @test(ptr %p16, ptr %p18)
  call void @test(ptr %p200, ptr %p101)
  call void @beyond(ptr %p, ptr %p101, ptr %p)
  call void @beyond(ptr %p200, ptr %p18, ptr %p)
  call void @beyond(ptr %p16, ptr %p, ptr %p)
  ret i64 0
}
