package io.github.openchronoscope.arm40;

import java.util.Arrays;
import org.opengroup.arm40.tranreport.ArmSystemAddress;
import org.opengroup.arm40.transaction.ArmID;

/** Address of the host on which an application runs. */
final class SystemAddress extends Token implements ArmSystemAddress {
    /** Lengths in bytes by format; 0: any. */
    private static final int[] LENGTHS = {0, 4, 6, 16, 18, 0, 0, 0, 16};
    private static final int LENGTH_MAX = 255;

    private final short format;
    private final Id id;

    private SystemAddress(Listener listener, short format, byte[] bytes, Id id) {
        super(listener, bytes);
        this.format = format;
        this.id = id;
    }

    /** The address at an offset; with a length below zero as long as its format, or the rest. */
    static SystemAddress of(Listener listener, short format, byte[] bytes, int offset, int length,
            ArmID id, Problem problem) {
        int there = bytes == null || offset < 0 ? -1 : bytes.length - offset;
        int wanted = format > 0 && format < LENGTHS.length ? LENGTHS[format] : 0;
        int taken = length >= 0 ? length : wanted > 0 ? wanted : there;
        boolean fits = taken > 0 && taken <= there && taken <= LENGTH_MAX
                && (wanted == 0 || taken == wanted) && format != 0 && format < LENGTHS.length;
        if (!fits) {
            problem.add(bytes == null ? ErrorCode.NULL_ARGUMENT : ErrorCode.ADDRESS);
        }
        byte[] own = fits ? Arrays.copyOfRange(bytes, offset, offset + taken) : new byte[0];
        return new SystemAddress(listener, format, own, Id.given(id, problem));
    }

    /** The application's address, or null. */
    static SystemAddress given(ArmSystemAddress address, Problem problem) {
        if (address == null) {
            return null;
        }
        if (address instanceof SystemAddress && ((SystemAddress) address).bytes.length > 0) {
            return (SystemAddress) address;
        }
        problem.add(ErrorCode.INVALID_OBJECT);
        return null;
    }

    @Override
    public byte[] getAddress() {
        return getBytes();
    }

    @Override
    public short getFormat() {
        return format;
    }

    @Override
    public ArmID getID() {
        return id;
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && ((SystemAddress) other).format == format;
    }

    @Override
    public int hashCode() {
        return 31 * super.hashCode() + format;
    }

    void write(Payload payload) {
        payload.byteOf(Payload.SYSTEM_ADDRESS).shortOf(format).shortOf(bytes.length).raw(bytes)
                .id(id);
    }

    @Override
    String interfaceName() {
        return "ArmSystemAddress";
    }
}
