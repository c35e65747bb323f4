package org.opengroup.arm40.metric;

/** The definition of a metric that is a 64-bit integer that goes up and down. */
public interface ArmMetricGauge64Definition extends ArmMetricDefinition {
}
