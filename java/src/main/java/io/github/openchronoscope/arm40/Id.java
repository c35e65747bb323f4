package io.github.openchronoscope.arm40;

import java.util.Arrays;
import org.opengroup.arm40.transaction.ArmConstants;
import org.opengroup.arm40.transaction.ArmID;

/** Sixteen bytes that identify something. */
final class Id extends Token implements ArmID {
    private Id(Listener listener, byte[] bytes) {
        super(listener, bytes);
    }

    /** The id at an offset; all zeros, with a problem, when there is none. */
    static Id of(Listener listener, byte[] bytes, int offset, Problem problem) {
        boolean enough = bytes != null && offset >= 0
                && offset <= bytes.length - ArmConstants.ID_LENGTH;
        byte[] own = enough
                ? Arrays.copyOfRange(bytes, offset, offset + ArmConstants.ID_LENGTH)
                : new byte[ArmConstants.ID_LENGTH];
        Id id = new Id(listener, own);
        if (!id.isValid()) {
            problem.add(bytes == null ? ErrorCode.NULL_ARGUMENT : ErrorCode.ID);
        }
        return id;
    }

    /** All zeros and all ones name nothing. */
    boolean isValid() {
        for (byte one : bytes) {
            if (one != bytes[0] || one != 0 && one != -1) {
                return true;
            }
        }
        return false;
    }

    /** An id that the application gave, or null; null too when it is of others or invalid. */
    static Id given(ArmID id, Problem problem) {
        if (id == null || id instanceof Id && ((Id) id).isValid()) {
            return (Id) id;
        }
        problem.add(ErrorCode.INVALID_OBJECT);
        return null;
    }

    /** Whether the library returned an id: it may do so in spite of a fault in the arguments. */
    static boolean isOne(long[] halves) {
        return (halves[0] | halves[1]) != 0;
    }

    static byte[] bytesOf(Id id) {
        return id == null ? null : id.bytes;
    }

    @Override
    String interfaceName() {
        return "ArmID";
    }
}
