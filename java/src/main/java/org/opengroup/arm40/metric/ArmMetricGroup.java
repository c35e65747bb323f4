package org.opengroup.arm40.metric;

import org.opengroup.arm40.transaction.ArmInterface;

/** The metrics of a transaction, slot by slot. */
public interface ArmMetricGroup extends ArmInterface {
    /**
     * What it was made from.
     *
     * @return the definition
     */
    ArmMetricGroupDefinition getDefinition();

    /**
     * The metric in a slot.
     *
     * @param index in [0, 6]
     * @return the metric, or null
     */
    ArmMetric getMetric(int index);

    /**
     * Whether the metric in a slot counts.
     *
     * @param index in [0, 6]
     * @return whether there is one and it counts; it does until somebody says otherwise
     */
    boolean isMetricValid(int index);

    /**
     * Says whether the metric in a slot counts.
     *
     * @param index in [0, 6]
     * @param value whether it counts
     * @return 0, or a negative error code
     */
    int setMetricValid(int index, boolean value);
}
