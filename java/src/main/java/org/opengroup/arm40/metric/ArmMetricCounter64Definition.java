package org.opengroup.arm40.metric;

/** The definition of a metric that is a 64-bit integer that only grows, or starts again. */
public interface ArmMetricCounter64Definition extends ArmMetricDefinition {
}
