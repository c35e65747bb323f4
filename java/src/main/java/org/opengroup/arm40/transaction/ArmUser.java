package org.opengroup.arm40.transaction;

/** On whose behalf a transaction is done. Immutable. */
public interface ArmUser extends ArmInterface {
    /**
     * The id.
     *
     * @return what was given, or null
     */
    ArmID getID();

    /**
     * The name.
     *
     * @return the name; empty in an object that came from invalid arguments
     */
    String getName();
}
