package io.github.openchronoscope.arm40;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmCorrelator;
import org.opengroup.arm40.transaction.ArmTransaction;

/** Whatever Java code hands to the native library: an error code, and the JVM lives. */
final class HostileTest {
    private static final long SEED = 20_240_611L;
    private static final int THREADS = 100;
    private static final int CORRELATOR_BYTES = 512;
    private static final int[] LENGTHS =
            {Integer.MIN_VALUE, -1, 0, 1, 5, 100, 1 << 17, Integer.MAX_VALUE};

    private static final Arm ARM = new Arm("Hostile");

    private static List<byte[]> arrays() {
        List<byte[]> arrays = new ArrayList<>(Arrays.asList((byte[]) null));
        for (int length : new int[] {0, 1, 3, 4, 16, 511, 512, 513, 70_000}) {
            arrays.add(new byte[length]);
            byte[] full = new byte[length];
            Arrays.fill(full, (byte) 0xff);
            arrays.add(full);
        }
        return arrays;
    }

    /** A length that an array does not have was read beyond its end, and a null ended the JVM. */
    @Test
    void arraysThatAreNullShortOrShorterThanSaid() {
        for (byte[] array : arrays()) {
            for (int length : LENGTHS) {
                boolean isShort = length < 0 || length > (array == null ? 0 : array.length);
                long[] id = new long[2];
                int registered = Native.registerApplication(array, length, array, id);
                assertTrue(!isShort || registered < 0, "length " + length);
                assertTrue(Native.startApplication(1, 2, array, length) == 0 || !isShort);
                Native.registerTransaction(1, 2, array, length, array, new long[0]);
                Native.registerMetric(1, 2, length, length, array, length, array, null);
                Native.startWith(1, 2, 3, length, array, array, length, array);
                Native.stopWith(1, length, array, length);
                Native.update(1, array, length);
                Native.report(1, 2, 3, length, -1, -1, array, array, array, length);
                Native.generateCorrelator(1, 2, 3, length, array, array, length, array);
                Native.correlatorFlag(array, length);
                Native.setCorrelatorFlag(array, length, true);
                Native.errorMessage(length);
            }
            Native.start(1, 2, 3, -1, array);
            assertTrue(Native.fromTraceparent(array, array) < 0);
            assertNull(Native.toTraceparent(array));
        }
        assertStillRecords("after arrays");
    }

    /** Bytes at random as what {@link Payload} writes. */
    @Test
    void anyBytesAsAPayload() {
        Random random = new Random(SEED);
        Application application = (Application) ARM.application;
        TransactionDefinition definition = (TransactionDefinition) ARM.define("any payload");
        byte[] output = new byte[CORRELATOR_BYTES];
        int good = 0;
        for (int i = 0; i < 200_000; i++) {
            byte[] payload = new byte[random.nextInt(200)];
            random.nextBytes(payload);
            // Small numbers are kinds of parts, counts and lengths.
            for (int at = 0; at < payload.length; at++) {
                payload[at] = random.nextInt(3) == 0 ? payload[at] : (byte) random.nextInt(12);
            }
            long handle = Native.startWith(application.handle, definition.high, definition.low, 0,
                    payload, payload, payload.length, output);
            Native.update(handle, payload, payload.length);
            good += Native.stopWith(handle, i % 6 - 1, payload, payload.length) == 0 ? 1 : 0;
            Native.registerTransaction(0, i, payload, payload.length, payload, new long[2]);
        }
        assertTrue(good > 0, "nothing was read");
        assertStillRecords("after payloads");
    }

    /**
     * Handles of nobody, of another kind, and of what has been stopped. Not 1: what is not recorded
     * has it, and everything may be done with that.
     */
    @Test
    void handlesThatAreNone() {
        Random random = new Random(SEED);
        Application application = (Application) ARM.application;
        TransactionDefinition definition = (TransactionDefinition) ARM.define("handles");
        byte[] output = new byte[CORRELATOR_BYTES];
        long stopped = Native.start(
                application.handle, definition.high, definition.low, 0, output);
        assertEquals(0, Native.stop(stopped, ArmConstants.STATUS_GOOD));
        List<Long> handles = new ArrayList<>(List.of(0L, -1L, Long.MIN_VALUE, Long.MAX_VALUE,
                stopped, stopped + 1, application.handle, definition.high, definition.low));
        for (int i = 0; i < 10_000; i++) {
            handles.add(random.nextBoolean() ? random.nextLong() : stopped ^ 1L << i % 64);
        }
        for (long handle : handles) {
            assertTrue(Native.stop(handle, ArmConstants.STATUS_GOOD) < 0, "handle " + handle);
            assertTrue(Native.update(handle, null, 0) < 0);
            assertTrue(Native.discard(handle) < 0);
            assertTrue(Native.bindThread(handle) < 0);
            assertTrue(Native.unbindThread(handle) < 0);
            assertTrue(Native.unblock(handle, Native.block(handle)) < 0);
            if (handle != application.handle) {
                assertTrue(Native.stopApplication(handle) < 0);
                assertEquals(0, Native.start(
                        handle, definition.high, definition.low, 0, output));
            }
        }
        assertStillRecords("after handles");
    }

    /** Correlators of every length, with the length that they say and with another. */
    @Test
    void correlatorsOfEveryLength() {
        ArmTransaction transaction = ARM.newTransaction("lengths");
        Random random = new Random(SEED);
        for (int length = 0; length < 600; length++) {
            for (int said : new int[] {length, length - 1, length + 1, 0, 0xffff}) {
                byte[] bytes = new byte[length + 8];
                random.nextBytes(bytes);
                if (length > 1) {
                    bytes[0] = (byte) (said >> 8);
                    bytes[1] = (byte) said;
                }
                byte[] exact = Arrays.copyOf(bytes, length);
                assertDoesNotThrow(() -> {
                    transaction.start(exact);
                    transaction.stop(ArmConstants.STATUS_GOOD);
                    ARM.transactions.newArmCorrelator(exact);
                    for (int offset : new int[] {-1, 0, 1, exact.length, Integer.MAX_VALUE}) {
                        transaction.start(exact, offset);
                        transaction.stop(ArmConstants.STATUS_GOOD);
                        ARM.transactions.newArmCorrelator(exact, offset);
                    }
                });
            }
        }
        assertDoesNotThrow(() -> {
            transaction.start((byte[]) null);
            transaction.stop(ArmConstants.STATUS_GOOD);
            transaction.start((ArmCorrelator) null);
            transaction.stop(ArmConstants.STATUS_GOOD);
            ARM.transactions.newArmCorrelator(null);
        });
        assertStillRecords("after correlators");
    }

    /** Many threads at the same objects while the collector drops others. */
    @Test
    void manyThreadsAtTheSameObjects() throws InterruptedException {
        ArmTransaction shared = ARM.newTransaction("shared");
        CountDownLatch begin = new CountDownLatch(1);
        AtomicInteger broken = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < THREADS; number++) {
            boolean collects = number % 25 == 0;
            Thread thread = new Thread(() -> {
                try {
                    begin.await();
                    for (int i = 0; i < 200; i++) {
                        ArmTransaction own = ARM.newTransaction("own");
                        shared.start();
                        own.start(shared.getCorrelator());
                        shared.bindThread();
                        shared.setContextValue(0, "x".repeat(i));
                        shared.update();
                        shared.stop(i % 4, "detail");
                        shared.reset();
                        own.stop(ArmConstants.STATUS_GOOD);
                        if (collects && i % 50 == 0) {
                            System.gc();
                        }
                    }
                } catch (InterruptedException | RuntimeException | Error error) {
                    error.printStackTrace();
                    broken.incrementAndGet();
                }
            });
            threads.add(thread);
            thread.start();
        }
        begin.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(0, broken.get());
        assertStillRecords("after threads");
    }

    /** Everything that a stopped or destroyed object is asked for. */
    @Test
    void objectsThatAreOver() {
        Arm arm = new Arm("Over");
        ArmTransaction open = arm.newTransaction("over");
        assertEquals(0, open.start());
        assertEquals(0, arm.application.end());
        arm.definition.destroy();
        assertDoesNotThrow(() -> {
            open.bindThread();
            open.update();
            open.stop(ArmConstants.STATUS_GOOD);
            open.stop(ArmConstants.STATUS_GOOD);
            open.reset();
            open.start();
            open.getCorrelator();
            arm.application.end();
            arm.definition.destroy();
            arm.newTransaction("none").start();
        });
        assertTrue(arm.newTransaction("none").start() < 0);
        assertNull(arm.newTransaction("none").getCorrelator());
        assertStillRecords("after the end");
    }

    /** The library is whole: one more transaction is recorded under its name. */
    private static void assertStillRecords(String name) {
        ArmTransaction transaction = ARM.newTransaction(name);
        assertEquals(0, transaction.start());
        assertEquals(0, transaction.stop(ArmConstants.STATUS_GOOD));
        Rings.only(name);
    }
}
