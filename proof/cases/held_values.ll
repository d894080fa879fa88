; In the first function the element changes between the store and the use, in the second it does not: there it is read again.
; regions: 2
; kernel: A1[i] = s_
; kernel: A0[i + 100] = A0[i]
; kernel: A1[j + 100] = add.nsw(A1[j + 100], A0[i])
; notices: HeldValues
define void @changed(ptr noalias %0, ptr noalias %1, i32 %2) {
  %4 = icmp sgt i32 %2, 0
  br i1 %4, label %5, label %8

5:
  %6 = zext nneg i32 %2 to i64
  %7 = zext nneg i32 %2 to i64
  br label %9

8:
  ret void

9:
  %10 = phi i64 [ 0, %5 ], [ %17, %16 ]
  %11 = getelementptr inbounds nuw i32, ptr %1, i64 %10
  %12 = load i32, ptr %11, align 4
  %13 = mul nsw i32 %12, 3
  %14 = add nsw i32 %13, 1
  %15 = getelementptr inbounds nuw i32, ptr %0, i64 %10
  store i32 %14, ptr %15, align 4
  br label %19

16:
  store i32 %14, ptr %11, align 4
  %17 = add nuw nsw i64 %10, 1
  %18 = icmp eq i64 %17, %6
  br i1 %18, label %8, label %9

19:
  %20 = phi i64 [ 0, %9 ], [ %24, %19 ]
  %21 = getelementptr inbounds nuw i32, ptr %0, i64 %20
  %22 = load i32, ptr %21, align 4
  %23 = add nsw i32 %22, 5
  store i32 %23, ptr %21, align 4
  %24 = add nuw nsw i64 %20, 1
  %25 = icmp eq i64 %24, %7
  br i1 %25, label %16, label %19
}
define void @kept(ptr noalias %0, ptr noalias %1, i32 %2) {
  %4 = icmp sgt i32 %2, 0
  br i1 %4, label %5, label %8

5:
  %6 = zext nneg i32 %2 to i64
  %7 = zext nneg i32 %2 to i64
  br label %9

8:
  ret void

9:
  %10 = phi i64 [ 0, %5 ], [ %21, %20 ]
  %11 = getelementptr inbounds nuw i32, ptr %1, i64 %10
  %12 = load i32, ptr %11, align 4
  %13 = mul nsw i32 %12, 3
  %14 = add nsw i32 %13, 1
  %15 = getelementptr inbounds nuw i32, ptr %0, i64 %10
  store i32 %14, ptr %15, align 4
  %16 = icmp samesign ugt i64 %10, 5
  br i1 %16, label %17, label %19

17:
  %18 = getelementptr inbounds nuw i8, ptr %15, i64 400
  store i32 %14, ptr %18, align 4
  br label %19

19:
  br label %23

20:
  %21 = add nuw nsw i64 %10, 1
  %22 = icmp eq i64 %21, %6
  br i1 %22, label %8, label %9

23:
  %24 = phi i64 [ 0, %19 ], [ %29, %23 ]
  %25 = getelementptr inbounds nuw i32, ptr %1, i64 %24
  %26 = getelementptr inbounds nuw i8, ptr %25, i64 400
  %27 = load i32, ptr %26, align 4
  %28 = add nsw i32 %27, %14
  store i32 %28, ptr %26, align 4
  %29 = add nuw nsw i64 %24, 1
  %30 = icmp eq i64 %29, %7
  br i1 %30, label %20, label %23
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 8192
  call void @changed(ptr %p, ptr %b, i32 60)
  call void @kept(ptr %p, ptr %b, i32 60)
  ret i64 0
}
