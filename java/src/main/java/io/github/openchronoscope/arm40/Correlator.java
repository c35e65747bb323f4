package io.github.openchronoscope.arm40;

import java.util.Arrays;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmCorrelator;

/** A correlator. Its flags may change; the rest of it does not. */
final class Correlator extends Token implements ArmCorrelator {
    private static final int APPLICATION_TRACE = 1;
    private static final int AGENT_TRACE = 2;
    private static final int ASYNCHRONOUS = 3;
    private static final int INDEPENDENT = 4;

    private Correlator(Listener listener, byte[] bytes) {
        super(listener, bytes);
    }

    /** The length of the correlator at an offset; 0 when there is none. */
    static int lengthAt(byte[] bytes, int offset) {
        if (bytes == null || offset < 0 || offset > bytes.length - ArmConstants.CORR_MIN_LENGTH) {
            return 0;
        }
        int length = (bytes[offset] & 0xff) << 8 | bytes[offset + 1] & 0xff;
        boolean fits = length >= ArmConstants.CORR_MIN_LENGTH
                && length <= ArmConstants.CORR_MAX_LENGTH && length <= bytes.length - offset;
        return fits ? length : 0;
    }

    /** A copy of the correlator at an offset, or null. */
    static Correlator at(Listener listener, byte[] bytes, int offset) {
        int length = lengthAt(bytes, offset);
        return length == 0
                ? null
                : new Correlator(listener, Arrays.copyOfRange(bytes, offset, offset + length));
    }

    /** Placeholder for invalid bytes: of valid length, and no transaction's parent. */
    static Correlator invalid(Listener listener) {
        return new Correlator(listener, new byte[ArmConstants.CORR_MIN_LENGTH]);
    }

    boolean isValid() {
        return lengthAt(bytes, 0) == bytes.length;
    }

    @Override
    public boolean isAgentTrace() {
        return flag(AGENT_TRACE, "isAgentTrace");
    }

    @Override
    public boolean isApplicationTrace() {
        return flag(APPLICATION_TRACE, "isApplicationTrace");
    }

    @Override
    public boolean isAsynchronous() {
        return flag(ASYNCHRONOUS, "isAsynchronous");
    }

    @Override
    public boolean isIndependentTran() {
        return flag(INDEPENDENT, "isIndependentTran");
    }

    @Override
    public int setAsynchronous(boolean asynchronous) {
        return setFlag(ASYNCHRONOUS, asynchronous, "setAsynchronous");
    }

    @Override
    public int setIndependentTran(boolean independent) {
        return setFlag(INDEPENDENT, independent, "setIndependentTran");
    }

    private boolean flag(int number, String method) {
        if (!isUsable(method)) {
            return false;
        }
        int flag = Native.correlatorFlag(bytes, number);
        result(flag, method);
        return flag > 0;
    }

    private int setFlag(int number, boolean value, String method) {
        return isUsable(method)
                ? result(Native.setCorrelatorFlag(bytes, number, value), method)
                : getErrorCode();
    }

    private boolean isUsable(String method) {
        if (!Native.LOADED) {
            fail(ErrorCode.NOT_LOADED, method);
        } else if (!isValid()) {
            fail(ErrorCode.CORRELATOR, method);
        } else {
            return true;
        }
        return false;
    }

    @Override
    String interfaceName() {
        return "ArmCorrelator";
    }
}
