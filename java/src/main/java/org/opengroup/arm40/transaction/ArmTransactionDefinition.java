package org.opengroup.arm40.transaction;

/** A transaction class: what does not change between its transactions. Immutable. */
public interface ArmTransactionDefinition extends ArmInterface {
    /**
     * The application that it belongs to.
     *
     * @return the definition
     */
    ArmApplicationDefinition getApplicationDefinition();

    /**
     * The id.
     *
     * @return what was given, or null
     */
    ArmID getID();

    /**
     * The identity properties and the names of the context properties.
     *
     * @return what was given, or null
     */
    ArmIdentityPropertiesTransaction getIdentityProperties();

    /**
     * The name.
     *
     * @return the name; empty in an object that came from invalid arguments
     */
    String getName();
}
