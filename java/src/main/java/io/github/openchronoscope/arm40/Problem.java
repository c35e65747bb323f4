package io.github.openchronoscope.arm40;

import org.opengroup.arm40.transaction.ArmConstants;

/** The first fault found in the arguments of one call. */
final class Problem {
    private int code;

    int code() {
        return code;
    }

    void add(ErrorCode error) {
        add(error.code());
    }

    /** The result of a call into the library: only what is negative is a problem. */
    void add(int result) {
        if (code == 0 && result < 0) {
            code = result;
        }
    }

    /** A name; empty when it is invalid. */
    String name(String name) {
        if (name == null || name.isEmpty() || name.length() > ArmConstants.NAME_MAX_LENGTH) {
            add(ErrorCode.NAME);
            return "";
        }
        return name;
    }

    /** A text that may be null, cut to a number of characters. */
    String text(String text, int lengthMax) {
        if (text == null || text.length() <= lengthMax) {
            return text;
        }
        add(ErrorCode.TOO_LONG);
        boolean splits = Character.isHighSurrogate(text.charAt(lengthMax - 1));
        return text.substring(0, splits ? lengthMax - 1 : lengthMax);
    }

    /** An own copy of at most 20 texts, each cut; of null an empty one. */
    String[] texts(String[] texts, int lengthMax) {
        int given = texts == null ? 0 : texts.length;
        if (given > ArmConstants.PROPERTY_MAX_COUNT) {
            add(ErrorCode.TOO_MANY);
        }
        String[] own = new String[Math.min(given, ArmConstants.PROPERTY_MAX_COUNT)];
        for (int i = 0; i < own.length; i++) {
            own[i] = text(texts[i], lengthMax);
        }
        return own;
    }
}
