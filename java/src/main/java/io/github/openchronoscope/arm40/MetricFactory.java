package io.github.openchronoscope.arm40;

import org.opengroup.arm40.metric.ArmMetric;
import org.opengroup.arm40.metric.ArmMetricCounter32;
import org.opengroup.arm40.metric.ArmMetricCounter32Definition;
import org.opengroup.arm40.metric.ArmMetricCounter64;
import org.opengroup.arm40.metric.ArmMetricCounter64Definition;
import org.opengroup.arm40.metric.ArmMetricCounterFloat32;
import org.opengroup.arm40.metric.ArmMetricCounterFloat32Definition;
import org.opengroup.arm40.metric.ArmMetricDefinition;
import org.opengroup.arm40.metric.ArmMetricFactory;
import org.opengroup.arm40.metric.ArmMetricGauge32;
import org.opengroup.arm40.metric.ArmMetricGauge32Definition;
import org.opengroup.arm40.metric.ArmMetricGauge64;
import org.opengroup.arm40.metric.ArmMetricGauge64Definition;
import org.opengroup.arm40.metric.ArmMetricGaugeFloat32;
import org.opengroup.arm40.metric.ArmMetricGaugeFloat32Definition;
import org.opengroup.arm40.metric.ArmMetricGroup;
import org.opengroup.arm40.metric.ArmMetricGroupDefinition;
import org.opengroup.arm40.metric.ArmMetricNumericId32;
import org.opengroup.arm40.metric.ArmMetricNumericId32Definition;
import org.opengroup.arm40.metric.ArmMetricNumericId64;
import org.opengroup.arm40.metric.ArmMetricNumericId64Definition;
import org.opengroup.arm40.metric.ArmMetricString32;
import org.opengroup.arm40.metric.ArmMetricString32Definition;
import org.opengroup.arm40.metric.ArmTranReportWithMetrics;
import org.opengroup.arm40.metric.ArmTransactionWithMetrics;
import org.opengroup.arm40.metric.ArmTransactionWithMetricsDefinition;
import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmIdentityPropertiesTransaction;

/** Makes metrics and what has them. Safe for use by several threads. */
public final class MetricFactory extends Factory implements ArmMetricFactory {
    /** For the class loader, which finds this class by the name in the system property. */
    public MetricFactory() {}

    @Override
    public ArmMetricCounter32Definition newArmMetricCounter32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id) {
        Problem problem = new Problem();
        return made(new MetricDefinitions.Counter32(
                listener, app, name, units, usage, id, problem),
                problem, "newArmMetricCounter32Definition");
    }

    @Override
    public ArmMetricCounter64Definition newArmMetricCounter64Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id) {
        Problem problem = new Problem();
        return made(new MetricDefinitions.Counter64(
                listener, app, name, units, usage, id, problem),
                problem, "newArmMetricCounter64Definition");
    }

    @Override
    public ArmMetricCounterFloat32Definition newArmMetricCounterFloat32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id) {
        Problem problem = new Problem();
        return made(new MetricDefinitions.CounterFloat32(
                listener, app, name, units, usage, id, problem),
                problem, "newArmMetricCounterFloat32Definition");
    }

    @Override
    public ArmMetricGauge32Definition newArmMetricGauge32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id) {
        Problem problem = new Problem();
        return made(new MetricDefinitions.Gauge32(
                listener, app, name, units, usage, id, problem),
                problem, "newArmMetricGauge32Definition");
    }

    @Override
    public ArmMetricGauge64Definition newArmMetricGauge64Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id) {
        Problem problem = new Problem();
        return made(new MetricDefinitions.Gauge64(
                listener, app, name, units, usage, id, problem),
                problem, "newArmMetricGauge64Definition");
    }

    @Override
    public ArmMetricGaugeFloat32Definition newArmMetricGaugeFloat32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id) {
        Problem problem = new Problem();
        return made(new MetricDefinitions.GaugeFloat32(
                listener, app, name, units, usage, id, problem),
                problem, "newArmMetricGaugeFloat32Definition");
    }

    @Override
    public ArmMetricNumericId32Definition newArmMetricNumericId32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id) {
        Problem problem = new Problem();
        return made(new MetricDefinitions.NumericId32(
                listener, app, name, units, usage, id, problem),
                problem, "newArmMetricNumericId32Definition");
    }

    @Override
    public ArmMetricNumericId64Definition newArmMetricNumericId64Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id) {
        Problem problem = new Problem();
        return made(new MetricDefinitions.NumericId64(
                listener, app, name, units, usage, id, problem),
                problem, "newArmMetricNumericId64Definition");
    }

    @Override
    public ArmMetricString32Definition newArmMetricString32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id) {
        Problem problem = new Problem();
        return made(new MetricDefinitions.String32(
                listener, app, name, units, usage, id, problem),
                problem, "newArmMetricString32Definition");
    }

    @Override
    public ArmMetricCounter32 newArmMetricCounter32(
            ArmMetricCounter32Definition definition) {
        Problem problem = new Problem();
        MetricDefinition own = definition instanceof MetricDefinitions.Counter32
                ? (MetricDefinition) definition
                : new MetricDefinitions.Counter32(
                        listener, null, null, null, (short) 0, null, problem);
        return made(
                new Metrics.Counter32(listener, own), problem, "newArmMetricCounter32");
    }

    @Override
    public ArmMetricCounter64 newArmMetricCounter64(
            ArmMetricCounter64Definition definition) {
        Problem problem = new Problem();
        MetricDefinition own = definition instanceof MetricDefinitions.Counter64
                ? (MetricDefinition) definition
                : new MetricDefinitions.Counter64(
                        listener, null, null, null, (short) 0, null, problem);
        return made(
                new Metrics.Counter64(listener, own), problem, "newArmMetricCounter64");
    }

    @Override
    public ArmMetricCounterFloat32 newArmMetricCounterFloat32(
            ArmMetricCounterFloat32Definition definition) {
        Problem problem = new Problem();
        MetricDefinition own = definition instanceof MetricDefinitions.CounterFloat32
                ? (MetricDefinition) definition
                : new MetricDefinitions.CounterFloat32(
                        listener, null, null, null, (short) 0, null, problem);
        return made(
                new Metrics.CounterFloat32(listener, own), problem, "newArmMetricCounterFloat32");
    }

    @Override
    public ArmMetricGauge32 newArmMetricGauge32(
            ArmMetricGauge32Definition definition) {
        Problem problem = new Problem();
        MetricDefinition own = definition instanceof MetricDefinitions.Gauge32
                ? (MetricDefinition) definition
                : new MetricDefinitions.Gauge32(
                        listener, null, null, null, (short) 0, null, problem);
        return made(
                new Metrics.Gauge32(listener, own), problem, "newArmMetricGauge32");
    }

    @Override
    public ArmMetricGauge64 newArmMetricGauge64(
            ArmMetricGauge64Definition definition) {
        Problem problem = new Problem();
        MetricDefinition own = definition instanceof MetricDefinitions.Gauge64
                ? (MetricDefinition) definition
                : new MetricDefinitions.Gauge64(
                        listener, null, null, null, (short) 0, null, problem);
        return made(
                new Metrics.Gauge64(listener, own), problem, "newArmMetricGauge64");
    }

    @Override
    public ArmMetricGaugeFloat32 newArmMetricGaugeFloat32(
            ArmMetricGaugeFloat32Definition definition) {
        Problem problem = new Problem();
        MetricDefinition own = definition instanceof MetricDefinitions.GaugeFloat32
                ? (MetricDefinition) definition
                : new MetricDefinitions.GaugeFloat32(
                        listener, null, null, null, (short) 0, null, problem);
        return made(
                new Metrics.GaugeFloat32(listener, own), problem, "newArmMetricGaugeFloat32");
    }

    @Override
    public ArmMetricNumericId32 newArmMetricNumericId32(
            ArmMetricNumericId32Definition definition) {
        Problem problem = new Problem();
        MetricDefinition own = definition instanceof MetricDefinitions.NumericId32
                ? (MetricDefinition) definition
                : new MetricDefinitions.NumericId32(
                        listener, null, null, null, (short) 0, null, problem);
        return made(
                new Metrics.NumericId32(listener, own), problem, "newArmMetricNumericId32");
    }

    @Override
    public ArmMetricNumericId64 newArmMetricNumericId64(
            ArmMetricNumericId64Definition definition) {
        Problem problem = new Problem();
        MetricDefinition own = definition instanceof MetricDefinitions.NumericId64
                ? (MetricDefinition) definition
                : new MetricDefinitions.NumericId64(
                        listener, null, null, null, (short) 0, null, problem);
        return made(
                new Metrics.NumericId64(listener, own), problem, "newArmMetricNumericId64");
    }

    @Override
    public ArmMetricString32 newArmMetricString32(
            ArmMetricString32Definition definition) {
        Problem problem = new Problem();
        MetricDefinition own = definition instanceof MetricDefinitions.String32
                ? (MetricDefinition) definition
                : new MetricDefinitions.String32(
                        listener, null, null, null, (short) 0, null, problem);
        return made(
                new Metrics.String32(listener, own), problem, "newArmMetricString32");
    }

    @Override
    public ArmMetricGroupDefinition newArmMetricGroupDefinition(
            ArmMetricDefinition[] definitions) {
        Problem problem = new Problem();
        return made(new MetricGroupDefinition(listener, definitions, problem),
                problem, "newArmMetricGroupDefinition");
    }

    @Override
    public ArmTransactionWithMetricsDefinition newArmTransactionWithMetricsDefinition(
            ArmApplicationDefinition app, String name,
            ArmIdentityPropertiesTransaction identityProperties,
            ArmMetricGroupDefinition definition, ArmID id) {
        Problem problem = new Problem();
        MetricGroupDefinition metrics =
                MetricGroupDefinition.given(definition, listener, problem);
        return made(new TransactionWithMetricsDefinition(
                listener, app, name, identityProperties, metrics, id, problem),
                problem, "newArmTransactionWithMetricsDefinition");
    }

    @Override
    public ArmMetricGroup newArmMetricGroup(
            ArmMetricGroupDefinition groupDefinition, ArmMetric[] metrics) {
        Problem problem = new Problem();
        return made(new MetricGroup(listener, groupDefinition, metrics, problem),
                problem, "newArmMetricGroup");
    }

    @Override
    public ArmTranReportWithMetrics newArmTranReportWithMetrics(ArmApplication app,
            ArmTransactionWithMetricsDefinition definition, ArmMetricGroup group) {
        Problem problem = new Problem();
        return made(new TranReport.WithMetrics(listener, app, definition, group, problem),
                problem, "newArmTranReportWithMetrics");
    }

    @Override
    public ArmTransactionWithMetrics newArmTransactionWithMetrics(ArmApplication app,
            ArmTransactionWithMetricsDefinition definition, ArmMetricGroup group) {
        Problem problem = new Problem();
        return made(new Transaction.WithMetrics(listener, app, definition, group, problem),
                problem, "newArmTransactionWithMetrics");
    }

    @Override
    String interfaceName() {
        return "ArmMetricFactory";
    }
}
