package io.github.openchronoscope.arm40;

/**
 * The calls into the library, one for each function of the C binding.
 *
 * <p>An id travels as two longs, the halves of its 16 bytes in native order. A payload is what
 * {@link Payload} writes, with its length; 0 is an empty one. A correlator is an array that is
 * one, or, where the library writes it, one of 512 bytes. The functions trust no content: what is
 * malformed is an error code. Handles come back as they are, 0
 * where nothing was started. Something may have been wrong all the same: {@link #lastError} is
 * the result of the calling thread's last call that returned a handle; after {@link #start},
 * which has hardly an argument, it is set only where there is none.
 */
final class Native {
    /** Whether the library was loaded; without it none of the functions may be called. */
    static final boolean LOADED = NativeLibrary.load();

    private Native() {}

    static native int lastError();

    static native int registerApplication(
            byte[] payload, int length, byte[] inputId, long[] outputId);

    static native int destroyApplication(long appHigh, long appLow);

    static native int registerTransaction(long appHigh, long appLow, byte[] payload, int length,
            byte[] inputId, long[] outputId);

    static native int registerMetric(long appHigh, long appLow, int format, int usage,
            byte[] payload, int length, byte[] inputId, long[] outputId);

    static native long startApplication(long appHigh, long appLow, byte[] payload, int length);

    static native int stopApplication(long application);

    /** The hot path: no parent, nothing to hand over. The correlator goes to an array of 512. */
    static native long start(
            long application, long tranHigh, long tranLow, int flags, byte[] correlator);

    static native long startWith(long application, long tranHigh, long tranLow, int flags,
            byte[] parent, byte[] payload, int length, byte[] correlator);

    static native int stop(long transaction, int status);

    static native int stopWith(long transaction, int status, byte[] payload, int length);

    static native int update(long transaction, byte[] payload, int length);

    static native int discard(long transaction);

    static native long block(long transaction);

    static native int unblock(long transaction, long block);

    static native int bindThread(long transaction);

    static native int unbindThread(long transaction);

    static native int report(long application, long tranHigh, long tranLow, int status,
            long responseNanos, long stopMillis, byte[] parent, byte[] current, byte[] payload,
            int length);

    static native int generateCorrelator(long application, long tranHigh, long tranLow, int flags,
            byte[] parent, byte[] payload, int length, byte[] correlator);

    /** 0 or 1, or an error code. */
    static native int correlatorFlag(byte[] correlator, int flag);

    static native int setCorrelatorFlag(byte[] correlator, int flag, boolean value);

    static native long arrivalTime();

    static native byte[] errorMessage(int code);

    /** An error code, or 0 with the correlator in an array of 512. */
    static native int fromTraceparent(byte[] traceparent, byte[] correlator);

    static native byte[] toTraceparent(byte[] correlator);
}
