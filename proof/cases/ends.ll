; A condition that ends the program is checked in front of the region, where it is one on parameters.
; regions: 1
; kernel: for i in 0..100
; allowed: interchange(i)
; notices: Endings
define void @test(ptr noalias %a, i64 %n, i64 %most) {
start:
  br label %rows
rows:
  %i = phi i64 [ 0, %start ], [ %i1, %row.end ]
  %row = mul nuw nsw i64 %i, 10
  br label %loop
loop:
  %j = phi i64 [ 0, %rows ], [ %j1, %body ]
  %out = icmp ult i64 %j, %most
  br i1 %out, label %body, label %bad, !prof !0
body:
  %at = add nuw nsw i64 %row, %j
  %p = getelementptr inbounds i32, ptr %a, i64 %at
  %x = load i32, ptr %p
  %y = add i32 %x, 3
  store i32 %y, ptr %p
  %j1 = add nuw nsw i64 %j, 1
  %more = icmp slt i64 %j1, %n
  br i1 %more, label %loop, label %row.end
row.end:
  %i1 = add nuw nsw i64 %i, 1
  %again = icmp ult i64 %i1, 100
  br i1 %again, label %rows, label %end
bad:
  call void @fail(ptr %a, i64 %i, i64 %j)
  unreachable
end:
  ret void
}
!0 = !{!"branch_weights", i32 2000, i32 1}
@begun = internal global [64 x i64] zeroinitializer
define void @fail(ptr %a, i64 %i, i64 %j) noreturn noinline {
  %k = mul i64 %i, 1000
  %s = add i64 %k, %j
  %t = trunc i64 %s to i32
  store i32 %t, ptr %a
  call void @longjmp(ptr @begun, i32 1)
  unreachable
}
declare i32 @_setjmp(ptr) returns_twice
declare void @longjmp(ptr, i32) noreturn
define i64 @entry(ptr %p) {
  call void @one(ptr %p, i64 9, i64 9)
  call void @one(ptr %p, i64 9, i64 100)
  call void @one(ptr %p, i64 8, i64 7)
  call void @one(ptr %p, i64 8, i64 0)
  call void @one(ptr %p, i64 8, i64 -1)
  ret i64 0
}
define void @one(ptr %p, i64 %n, i64 %most) noinline {
  %again = call i32 @_setjmp(ptr @begun) returns_twice
  %first = icmp eq i32 %again, 0
  br i1 %first, label %go, label %end
go:
  call void @test(ptr %p, i64 %n, i64 %most)
  br label %end
end:
  ret void
}
