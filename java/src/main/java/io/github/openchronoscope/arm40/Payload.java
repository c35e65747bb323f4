package io.github.openchronoscope.arm40;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes what one call hands over to the library: texts that are its arguments, then any number of
 * parts, each a sub-buffer of ARM: its format number in one byte, then its fields.
 *
 * <p>Numbers are little-endian. A text has its length in bytes in two bytes, the NUL at its end
 * counted, then the bytes in UTF-8 and the NUL; length 0 is no text. Counts are one byte. The C
 * side reads it in {@code src/main/c/payload.c}.
 */
final class Payload {
    static final int USER = 3;
    static final int ARRIVAL_TIME = 4;
    static final int METRIC_VALUES = 5;
    static final int SYSTEM_ADDRESS = 6;
    static final int DIAG_DETAIL = 7;
    static final int APP_IDENTITY = 102;
    static final int APP_CONTEXT = 103;
    static final int TRAN_IDENTITY = 104;
    static final int TRAN_CONTEXT = 105;
    static final int METRIC_BINDINGS = 106;

    private static final int FIRST_BYTES = 128;

    /** The first {@link #length} of them count. */
    byte[] bytes = new byte[FIRST_BYTES];
    int length;

    Payload() {}

    /** One that begins with the bytes of another one; null for none. */
    Payload(byte[] first) {
        if (first != null) {
            raw(first);
        }
    }

    Payload byteOf(int value) {
        room(1);
        bytes[length++] = (byte) value;
        return this;
    }

    Payload shortOf(int value) {
        return byteOf(value).byteOf(value >> 8);
    }

    Payload intOf(int value) {
        return shortOf(value).shortOf(value >> 16);
    }

    Payload longOf(long value) {
        return intOf((int) value).intOf((int) (value >> 32));
    }

    /** A text of less than 65,535 bytes, or null. */
    Payload text(String text) {
        if (text == null) {
            return shortOf(0);
        }
        byte[] utf8 = text.getBytes(StandardCharsets.UTF_8);
        return shortOf(utf8.length + 1).raw(utf8).byteOf(0);
    }

    Payload raw(byte[] more) {
        room(more.length);
        System.arraycopy(more, 0, bytes, length, more.length);
        length += more.length;
        return this;
    }

    /** An id that may be null. */
    Payload id(Id id) {
        return id == null ? byteOf(0) : byteOf(1).raw(id.bytes);
    }

    /** A copy; null when there is nothing. */
    byte[] toBytes() {
        return length == 0 ? null : Arrays.copyOf(bytes, length);
    }

    private void room(int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, Math.max(length + more, 2 * bytes.length));
        }
    }
}
