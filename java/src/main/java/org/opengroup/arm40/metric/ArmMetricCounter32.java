package org.opengroup.arm40.metric;

/** A metric: a 32-bit integer that only grows, or starts again. */
public interface ArmMetricCounter32 extends ArmMetric {
    /**
     * The value.
     *
     * @return what was set last
     */
    int get();

    /**
     * Sets the value, for all transactions that are bound to this metric.
     *
     * @param value the new value
     * @return 0, or a negative error code
     */
    int set(int value);
}
