package io.github.openchronoscope.arm40;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class RatioTest {
    private static double back(float value) {
        long ratio = Ratio.of(value);
        return (double) (int) ratio / (int) (ratio >> 32);
    }

    @Test
    void examplesByHand() {
        assertEquals(3L | 2L << 32, Ratio.of(1.5f));
        assertEquals(-7 & 0xffff_ffffL | 4L << 32, Ratio.of(-1.75f));
        assertEquals(1L << 32, Ratio.of(0f));
        assertEquals(1L << 32 | 1 << 30, Ratio.of(0x1p30f));
        assertEquals(1L << 62, Ratio.of(Float.MIN_VALUE)); // rounded to 0 / 2^30
    }

    /** The promise of the class: exact where the last bit is worth 2^-30 or more. */
    @Test
    void isExactInItsRange() {
        Random random = new Random(40);
        int exact = 0;
        for (int i = 0; i < 1_000_000; i++) {
            float value = Float.intBitsToFloat(random.nextInt());
            if (!Ratio.isOne(value)) {
                assertTrue(Float.isNaN(value) || Math.abs(value) >= 0x1p31f, () -> "" + value);
            } else if (value == 0 || Math.ulp(value) >= 0x1p-30f) {
                assertEquals(value, back(value));
                exact++;
            } else {
                assertEquals(value, back(value), 0x1p-31);
            }
        }
        assertTrue(exact > 100_000, "only " + exact);
    }

    @Test
    void noRatioOutside() {
        assertTrue(Ratio.isOne(Math.nextDown(0x1p31f)));
        for (float value : new float[] {
            0x1p31f, -0x1p31f, Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY
        }) {
            assertFalse(Ratio.isOne(value), () -> "" + value);
        }
    }
}
