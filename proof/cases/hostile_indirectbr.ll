; Jumps to addresses.
@table = internal constant [2 x ptr] [ptr blockaddress(@test, %even), ptr blockaddress(@test, %odd)]
define void @test(ptr noalias %a) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %at = getelementptr i32, ptr %a, i64 %i
  %bit = and i64 %i, 1
  %slot = getelementptr [2 x ptr], ptr @table, i64 0, i64 %bit
  %to = load ptr, ptr %slot
  indirectbr ptr %to, [label %even, label %odd]
even:
  store i32 1, ptr %at
  br label %latch
odd:
  store i32 2, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %next, 100
  br i1 %more, label %loop, label %fill
fill:
  %k = phi i64 [ 0, %latch ], [ %k.next, %fill ]
  %there = getelementptr i32, ptr %a, i64 %k
  %v = load i32, ptr %there
  %w = add i32 %v, 5
  store i32 %w, ptr %there
  %k.next = add nuw nsw i64 %k, 1
  %again = icmp ult i64 %k.next, 50
  br i1 %again, label %fill, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  call void @test(ptr %p)
  ret i64 0
}
