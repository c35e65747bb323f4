package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetricDefinition;

/** The nine kinds of metrics, with their format numbers in C. */
enum MetricKind {
    COUNTER32(1, false),
    COUNTER64(2, false),
    /** In C a counter with a divisor: {@link Ratio}. */
    COUNTER_FLOAT32(3, false),
    GAUGE32(4, false),
    GAUGE64(5, false),
    /** In C a gauge with a divisor: {@link Ratio}. */
    GAUGE_FLOAT32(6, false),
    NUMERIC_ID32(7, true),
    NUMERIC_ID64(8, true),
    STRING32(10, true);

    /** The number of the format in C. */
    final int format;
    /** Whether it is an identifier: it may be a status, but not a size. */
    private final boolean isName;

    MetricKind(int format, boolean isName) {
        this.format = format;
        this.isName = isName;
    }

    boolean allows(short usage) {
        switch (usage) {
            case ArmMetricDefinition.METRIC_USE_TRAN_SIZE:
                return !isName;
            case ArmMetricDefinition.METRIC_USE_TRAN_STATUS:
                return isName;
            default:
                return usage <= ArmMetricDefinition.METRIC_USE_GENERAL;
        }
    }

    /** Texts are for the last slot, which is for nothing else. */
    boolean belongsIn(int slot) {
        return this == STRING32
                ? slot == org.opengroup.arm40.transaction.ArmConstants.METRIC_MAX_INDEX
                : slot < org.opengroup.arm40.transaction.ArmConstants.METRIC_MAX_INDEX;
    }
}
