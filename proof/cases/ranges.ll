; Loops over the elements between two pointers, in each way that they are written: forwards, backwards, tested behind the body, and over
; two ranges in a nest. They may be empty, overlap, or be one.
; regions: 5
; kernel: for j
define void @test(ptr %first, ptr %last, ptr %first2, ptr %last2) {
start:
  br label %outer
outer:
  %p = phi ptr [ %first, %start ], [ %p.next, %latch ]
  %done = icmp eq ptr %p, %last
  br i1 %done, label %end, label %inner
inner:
  %q = phi ptr [ %q.next, %body ], [ %first2, %outer ]
  %more = icmp ne ptr %last2, %q
  br i1 %more, label %body, label %latch
body:
  %x = load i32, ptr %p, align 4
  %y = load i32, ptr %q, align 4
  %twice = mul i32 %x, 3
  %z = add i32 %twice, %y
  store i32 %z, ptr %p, align 4
  %q.next = getelementptr inbounds nuw i8, ptr %q, i64 4
  br label %inner
latch:
  %p.next = getelementptr inbounds nuw i8, ptr %p, i64 4
  br label %outer
end:
  ret void
}
define void @ordered(ptr %first, ptr %last, ptr %to) {
start:
  br label %loop
loop:
  %p = phi ptr [ %first, %start ], [ %p.next, %body ]
  %q = phi ptr [ %to, %start ], [ %q.next, %body ]
  %more = icmp ult ptr %p, %last
  br i1 %more, label %body, label %end
body:
  %x = load i32, ptr %p, align 4
  %y = add i32 %x, 5
  store i32 %y, ptr %q, align 4
  %p.next = getelementptr inbounds i32, ptr %p, i64 1
  %q.next = getelementptr inbounds i32, ptr %q, i64 1
  br label %loop
end:
  ret void
}
define void @backwards(ptr %first, ptr %last, ptr %to) {
start:
  br label %loop
loop:
  %p = phi ptr [ %last, %start ], [ %p.next, %body ]
  %q = phi ptr [ %to, %start ], [ %q.next, %body ]
  %more = icmp ne ptr %p, %first
  br i1 %more, label %body, label %end
body:
  %p.next = getelementptr inbounds i32, ptr %p, i64 -1
  %x = load i32, ptr %p.next, align 4
  %y = mul i32 %x, 7
  store i32 %y, ptr %q, align 4
  %q.next = getelementptr inbounds i32, ptr %q, i64 1
  br label %loop
end:
  ret void
}
define void @behind(ptr %first, ptr %last) {
start:
  %none = icmp eq ptr %first, %last
  br i1 %none, label %end, label %loop
loop:
  %p = phi ptr [ %first, %start ], [ %p.next, %loop ]
  %x = load i32, ptr %p, align 4
  %y = xor i32 %x, 77
  store i32 %y, ptr %p, align 4
  %p.next = getelementptr inbounds nuw i8, ptr %p, i64 4
  %done = icmp eq ptr %p.next, %last
  br i1 %done, label %end, label %loop
end:
  ret void
}
define void @one_base(ptr %a, i64 %n, ptr %b) {
start:
  %last = getelementptr inbounds i32, ptr %a, i64 %n
  br label %loop
loop:
  %p = phi ptr [ %a, %start ], [ %p.next, %body ]
  %q = phi ptr [ %b, %start ], [ %q.next, %body ]
  %done = icmp eq ptr %p, %last
  br i1 %done, label %end, label %body
body:
  %x = load i32, ptr %q, align 4
  %y = sub i32 %x, 9
  store i32 %y, ptr %p, align 4
  %p.next = getelementptr inbounds nuw i8, ptr %p, i64 4
  %q.next = getelementptr inbounds nuw i8, ptr %q, i64 4
  br label %loop
end:
  ret void
}
define i64 @entry(ptr %p) {
  %p4 = getelementptr i8, ptr %p, i64 4
  %p80 = getelementptr i8, ptr %p, i64 80
  %p200 = getelementptr i8, ptr %p, i64 200
  %p260 = getelementptr i8, ptr %p, i64 260
  %p2k = getelementptr i8, ptr %p, i64 2048
  call void @test(ptr %p, ptr %p80, ptr %p200, ptr %p260)
  call void @test(ptr %p, ptr %p80, ptr %p, ptr %p80)
  call void @test(ptr %p4, ptr %p200, ptr %p80, ptr %p260)
  call void @test(ptr %p, ptr %p, ptr %p80, ptr %p200)
  call void @test(ptr null, ptr null, ptr null, ptr null)
  call void @test(ptr %p, ptr %p80, ptr %p260, ptr %p260)
  call void @ordered(ptr %p, ptr %p200, ptr %p2k)
  call void @ordered(ptr %p, ptr %p200, ptr %p4)
  call void @ordered(ptr %p200, ptr %p, ptr %p2k)
  call void @backwards(ptr %p, ptr %p200, ptr %p2k)
  call void @backwards(ptr %p, ptr %p200, ptr %p80)
  call void @backwards(ptr %p80, ptr %p80, ptr %p)
  call void @behind(ptr %p80, ptr %p260)
  call void @behind(ptr %p80, ptr %p80)
  call void @one_base(ptr %p, i64 20, ptr %p2k)
  call void @one_base(ptr %p4, i64 20, ptr %p)
  call void @one_base(ptr %p4, i64 0, ptr %p)
  ret i64 0
}
