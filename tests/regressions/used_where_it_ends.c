// What a region computes is used where nothing goes on: behind it, inside of it, at both places.
static volatile long seen;
__attribute__((noinline, noreturn)) static void end(long x) {
  seen = x;
  __builtin_trap();
}

__attribute__((noinline)) void behind(long n, long *a) {
  long s = 0;
  for (long i = 0; i < n; i++) {
    s += a[i];
    a[i] = s;
  }
  if (a[0] == 77777)
    end(s);
}

__attribute__((noinline)) void inside(long n, long *a) {
  long s = 0;
  for (long i = 0; i < n; i++)
    s += a[i];
  if (n > 5000)
    end(s);
  for (long i = 0; i < n; i++)
    a[i] = a[i] * 3 + s;
  a[0] = s * 7;
}

__attribute__((noinline)) void both(long n, long *a) {
  long s = 0;
  for (long i = 0; i < n; i++)
    s += a[i];
  if (n > 5000)
    goto failed;
  for (long i = 0; i < n; i++)
    a[i] = a[i] * 3 + s;
  if (a[0] == 77777)
    goto failed;
  a[0] = s * 7;
  return;
failed:
  end(s);
}
