/* Straight code: conversions between colour spaces and calendar arithmetic, many small functions. */
#include <stdint.h>

typedef struct { double r, g, b; } rgb;
typedef struct { double h, s, v; } hsv;

static double larger(double a, double b) { return a > b ? a : b; }
static double smaller(double a, double b) { return a < b ? a : b; }

hsv to_hsv(rgb c) {
  double v = larger(c.r, larger(c.g, c.b)), m = smaller(c.r, smaller(c.g, c.b)), d = v - m, h = 0;
  if (d > 0) {
    if (v == c.r) h = (c.g - c.b) / d;
    else if (v == c.g) h = 2 + (c.b - c.r) / d;
    else h = 4 + (c.r - c.g) / d;
    h *= 60;
    if (h < 0) h += 360;
  }
  hsv result = {h, v > 0 ? d / v : 0, v};
  return result;
}

rgb to_rgb(hsv c) {
  int sector = (int)(c.h / 60);
  double f = c.h / 60 - sector, p = c.v * (1 - c.s), q = c.v * (1 - f * c.s), t = c.v * (1 - (1 - f) * c.s);
  rgb result;
  switch (sector) {
  case 0: result = (rgb){c.v, t, p}; break;
  case 1: result = (rgb){q, c.v, p}; break;
  case 2: result = (rgb){p, c.v, t}; break;
  case 3: result = (rgb){p, q, c.v}; break;
  case 4: result = (rgb){t, p, c.v}; break;
  default: result = (rgb){c.v, p, q}; break;
  }
  return result;
}

int64_t days_from_civil(int64_t y, unsigned m, unsigned d) {
  y -= m <= 2;
  int64_t era = (y >= 0 ? y : y - 399) / 400;
  unsigned yoe = (unsigned)(y - era * 400), doy = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5 + d - 1;
  return era * 146097 + (int64_t)(yoe * 365 + yoe / 4 - yoe / 100 + doy) - 719468;
}

void civil_from_days(int64_t z, int64_t *year, unsigned *month, unsigned *day) {
  z += 719468;
  int64_t era = (z >= 0 ? z : z - 146096) / 146097;
  unsigned doe = (unsigned)(z - era * 146097);
  unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
  *day = doy - (153 * mp + 2) / 5 + 1;
  *month = mp < 10 ? mp + 3 : mp - 9;
  *year = (int64_t)yoe + era * 400 + (*month <= 2);
}

uint64_t mix(uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

int weekday(int64_t z) { return (int)(z >= -4 ? (z + 4) % 7 : (z + 5) % 7 + 6); }

int compare_dates(int64_t y1, unsigned m1, unsigned d1, int64_t y2, unsigned m2, unsigned d2) {
  int64_t a = days_from_civil(y1, m1, d1), b = days_from_civil(y2, m2, d2);
  return a < b ? -1 : a > b;
}
