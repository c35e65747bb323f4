package io.github.openchronoscope.arm40;

/**
 * A floating point number as two integers, counter and divisor.
 *
 * <p>ARM 4.0 knows floating point metrics in Java but not in C. There the nearest formats are
 * counters and gauges with a divisor, both 32 bits with sign. The divisor is the smallest power of
 * two, at most 2^30, that makes the counter whole: every float in (-2^31, 2^31) whose last bit is
 * worth 2^-30 or more is kept exactly, smaller bits are rounded, and beyond that range, as for
 * infinities and NaN, there is no ratio.
 */
final class Ratio {
    private static final int DIVISOR_MAX = 1 << 30;

    private Ratio() {}

    static boolean isOne(float value) {
        return Math.abs(value) <= Integer.MAX_VALUE && Math.abs(value) < (float) (1L << 31);
    }

    /** The counter in the lower half, the divisor in the upper; only for what is a ratio. */
    static long of(float value) {
        double counter = value;
        int divisor = 1;
        while (counter != Math.rint(counter) && divisor < DIVISOR_MAX) {
            counter *= 2;
            divisor *= 2;
        }
        // Not whole yet, and so multiplied by 2^30: |value| is below 2^-6, and the counter small.
        return (long) divisor << 32 | (int) Math.rint(counter) & 0xffff_ffffL;
    }
}
