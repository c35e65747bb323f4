package org.opengroup.arm40.transaction;

/** Numbers of the specification. Lengths of texts are in characters. */
public interface ArmConstants {
    /** Most bytes of a correlator. */
    int CORR_MAX_LENGTH = 512;

    /** Fewest bytes of a correlator. */
    int CORR_MIN_LENGTH = 4;

    /** Longest diagnostic detail. */
    int DIAG_DETAILS_MAX_LENGTH = 4095;

    /** Bytes of an id. */
    int ID_LENGTH = 16;

    /** Most metrics of a transaction. */
    int METRIC_MAX_COUNT = 7;

    /** Last slot of a metric; the only one for texts, and for nothing else. */
    int METRIC_MAX_INDEX = 6;

    /** First slot of a metric. */
    int METRIC_MIN_INDEX = 0;

    /** Longest name of an application, a transaction, a metric, a user. */
    int NAME_MAX_LENGTH = 127;

    /** Most properties of a kind. */
    int PROPERTY_MAX_COUNT = 20;

    /** Last index of a property. */
    int PROPERTY_MAX_INDEX = 19;

    /** First index of a property. */
    int PROPERTY_MIN_INDEX = 0;

    /** Longest name of a property. */
    int PROPERTY_NAME_MAX_LENGTH = 127;

    /** Longest URI. */
    int PROPERTY_URI_MAX_LENGTH = 4095;

    /** Longest value of a property. */
    int PROPERTY_VALUE_MAX_LENGTH = 255;

    /** Status: a fundamental failure, as a timeout. */
    int STATUS_ABORT = 1;

    /** Status: all worked, but the aim was not reached. */
    int STATUS_FAILED = 2;

    /** Status: successful. */
    int STATUS_GOOD = 0;

    /** No status: none was set yet. */
    int STATUS_INVALID = -1;

    /** Status: nobody knows. */
    int STATUS_UNKNOWN = 3;

    /** As stop time: now. */
    int USE_CURRENT_TIME = -1;
}
