/* What the test programs share: an expectation that says what it wanted. */
#ifndef EXPECT_H_INCLUDED
#define EXPECT_H_INCLUDED

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

#define EXPECT_CODE(want, call)                                              \
  do {                                                                       \
    int got_ = (call);                                                       \
    if (got_ != (want)) {                                                    \
      printf("%s:%d: %s gave %d, not %d\n", __FILE__, __LINE__, #call, got_, \
             (int)(want));                                                   \
      failures++;                                                            \
    }                                                                        \
  } while (0)

#define EXPECT(what)                                                 \
  do {                                                               \
    if (!(what)) {                                                   \
      printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #what);      \
      failures++;                                                    \
    }                                                                \
  } while (0)

#endif
