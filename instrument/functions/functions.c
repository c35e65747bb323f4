/* A runtime for gcc's and clang's -finstrument-functions: functions whose names match a pattern
 * are transactions, without a change in the source.
 *
 *     gcc -finstrument-functions ... -larm4_functions
 *     ARM4_FUNCTIONS=patterns.txt ./program
 *
 * A function that is not recorded costs a look into a table. What is recorded nests like the
 * calls: the caller's transaction is the parent. A function left by an exception has FAILED; one
 * that was jumped over by longjmp is ABORTED as soon as that is noticed, which is when the next
 * recorded function begins or ends further up the stack.
 *
 * Not recorded: what runs on a stack that the thread was not born with (coroutines, signal
 * stacks), what a signal handler calls while this runtime works for the same thread, and what
 * lies deeper than the pattern file's depth.
 */
#include "patterns.h"
#include "symbols.h"

#include <arm4_chronoscope.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HOOK __attribute__((no_instrument_function, visibility("default")))

enum {
    KNOWN_BITS = 16,
    KNOWN_SLOTS = 1 << KNOWN_BITS,
    KNOWN_MAX = KNOWN_SLOTS / 4 * 3, /* functions that are told apart */
    CLASSES_MAX = 2000               /* of the recorder's 4095 for a process */
};

/* A function that was met: its class, or NULL when it is not recorded. Written once, the address
 * last, under `lock`; read without it. */
typedef struct {
    _Atomic(const void *) function;
    const chronoscope_class_t *class;
} known;

/* A recorded function that has begun. */
typedef struct {
    const void *function;
    const void *site;   /* where it returns to */
    const void *inside; /* where the hook returns to: tells inlined copies apart */
    uintptr_t stack;    /* see depth_of(); a greater address is further up */
    int exceptions;     /* under way when it began */
    chronoscope_token_t token;
} frame;

/* State of a thread, in pages of its own. */
typedef struct {
    uintptr_t low, high; /* its stack */
    unsigned generation;
    int depth;
    int skipped; /* functions that are running and were too deep */
    frame frames[PATTERNS_DEPTH_MAX];
} thread;

static known table[KNOWN_SLOTS];
static atomic_int known_count;
static int class_count;
static patterns recorded;
static int (*exceptions_under_way)(void);
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static atomic_uint generation = 1; /* of forks */
static _Atomic(bool) off;

static _Thread_local bool busy; /* this thread is in here, or has ended */
static _Thread_local thread *current;

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* Open calls of the forking thread belong to the parent process. */
static void in_child(void)
{
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&lock);
}

/* The recorder ends what a thread leaves open. */
static void end_thread(void *state)
{
    busy = true;
    current = NULL;
    munmap(state, sizeof(thread));
}

static void start_recording(void)
{
    const char *file = getenv("ARM4_FUNCTIONS");
    if (!file || !*file || !patterns_read(file, &recorded) || recorded.count == 0 ||
        pthread_key_create(&key, end_thread) != 0) {
        atomic_store(&off, true);
        return;
    }
    pthread_atfork(before_fork, after_fork, in_child);
    exceptions_under_way = (int (*)(void))dlsym(RTLD_DEFAULT, "_ZSt19uncaught_exceptionsv");
    if (*recorded.application) {
        arm_id_t id;
        arm_app_start_handle_t handle;
        arm_register_application(recorded.application, ARM_ID_NONE, ARM_FLAG_NONE, ARM_BUF4_NONE,
                                 &id);
        arm_start_application(&id, NULL, NULL, ARM_FLAG_NONE, ARM_BUF4_NONE, &handle);
    }
}

static size_t slot_of(const void *function)
{
    return (size_t)(((uintptr_t)function >> 2) * 0x9e3779b97f4a7c15u >> (64 - KNOWN_BITS));
}

/* The class of a function whose name matches; NULL otherwise. Under `lock`. */
static const chronoscope_class_t *name_function(const void *function)
{
    char symbol[SYMBOLS_NAME_BYTES];
    char name[SYMBOLS_NAME_BYTES];
    if (!symbols_name(function, symbol)) {
        return NULL;
    }
    symbols_readable(symbol, name);
    if (!patterns_include(&recorded, name, symbol)) {
        return NULL;
    }
    if (class_count == CLASSES_MAX) {
        static bool said;
        if (!said) {
            fprintf(stderr, "libarm4_functions: more than %d functions match; %s and later ones "
                            "are not recorded\n", CLASSES_MAX, name);
        }
        said = true;
        return NULL;
    }
    class_count++;
    name[127] = '\0'; /* ARM_NAME_MAX_CHARS */
    return chronoscope_class(name);
}

/* Looks the function up for good. */
__attribute__((noinline)) static const chronoscope_class_t *meet(const void *function)
{
    if (busy || atomic_load(&known_count) >= KNOWN_MAX) {
        return NULL;
    }
    busy = true; /* neither a signal's handler nor an instrumented malloc waits for our lock */
    pthread_once(&once, start_recording);
    if (atomic_load(&off)) {
        busy = false;
        return NULL;
    }
    pthread_mutex_lock(&lock);
    size_t slot = slot_of(function);
    while (table[slot].function && table[slot].function != function) {
        slot = (slot + 1) % KNOWN_SLOTS;
    }
    if (!table[slot].function) {
        table[slot].class = name_function(function);
        atomic_store_explicit(&table[slot].function, function, memory_order_release);
        atomic_fetch_add(&known_count, 1);
    }
    const chronoscope_class_t *class = table[slot].class;
    pthread_mutex_unlock(&lock);
    busy = false;
    return class;
}

static inline const chronoscope_class_t *class_of(const void *function)
{
    if (atomic_load_explicit(&off, memory_order_relaxed)) {
        return NULL;
    }
    for (size_t slot = slot_of(function);; slot = (slot + 1) % KNOWN_SLOTS) {
        const void *there = atomic_load_explicit(&table[slot].function, memory_order_acquire);
        if (there == function) {
            return table[slot].class;
        }
        if (!there) {
            return meet(function);
        }
    }
}

/* The thread's first recorded function. NULL when there is no memory. */
__attribute__((noinline)) static thread *new_thread(void)
{
    thread *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (t == MAP_FAILED) {
        return NULL;
    }
    pthread_attr_t attributes;
    void *low = NULL;
    size_t size = 0;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        pthread_attr_getstack(&attributes, &low, &size);
        pthread_attr_destroy(&attributes);
    }
    t->low = (uintptr_t)low;
    t->high = t->low + size;
    pthread_setspecific(key, t);
    current = t;
    return t;
}

/* The thread's state, with what another process began forgotten; NULL where nothing is recorded:
 * no memory, or not on the thread's own stack. */
static inline thread *thread_on(uintptr_t stack)
{
    thread *t = current ? current : new_thread();
    if (!t || stack < t->low || stack >= t->high) {
        return NULL;
    }
    const unsigned now = atomic_load_explicit(&generation, memory_order_relaxed);
    if (t->generation != now) {
        t->generation = now;
        t->depth = 0;
        t->skipped = 0;
    }
    return t;
}

/* Whether a function that begins says that `f` is gone, jumped over by longjmp: the stack is no
 * deeper than it was there, and `f` did not merely have the beginning one inlined. */
static bool is_left(const frame *f, uintptr_t stack, const void *site, const void *inside)
{
    return f->stack < stack || (f->stack == stack && (f->site != site || f->inside == inside));
}

static void end_down_to(thread *t, int depth, arm_tran_status_t last)
{
    while (t->depth > depth) {
        t->depth--;
        chronoscope_end(t->frames[t->depth].token,
                        t->depth == depth ? last : ARM_STATUS_ABORTED);
    }
}

/* How deep the stack was when the function that called a hook was called itself: 16 bytes below
 * the place of its return address. That is known exactly where functions keep frame pointers
 * (-O0, -fno-omit-frame-pointer), and where the hook was jumped to as the function's last act;
 * otherwise it is the hook's own frame, somewhat deeper by what the function keeps on the stack.
 * `hook` is the frame address of the hook. */
static uintptr_t depth_of(uintptr_t hook, const void *site, const void *inside)
{
    if (inside == site) {
        return hook - 8; /* the hook returns from the function: the two share the place */
    }
    const uintptr_t frame = *(const uintptr_t *)hook;
    const bool plausible = current && hook >= current->low && frame > hook &&
                           frame < current->high - 16 && frame % 8 == 0;
    return plausible && *(const void *const *)(frame + 8) == site ? frame - 8 : hook;
}

static void begin(const void *function, const void *site, const void *inside, uintptr_t stack,
                  const chronoscope_class_t *class)
{
    thread *t = thread_on(stack);
    if (!t) {
        return;
    }
    while (t->depth > 0 && is_left(&t->frames[t->depth - 1], stack, site, inside)) {
        end_down_to(t, t->depth - 1, ARM_STATUS_ABORTED);
    }
    if (t->depth >= recorded.depth) {
        t->skipped++;
        return;
    }
    t->skipped = 0;
    frame *f = &t->frames[t->depth++];
    f->function = function;
    f->site = site;
    f->inside = inside;
    f->stack = stack;
    f->exceptions = exceptions_under_way ? exceptions_under_way() : 0;
    f->token = chronoscope_begin(class);
}

/* The frame that ends; -1 when its beginning was not recorded. Of several that fit, those further
 * down were jumped over; copies inlined into one another share their place on the stack and end
 * the innermost first. */
static int ending(const thread *t, const void *function, const void *site, uintptr_t stack)
{
    int found = -1;
    for (int index = t->depth - 1; index >= 0; index--) {
        const frame *f = &t->frames[index];
        if (f->stack > stack) {
            break;
        }
        if (f->function == function && f->site == site &&
            (found < 0 || f->stack > t->frames[found].stack)) {
            found = index;
        }
    }
    const frame *top = t->depth > 0 ? &t->frames[t->depth - 1] : NULL;
    if (found < 0 && t->skipped == 0 && top && top->function == function && top->site == site) {
        found = t->depth - 1; /* the stack has grown meanwhile: alloca, arrays of variable size */
    }
    return found;
}

static void end(const void *function, const void *site, uintptr_t stack)
{
    thread *t = thread_on(stack);
    const int index = t ? ending(t, function, site, stack) : -1;
    if (index < 0) {
        if (t && t->skipped > 0) {
            t->skipped--;
        }
        return;
    }
    const bool thrown =
        exceptions_under_way && exceptions_under_way() > t->frames[index].exceptions;
    end_down_to(t, index, thrown ? ARM_STATUS_FAILED : ARM_STATUS_GOOD);
}

HOOK void __cyg_profile_func_enter(void *function, void *site)
{
    const chronoscope_class_t *class = class_of(function);
    if (class && !busy) {
        busy = true;
        const void *inside = __builtin_return_address(0);
        const uintptr_t hook = (uintptr_t)__builtin_frame_address(0);
        begin(function, site, inside, depth_of(hook, site, inside), class);
        busy = false;
    }
}

HOOK void __cyg_profile_func_exit(void *function, void *site)
{
    if (class_of(function) && !busy) {
        busy = true;
        const uintptr_t hook = (uintptr_t)__builtin_frame_address(0);
        end(function, site, depth_of(hook, site, __builtin_return_address(0)));
        busy = false;
    }
}
