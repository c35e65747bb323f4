package io.github.openchronoscope.arm40;

import java.util.Arrays;
import org.opengroup.arm40.transaction.ArmToken;

/** Bytes that identify something. Equal when of one class and of the same bytes. */
abstract class Token extends ArmObject implements ArmToken {
    /** Never handed out, never changed but for the flags of a correlator. */
    final byte[] bytes;

    Token(Listener listener, byte[] bytes) {
        super(listener);
        this.bytes = bytes;
    }

    @Override
    public final boolean copyBytes(byte[] dest) {
        return copyBytes(dest, 0);
    }

    @Override
    public final boolean copyBytes(byte[] dest, int offset) {
        if (dest == null || offset < 0 || offset > dest.length - bytes.length) {
            fail(dest == null ? ErrorCode.NULL_ARGUMENT : ErrorCode.INDEX, "copyBytes");
            return false;
        }
        ok();
        System.arraycopy(bytes, 0, dest, offset, bytes.length);
        return true;
    }

    @Override
    public final byte[] getBytes() {
        return bytes.clone();
    }

    @Override
    public final int getLength() {
        return bytes.length;
    }

    @Override
    public boolean equals(Object other) {
        return other != null && other.getClass() == getClass()
                && Arrays.equals(bytes, ((Token) other).bytes);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(bytes);
    }

    /** The bytes in hexadecimal digits. */
    @Override
    public String toString() {
        return java.util.HexFormat.of().formatHex(bytes);
    }
}
