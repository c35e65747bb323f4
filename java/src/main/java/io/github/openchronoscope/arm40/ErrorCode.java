package io.github.openchronoscope.arm40;

import java.nio.charset.StandardCharsets;

/**
 * The error codes that the Java side sets itself. All others come from the C library, whose page
 * lists them.
 */
public enum ErrorCode {
    /** The native library could not be loaded; nothing is measured. */
    NOT_LOADED(-2001, "the native library could not be loaded: nothing is measured"),
    /** An argument is null that must not be. */
    NULL_ARGUMENT(-2002, "an argument is null that must not be"),
    /** A name is null, empty or too long. */
    NAME(-2003, "a name is null, empty or longer than 127 characters"),
    /** An object is of another implementation, or was made from invalid arguments. */
    INVALID_OBJECT(-2004, "an object is of another implementation or came from invalid arguments"),
    /** An index is out of range. */
    INDEX(-2005, "an index is out of range"),
    /** A text is too long; it was cut. */
    TOO_LONG(-2006, "a text is longer than allowed and was cut"),
    /** A status is none of the four; UNKNOWN was taken. */
    STATUS(-2007, "the status is none of GOOD, ABORT, FAILED, UNKNOWN; UNKNOWN was taken"),
    /** The transaction is not executing. */
    NOT_STARTED(-2008, "the transaction is not executing"),
    /** The transaction was executing; that one was discarded, and a new one started. */
    ALREADY_STARTED(-2009, "the transaction was executing; it was discarded, a new one started"),
    /** The application instance has ended. */
    ENDED(-2010, "the application instance has ended"),
    /** The bytes are no correlator; there is no parent. */
    CORRELATOR(-2011, "the bytes are no correlator: a length in [4, 512] and as many bytes"),
    /** An id is not 16 bytes long, or all 0, or all 0xff. */
    ID(-2012, "an id needs 16 bytes, not all of them 0 and not all 0xff"),
    /** A metric is in a slot that is not for its kind. */
    METRIC_SLOT(-2013, "slots 0 to 5 are for numbers, slot 6 is for texts"),
    /** A metric's value cannot be recorded; it was left out. */
    METRIC_VALUE(-2014, "the value of a metric cannot be recorded and was left out"),
    /** The definition has no context name at this index. */
    CONTEXT_NAME(-2015, "the definition has no context name at this index"),
    /** A response time is negative. */
    RESPONSE_TIME(-2016, "the response time is negative"),
    /** A usage is not defined for the kind of metric. */
    USAGE(-2017, "the usage is not defined for this kind of metric"),
    /** An address does not fit its format. */
    ADDRESS(-2018, "the system address does not fit its format"),
    /** There are too many properties or metrics; those behind were left out. */
    TOO_MANY(-2019, "more than 20 properties or 7 metrics: those behind were left out"),
    /** The metrics do not fit the definition of their group. */
    METRIC_GROUP(-2020, "the metrics do not fit the definition of the group"),
    /** The data passed from Java to C were malformed: an error of this binding. */
    INTERNAL(-2021, "what was handed to the library was malformed: an error of the binding"),
    /** A text is no W3C traceparent. */
    TRACEPARENT(-2022, "the text is no W3C traceparent");

    private final int code;
    private final String message;

    ErrorCode(int code, String message) {
        this.code = code;
        this.message = message;
    }

    /**
     * The number.
     *
     * @return a number below zero that nothing else has
     */
    public int code() {
        return code;
    }

    /** Text of a code of this binding or of the library; null for codes that are never set. */
    static String messageOf(int code) {
        for (ErrorCode error : values()) {
            if (error.code == code) {
                return error.message;
            }
        }
        if (code == 0 || !Native.LOADED) {
            return null;
        }
        byte[] message = Native.errorMessage(code);
        return message == null ? null : new String(message, StandardCharsets.UTF_8);
    }
}
