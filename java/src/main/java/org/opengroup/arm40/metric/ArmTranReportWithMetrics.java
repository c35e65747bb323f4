package org.opengroup.arm40.metric;

import org.opengroup.arm40.tranreport.ArmTranReport;
import org.opengroup.arm40.transaction.ArmApplication;

/** A report with metrics. */
public interface ArmTranReportWithMetrics extends ArmTranReport {
    /**
     * The application instance.
     *
     * @return the instance
     */
    @Override
    ArmApplication getApplication();

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
