package org.opengroup.arm40.transaction;

/** A running instance of an application; its attributes are immutable. */
public interface ArmApplication extends ArmInterface {
    /**
     * Says that the instance has ended. Its transactions that are still executing are discarded.
     *
     * @return 0, or a negative error code
     */
    int end();

    /**
     * The value of a context property, whose name is at the same index in the definition.
     *
     * @param index in [0, 19]
     * @return the value, or null
     */
    String getContextValue(int index);

    /**
     * What it is an instance of.
     *
     * @return the definition
     */
    ArmApplicationDefinition getDefinition();

    /**
     * The group of instances that it belongs to.
     *
     * @return the group, or null
     */
    String getGroup();

    /**
     * Which instance it is.
     *
     * @return the instance, or null
     */
    String getInstance();
}
