package org.opengroup.arm40.metric;

/** The definition of a metric that is a 32-bit integer that goes up and down. */
public interface ArmMetricGauge32Definition extends ArmMetricDefinition {
}
