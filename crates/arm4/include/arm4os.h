/*
 * arm4os.h: what the ARM 4 types are on this platform.
 *
 * For Unix-like systems with 32-bit int and 64-bit long long (ILP32, LP64). Programs include
 * arm4.h, which includes this file.
 */
#ifndef ARM4OS_H_INCLUDED
#define ARM4OS_H_INCLUDED

/* The type of a function of the API: its return type, as the platform exports functions. */
#define ARM4_API_DYNAMIC(type) type
#define ARM4_API_STATIC(type) type

#define ARM4_CHAR char
#define ARM4_INT8 signed char
#define ARM4_UINT8 unsigned char
#define ARM4_INT16 short
#define ARM4_UINT16 unsigned short
#define ARM4_INT32 int
#define ARM4_UINT32 unsigned int
#if defined(__GNUC__)
/* Not part of C89, which pedantic compilers would say. */
__extension__ typedef long long chronoscope_arm4_int64_t;
__extension__ typedef unsigned long long chronoscope_arm4_uint64_t;
#define ARM4_INT64 chronoscope_arm4_int64_t
#define ARM4_UINT64 chronoscope_arm4_uint64_t
#else
#define ARM4_INT64 long long
#define ARM4_UINT64 unsigned long long
#endif

/* A check that costs nothing and stops the compiler, in every C and C++. */
#if defined(__cplusplus) && __cplusplus >= 201103L
#define ARM4_ASSERT(name, what) static_assert(what, #name)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ARM4_ASSERT(name, what) _Static_assert(what, #name)
#else
#define ARM4_ASSERT(name, what) typedef char chronoscope_assert_##name[(what) ? 1 : -1]
#endif

#endif
