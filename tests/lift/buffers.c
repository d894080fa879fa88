// What is stored through pointers that the loop reads: functions called `never` have loops that no check makes describable.
#include <stddef.h>

struct bytes {
    unsigned char *buffer;
    size_t used;
};

struct numbers {
    int *buffer;
    size_t used;
};

// A byte may be part of the pointer through which it is stored.
void never_bytes(struct bytes *s, const unsigned char *from, long n) {
    for (long i = 0; i < n; i++)
        s->buffer[s->used++] = from[i];
}

void never_under_condition(struct bytes *s, const int *from, long n) {
    for (long i = 0; i < n; i++)
        if (from[i] > 0) {
            s->buffer[s->used++] = (unsigned char)from[i];
            s->buffer[s->used++] = (unsigned char)(from[i] >> 8);
        }
}

// By its type, a number is not.
void may_numbers(struct numbers *s, const int *from, long n) {
    for (long i = 0; i < n; i++)
        s->buffer[s->used++] = from[i];
}

// Where it goes is known.
void may_affine(struct bytes *s, const unsigned char *from, long n) {
    for (long i = 0; i < n; i++)
        s->buffer[i] = from[i];
}

void may_restrict(struct bytes *restrict s, const unsigned char *from, long n) {
    for (long i = 0; i < n; i++)
        s->buffer[s->used++] = from[i];
}

// Nobody else has its address.
static struct bytes own;
void may_own(const unsigned char *from, long n) {
    for (long i = 0; i < n; i++)
        own.buffer[own.used++] = from[i];
}

void may_own_object(void (*use)(unsigned char *), unsigned char *to, const unsigned char *from, long n) {
    struct bytes s = {to, 0};
    for (long i = 0; i < n; i++)
        s.buffer[s.used++] = from[i];
    use(s.buffer);
}

void set(unsigned char *buffer) { own.buffer = buffer; }
