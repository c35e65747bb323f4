/* SQL texts without their values, so that statements that differ only in these share a class.
 *
 * `select * from t where a = 'x' and b in (1, 2)` becomes `SELECT * from t where a = ? and b in
 * (?)`. Comments go, white space becomes one space, lists of values become one `?`, and the
 * first word is put in capitals; otherwise words stay as they were written. This is a scanner and
 * no parser: any bytes are taken, and what is no SQL comes out shortened and no worse.
 */
#ifndef CHRONOSCOPE_INSTRUMENT_SQL_H
#define CHRONOSCOPE_INSTRUMENT_SQL_H

#include <stddef.h>

enum { SQL_NORMALISED_BYTES = 1024 }; /* what is kept of a text; the rest is not looked at */

/* Whose rules tell a text in quotes from a name in quotes. */
typedef enum {
    SQL_SQLITE,     /* "name", [name], `name`; ?1 :a @a $a */
    SQL_POSTGRESQL, /* "name", $1, E'\'', $tag$text$tag$, nested comments */
    SQL_MYSQL       /* `name`, "text", 'it\'s', # comment */
} sql_dialect;

/* Writes the normalised text and a NUL; returns its length, without the NUL, in
 * [0, SQL_NORMALISED_BYTES). `text` has `size` bytes and needs no NUL. */
size_t sql_normalise(sql_dialect dialect, const char *text, size_t size,
                     char out[SQL_NORMALISED_BYTES]);

/* The first word of a normalised text: its length. */
size_t sql_verb(const char *normalised);

#endif
