#include "sql.h"

#include <stdbool.h>
#include <string.h>

/* Position of the scanner. */
typedef struct {
    sql_dialect dialect;
    const char *text;
    size_t size;
    size_t at;
    char *out;
    size_t length;
    bool space; /* a space is due before the next token */
} scan;

static unsigned char peek(const scan *s, size_t ahead)
{
    return s->size - s->at > ahead ? (unsigned char)s->text[s->at + ahead] : 0;
}

static bool is_space(unsigned char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(unsigned char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes of a word; everything past ASCII may be a letter. */
static bool is_word(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c >= 0x80 ||
           is_digit(c);
}

static void put(scan *s, const char *bytes, size_t size)
{
    if (s->space && s->length > 0 && s->length + 1 < SQL_NORMALISED_BYTES) {
        s->out[s->length++] = ' ';
    }
    s->space = false;
    for (size_t index = 0; index < size && s->length + 1 < SQL_NORMALISED_BYTES; index++) {
        const bool control = (unsigned char)bytes[index] < ' ' || bytes[index] == 0x7f;
        s->out[s->length++] = control ? '.' : bytes[index];
    }
}

static bool ends_with(const scan *s, const char *end)
{
    const size_t size = strlen(end);
    return s->length >= size && memcmp(s->out + s->length - size, end, size) == 0;
}

/* A value. After `?,` it is one more of a list that is already there. */
static void put_value(scan *s)
{
    if (ends_with(s, "?,")) {
        s->length--; /* the comma */
        s->space = false;
    } else {
        put(s, "?", 1);
    }
}

/* `(?), (?)` is one row, for the class's purposes. */
static void put_close(scan *s)
{
    s->space = false;
    put(s, ")", 1);
    static const char *const repeats[] = {"(?),(?)", "(?), (?)"};
    for (size_t index = 0; index < 2; index++) {
        if (ends_with(s, repeats[index])) {
            s->length -= strlen(repeats[index]) - 3;
        }
    }
}

/* Moves past a quoted piece, whose opening quote is at `at`; doubled quotes stay inside. */
static void skip_quoted(scan *s, char close, bool backslash)
{
    s->at++;
    while (s->at < s->size) {
        if (backslash && s->text[s->at] == '\\') {
            s->at++;
        } else if (s->text[s->at] == close) {
            if (peek(s, 1) != (unsigned char)close || close == ']') {
                s->at++;
                return;
            }
            s->at++;
        }
        if (s->at < s->size) {
            s->at++;
        }
    }
}

static void skip_line(scan *s)
{
    while (s->at < s->size && s->text[s->at] != '\n') {
        s->at++;
    }
}

static void skip_comment(scan *s)
{
    size_t depth = 1;
    s->at += 2;
    while (s->at < s->size && depth > 0) {
        if (peek(s, 0) == '*' && peek(s, 1) == '/') {
            depth--;
            s->at += 2;
        } else if (s->dialect == SQL_POSTGRESQL && peek(s, 0) == '/' && peek(s, 1) == '*') {
            depth++;
            s->at += 2;
        } else {
            s->at++;
        }
    }
}

/* White space and comments; true when there were some. */
static bool skip_blank(scan *s)
{
    const size_t begin = s->at;
    for (;;) {
        const unsigned char c = peek(s, 0);
        if (s->at < s->size && is_space(c)) {
            s->at++;
        } else if (c == '-' && peek(s, 1) == '-' &&
                   (s->dialect != SQL_MYSQL || is_space(peek(s, 2)) || s->size - s->at == 2)) {
            skip_line(s); /* MySQL: `5--3` is no comment */
        } else if (c == '#' && s->dialect == SQL_MYSQL) {
            skip_line(s);
        } else if (c == '/' && peek(s, 1) == '*') {
            skip_comment(s);
        } else {
            return s->at > begin;
        }
    }
}

/* PostgreSQL's $tag$text$tag$; false when what stands here is none. */
static bool skip_dollar_quoted(scan *s)
{
    size_t tag = 1;
    while (is_word(peek(s, tag)) && !(tag == 1 && is_digit(peek(s, tag)))) {
        tag++;
    }
    if (peek(s, tag) != '$') {
        return false;
    }
    tag++;
    const char *mark = s->text + s->at;
    for (size_t end = s->at + tag; end + tag <= s->size; end++) {
        if (s->text[end] == '$' && memcmp(s->text + end, mark, tag) == 0) {
            s->at = end + tag;
            return true;
        }
    }
    s->at = s->size; /* never closed */
    return true;
}

/* Digits, hexadecimal, fraction and exponent. */
static void skip_number(scan *s)
{
    while (s->at < s->size) {
        const unsigned char c = peek(s, 0);
        const bool sign = (c == '+' || c == '-') && (s->text[s->at - 1] | 0x20) == 'e' &&
                          is_digit(peek(s, 1));
        if (!is_word(c) && c != '.' && !sign) {
            return;
        }
        s->at++;
    }
}

static void take_word(scan *s)
{
    const size_t begin = s->at;
    while (s->at < s->size && (is_word(peek(s, 0)) || peek(s, 0) == '$')) {
        s->at++;
    }
    const size_t size = s->at - begin;
    const char first = (char)(s->text[begin] | 0x20);
    if (peek(s, 0) == '\'' && size <= 2 && strchr("exnbu", first)) {
        /* E'..', X'..', N'..', B'..': the letter belongs to the value */
        skip_quoted(s, '\'', s->dialect == SQL_MYSQL ||
                                 (s->dialect == SQL_POSTGRESQL && first == 'e'));
        put_value(s);
        return;
    }
    const bool verb = s->length == 0;
    put(s, s->text + begin, size);
    for (size_t index = 0; verb && index < s->length; index++) {
        if (s->out[index] >= 'a' && s->out[index] <= 'z') {
            s->out[index] = (char)(s->out[index] - 0x20);
        }
    }
}

/* ?, ?1, :a, @a, $1, $a; false when the character is something else. */
static bool take_parameter(scan *s)
{
    const unsigned char c = peek(s, 0);
    const unsigned char next = peek(s, 1);
    const bool named = is_word(next);
    const bool before_is_colon = s->at > 0 && s->text[s->at - 1] == ':';
    if (c != '?' && !(c == '$' && named) &&
        !(s->dialect == SQL_SQLITE && (c == ':' || c == '@') && named && !before_is_colon)) {
        return false;
    }
    s->at++;
    while (s->at < s->size && is_word(peek(s, 0))) {
        s->at++;
    }
    put_value(s);
    return true;
}

static void take_quoted(scan *s)
{
    const char quote = s->text[s->at];
    const size_t begin = s->at;
    const bool mysql = s->dialect == SQL_MYSQL;
    if (quote == '\'' || (quote == '"' && mysql)) {
        skip_quoted(s, quote, mysql);
        put_value(s);
    } else {
        skip_quoted(s, quote == '[' ? ']' : quote, false);
        put(s, s->text + begin, s->at - begin);
    }
}

static void take_token(scan *s)
{
    const unsigned char c = peek(s, 0);
    if (c == '\'' || c == '"' || c == '`' || (c == '[' && s->dialect == SQL_SQLITE)) {
        take_quoted(s);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(s, 1)) && !ends_with(s, "?"))) {
        skip_number(s);
        put_value(s);
    } else if (c == '$' && s->dialect == SQL_POSTGRESQL && skip_dollar_quoted(s)) {
        put_value(s);
    } else if (is_word(c)) {
        take_word(s);
    } else if (take_parameter(s)) {
        return;
    } else if (c == ')') {
        s->at++;
        put_close(s);
    } else {
        s->space = s->space && c != ',' && c != ';' && !ends_with(s, "(");
        put(s, (const char *)&c, 1);
        s->at++;
    }
}

size_t sql_normalise(sql_dialect dialect, const char *text, size_t size,
                     char out[SQL_NORMALISED_BYTES])
{
    scan s = {.dialect = dialect, .text = text, .size = size, .out = out};
    while (s.at < s.size && s.length + 1 < SQL_NORMALISED_BYTES) {
        if (skip_blank(&s)) {
            s.space = !ends_with(&s, "(");
        } else {
            take_token(&s);
        }
    }
    while (s.length > 0 && (out[s.length - 1] == ';' || out[s.length - 1] == ' ')) {
        s.length--;
    }
    out[s.length] = '\0';
    return s.length;
}

size_t sql_verb(const char *normalised)
{
    size_t length = 0;
    while (is_word((unsigned char)normalised[length])) {
        length++;
    }
    return length;
}
