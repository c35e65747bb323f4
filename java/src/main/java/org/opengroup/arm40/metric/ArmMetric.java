package org.opengroup.arm40.metric;

import org.opengroup.arm40.transaction.ArmInterface;

/**
 * A number or word that says more about transactions. Its value counts at the next start(),
 * update(), stop() or report() of every transaction whose group has it.
 */
public interface ArmMetric extends ArmInterface {
    /**
     * What it is.
     *
     * @return the definition, of the kind that fits
     */
    ArmMetricDefinition getDefinition();
}
