package org.opengroup.arm40.metric;

import org.opengroup.arm40.transaction.ArmInterface;

/**
 * Which metrics a transaction class has, slot by slot. Immutable. Slots 0 to 5 take anything but
 * texts, slot 6 only texts.
 */
public interface ArmMetricGroupDefinition extends ArmInterface {
    /**
     * The definition in a slot.
     *
     * @param index in [0, 6]
     * @return the definition, or null
     */
    ArmMetricDefinition getMetricDefinition(int index);
}
