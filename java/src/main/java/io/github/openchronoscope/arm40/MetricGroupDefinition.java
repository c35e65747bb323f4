package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetricDefinition;
import org.opengroup.arm40.metric.ArmMetricGroupDefinition;
import org.opengroup.arm40.transaction.ArmConstants;

/** Metrics of a transaction class, by slot. */
final class MetricGroupDefinition extends ArmObject implements ArmMetricGroupDefinition {
    private final MetricDefinition[] slots = new MetricDefinition[ArmConstants.METRIC_MAX_COUNT];

    MetricGroupDefinition(Listener listener, ArmMetricDefinition[] definitions, Problem problem) {
        super(listener);
        if (definitions == null) {
            problem.add(ErrorCode.NULL_ARGUMENT);
            return;
        }
        if (definitions.length > slots.length) {
            problem.add(ErrorCode.TOO_MANY);
        }
        for (int i = 0; i < Math.min(definitions.length, slots.length); i++) {
            slots[i] = given(definitions[i], i, problem);
        }
    }

    private static MetricDefinition given(ArmMetricDefinition given, int slot, Problem problem) {
        if (given == null) {
            return null;
        }
        if (!(given instanceof MetricDefinition) || !((MetricDefinition) given).isRegistered()) {
            problem.add(ErrorCode.INVALID_OBJECT);
            return null;
        }
        MetricDefinition definition = (MetricDefinition) given;
        if (!definition.kind.belongsIn(slot)) {
            problem.add(ErrorCode.METRIC_SLOT);
            return null;
        }
        return definition;
    }

    /** One without metrics. */
    static MetricGroupDefinition empty(Listener listener) {
        return new MetricGroupDefinition(listener, new ArmMetricDefinition[0], new Problem());
    }

    /** The application's definition, or one without metrics. */
    static MetricGroupDefinition given(
            ArmMetricGroupDefinition definition, Listener listener, Problem problem) {
        if (definition instanceof MetricGroupDefinition) {
            return (MetricGroupDefinition) definition;
        }
        problem.add(
                definition == null ? ErrorCode.NULL_ARGUMENT : ErrorCode.INVALID_OBJECT);
        return empty(listener);
    }

    MetricDefinition slot(int index) {
        return index >= 0 && index < slots.length ? slots[index] : null;
    }

    /** The slots and the ids of their metrics. */
    void write(Payload payload) {
        int count = 0;
        for (MetricDefinition definition : slots) {
            count += definition == null ? 0 : 1;
        }
        if (count == 0) {
            return;
        }
        payload.byteOf(Payload.METRIC_BINDINGS).byteOf(count);
        for (int i = 0; i < slots.length; i++) {
            if (slots[i] != null) {
                payload.byteOf(i).longOf(slots[i].high).longOf(slots[i].low);
            }
        }
    }

    @Override
    public ArmMetricDefinition getMetricDefinition(int index) {
        return slot(index);
    }

    @Override
    String interfaceName() {
        return "ArmMetricGroupDefinition";
    }
}
