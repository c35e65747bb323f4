package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetric;
import org.opengroup.arm40.metric.ArmMetricDefinition;

/** A number or text that describes a transaction further. */
abstract class Metric extends ArmObject implements ArmMetric {
    final MetricDefinition definition;

    Metric(Listener listener, MetricDefinition definition) {
        super(listener);
        this.definition = definition;
    }

    /** Whether C can express the present value. */
    boolean isRecordable() {
        return true;
    }

    /** The value as the union of C: eight bytes, or a text. */
    abstract void writeValue(Payload payload);

    @Override
    public final ArmMetricDefinition getDefinition() {
        return definition;
    }

    @Override
    final String interfaceName() {
        return "ArmMetric" + getClass().getSimpleName();
    }
}
