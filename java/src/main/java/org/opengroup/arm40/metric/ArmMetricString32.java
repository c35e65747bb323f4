package org.opengroup.arm40.metric;

/** A metric: a text of at most 31 characters. */
public interface ArmMetricString32 extends ArmMetric {
    /**
     * The value.
     *
     * @return what was set last; null at first
     */
    String get();

    /**
     * Sets the value, for all transactions that are bound to this metric.
     *
     * @param value the new value
     * @return 0, or a negative error code
     */
    int set(String value);
}
