package org.opengroup.arm40.metric;

import org.opengroup.arm40.transaction.ArmApplication;
import org.opengroup.arm40.transaction.ArmApplicationDefinition;
import org.opengroup.arm40.transaction.ArmErrorCallback;
import org.opengroup.arm40.transaction.ArmID;
import org.opengroup.arm40.transaction.ArmIdentityPropertiesTransaction;
import org.opengroup.arm40.transaction.ArmInterface;

/**
 * Makes the objects of this package. A method given invalid arguments returns an object all the
 * same, whose methods can be called and whose error code, like the factory's, says what was wrong.
 */
public interface ArmMetricFactory extends ArmInterface {
    /**
     * Name of the system property that holds the name of the implementing class, which has a
     * constructor without arguments.
     */
    String propertyKey = "Arm40.ArmMetricFactory";

    /**
     * Registers a metric that is a 32-bit integer that only grows, or starts again.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param units null for none
     * @param usage a constant of {@link ArmMetricDefinition}, or negative
     * @param id null for none
     * @return a new definition
     */
    ArmMetricCounter32Definition newArmMetricCounter32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id);

    /**
     * Registers a metric that is a 64-bit integer that only grows, or starts again.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param units null for none
     * @param usage a constant of {@link ArmMetricDefinition}, or negative
     * @param id null for none
     * @return a new definition
     */
    ArmMetricCounter64Definition newArmMetricCounter64Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id);

    /**
     * Registers a metric that is a floating point number that only grows, or starts again.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param units null for none
     * @param usage a constant of {@link ArmMetricDefinition}, or negative
     * @param id null for none
     * @return a new definition
     */
    ArmMetricCounterFloat32Definition newArmMetricCounterFloat32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id);

    /**
     * Registers a metric that is a 32-bit integer that goes up and down.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param units null for none
     * @param usage a constant of {@link ArmMetricDefinition}, or negative
     * @param id null for none
     * @return a new definition
     */
    ArmMetricGauge32Definition newArmMetricGauge32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id);

    /**
     * Registers a metric that is a 64-bit integer that goes up and down.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param units null for none
     * @param usage a constant of {@link ArmMetricDefinition}, or negative
     * @param id null for none
     * @return a new definition
     */
    ArmMetricGauge64Definition newArmMetricGauge64Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id);

    /**
     * Registers a metric that is a floating point number that goes up and down.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param units null for none
     * @param usage a constant of {@link ArmMetricDefinition}, or negative
     * @param id null for none
     * @return a new definition
     */
    ArmMetricGaugeFloat32Definition newArmMetricGaugeFloat32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id);

    /**
     * Registers a metric that is a 32-bit integer that names something and is not calculated with.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param units null for none
     * @param usage a constant of {@link ArmMetricDefinition}, or negative
     * @param id null for none
     * @return a new definition
     */
    ArmMetricNumericId32Definition newArmMetricNumericId32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id);

    /**
     * Registers a metric that is a 64-bit integer that names something and is not calculated with.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param units null for none
     * @param usage a constant of {@link ArmMetricDefinition}, or negative
     * @param id null for none
     * @return a new definition
     */
    ArmMetricNumericId64Definition newArmMetricNumericId64Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id);

    /**
     * Registers a metric that is a text of at most 31 characters.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param units null for none
     * @param usage a constant of {@link ArmMetricDefinition}, or negative
     * @param id null for none
     * @return a new definition
     */
    ArmMetricString32Definition newArmMetricString32Definition(
            ArmApplicationDefinition app, String name, String units, short usage, ArmID id);

    /**
     * Makes the definition of a group.
     *
     * @param definitions at most 7, by slot; null where a slot is empty
     * @return a new definition
     */
    ArmMetricGroupDefinition newArmMetricGroupDefinition(ArmMetricDefinition[] definitions);

    /**
     * Registers a transaction class with metrics.
     *
     * @param app the application that it belongs to
     * @param name in [1, 127] characters
     * @param identityProperties null for none
     * @param definition its metrics
     * @param id null for none
     * @return a new definition
     */
    ArmTransactionWithMetricsDefinition newArmTransactionWithMetricsDefinition(
            ArmApplicationDefinition app, String name,
            ArmIdentityPropertiesTransaction identityProperties,
            ArmMetricGroupDefinition definition, ArmID id);

    /**
     * Makes a metric that is a 32-bit integer that only grows, or starts again.
     *
     * @param definition what it is
     * @return a new metric
     */
    ArmMetricCounter32 newArmMetricCounter32(ArmMetricCounter32Definition definition);

    /**
     * Makes a metric that is a 64-bit integer that only grows, or starts again.
     *
     * @param definition what it is
     * @return a new metric
     */
    ArmMetricCounter64 newArmMetricCounter64(ArmMetricCounter64Definition definition);

    /**
     * Makes a metric that is a floating point number that only grows, or starts again.
     *
     * @param definition what it is
     * @return a new metric
     */
    ArmMetricCounterFloat32 newArmMetricCounterFloat32(
            ArmMetricCounterFloat32Definition definition);

    /**
     * Makes a metric that is a 32-bit integer that goes up and down.
     *
     * @param definition what it is
     * @return a new metric
     */
    ArmMetricGauge32 newArmMetricGauge32(ArmMetricGauge32Definition definition);

    /**
     * Makes a metric that is a 64-bit integer that goes up and down.
     *
     * @param definition what it is
     * @return a new metric
     */
    ArmMetricGauge64 newArmMetricGauge64(ArmMetricGauge64Definition definition);

    /**
     * Makes a metric that is a floating point number that goes up and down.
     *
     * @param definition what it is
     * @return a new metric
     */
    ArmMetricGaugeFloat32 newArmMetricGaugeFloat32(ArmMetricGaugeFloat32Definition definition);

    /**
     * Makes a metric that is a 32-bit integer that names something and is not calculated with.
     *
     * @param definition what it is
     * @return a new metric
     */
    ArmMetricNumericId32 newArmMetricNumericId32(ArmMetricNumericId32Definition definition);

    /**
     * Makes a metric that is a 64-bit integer that names something and is not calculated with.
     *
     * @param definition what it is
     * @return a new metric
     */
    ArmMetricNumericId64 newArmMetricNumericId64(ArmMetricNumericId64Definition definition);

    /**
     * Makes a metric that is a text of at most 31 characters.
     *
     * @param definition what it is
     * @return a new metric
     */
    ArmMetricString32 newArmMetricString32(ArmMetricString32Definition definition);

    /**
     * Binds metrics to slots.
     *
     * @param groupDefinition which metrics
     * @param metrics one for each definition, by slot; null where a slot stays empty
     * @return a new group
     */
    ArmMetricGroup newArmMetricGroup(ArmMetricGroupDefinition groupDefinition, ArmMetric[] metrics);

    /**
     * Makes a report with metrics.
     *
     * @param app the application instance
     * @param definition the transaction class
     * @param group its metrics
     * @return a new report
     */
    ArmTranReportWithMetrics newArmTranReportWithMetrics(
            ArmApplication app, ArmTransactionWithMetricsDefinition definition,
            ArmMetricGroup group);

    /**
     * Makes a transaction with metrics, which is not started yet.
     *
     * @param app the application instance
     * @param definition the transaction class
     * @param group its metrics
     * @return a new transaction
     */
    ArmTransactionWithMetrics newArmTransactionWithMetrics(
            ArmApplication app, ArmTransactionWithMetricsDefinition definition,
            ArmMetricGroup group);

    /**
     * Registers who hears about errors of this factory and of the objects that it made or makes.
     *
     * @param errorCallback null for nobody
     * @return whether it was registered
     */
    boolean setErrorCallback(ArmErrorCallback errorCallback);
}
