package org.opengroup.arm40.transaction;

/**
 * What does not change between the instances of an application: its name, properties and id.
 * Immutable. Scopes definitions of transactions and metrics.
 */
public interface ArmApplicationDefinition extends ArmInterface {
    /** Says that the definition and everything scoped by it is no longer used. */
    void destroy();

    /**
     * The name.
     *
     * @return the name; empty in an object that came from invalid arguments
     */
    String getName();

    /**
     * The identity properties and the names of the context properties.
     *
     * @return what was given, or null
     */
    ArmIdentityProperties getIdentityProperties();

    /**
     * The id.
     *
     * @return what was given, or null
     */
    ArmID getID();
}
