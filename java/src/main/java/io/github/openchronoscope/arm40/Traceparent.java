package io.github.openchronoscope.arm40;

import java.nio.charset.StandardCharsets;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmCorrelator;

/**
 * Correlators as W3C {@code traceparent} headers and back, for messages whose other end speaks
 * OpenTelemetry. An addition of Chronoscope.
 */
public final class Traceparent {
    private Traceparent() {}

    /**
     * The correlator that a header stands for.
     *
     * @param traceparent as {@code 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01}
     * @return a new correlator; one with an error code, under which nothing hangs, when the text
     *     is no traceparent
     */
    public static ArmCorrelator toCorrelator(String traceparent) {
        ArmObject.Listener nobody = new ArmObject.Listener();
        byte[] bytes = new byte[ArmConstants.CORR_MAX_LENGTH];
        int result = ErrorCode.TRACEPARENT.code();
        if (!Native.LOADED) {
            result = ErrorCode.NOT_LOADED.code();
        } else if (traceparent != null) {
            result = Native.fromTraceparent(
                    traceparent.getBytes(StandardCharsets.UTF_8), bytes);
        }
        Correlator correlator = result < 0 ? null : Correlator.at(nobody, bytes, 0);
        if (correlator == null) {
            correlator = Correlator.invalid(nobody);
            correlator.setErrorCode(result < 0 ? result : ErrorCode.TRACEPARENT.code());
        }
        return correlator;
    }

    /**
     * The header for a correlator of this implementation.
     *
     * @param correlator of a started transaction, or received
     * @return 55 characters, or null when the correlator is null, invalid or of others
     */
    public static String of(ArmCorrelator correlator) {
        if (!Native.LOADED || !(correlator instanceof Correlator)
                || !((Correlator) correlator).isValid()) {
            return null;
        }
        byte[] text = Native.toTraceparent(((Correlator) correlator).bytes);
        return text == null ? null : new String(text, StandardCharsets.US_ASCII);
    }
}
