package org.opengroup.arm40.metric;

import org.opengroup.arm40.transaction.ArmTransactionDefinition;

/** A transaction class with metrics. */
public interface ArmTransactionWithMetricsDefinition extends ArmTransactionDefinition {
    /**
     * Which metrics.
     *
     * @return the definition of the group
     */
    ArmMetricGroupDefinition getMetricGroupDefinition();
}
