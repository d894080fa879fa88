; A loop with a guard, in rotated and simplified form, and a cycle with two entries.
define i64 @guarded(ptr %a, i64 %n) {
entry:
  %runs = icmp sgt i64 %n, 0
  br i1 %runs, label %before, label %done
before:
  br label %body
body:
  %i = phi i64 [ 0, %before ], [ %next, %body ]
  %at = getelementptr inbounds double, ptr %a, i64 %i
  store double 1.0, ptr %at
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %body, label %after
after:
  %count = phi i64 [ %next, %body ]
  br label %done
done:
  %result = phi i64 [ 0, %entry ], [ %count, %after ]
  ret i64 %result
}

define void @tangled(i1 %c, i1 %d) {
entry:
  br i1 %c, label %left, label %right
left:
  br label %right
right:
  br i1 %d, label %left, label %done
done:
  ret void
}
