package org.opengroup.arm40.metric;

/** The definition of a metric that is a floating point number that goes up and down. */
public interface ArmMetricGaugeFloat32Definition extends ArmMetricDefinition {
}
