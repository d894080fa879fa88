; A call that is left in two ways.
; regions: 0
declare i32 @__gxx_personality_v0(...)
declare void @throws(i32)
define void @test(ptr noalias %a) personality ptr @__gxx_personality_v0 {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %at = getelementptr i32, ptr %a, i64 %i
  %x = load i32, ptr %at
  invoke void @throws(i32 %x) to label %latch unwind label %pad
latch:
  store i32 1, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %end
pad:
  %p = landingpad { ptr, i32 } cleanup
  store i32 7, ptr %at
  resume { ptr, i32 } %p
end:
  ret void
}
