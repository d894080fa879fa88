; A pass of a fast Fourier transform: groups lie twice as far apart as a parameter says.
; memory: f64
; regions: 1
; kernel: f64[?, 2*dual, 2]
; kernel: for j in 0..count
; allowed: interchange(@)
define void @test(i32 noundef %n, i32 noundef %dual, ptr noundef %w, ptr noundef %data) {
start:
  br label %v5

v5:
  %a = phi i32 [ 1, %start ], [ %v46, %v45 ]
  %v6 = icmp slt i32 %a, %dual
  br i1 %v6, label %v7, label %v47

v7:
  %b = phi i32 [ %v44, %v9 ], [ 0, %v5 ]
  %v8 = icmp slt i32 %b, %n
  br i1 %v8, label %v9, label %v45

v9:
  %v10 = add nsw i32 %b, %a
  %v11 = mul nsw i32 2, %v10
  %v12 = add nsw i32 %v10, %dual
  %v13 = mul nsw i32 2, %v12
  %v14 = load double, ptr %w, align 8
  %v15 = sext i32 %v13 to i64
  %v16 = getelementptr inbounds double, ptr %data, i64 %v15
  %v17 = load double, ptr %v16, align 8
  %v18 = fmul double %v14, %v17
  %v19 = getelementptr inbounds double, ptr %w, i64 1
  %v20 = load double, ptr %v19, align 8
  %v21 = add nsw i32 %v13, 1
  %v22 = sext i32 %v21 to i64
  %v23 = getelementptr inbounds double, ptr %data, i64 %v22
  %v24 = load double, ptr %v23, align 8
  %v25 = fmul double %v20, %v24
  %v26 = fsub double %v18, %v25
  %v27 = fmul double %v14, %v24
  %v28 = fmul double %v20, %v17
  %v29 = fadd double %v27, %v28
  %v30 = sext i32 %v11 to i64
  %v31 = getelementptr inbounds double, ptr %data, i64 %v30
  %v32 = load double, ptr %v31, align 8
  %v33 = fsub double %v32, %v26
  store double %v33, ptr %v16, align 8
  %v34 = add nsw i32 %v11, 1
  %v35 = sext i32 %v34 to i64
  %v36 = getelementptr inbounds double, ptr %data, i64 %v35
  %v37 = load double, ptr %v36, align 8
  %v38 = fsub double %v37, %v29
  store double %v38, ptr %v23, align 8
  %v39 = load double, ptr %v31, align 8
  %v40 = fadd double %v39, %v26
  store double %v40, ptr %v31, align 8
  %v41 = load double, ptr %v36, align 8
  %v42 = fadd double %v41, %v29
  store double %v42, ptr %v36, align 8
  %v43 = mul nsw i32 2, %dual
  %v44 = add nsw i32 %b, %v43
  br label %v7

v45:
  %v46 = add nsw i32 %a, 1
  br label %v5

v47:
  ret void
}
define i64 @entry(ptr %p) {
  %w = getelementptr double, ptr %p, i64 1000
  %near = getelementptr double, ptr %p, i64 20
  %q = getelementptr double, ptr %p, i64 200
  call void @test(i32 16, i32 4, ptr %w, ptr %p)
  call void @test(i32 20, i32 4, ptr %w, ptr %q)
  call void @test(i32 32, i32 2, ptr %w, ptr %q)
  call void @test(i32 1, i32 9, ptr %w, ptr %q)
  call void @test(i32 16, i32 4, ptr %near, ptr %p)
  call void @test(i32 16, i32 -4, ptr %w, ptr %p)
  call void @test(i32 0, i32 7, ptr %w, ptr %p)
  ret i64 0
}
