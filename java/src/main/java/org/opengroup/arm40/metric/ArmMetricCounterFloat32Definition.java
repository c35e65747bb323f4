package org.opengroup.arm40.metric;

/** The definition of a metric that is a floating point number that only grows, or starts again. */
public interface ArmMetricCounterFloat32Definition extends ArmMetricDefinition {
}
