package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetricGroupDefinition;
import org.opengroup.arm40.metric.ArmTransactionWithMetricsDefinition;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmIdentityPropertiesTransaction;

/** A registered transaction class with metrics. */
final class TransactionWithMetricsDefinition extends TransactionDefinition
        implements ArmTransactionWithMetricsDefinition {
    private final MetricGroupDefinition metrics;

    TransactionWithMetricsDefinition(Listener listener, ArmApplicationDefinition application,
            String name, ArmIdentityPropertiesTransaction properties,
            MetricGroupDefinition metrics, ArmID id, Problem problem) {
        super(listener, application, name, properties, metrics, id, problem);
        this.metrics = metrics;
    }

    /** The application's definition, or a placeholder for an invalid one. */
    static TransactionWithMetricsDefinition given(
            ArmTransactionWithMetricsDefinition definition, Listener listener, Problem problem) {
        TransactionDefinition own = TransactionDefinition.given(definition, listener, problem);
        return own instanceof TransactionWithMetricsDefinition
                ? (TransactionWithMetricsDefinition) own
                : new TransactionWithMetricsDefinition(listener, null, null, null,
                        MetricGroupDefinition.empty(listener), null, problem);
    }

    @Override
    public ArmMetricGroupDefinition getMetricGroupDefinition() {
        return metrics;
    }

    MetricGroupDefinition metrics() {
        return metrics;
    }

    @Override
    String interfaceName() {
        return "ArmTransactionWithMetricsDefinition";
    }
}
