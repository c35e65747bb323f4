/* The parts that look at outside bytes; built with the address and undefined-behaviour sanitisers.
 * What is read once a process is not freed: the leak check stays off. */
const char *__asan_default_options(void);

#include "../../common/parent.h"
#include "../../common/sql.h"
#include "../../functions/patterns.h"
#include "../../functions/symbols.h"

#include <arm4_chronoscope.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static int failures;

static void expect(const char *what, const char *seen, const char *expected)
{
    if (strcmp(seen, expected) != 0 && failures < 20) {
        fprintf(stderr, "%s\n  is       %s\n  and not  %s\n", what, seen, expected);
        failures++;
    }
}

static void expect_number(const char *what, long seen, long expected)
{
    char a[32];
    char b[32];
    snprintf(a, sizeof a, "%ld", seen);
    snprintf(b, sizeof b, "%ld", expected);
    expect(what, a, b);
}

/* Without a NUL behind the text, so that a byte too many is seen. */
static void normalises(sql_dialect dialect, const char *text, const char *expected)
{
    char out[SQL_NORMALISED_BYTES];
    const size_t size = strlen(text);
    char *exact = malloc(size ? size : 1);
    memcpy(exact, text, size);
    sql_normalise(dialect, exact, size, out);
    free(exact);
    expect(text, out, expected);
}

static void texts(void)
{
    normalises(SQL_SQLITE, "select * from t where a = 'x''y' and b in (1, 2.5e-3, 0xff)",
               "SELECT * from t where a = ? and b in (?)");
    normalises(SQL_SQLITE, "  insert into t2 values (1,'a'), (2, 'b') ,(3,'c') ;",
               "INSERT into t2 values (?)");
    normalises(SQL_SQLITE, "SELECT [a 'b], \"c\", `d`, ?1, :x, @y, $z FROM t -- end",
               "SELECT [a 'b], \"c\", `d`, ? FROM t");
    normalises(SQL_POSTGRESQL, "select $1::int, E'it\\'s', $q$ a $b$ ' $q$ /* a /* b */ c */ from t",
               "SELECT ?::int, ? from t");
    normalises(SQL_POSTGRESQL, "SELECT \"it's\", U&'x', b'01', x'ff', t1.a FROM t1",
               "SELECT \"it's\", U&?, t1.a FROM t1");
    normalises(SQL_MYSQL, "select \"text\", 'it\\'s', `a``b`, 5--3 # end\n from t",
               "SELECT ?, `a``b`, ?--? from t");
    normalises(SQL_MYSQL, "/* c */ update t set a=-1.5,b = .5 where c='\\\\'",
               "UPDATE t set a=-?,b = ? where c=?");
    normalises(SQL_SQLITE, "", "");
    normalises(SQL_SQLITE, ";;", "");
    normalises(SQL_SQLITE, "'never closed", "?");
    normalises(SQL_POSTGRESQL, "$a$never closed", "?");
    normalises(SQL_MYSQL, "/*", "");
    normalises(SQL_MYSQL, "'\\", "?");
}

/* Any bytes: no crash, and no byte past the room. */
static void any_bytes(void)
{
    static const char bytes[] = "'\"`[]$?:@#-/*\\\n\0 aE0.(),;\xff\xc3";
    unsigned state = 12345;
    for (int round = 0; round < 200000; round++) {
        char text[40];
        const size_t size = (size_t)(round % 40);
        for (size_t index = 0; index < size; index++) {
            state = state * 1664525u + 1013904223u;
            text[index] = bytes[(state >> 16) % (sizeof bytes - 1)];
        }
        char *exact = malloc(size ? size : 1);
        memcpy(exact, text, size);
        char out[SQL_NORMALISED_BYTES];
        const size_t length = sql_normalise((sql_dialect)(round % 3), exact, size, out);
        if (length != strlen(out) || length > 3 * size + 1) {
            expect_number("length of a normalised text", (long)length, (long)strlen(out));
        }
        arm_correlator_t correlator;
        correlator_from_text(exact, size, &correlator);
        free(exact);
    }
    char long_text[3 * SQL_NORMALISED_BYTES];
    memset(long_text, 'x', sizeof long_text);
    char out[SQL_NORMALISED_BYTES];
    expect_number("a long text", (long)sql_normalise(SQL_SQLITE, long_text, sizeof long_text, out),
                  SQL_NORMALISED_BYTES - 1);
}

static void correlators(void)
{
    arm_correlator_t read;
    char hex[2 * ARM_CORR_MAX_LENGTH + 1];
    expect_number("hexadecimal", correlator_from_text("0006AB0001ff", 12, &read), true);
    expect_number("back", correlator_to_hex(&read, hex), true);
    expect("hexadecimal", hex, "0006ab0001ff");
    expect_number("base64", correlator_from_text("AAarAAH/", 8, &read), true);
    correlator_to_hex(&read, hex);
    expect("base64", hex, "0006ab0001ff");
    expect_number("a length that is not its own", correlator_from_text("0007ab0001ff", 12, &read), false);
    expect_number("too short", correlator_from_text("0003ab", 6, &read), false);
    expect_number("nothing", correlator_from_text("", 0, &read), false);
    expect_number("odd", correlator_from_text("0006ab0001f", 11, &read), false);
    char longest[2 * ARM_CORR_MAX_LENGTH + 3];
    memset(longest, '0', sizeof longest);
    memcpy(longest, "0200", 4);
    expect_number("512 bytes", correlator_from_text(longest, 2 * ARM_CORR_MAX_LENGTH, &read), true);
    memcpy(longest, "0201", 4);
    expect_number("513 bytes", correlator_from_text(longest, 2 * ARM_CORR_MAX_LENGTH + 2, &read), false);
    memset(longest, 'A', sizeof longest);
    expect_number("base64 of too much", correlator_from_text(longest, 1024, &read), false);
}

static void with_file(const char *text, patterns *p, bool good)
{
    char name[] = "/tmp/arm4-patterns-XXXXXX";
    const int file = mkstemp(name);
    if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text)) {
        perror(name);
        exit(1);
    }
    close(file);
    expect_number(text, patterns_read(name, p), good);
    unlink(name);
}

static void pattern_files(void)
{
    static patterns p;
    with_file("# all but one\napplication demo\n\ndepth 7\ninclude  ns::* \nexclude ns::b*\r\n"
              "include ns::bc\n", &p, true);
    expect("application", p.application, "demo");
    expect_number("depth", p.depth, 7);
    expect_number("ns::a", patterns_include(&p, "ns::a", "_Z1a"), true);
    expect_number("ns::b", patterns_include(&p, "ns::b", "_Z1b"), false);
    expect_number("ns::bc", patterns_include(&p, "ns::bc", "_Z2bc"), true);
    expect_number("main", patterns_include(&p, "main", "main"), false);
    with_file("include _Z1*\n", &p, true);
    expect_number("the linker's name", patterns_include(&p, "ns::a", "_Z1a"), true);
    with_file("include a\ndepth 61\n", &p, false);
    expect_number("nothing after a mistake", patterns_include(&p, "a", "a"), false);
    with_file("inclde a\n", &p, false);
    with_file("include\n", &p, false);
    with_file("depth 3x\n", &p, false);
    with_file("", &p, true);
    expect_number("no such file", patterns_read("/nowhere/at/all", &p), false);
}

static __attribute__((noinline)) int only_here(int number)
{
    return number + getpid();
}

static void readable(const char *symbol, const char *expected)
{
    char name[SYMBOLS_NAME_BYTES];
    symbols_readable(symbol, name);
    expect(symbol, name, expected);
}

static void symbols(void)
{
    char name[SYMBOLS_NAME_BYTES];
    only_here(1);
    expect_number("a static function is known", symbols_name((void *)only_here, name), true);
    expect("its name", name, "only_here");
    expect_number("exported by libc", symbols_name((void *)getpid, name), true);
    int local = 0;
    expect_number("no function", symbols_name(&local, name), false);
    readable("main", "main");
    readable("_ZN7Tracker6updateEi", "Tracker::update");
    readable("_ZNK2ns1AclEv", "ns::A::operator()");
    readable("_ZN12_GLOBAL__N_11fEv", "(anonymous namespace)::f");
}

/* Our own file, cut and scribbled on. */
static void damaged_files(void)
{
    static unsigned char bytes[4 << 20];
    const int file = open("/proc/self/exe", O_RDONLY);
    const ssize_t size = read(file, bytes, sizeof bytes);
    close(file);
    char name[SYMBOLS_NAME_BYTES];
    unsigned state = 1;
    for (int round = 0; round < 300; round++) {
        state = state * 1664525u + 1013904223u;
        const size_t cut = state % (size_t)size;
        unsigned char *exact = malloc(cut ? cut : 1);
        memcpy(exact, bytes, cut);
        symbols_in_elf(exact, cut, 0x1000, name);
        free(exact);
    }
    for (int round = 0; round < 300; round++) {
        unsigned char *whole = malloc((size_t)size);
        memcpy(whole, bytes, (size_t)size);
        for (int change = 0; change < 4; change++) {
            state = state * 1664525u + 1013904223u;
            const size_t header = (state >> 8) % 64;
            const size_t tail = (size_t)size - 1 - (state >> 8) % 2048;
            whole[change % 2 ? tail : header] ^= (unsigned char)(state >> 24);
        }
        symbols_in_elf(whole, (size_t)size, 0x1000, name);
        free(whole);
    }
}

int main(void)
{
    texts();
    any_bytes();
    correlators();
    pattern_files();
    symbols();
    damaged_files();
    return failures > 0;
}
