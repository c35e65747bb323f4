package org.opengroup.arm40.metric;

import org.opengroup.arm40.transaction.ArmTransaction;

/** A transaction with metrics. */
public interface ArmTransactionWithMetrics extends ArmTransaction {
    /**
     * The transaction class.
     *
     * @return the definition
     */
    ArmTransactionWithMetricsDefinition getTransactionWithMetricsDefinition();

    /**
     * Its metrics.
     *
     * @return the group
     */
    ArmMetricGroup getMetricGroup();
}
