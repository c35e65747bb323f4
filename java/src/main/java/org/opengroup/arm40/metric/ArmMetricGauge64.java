package org.opengroup.arm40.metric;

/** A metric: a 64-bit integer that goes up and down. */
public interface ArmMetricGauge64 extends ArmMetric {
    /**
     * The value.
     *
     * @return what was set last
     */
    long get();

    /**
     * Sets the value, for all transactions that are bound to this metric.
     *
     * @param value the new value
     * @return 0, or a negative error code
     */
    int set(long value);
}
