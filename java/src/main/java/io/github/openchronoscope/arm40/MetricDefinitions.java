package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetricCounter32Definition;
import org.opengroup.arm40.metric.ArmMetricCounter64Definition;
import org.opengroup.arm40.metric.ArmMetricCounterFloat32Definition;
import org.opengroup.arm40.metric.ArmMetricGauge32Definition;
import org.opengroup.arm40.metric.ArmMetricGauge64Definition;
import org.opengroup.arm40.metric.ArmMetricGaugeFloat32Definition;
import org.opengroup.arm40.metric.ArmMetricNumericId32Definition;
import org.opengroup.arm40.metric.ArmMetricNumericId64Definition;
import org.opengroup.arm40.metric.ArmMetricString32Definition;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmID;

/** The nine kinds of definitions, which differ in nothing but their kind. */
final class MetricDefinitions {
    private MetricDefinitions() {}

    static final class Counter32 extends MetricDefinition
            implements ArmMetricCounter32Definition {
        Counter32(Listener listener, ArmApplicationDefinition application, String name,
                String units, short usage, ArmID id, Problem problem) {
            super(MetricKind.COUNTER32, listener, application, name, units, usage, id,
                    problem);
        }
    }

    static final class Counter64 extends MetricDefinition
            implements ArmMetricCounter64Definition {
        Counter64(Listener listener, ArmApplicationDefinition application, String name,
                String units, short usage, ArmID id, Problem problem) {
            super(MetricKind.COUNTER64, listener, application, name, units, usage, id,
                    problem);
        }
    }

    static final class CounterFloat32 extends MetricDefinition
            implements ArmMetricCounterFloat32Definition {
        CounterFloat32(Listener listener, ArmApplicationDefinition application, String name,
                String units, short usage, ArmID id, Problem problem) {
            super(MetricKind.COUNTER_FLOAT32, listener, application, name, units, usage, id,
                    problem);
        }
    }

    static final class Gauge32 extends MetricDefinition
            implements ArmMetricGauge32Definition {
        Gauge32(Listener listener, ArmApplicationDefinition application, String name,
                String units, short usage, ArmID id, Problem problem) {
            super(MetricKind.GAUGE32, listener, application, name, units, usage, id,
                    problem);
        }
    }

    static final class Gauge64 extends MetricDefinition
            implements ArmMetricGauge64Definition {
        Gauge64(Listener listener, ArmApplicationDefinition application, String name,
                String units, short usage, ArmID id, Problem problem) {
            super(MetricKind.GAUGE64, listener, application, name, units, usage, id,
                    problem);
        }
    }

    static final class GaugeFloat32 extends MetricDefinition
            implements ArmMetricGaugeFloat32Definition {
        GaugeFloat32(Listener listener, ArmApplicationDefinition application, String name,
                String units, short usage, ArmID id, Problem problem) {
            super(MetricKind.GAUGE_FLOAT32, listener, application, name, units, usage, id,
                    problem);
        }
    }

    static final class NumericId32 extends MetricDefinition
            implements ArmMetricNumericId32Definition {
        NumericId32(Listener listener, ArmApplicationDefinition application, String name,
                String units, short usage, ArmID id, Problem problem) {
            super(MetricKind.NUMERIC_ID32, listener, application, name, units, usage, id,
                    problem);
        }
    }

    static final class NumericId64 extends MetricDefinition
            implements ArmMetricNumericId64Definition {
        NumericId64(Listener listener, ArmApplicationDefinition application, String name,
                String units, short usage, ArmID id, Problem problem) {
            super(MetricKind.NUMERIC_ID64, listener, application, name, units, usage, id,
                    problem);
        }
    }

    static final class String32 extends MetricDefinition
            implements ArmMetricString32Definition {
        String32(Listener listener, ArmApplicationDefinition application, String name,
                String units, short usage, ArmID id, Problem problem) {
            super(MetricKind.STRING32, listener, application, name, units, usage, id,
                    problem);
        }
    }
}
