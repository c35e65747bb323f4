/* Selection of recorded functions: a file of name patterns.
 *
 *     # what follows a # is a comment
 *     application tracker
 *     depth 40
 *     include Tracker::*
 *     exclude Tracker::~*
 *
 * Patterns are those of the shell (`*`, `?`, `[a-z]`). The last line that matches a function
 * decides; a function that no line matches is not recorded.
 */
#ifndef CHRONOSCOPE_INSTRUMENT_PATTERNS_H
#define CHRONOSCOPE_INSTRUMENT_PATTERNS_H

#include <stdbool.h>

enum {
    PATTERNS_MAX = 1024,        /* lines with patterns */
    PATTERNS_LINE_BYTES = 1024, /* of a line */
    PATTERNS_DEPTH = 48,        /* recorded functions inside one another, unless the file says */
    PATTERNS_DEPTH_MAX = 60     /* the recorder takes 64 open transactions a thread */
};

typedef struct {
    char application[128]; /* "" where the file names none */
    int depth;             /* in [1, PATTERNS_DEPTH_MAX] */
    int count;
    struct {
        bool include;
        char *glob;
    } lines[PATTERNS_MAX];
} patterns;

/* Reads the file. False, with a line on stderr that names file and line, when it cannot be read
 * or has a mistake; then `out` includes nothing. */
bool patterns_read(const char *file, patterns *out);

/* Whether a function is recorded, by the name that people write and the linker's. */
bool patterns_include(const patterns *p, const char *name, const char *symbol);

#endif
