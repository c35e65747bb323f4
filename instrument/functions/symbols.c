#include "symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Copies `size` bytes at `offset`; false when the file ends before. */
static bool copy(const unsigned char *file, size_t file_size, uint64_t offset, void *out,
                 size_t size)
{
    if (offset > file_size || size > file_size - offset) {
        return false;
    }
    memcpy(out, file + offset, size);
    return true;
}

static bool section(const unsigned char *file, size_t size, const Elf64_Ehdr *header,
                    uint64_t index, Elf64_Shdr *out)
{
    return index < header->e_shnum && header->e_shentsize == sizeof *out &&
           header->e_shoff <= size &&
           copy(file, size, header->e_shoff + index * sizeof *out, out, sizeof *out);
}

/* The symbol's name, out of the table of strings; false when it does not end in there. */
static bool string(const unsigned char *file, size_t size, const Elf64_Shdr *strings,
                   uint64_t index, char out[SYMBOLS_NAME_BYTES])
{
    if (strings->sh_offset > size || strings->sh_size > size - strings->sh_offset ||
        index >= strings->sh_size) {
        return false;
    }
    const unsigned char *begin = file + strings->sh_offset + index;
    const size_t room = strings->sh_size - index;
    const unsigned char *end = memchr(begin, '\0', room);
    if (!end || end == begin || end - begin >= SYMBOLS_NAME_BYTES) {
        return false;
    }
    memcpy(out, begin, (size_t)(end - begin) + 1);
    return true;
}

static bool in_table(const unsigned char *file, size_t size, const Elf64_Ehdr *header,
                     const Elf64_Shdr *table, uint64_t value, char out[SYMBOLS_NAME_BYTES])
{
    Elf64_Shdr strings;
    if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_offset > size ||
        !section(file, size, header, table->sh_link, &strings)) {
        return false;
    }
    const uint64_t room = (size - table->sh_offset) / sizeof(Elf64_Sym);
    uint64_t count = table->sh_size / sizeof(Elf64_Sym);
    count = count < room ? count : room;
    for (uint64_t index = 0; index < count; index++) {
        Elf64_Sym symbol;
        memcpy(&symbol, file + table->sh_offset + index * sizeof symbol, sizeof symbol);
        if (symbol.st_value == value && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
            symbol.st_shndx != SHN_UNDEF && string(file, size, &strings, symbol.st_name, out)) {
            return true;
        }
    }
    return false;
}

bool symbols_in_elf(const unsigned char *file, size_t size, uint64_t offset,
                    char out[SYMBOLS_NAME_BYTES])
{
    Elf64_Ehdr header;
    if (!copy(file, size, 0, &header, sizeof header) ||
        memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_ident[EI_DATA] != ELFDATA2LSB) {
        return false;
    }
    for (uint64_t index = 0; index < header.e_shnum; index++) {
        Elf64_Shdr table;
        if (section(file, size, &header, index, &table) && table.sh_type == SHT_SYMTAB &&
            in_table(file, size, &header, &table, offset, out)) {
            return true;
        }
    }
    return false;
}

/* The object's file and where it was put, for one address. */
typedef struct {
    uintptr_t address;
    uintptr_t base;
    const char *file;
    bool found;
} place;

static int look(struct dl_phdr_info *object, size_t size, void *context)
{
    (void)size;
    place *p = context;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[index];
        const uintptr_t begin = object->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_LOAD && p->address - begin < segment->p_memsz) {
            p->base = object->dlpi_addr;
            p->file = *object->dlpi_name ? object->dlpi_name : "/proc/self/exe";
            p->found = true;
        }
    }
    return p->found;
}

/* The file that was looked at last stays mapped: its functions tend to come together. */
static struct {
    char *name;
    unsigned char *bytes;
    size_t size;
} mapped;

static bool map(const char *name)
{
    if (mapped.name && strcmp(mapped.name, name) == 0) {
        return mapped.bytes != NULL;
    }
    if (mapped.bytes) {
        munmap(mapped.bytes, mapped.size);
        mapped.bytes = NULL;
    }
    free(mapped.name);
    mapped.name = strdup(name);
    const int file = open(name, O_RDONLY | O_CLOEXEC);
    struct stat status;
    if (file >= 0 && fstat(file, &status) == 0 && status.st_size > 0) {
        mapped.size = (size_t)status.st_size;
        void *bytes = mmap(NULL, mapped.size, PROT_READ, MAP_PRIVATE, file, 0);
        mapped.bytes = bytes == MAP_FAILED ? NULL : bytes;
    }
    if (file >= 0) {
        close(file);
    }
    return mapped.name && mapped.bytes;
}

bool symbols_name(const void *address, char out[SYMBOLS_NAME_BYTES])
{
    place p = {.address = (uintptr_t)address};
    dl_iterate_phdr(look, &p);
    if (p.found && map(p.file) &&
        symbols_in_elf(mapped.bytes, mapped.size, p.address - p.base, out)) {
        return true;
    }
    Dl_info info;
    if (dladdr(address, &info) && info.dli_sname && info.dli_saddr == address &&
        strlen(info.dli_sname) < SYMBOLS_NAME_BYTES) {
        strcpy(out, info.dli_sname);
        return true;
    }
    return false;
}

/* Cuts "(int, char) const" off. The parenthesis that closes last is the parameters'; what
 * stands before its opening one is the name, also for `operator()` and `(anonymous)`. */
static void cut_parameters(char *name)
{
    char *close = strrchr(name, ')');
    if (!close || strchr(close, '>') || strchr(close, ':')) {
        return; /* a name inside one of these: there are no parameters behind it */
    }
    int depth = 0;
    for (char *at = close; at >= name; at--) {
        depth += *at == ')' ? 1 : *at == '(' ? -1 : 0;
        if (depth == 0) {
            if (at > name) {
                *at = '\0';
            }
            return;
        }
    }
}

void symbols_readable(const char *symbol, char out[SYMBOLS_NAME_BYTES])
{
    typedef char *demangler(const char *, char *, size_t *, int *);
    snprintf(out, SYMBOLS_NAME_BYTES, "%s", symbol);
    if (strncmp(symbol, "_Z", 2) != 0) {
        return;
    }
    /* A program of C++ has it; one of C has no such names. */
    demangler *demangle = (demangler *)dlsym(RTLD_DEFAULT, "__cxa_demangle");
    int status = -1;
    char *readable = demangle ? demangle(symbol, NULL, NULL, &status) : NULL;
    if (readable && status == 0) {
        snprintf(out, SYMBOLS_NAME_BYTES, "%s", readable);
        cut_parameters(out);
    }
    free(readable);
}
