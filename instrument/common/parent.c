#include "parent.h"

#include <arm4_chronoscope.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : (c | 0x20) >= 'a' && (c | 0x20) <= 'f' ? (c | 0x20) - 'a' + 10 : -1;
}

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1; /* both alphabets */
}

/* Bytes written, or -1. */
static int from_hex(const char *text, size_t size, unsigned char *out)
{
    if (size % 2 != 0 || size / 2 > ARM_CORR_MAX_LENGTH) {
        return -1;
    }
    for (size_t at = 0; at < size; at += 2) {
        const int high = hex_digit(text[at]);
        const int low = hex_digit(text[at + 1]);
        if (high < 0 || low < 0) {
            return -1;
        }
        out[at / 2] = (unsigned char)(high << 4 | low);
    }
    return (int)(size / 2);
}

static int from_base64(const char *text, size_t size, unsigned char *out)
{
    while (size > 0 && text[size - 1] == '=') {
        size--;
    }
    if (size % 4 == 1 || size / 4 * 3 > ARM_CORR_MAX_LENGTH - 2) {
        return -1;
    }
    unsigned bits = 0;
    int count = 0;
    for (size_t at = 0; at < size; at++) {
        const int digit = base64_digit(text[at]);
        if (digit < 0) {
            return -1;
        }
        bits = bits << 6 | (unsigned)digit;
        if (at % 4 != 0) {
            out[count++] = (unsigned char)(bits >> (6 - 2 * (at % 4)));
        }
    }
    return count;
}

static bool states_length(const arm_correlator_t *correlator, int length)
{
    const unsigned char *bytes = (const unsigned char *)correlator->opaque;
    return length >= ARM_CORR_MIN_LENGTH && (bytes[0] << 8 | bytes[1]) == length;
}

bool correlator_from_text(const char *text, size_t size, arm_correlator_t *out)
{
    memset(out, 0, sizeof *out);
    if (states_length(out, from_hex(text, size, (unsigned char *)out->opaque))) {
        return true;
    }
    memset(out, 0, sizeof *out);
    return states_length(out, from_base64(text, size, (unsigned char *)out->opaque));
}

bool correlator_to_hex(const arm_correlator_t *correlator, char out[2 * ARM_CORR_MAX_LENGTH + 1])
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *bytes = (const unsigned char *)correlator->opaque;
    const int length = bytes[0] << 8 | bytes[1];
    if (length < ARM_CORR_MIN_LENGTH || length > ARM_CORR_MAX_LENGTH) {
        return false;
    }
    for (int at = 0; at < length; at++) {
        out[2 * at] = digits[bytes[at] >> 4];
        out[2 * at + 1] = digits[bytes[at] & 15];
    }
    out[2 * length] = '\0';
    return true;
}

static struct {
    pthread_once_t once;
    bool known;
    arm_correlator_t correlator;
} from_environment = {.once = PTHREAD_ONCE_INIT};

static void read_environment(void)
{
    const char *text = getenv("ARM_CORRELATOR");
    from_environment.known =
        text && correlator_from_text(text, strlen(text), &from_environment.correlator);
    text = getenv("TRACEPARENT");
    if (!from_environment.known && text) {
        from_environment.known =
            chronoscope_correlator_from_traceparent(text, &from_environment.correlator) == 0;
    }
}

const arm_correlator_t *parent_of_thread(arm_correlator_t *room)
{
    if (chronoscope_current_correlator(room) == 0) {
        return room;
    }
    pthread_once(&from_environment.once, read_environment);
    return from_environment.known ? &from_environment.correlator : ARM_CORR_NONE;
}
