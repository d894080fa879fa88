; A scope that is declared in a loop is another one in each iteration: what is stored where no bound is read may be the next one's.
; regions: 2
; memory: i32
; notices: HoistScopes
@bounds = global [4 x i32] [i32 0, i32 4, i32 0, i32 0]
declare void @llvm.experimental.noalias.scope.decl(metadata)
define i64 @test(ptr %p) {
start:
  br label %loop
loop:
  %k = phi i64 [ 0, %start ], [ %k.next, %loop ]
  %at = getelementptr inbounds i32, ptr %p, i64 %k
  %v = load i32, ptr %at
  %w = add i32 %v, 1
  store i32 %w, ptr %at
  %k.next = add nuw nsw i64 %k, 1
  %k.more = icmp ult i64 %k.next, 64
  br i1 %k.more, label %loop, label %rows
rows:
  br label %row
row:
  %i = phi i64 [ 0, %rows ], [ %i.next, %latch ]
  %sum = phi i32 [ 0, %rows ], [ %sum.next, %latch ]
  call void @llvm.experimental.noalias.scope.decl(metadata !3)
  call void @llvm.experimental.noalias.scope.decl(metadata !4)
  %cell = getelementptr inbounds i32, ptr @bounds, i64 %i
  %old = load i32, ptr %cell, !alias.scope !3, !noalias !4
  %new = add i32 %old, 2
  store i32 %new, ptr %cell, !alias.scope !3, !noalias !4
  %second = icmp eq i64 %i, 1
  br i1 %second, label %latch, label %count
count:
  %n = phi i32 [ 0, %row ], [ %n.next, %count ]
  %bound = load i32, ptr getelementptr inbounds (i8, ptr @bounds, i64 4), !alias.scope !4, !noalias !3
  %n.next = add nuw nsw i32 %n, 1
  %n.more = icmp slt i32 %n.next, %bound
  br i1 %n.more, label %count, label %latch
latch:
  %counted = phi i32 [ 0, %row ], [ %n.next, %count ]
  %tens = mul i32 %sum, 10
  %sum.next = add i32 %tens, %counted
  %i.next = add nuw nsw i64 %i, 1
  %more = icmp ult i64 %i.next, 3
  br i1 %more, label %row, label %end
end:
  %found = zext i32 %sum.next to i64
  ret i64 %found
}
define i64 @entry(ptr %p) {
  %x = call i64 @test(ptr %p)
  ret i64 %x
}
!1 = distinct !{!1}
!2 = distinct !{!2, !1, !"to"}
!5 = distinct !{!5, !1, !"bound"}
!3 = !{!2}
!4 = !{!5}
