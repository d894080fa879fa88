; A call returns a pair as a vector, and another number: parts are taken out where the call is repeated, under its condition, too.
; regions: 1
; kernel: opaque
; emitted: call { <2 x float>, float } @three
; memory: f32
define void @test(ptr %a, ptr %b, i64 %n) {
start:
  br label %loop
loop:
  %i = phi i64 [ 0, %start ], [ %next, %latch ]
  %at = getelementptr inbounds float, ptr %a, i64 %i
  %x = load float, ptr %at
  %r = call { <2 x float>, float } @three(ptr %b, float %x)
  %p = extractvalue { <2 x float>, float } %r, 0
  %u = extractelement <2 x float> %p, i64 0
  %v = extractelement <2 x float> %p, i64 1
  %w = extractvalue { <2 x float>, float } %r, 1
  %less = fcmp olt float %u, %v
  br i1 %less, label %then, label %latch
then:
  %s = call { <2 x float>, float } @three(ptr %at, float %w)
  %t = extractvalue { <2 x float>, float } %s, 1
  store float %t, ptr %at
  br label %latch
latch:
  %next = add nuw nsw i64 %i, 1
  %more = icmp slt i64 %next, %n
  br i1 %more, label %loop, label %end
end:
  ret void
}
define { <2 x float>, float } @three(ptr %q, float %x) noinline {
  %old = load float, ptr %q
  %new = fadd float %old, 1.5
  store float %new, ptr %q
  %a = insertelement <2 x float> poison, float %x, i64 0
  %b = insertelement <2 x float> %a, float %old, i64 1
  %c = insertvalue { <2 x float>, float } poison, <2 x float> %b, 0
  %d = insertvalue { <2 x float>, float } %c, float %new, 1
  ret { <2 x float>, float } %d
}
define i64 @entry(ptr %p) {
  %b = getelementptr i8, ptr %p, i64 80
  call void @test(ptr %p, ptr %b, i64 30)
  ret i64 0
}
