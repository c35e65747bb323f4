package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetric;
import org.opengroup.arm40.metric.ArmMetricGroup;
import org.opengroup.arm40.metric.ArmMetricGroupDefinition;
import org.opengroup.arm40.transaction.ArmConstants;

/** The metrics of a transaction, by slot. */
final class MetricGroup extends ArmObject implements ArmMetricGroup {
    private final MetricGroupDefinition definition;
    private final Metric[] slots = new Metric[ArmConstants.METRIC_MAX_COUNT];
    /** By slot; only of those with a metric. */
    private final boolean[] valid = new boolean[ArmConstants.METRIC_MAX_COUNT];

    MetricGroup(Listener listener, ArmMetricGroupDefinition definition, ArmMetric[] metrics,
            Problem problem) {
        super(listener);
        this.definition = MetricGroupDefinition.given(definition, listener, problem);
        if (metrics == null) {
            problem.add(ErrorCode.NULL_ARGUMENT);
            return;
        }
        if (metrics.length > slots.length) {
            problem.add(ErrorCode.TOO_MANY);
        }
        for (int i = 0; i < Math.min(metrics.length, slots.length); i++) {
            if (metrics[i] == null) {
                continue;
            }
            if (metrics[i] instanceof Metric
                    && ((Metric) metrics[i]).definition == this.definition.slot(i)) {
                slots[i] = (Metric) metrics[i];
                valid[i] = true;
            } else {
                problem.add(ErrorCode.METRIC_GROUP);
            }
        }
    }

    /** The application's group, or one without metrics. */
    static MetricGroup given(ArmMetricGroup group, TransactionWithMetricsDefinition definition,
            Listener listener, Problem problem) {
        if (group instanceof MetricGroup) {
            if (((MetricGroup) group).definition != definition.metrics()) {
                problem.add(ErrorCode.METRIC_GROUP);
            }
            return (MetricGroup) group;
        }
        problem.add(group == null ? ErrorCode.NULL_ARGUMENT : ErrorCode.INVALID_OBJECT);
        return new MetricGroup(listener, definition.metrics(), new ArmMetric[0], new Problem());
    }

    /** The values that are valid now; false when one of them cannot be expressed in C. */
    boolean write(Payload payload) {
        int before = payload.length;
        payload.byteOf(Payload.METRIC_VALUES).byteOf(0);
        int count = 0;
        boolean complete = true;
        for (int i = 0; i < slots.length; i++) {
            if (!valid[i]) {
                continue;
            }
            if (!slots[i].isRecordable()) {
                complete = slots[i].definition.kind == MetricKind.STRING32 && complete;
                continue; // a text that was never set is no error
            }
            MetricDefinition metric = slots[i].definition;
            payload.byteOf(i).byteOf(metric.kind.format).shortOf(metric.getUsage());
            slots[i].writeValue(payload);
            count++;
        }
        if (count > 0) {
            payload.bytes[before + 1] = (byte) count;
        } else {
            payload.length = before;
        }
        return complete;
    }

    @Override
    public ArmMetricGroupDefinition getDefinition() {
        return definition;
    }

    @Override
    public ArmMetric getMetric(int index) {
        return index >= 0 && index < slots.length ? slots[index] : null;
    }

    @Override
    public boolean isMetricValid(int index) {
        return index >= 0 && index < slots.length && valid[index];
    }

    @Override
    public int setMetricValid(int index, boolean value) {
        if (getMetric(index) == null) {
            return fail(ErrorCode.INDEX, "setMetricValid");
        }
        valid[index] = value;
        return ok();
    }

    @Override
    String interfaceName() {
        return "ArmMetricGroup";
    }
}
