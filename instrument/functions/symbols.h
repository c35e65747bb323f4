/* Names of functions by their address, static ones too. */
#ifndef CHRONOSCOPE_INSTRUMENT_SYMBOLS_H
#define CHRONOSCOPE_INSTRUMENT_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYMBOLS_NAME_BYTES = 1024 };

/* The linker's name of the function that begins at `address`, from the symbol table of the
 * object's file or, where it was stripped, from what the dynamic linker knows. Not for several
 * threads at once. False when the function is unknown. */
bool symbols_name(const void *address, char out[SYMBOLS_NAME_BYTES]);

/* The name that people write: C++ demangled, without the parameters
 * ("Tracker::update" for _ZN7Tracker6updateEi). A name of C stays as it is. */
void symbols_readable(const char *symbol, char out[SYMBOLS_NAME_BYTES]);

/* The name of the function at `offset` bytes from the object's first address, out of the bytes of
 * an ELF file (64 bits, little-endian). False when the file has no such symbol, or is damaged. */
bool symbols_in_elf(const unsigned char *file, size_t size, uint64_t offset,
                    char out[SYMBOLS_NAME_BYTES]);

#endif
