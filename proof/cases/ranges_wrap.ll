; Addresses are ordered as distances are only where no pointer leaves its object: one that wraps is below others again.
; regions: 0
; notices: RangeOverflow
define void @test(ptr %a, i64 %n) {
start:
  %last = getelementptr i32, ptr %a, i64 %n
  br label %loop
loop:
  %p = phi ptr [ %a, %start ], [ %p.next, %body ]
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
