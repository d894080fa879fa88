// The functions of an OpenMP runtime that shared loops call, on threads that ThreadSanitizer understands.
#include <pthread.h>
#include <stdlib.h>

static __thread int number, count = 1;

struct part {
  void (*run)(void *);
  void *data;
  int number, count;
};

static void *start(void *argument) {
  struct part *part = argument;
  number = part->number;
  count = part->count;
  part->run(part->data);
  return NULL;
}

int omp_get_thread_num(void) { return number; }
int omp_get_num_threads(void) { return count; }
int omp_get_max_threads(void) {
  const char *threads = getenv("OMP_NUM_THREADS");
  return threads ? atoi(threads) : 4;
}

void GOMP_parallel(void (*run)(void *), void *data, unsigned threads, unsigned flags) {
  pthread_t others[64];
  struct part parts[64];
  for (unsigned n = 1; n < threads; n++) {
    parts[n] = (struct part){run, data, n, threads};
    pthread_create(&others[n], NULL, start, &parts[n]);
  }
  int before = count;
  count = threads;
  run(data);
  count = before;
  for (unsigned n = 1; n < threads; n++)
    pthread_join(others[n], NULL);
}
