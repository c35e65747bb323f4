package org.opengroup.arm40.metric;

/** The definition of a metric that is a text of at most 31 characters. */
public interface ArmMetricString32Definition extends ArmMetricDefinition {
}
