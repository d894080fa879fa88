; Where AMD's processors would gather and scatter, LLVM is asked not to. Functions for other processors, and those whose accesses
; are contiguous, keep their features.
; regions: 4
; emitted: "target-features"="+avx2,+prefer-no-gather,+prefer-no-scatter"
; count 1: prefer-no-gather
define void @column(ptr noalias %a, i64 %n) #0 {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %k = mul nuw nsw i64 %i, 100
  %at = getelementptr inbounds double, ptr %a, i64 %k
  %x = load double, ptr %at, align 8
  %y = fadd double %x, 1.0
  store double %y, ptr %at, align 8
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
define void @row(ptr noalias %a, i64 %n) #0 {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %at = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %at, align 8
  %y = fadd double %x, 1.0
  store double %y, ptr %at, align 8
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
define void @elsewhere(ptr noalias %a, i64 %n) #1 {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %k = mul nuw nsw i64 %i, 100
  %at = getelementptr inbounds double, ptr %a, i64 %k
  %x = load double, ptr %at, align 8
  %y = fadd double %x, 1.0
  store double %y, ptr %at, align 8
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
define void @tuned(ptr noalias %a, i64 %n) #2 {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %body ]
  %more = icmp slt i64 %i, %n
  br i1 %more, label %body, label %end
body:
  %k = mul nuw nsw i64 %i, 100
  %at = getelementptr inbounds double, ptr %a, i64 %k
  %x = load double, ptr %at, align 8
  %y = fadd double %x, 1.0
  store double %y, ptr %at, align 8
  %next = add nuw nsw i64 %i, 1
  br label %loop
end:
  ret void
}
attributes #0 = { "target-cpu"="znver4" "target-features"="+avx2" }
attributes #1 = { "target-cpu"="skylake-avx512" "target-features"="+avx2" }
attributes #2 = { "target-cpu"="znver4" "target-features"="+avx2" "tune-cpu"="skylake" }
