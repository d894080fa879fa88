/* Loops over pointers and characters: nothing in them is affine. */
#include <stddef.h>

typedef struct node { struct node *next; int key; double value; } node;

double sum(const node *list) {
  double total = 0;
  for (; list; list = list->next) total += list->value;
  return total;
}

node *find(node *list, int key) {
  while (list && list->key != key) list = list->next;
  return list;
}

node *reverse(node *list) {
  node *result = NULL;
  while (list) {
    node *next = list->next;
    list->next = result;
    result = list;
    list = next;
  }
  return result;
}

size_t words(const char *text) {
  size_t count = 0;
  int inside = 0;
  for (; *text; text++) {
    int letter = *text != ' ' && *text != '\n';
    count += letter && !inside;
    inside = letter;
  }
  return count;
}

int same(const char *a, const char *b) {
  while (*a && *a == *b) a++, b++;
  return *a == *b;
}

node *merge(node *a, node *b) {
  node head = {NULL, 0, 0}, *tail = &head;
  while (a && b) {
    node **from = a->key <= b->key ? &a : &b;
    tail->next = *from;
    tail = *from;
    *from = (*from)->next;
  }
  tail->next = a ? a : b;
  return head.next;
}

long parse(const char *text) {
  long value = 0;
  int negative = *text == '-';
  if (negative) text++;
  while (*text >= '0' && *text <= '9') value = value * 10 + (*text++ - '0');
  return negative ? -value : value;
}
