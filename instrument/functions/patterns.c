#include "patterns.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char BLANKS[] = " \t\r\n";

/* Cuts comment and blanks off; returns the rest of the line. */
static char *trim(char *line)
{
    line += strspn(line, BLANKS);
    if (*line == '#') {
        *line = '\0'; /* only at the start: lambdas are called {lambda()#1} */
    }
    size_t size = strlen(line);
    while (size > 0 && strchr(BLANKS, line[size - 1])) {
        line[--size] = '\0';
    }
    return line;
}

/* Fault of the line; NULL when there is none. */
static const char *take_pattern(patterns *p, bool include, const char *glob)
{
    if (p->count == PATTERNS_MAX) {
        return "too many patterns";
    }
    char *kept = strdup(glob);
    if (!kept) {
        return "out of memory";
    }
    p->lines[p->count].include = include;
    p->lines[p->count].glob = kept;
    p->count++;
    return NULL;
}

static const char *take_depth(patterns *p, const char *text)
{
    char *end;
    const long depth = strtol(text, &end, 10);
    if (*end || depth < 1 || depth > PATTERNS_DEPTH_MAX) {
        return "depth is not a number in 1 to 60";
    }
    p->depth = (int)depth;
    return NULL;
}

static const char *take(patterns *p, char *line)
{
    const size_t length = strcspn(line, BLANKS);
    char *value = line + length;
    if (*value) {
        *value++ = '\0';
        value += strspn(value, BLANKS);
    }
    if (!*value) {
        return "a word without a value";
    }
    if (strcmp(line, "include") == 0 || strcmp(line, "exclude") == 0) {
        return take_pattern(p, line[0] == 'i', value);
    }
    if (strcmp(line, "depth") == 0) {
        return take_depth(p, value);
    }
    if (strcmp(line, "application") == 0) {
        if (strlen(value) >= sizeof p->application) {
            return "the application's name is longer than 127 bytes";
        }
        strcpy(p->application, value);
        return NULL;
    }
    return "not one of application, depth, include, exclude";
}

static void drop_all(patterns *p)
{
    while (p->count > 0) {
        free(p->lines[--p->count].glob);
    }
}

/* Opens a plain file; NULL, and why in errno, otherwise. A FIFO would be waited for. */
static FILE *open_plain(const char *file)
{
    const int in = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat status;
    if (in < 0) {
        return NULL;
    }
    if (fstat(in, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(in);
        errno = EINVAL;
        return NULL;
    }
    FILE *stream = fdopen(in, "r");
    if (!stream) {
        close(in);
    }
    return stream;
}

bool patterns_read(const char *file, patterns *out)
{
    *out = (patterns){.depth = PATTERNS_DEPTH};
    FILE *in = open_plain(file);
    if (!in) {
        fprintf(stderr, "libarm4_functions: %.255s: %s; no function is recorded\n", file,
                strerror(errno));
        return false;
    }
    char line[PATTERNS_LINE_BYTES];
    const char *wrong = NULL;
    int number = 0;
    while (!wrong && fgets(line, sizeof line, in)) {
        number++;
        if (!strchr(line, '\n') && !feof(in)) {
            wrong = "longer than 1022 bytes";
        } else {
            char *text = trim(line);
            wrong = *text ? take(out, text) : NULL;
        }
    }
    if (!wrong && ferror(in)) {
        wrong = "cannot be read";
    }
    fclose(in);
    if (wrong) {
        fprintf(stderr, "libarm4_functions: %.255s:%d: %s; no function is recorded\n", file, number,
                wrong);
        drop_all(out);
    }
    return !wrong;
}

bool patterns_include(const patterns *p, const char *name, const char *symbol)
{
    for (int index = p->count - 1; index >= 0; index--) {
        if (fnmatch(p->lines[index].glob, name, 0) == 0 ||
            fnmatch(p->lines[index].glob, symbol, 0) == 0) {
            return p->lines[index].include;
        }
    }
    return false;
}
