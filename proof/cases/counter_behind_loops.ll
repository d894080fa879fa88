; A counter goes on where the loop before left it, also where that did not run.
; regions: 1
; kernel: to[i, j2 + n]
; allowed: reverse(j)
define void @test(ptr noalias %x, ptr noalias %to, i32 %n, i32 %m) {
start:
  br label %rows
rows:
  %i = phi i32 [ 0, %start ], [ %i1, %rows.end ]
  %at = phi i32 [ 0, %start ], [ %at3, %rows.end ]
  br label %first
first:
  %j = phi i32 [ 0, %rows ], [ %j1, %first.body ]
  %at1 = phi i32 [ %at, %rows ], [ %at1.next, %first.body ]
  %more = icmp slt i32 %j, %n
  br i1 %more, label %first.body, label %middle
first.body:
  %from = getelementptr inbounds i32, ptr %x, i32 %j
  %a = load i32, ptr %from
  %at1.next = add nsw i32 %at1, 1
  %p = getelementptr inbounds i32, ptr %to, i32 %at1
  %old = load i32, ptr %p
  %new = add i32 %old, %a
  store i32 %new, ptr %p
  %j1 = add nsw i32 %j, 1
  br label %first
middle:
  %at2 = phi i32 [ %at1, %first ]
  br label %second
second:
  %k = phi i32 [ 0, %middle ], [ %k1, %second.body ]
  %at3 = phi i32 [ %at2, %middle ], [ %at3.next, %second.body ]
  %on = icmp slt i32 %k, %m
  br i1 %on, label %second.body, label %rows.end
second.body:
  %at3.next = add nsw i32 %at3, 1
  %q = getelementptr inbounds i32, ptr %to, i32 %at3
  store i32 %k, ptr %q
  %k1 = add nsw i32 %k, 1
  br label %second
rows.end:
  %i1 = add nsw i32 %i, 1
  %again = icmp slt i32 %i1, 6
  br i1 %again, label %rows, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %to = getelementptr i8, ptr %p, i64 64
  call void @test(ptr %p, ptr %to, i32 5, i32 4)
  call void @test(ptr %p, ptr %to, i32 -1, i32 4)
  call void @test(ptr %p, ptr %to, i32 3, i32 -2)
  call void @test(ptr %p, ptr %to, i32 0, i32 3)
  call void @test(ptr %p, ptr %to, i32 -5, i32 -7)
  ret i64 0
}
