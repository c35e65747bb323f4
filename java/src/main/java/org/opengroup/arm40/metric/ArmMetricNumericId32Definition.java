package org.opengroup.arm40.metric;

/**
 * The definition of a metric that is a 32-bit integer that names something and is not calculated
 * with.
 */
public interface ArmMetricNumericId32Definition extends ArmMetricDefinition {
}
