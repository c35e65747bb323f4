/* Under which transaction the work of a thread belongs. */
#ifndef CHRONOSCOPE_INSTRUMENT_PARENT_H
#define CHRONOSCOPE_INSTRUMENT_PARENT_H

#include <arm4.h>
#include <stdbool.h>
#include <stddef.h>

/* Reads a correlator written as hexadecimal digits or as base64. False, and `out` undefined,
 * unless the text is one of the two, whole, of a length that the correlator itself states. */
bool correlator_from_text(const char *text, size_t size, arm_correlator_t *out);

/* Writes a correlator as hexadecimal digits and a NUL; false when it states no length in
 * [4, 512] bytes. */
bool correlator_to_hex(const arm_correlator_t *correlator,
                       char out[2 * ARM_CORR_MAX_LENGTH + 1]);

/* The parent for what the calling thread starts now: the transaction bound to it, else the one
 * that the environment names (ARM_CORRELATOR, TRACEPARENT; read once). NULL where there is none;
 * otherwise `room`, filled, or a correlator that lives as long as the process. */
const arm_correlator_t *parent_of_thread(arm_correlator_t *room);

#endif
