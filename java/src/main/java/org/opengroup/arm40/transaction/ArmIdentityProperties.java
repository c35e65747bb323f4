package org.opengroup.arm40.transaction;

/**
 * Properties that belong to the identity of an application or transaction, name and value, and the
 * names of its context properties, whose values may differ from instance to instance. Immutable.
 * Of a repeated name the first counts; a null or empty name hides its value.
 */
public interface ArmIdentityProperties extends ArmInterface {
    /**
     * The name of an identity property.
     *
     * @param index in [0, 19]
     * @return the name; null when it, or its value, is not set
     */
    String getIdentityName(int index);

    /**
     * The value of an identity property.
     *
     * @param index in [0, 19]
     * @return the value; null when it, or its name, is not set
     */
    String getIdentityValue(int index);

    /**
     * The name of a context property.
     *
     * @param index in [0, 19]
     * @return the name, or null
     */
    String getContextName(int index);
}
