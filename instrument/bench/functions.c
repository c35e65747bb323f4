/* Nanoseconds for a call of a small function; built three times, see ../../tools/bench-instrument.
 * Rounds come one after the other, the best counts: the machine may have other things to do. */
#include <stdio.h>
#include <time.h>

enum { CALLS = 10000, ROUNDS = 800 };

__attribute__((noinline, noclone)) int called(int number)
{
    __asm__ volatile("" : "+r"(number));
    return number + 1;
}

__attribute__((no_instrument_function)) static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

__attribute__((no_instrument_function)) int main(void)
{
    double best = 1e18;
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        const double begin = now();
        for (int call = 0; call < CALLS; call++) {
            sum = called(sum);
        }
        const double elapsed = now() - begin;
        best = elapsed < best ? elapsed : best;
    }
    printf("%.2f\n", best / CALLS);
    return sum == 0;
}
