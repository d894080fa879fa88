; A buffer keeps what is computed of elements, and nothing computes it again.
; regions: 1
; memory: f64
; always: pack(@; a; computed)
; always: pack(@0; a; computed)
; always: tile(i; 8); pack(@0; a; computed)
define void @test(ptr noalias %a, ptr noalias %c, double %alpha) {
start:
  br label %outer
outer:
  %j = phi i64 [ 0, %start ], [ %next.j, %done ]
  br label %inner
inner:
  %i = phi i64 [ 0, %outer ], [ %next.i, %inner ]
  %at = getelementptr inbounds double, ptr %a, i64 %i
  %x = load double, ptr %at, align 8
  %y = fmul double %alpha, %x
  %z = fsub double %y, 3.0
  %to = getelementptr inbounds double, ptr %c, i64 %i
  %old = load double, ptr %to, align 8
  %new = fadd double %old, %z
  store double %new, ptr %to, align 8
  %next.i = add nuw nsw i64 %i, 1
  %more.i = icmp slt i64 %next.i, 20
  br i1 %more.i, label %inner, label %done
done:
  %next.j = add nuw nsw i64 %j, 1
  %more.j = icmp slt i64 %next.j, 5
  br i1 %more.j, label %outer, label %end
end:
  ret void
}
define i64 @entry(ptr %p) {
  %c = getelementptr inbounds double, ptr %p, i64 20
  call void @test(ptr %p, ptr %c, double 1.25)
  ret i64 0
}
